"""Documents and images: rows of non-negative numbers.

A row is a privacy unit, or all rows of a person if their owners are known. Saha & Imtiaz 2022 write
V (D x N) = W H with a sample in each column; here X (N x D) ~ H W with a sample in each row.
Changes to a row by `prepared` depend on that row and on public facts; vocabularies and weights from
all documents are recorded in `assumptions`.
"""

import hashlib
import zlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from dpmf_core.base.arrays import Array, Doubles, Ints, Numbers
from dpmf_core.base.errors import BadInput
from dpmf_core.base.hashing import (
    digest_of,
    digest_of_rows,
    hashes_of_rows,
    keys_of_texts,
)
from dpmf_core.data.domain import Domain
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.report import Problem, Report

Matrix = Any  # csr_array or ndarray, float32 (n_samples, n_features)


def is_sparse(matrix: Matrix) -> bool:
    """scipy's `issparse`, with an open type."""
    from scipy.sparse import issparse  # loaded when first needed

    return bool(issparse(matrix))


VOCABULARY_IS_PUBLIC = "the vocabulary is public"  # if exact counts chose it
# assumed if the words were read from the documents
WORDS_ARE_PUBLIC = "the words in the files are public"
# assumed if the number was counted in a private file
NUMBER_IS_PUBLIC = "the number of samples is public"
# if people were counted in a private file
PEOPLE_ARE_COUNTED = "the number of people is public"
WEIGHTS_ARE_PUBLIC = "the IDF weights are public"
LARGEST_SAMPLE = 1e30  # rows are squared and added up in float64


@dataclass(frozen=True)
class SampleShape:
    """The public facts about samples.

    Attributes
    ----------
    n_samples, n_features : int
    image : tuple of int, or None
        (height, width) of images.
    n_people : int or None
        The number of people; None if each row is a unit of its own.
    """

    n_samples: int
    n_features: int
    image: tuple[int, int] | None = None
    # keeps fingerprints without people
    n_people: int | None = field(default=None, repr=False)

    @property
    def n_units(self) -> int:
        """The number of rows, or of people who have them."""
        if self.n_people is None:
            return self.n_samples
        return self.n_people


@dataclass(frozen=True)
class Texts:
    """The words of documents in reading order, for judging topics.

    Document i is `words[ids[starts[i]:starts[i + 1]]]`.
    """

    words: tuple[str, ...]
    ids: Numbers
    starts: Ints


@dataclass(frozen=True, eq=False)
class Samples:
    """Non-negative rows X (n_samples, n_features), dense or sparse, float32.

    Attributes
    ----------
    vocabulary : tuple of str
        The feature names of documents.
    image : tuple of int
        (height, width) of images, row by row.
    unit : str
        What a row is.
    titles : tuple of str
        A name for each row.
    public, assumptions, origin, rows_origin
        As in `Ratings`.
    clean, parts, texts
        For judging only: the rows before outliers were planted; components (k, n_features) of a
        simulated set; documents in reading order.
    people : int32 (n_samples,)
        The person of each row, from 0, private. With people, a person with all their rows is the
        privacy unit.
    n_people : int
        Their public number.
    report : Report or None
        What reading the file or the table left out, changed and assumed.
    """

    X: Matrix
    vocabulary: tuple[str, ...] | None = None
    image: tuple[int, int] | None = None
    unit: str = "sample"
    name: str = "samples"
    public: bool = False
    assumptions: tuple[str, ...] = ()
    titles: tuple[str, ...] | None = None
    clean: Matrix | None = None
    parts: Array | None = None
    texts: Texts | None = None
    origin: str = ""
    people: Numbers | None = None
    n_people: int | None = None
    report: Report | None = field(default=None, repr=False)
    rows_origin: str = field(default="", repr=False)

    @classmethod
    def of(
        cls,
        X: Any,
        *,
        image: tuple[int, int] | None = None,
        vocabulary: tuple[str, ...] | None = None,
        **facts: Any,
    ) -> Self:
        """Check a table of samples.

        Raises
        ------
        BadInput
            Unless the table holds numbers from 0 to 1e30. The message names the first row and
            column that does not.
        """
        from scipy.sparse import csr_array

        if is_sparse(X):
            rows: Matrix = csr_array(X)
        else:
            rows = np.asarray(X)
        rows = rows.astype(np.float64, copy=False)
        if rows.ndim != 2 or not min(rows.shape):
            raise BadInput(
                "Samples must be a table with one row per sample and at least one feature. Got the"
                f" shape {tuple(rows.shape)}."
            )
        _refuse(rows, ~np.isfinite(_values(rows)), "a finite number")
        _refuse(rows, _values(rows) < 0, "0 or more, because parts can only be added")
        largest = f"at most {LARGEST_SAMPLE:g}; divide all samples by one constant"
        _refuse(rows, _values(rows) > LARGEST_SAMPLE, largest)
        if image is not None and image[0] * image[1] != rows.shape[1]:
            raise BadInput(
                f"Images of {image[0]} x {image[1]} have {image[0] * image[1]} pixels. The rows"
                f" have {rows.shape[1]}."
            )
        if vocabulary is not None and len(vocabulary) != rows.shape[1]:
            raise BadInput(
                f"The vocabulary has {len(vocabulary):,} words for {rows.shape[1]:,} features."
            )
        return cls(_small(rows), vocabulary, image, **facts)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def shape(self) -> SampleShape:
        return SampleShape(self.X.shape[0], self.X.shape[1], self.image, self.n_people)

    @property
    def domain(self) -> Domain:
        """The domain in which the proofs about these samples hold."""
        return Domain(len(self), int(self.X.shape[1]), 0.0, LARGEST_SAMPLE)

    def check_domain(self) -> None:
        """Raise OutsideDomain unless every row lies in the domain."""
        if is_sparse(self.X):
            self.domain.check(self.X.data, self.X.indices, self.X.indptr)
        else:
            self.domain.check(self.X)

    @property
    def privacy_unit(self) -> str:
        """The privacy unit: a row, or a person with all their rows."""
        if self.people is None:
            return self.unit
        return "person"

    def of_people(self, people: Any, n_people: int | None = None) -> Self:
        """The rows with their people.

        Parameters
        ----------
        people : (n_samples,)
            The number of each row's person, from 0.
        n_people : int, optional
            Declared; by default one more than the highest number.

        Raises
        ------
        BadInput
            If the people are not whole numbers, one a row, from 0 to n_people - 1.
        """
        ids = np.asarray(people)
        if ids.shape != (len(self),) or ids.dtype.kind not in "iu":
            raise BadInput(
                f"The person of each of the {len(self):,} rows must be given as a whole number. Got"
                f" {ids.dtype} of shape {tuple(ids.shape)}."
            )
        if n_people is None:
            count = int(ids.max()) + 1
        else:
            count = n_people
        if ids.min() < 0 or ids.max() >= count:
            raise BadInput(
                f"People are numbered from 0 to {count - 1:,}. Got {ids.min():,} to {ids.max():,}."
            )
        return replace(self, people=ids.astype(np.int32), n_people=count)

    @cached_property
    def weights(self) -> Doubles | None:
        """The weight of each row in a sum over all (n_samples,); None if rows are units.

        It is one over the number of non-empty rows of its person. So a person's rows together count
        as much as one row. When the person joins or leaves, sums of x, of x x^T and of h x^T move
        by no more than one row's bound.
        """
        if self.people is None:
            return None
        has_values = self.norms > 0
        n_rows = np.bincount(self.people, has_values, self.n_people or 0)
        return np.asarray(has_values / np.maximum(n_rows, 1)[self.people])

    @cached_property
    def fingerprint(self) -> str:
        """sha256 over everything that an algorithm or a figure can see."""
        vocabulary = None
        if self.vocabulary is not None:
            vocabulary = zlib.crc32("\n".join(self.vocabulary).encode())
        facts = (self.shape, self.public, self.assumptions, self.unit, vocabulary)
        digest = hashlib.sha256(repr(facts).encode())
        texts = None if self.texts is None else self.texts.ids
        for part in (self.X, self.clean, self.parts, texts):
            for array in _arrays(part):
                digest.update(np.ascontiguousarray(array).tobytes())
        if self.people is not None:
            digest.update(f"people {self.n_people}".encode())
            digest.update(np.ascontiguousarray(self.people).tobytes())
        return digest.hexdigest()

    @property
    def account(self) -> str:
        """The identity in accounts; see `Ratings.account`."""
        return self.origin or digest_of(*_arrays(self.X))

    @cached_property
    def row_digest(self) -> str:
        """What the rows say, in any order; see `Ratings.row_digest`."""
        if self.rows_origin:
            return self.rows_origin
        from scipy.sparse import csr_array  # slow to load

        rows = csr_array(self.X)
        names = self.vocabulary or tuple(map(str, range(rows.shape[1])))
        keys = keys_of_texts(np.array(names, object))[rows.indices]
        values = rows.data.astype(np.float32).view(np.uint32)
        sums = np.cumsum(np.append(np.uint64(0), hashes_of_rows(0, keys, values)))
        return digest_of_rows(np.diff(sums[rows.indptr]))

    @cached_property
    def reading(self) -> str:
        """sha256 over the words of all documents, in reading order if it is known."""
        words = self.vocabulary or ()
        ids = self.X.indices
        bounds = self.X.indptr
        if self.texts is not None:
            words = self.texts.words
            ids = self.texts.ids
            bounds = self.texts.starts
        digest = hashlib.sha256("\n".join(words).encode())
        for array in (ids, bounds):
            digest.update(np.ascontiguousarray(array, np.int64).tobytes())
        return digest.hexdigest()

    @cached_property
    def norms(self) -> Doubles:
        """L2 norm of each row (n_samples,)."""
        return np.asarray(np.sqrt(energies(self.X)))

    def scaled(self, matrix: Matrix, dtype: Any = np.float32) -> Matrix:
        """Rows of a matrix like X, each divided by the norm of X's row.

        So X itself becomes rows of norm 1; empty rows stay empty.
        """
        inverse = np.where(self.norms > 0, 1 / np.maximum(self.norms, 1e-300), 0.0)
        return by_row(matrix, inverse, dtype)

    def features(self, feature_ids: Array) -> Self:
        """The features under an index, in its order; facts about the rows stay."""
        vocabulary = self.vocabulary
        if vocabulary is not None:
            vocabulary = tuple(vocabulary[j] for j in feature_ids)
        X = self.X[:, feature_ids]
        if is_sparse(X):
            X.sort_indices()  # the domain of the proofs: columns ascend in each row
        return replace(
            self,
            X=X,
            vocabulary=vocabulary,
            image=None,
            clean=None if self.clean is None else self.clean[:, feature_ids],
            parts=None if self.parts is None else self.parts[:, feature_ids],
            origin="" if self.public else self.account,
            rows_origin="" if self.public else self.row_digest,
        )

    def rows(self, row_ids: Array) -> Self:
        """The rows under an index or a mask."""
        row_ids = np.asarray(row_ids)
        if row_ids.dtype == bool:
            row_ids = np.flatnonzero(row_ids)
        return replace(
            self,
            X=self.X[row_ids],
            titles=None
            if self.titles is None
            else tuple(self.titles[i] for i in row_ids),
            clean=None if self.clean is None else self.clean[row_ids],
            texts=None if self.texts is None else _read(self.texts, row_ids),
            origin="" if self.public else self.account,
            rows_origin="" if self.public else self.row_digest,
            people=None if self.people is None else self.people[row_ids],
        )

    def assuming(self, *assumptions: str) -> Self:
        return replace(
            self, assumptions=tuple(dict.fromkeys((*self.assumptions, *assumptions)))
        )


def energies(matrix: Matrix) -> Doubles:
    """Squared norm of each row of a dense or sparse matrix (n,)."""
    if is_sparse(matrix):
        row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        return np.asarray(
            np.bincount(row, np.square(matrix.data, dtype=np.float64), matrix.shape[0]),
            np.float64,
        )
    # so that a row's digits do not depend on their number
    rows = np.ascontiguousarray(matrix)
    return np.asarray(np.square(rows, dtype=np.float64).sum(axis=1))


def by_row(matrix: Matrix, factors: Array, dtype: Any = np.float32) -> Matrix:
    """Every row of a dense or sparse matrix times its factor."""
    if is_sparse(matrix):
        from scipy.sparse import csr_array

        data = matrix.data.astype(np.float64) * np.repeat(
            factors, np.diff(matrix.indptr)
        )
        return csr_array(
            (data.astype(dtype), matrix.indices, matrix.indptr), shape=matrix.shape
        )
    return (matrix.astype(np.float64) * factors[:, None]).astype(dtype)


def _values(rows: Matrix) -> Array:
    return np.asarray(rows.data if is_sparse(rows) else rows)


def _arrays(part: Matrix | None) -> tuple[Array, ...]:
    if part is None:
        return ()
    if is_sparse(part):
        return (part.data, part.indices, part.indptr)
    return (np.asarray(part),)


def _small(rows: Matrix) -> Matrix:
    """Convert to float32; sparse rows without stored zeros or duplicates, columns in order."""
    out = rows.astype(np.float32)
    if not is_sparse(rows):
        return out
    out.sum_duplicates()
    out.eliminate_zeros()
    return out


def _refuse(rows: Matrix, bad: Array, requirement: str) -> None:
    if not bad.any():
        return
    at = int(np.flatnonzero(bad.ravel())[0])
    row, column = divmod(at, rows.shape[1])
    if is_sparse(rows):
        row = int(np.searchsorted(np.asarray(rows.indptr), at, side="right")) - 1
        column = int(rows.indices[at])
    raise BadInput(
        f"Every number of the samples must be {requirement}. Got {_values(rows).ravel()[at]} in row"
        f" {row + 1}, column {column + 1} ({int(bad.sum()):,} in all)."
    )


def _read(texts: Texts, row_ids: Array) -> Texts:
    ids = [texts.ids[texts.starts[i] : texts.starts[i + 1]] for i in row_ids]
    starts = np.concatenate([[0], np.cumsum([len(part) for part in ids])]).astype(
        np.int64
    )
    return Texts(texts.words, np.concatenate([*ids, np.array([], np.int32)]), starts)


def require_not_negative(bounds: tuple[float, float]) -> None:
    """Raise BadInput on bounds of ratings that cannot be taken as samples."""
    if bounds[0] < 0:
        raise BadInput(
            f"Ratings from {bounds[0]:g} cannot be parts of a sum: non-negative factorisation needs"
            " bounds of at least 0. Choose an algorithm for ratings."
        )


def of_ratings(ratings: Ratings) -> Samples:
    """One row per user with their ratings and zeros elsewhere, for non-negative factorisation."""
    require_not_negative(ratings.bounds)
    X = ratings.matrix(ratings.values.astype(np.float64))
    titles = ratings.titles or tuple(f"item {j}" for j in range(ratings.n_items))
    return Samples(
        _small(X),
        titles,
        unit="user",
        name=ratings.name,
        public=ratings.public,
        assumptions=ratings.assumptions,
        origin="" if ratings.public else ratings.account,
        rows_origin="" if ratings.public else ratings.row_digest,
    )


SamplesAndReport = tuple[Samples, Report]


def samples_report(
    samples: Samples,
    *,
    read: int | None = None,
    problems: tuple[Problem, ...] = (),
    assumed: tuple[str, ...] = (),
) -> Report:
    """The report on documents or images; by default all that were read are kept."""
    n, d = samples.X.shape
    if samples.unit == "document":
        what = ("documents", "words")
    else:
        what = ("images", "pixels")
    return Report(
        name=samples.name,
        what=what,
        read=n if read is None else read,
        kept=n,
        n_users=n,
        n_items=d,
        problems=problems,
        assumed=assumed,
    )
