"""Documents and images: rows of non-negative numbers, one row a privacy unit, or all rows of a person where it is known whose they are.

Saha & Imtiaz 2022 write V (D x N) = W H with a sample a column; here X (N x D) ~ H W with a sample a row. What `prepared` does to a row depends on
that row and on public facts; vocabularies and weights that look at all documents are written down in `assumptions`.
"""

import hashlib
import zlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field
from scipy.sparse import csr_array, issparse

from dpmf_core.data import Ratings, digest_of, keyed_uniform
from dpmf_core.errors import BadInput

Array = npt.NDArray[Any]
Matrix = Any  # csr_array or ndarray, float32 (n_samples, n_features)


def is_sparse(matrix: Matrix) -> bool:
    """scipy's `issparse`, which leaves the type open."""
    return bool(issparse(matrix))


VOCABULARY_IS_PUBLIC = "the vocabulary is public"  # where exact counts chose it
WORDS_ARE_PUBLIC = "the words in the files are public"  # where they were read off the documents
NUMBER_IS_PUBLIC = "the number of samples is public"  # where it is counted in a private file
WEIGHTS_ARE_PUBLIC = "the IDF weights are public"


@dataclass(frozen=True)
class SampleShape:
    """What a plan may know of samples: how many, how many features, how images are laid out (height, width), how many people they are of.

    n_people: None where each row is a unit of its own.
    """

    n_samples: int
    n_features: int
    image: tuple[int, int] | None = None
    n_people: int | None = field(default=None, repr=False)  # the same fingerprint without it

    @property
    def n_units(self) -> int:
        """Rows, or the people who have them."""
        return self.n_samples if self.n_people is None else self.n_people


@dataclass(frozen=True)
class Texts:
    """The words of documents in reading order, for judging topics: `words[ids[starts[i]:starts[i + 1]]]` is document i."""

    words: tuple[str, ...]
    ids: npt.NDArray[np.int32]
    starts: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Samples:
    """Non-negative rows X (n_samples, n_features), dense or sparse, float32.

    vocabulary: the feature names of documents. image: (height, width) of images, row by row. unit: what a row is. titles: a name for each row.
    public, assumptions, origin: as in `Ratings`. For judging only: clean, the rows before outliers were planted; parts (k, n_features), what the rows of a
    simulated set are made of; texts, documents in reading order.
    people (n_samples,), int32 from 0: whose each row is, private; with them a person with all her rows is the privacy unit. n_people: their number, public.
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
    people: npt.NDArray[np.int32] | None = None
    n_people: int | None = None

    @classmethod
    def of(cls, X: Any, *, image: tuple[int, int] | None = None, vocabulary: tuple[str, ...] | None = None, **facts: Any) -> Self:
        """Checked samples. Raises BadInput on what is no table of non-negative finite numbers, naming the first row and column that is not."""
        rows: Matrix = csr_array(X).astype(np.float64) if is_sparse(X) else np.asarray(X, np.float64)
        if rows.ndim != 2 or not min(rows.shape):
            raise BadInput(f"Samples must be a table with a row for each sample and at least one feature. Got the shape {tuple(rows.shape)}.")
        _refuse(rows, ~np.isfinite(_values(rows)), "a finite number")
        _refuse(rows, _values(rows) < 0, "0 or more, for parts can only be added")
        if image is not None and image[0] * image[1] != rows.shape[1]:
            raise BadInput(f"Images of {image[0]} x {image[1]} have {image[0] * image[1]} pixels. The rows have {rows.shape[1]}.")
        if vocabulary is not None and len(vocabulary) != rows.shape[1]:
            raise BadInput(f"The vocabulary has {len(vocabulary):,} words for {rows.shape[1]:,} features.")
        return cls(_small(rows), vocabulary, image, **facts)

    def __len__(self) -> int:
        return int(self.X.shape[0])

    @property
    def shape(self) -> SampleShape:
        return SampleShape(self.X.shape[0], self.X.shape[1], self.image, self.n_people)

    @property
    def protected(self) -> str:
        """The privacy unit: what a row is, or a person with all her rows."""
        return self.unit if self.people is None else "person"

    def of_people(self, people: Any, n_people: int | None = None) -> Self:
        """The same rows, each known to be somebody's. n_people: declared, or one more than the highest. Raises BadInput."""
        ids = np.asarray(people)
        if ids.shape != (len(self),) or ids.dtype.kind not in "iu":
            raise BadInput(f"Whose each of the {len(self):,} rows is must be said by a whole number for each. Got {ids.dtype} of shape {tuple(ids.shape)}.")
        count = int(ids.max()) + 1 if n_people is None else n_people
        if ids.min() < 0 or ids.max() >= count:
            raise BadInput(f"People are numbered from 0 to {count - 1:,}. Got {ids.min():,} to {ids.max():,}.")
        return replace(self, people=ids.astype(np.int32), n_people=count)

    @cached_property
    def weights(self) -> npt.NDArray[np.float64] | None:
        """What each row counts in a sum over all (n_samples,): one over the number of rows of its person that are not empty; None where rows are units.

        A person's rows then count as much as one row together: sums of x, of x x^T and of h x^T move by no more than one row's bound when she joins or leaves.
        """
        if self.people is None:
            return None
        filled = self.norms > 0
        return np.asarray(filled / np.maximum(np.bincount(self.people, filled, self.n_people or 0), 1)[self.people])

    @cached_property
    def fingerprint(self) -> str:
        """sha256 over everything that an algorithm or a figure can see."""
        facts = (
            self.shape,
            self.public,
            self.assumptions,
            self.unit,
            self.vocabulary if self.vocabulary is None else zlib.crc32("\n".join(self.vocabulary).encode()),
        )
        digest = hashlib.sha256(repr(facts).encode())
        for part in (self.X, self.clean, self.parts, None if self.texts is None else self.texts.ids):
            for array in _arrays(part):
                digest.update(np.ascontiguousarray(array).tobytes())
        if self.people is not None:
            digest.update(f"people {self.n_people}".encode())
            digest.update(np.ascontiguousarray(self.people).tobytes())
        return digest.hexdigest()

    @property
    def account(self) -> str:
        """As of `Ratings`."""
        return self.origin or digest_of(*_arrays(self.X))

    @cached_property
    def reading(self) -> str:
        """sha256 over the words of all documents, in reading order where it is known."""
        words, ids = (self.vocabulary or (), self.X.indices) if self.texts is None else (self.texts.words, self.texts.ids)
        bounds = self.X.indptr if self.texts is None else self.texts.starts
        digest = hashlib.sha256("\n".join(words).encode())
        for array in (ids, bounds):
            digest.update(np.ascontiguousarray(array, np.int64).tobytes())
        return digest.hexdigest()

    @cached_property
    def norms(self) -> npt.NDArray[np.float64]:
        """L2 norm of each row (n_samples,)."""
        return np.asarray(np.sqrt(energies(self.X)))

    def scaled(self, matrix: Matrix, dtype: Any = np.float32) -> Matrix:
        """Rows of a matrix like X, each divided by the norm of X's row, so that X itself becomes rows of norm 1; empty rows stay empty."""
        return by_row(matrix, np.where(self.norms > 0, 1 / np.maximum(self.norms, 1e-300), 0.0), dtype)

    def features(self, kept: Array) -> Self:
        """The features under an index, in its order; what is known of the rows stays."""
        vocabulary = None if self.vocabulary is None else tuple(self.vocabulary[j] for j in kept)
        return replace(
            self, X=self.X[:, kept], vocabulary=vocabulary, image=None, clean=None if self.clean is None else self.clean[:, kept],
            parts=None if self.parts is None else self.parts[:, kept], origin="" if self.public else self.account,
        )  # fmt: skip

    def rows(self, kept: Array) -> Self:
        """The rows under an index or a mask."""
        kept = np.flatnonzero(kept) if np.asarray(kept).dtype == bool else np.asarray(kept)
        return replace(
            self, X=self.X[kept], titles=None if self.titles is None else tuple(self.titles[i] for i in kept),
            clean=None if self.clean is None else self.clean[kept], texts=None if self.texts is None else _read(self.texts, kept),
            origin="" if self.public else self.account,
            people=None if self.people is None else self.people[kept],
        )  # fmt: skip

    def assuming(self, *assumptions: str) -> Self:
        return replace(self, assumptions=tuple(dict.fromkeys((*self.assumptions, *assumptions))))


def energies(matrix: Matrix) -> npt.NDArray[np.float64]:
    """Squared norm of each row of a dense or sparse matrix (n,)."""
    if is_sparse(matrix):
        row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        return np.asarray(np.bincount(row, np.square(matrix.data, dtype=np.float64), matrix.shape[0]), np.float64)
    return np.asarray(np.square(matrix, dtype=np.float64).sum(axis=1), np.float64)


def by_row(matrix: Matrix, factors: Array, dtype: Any = np.float32) -> Matrix:
    """Every row of a dense or sparse matrix times its factor."""
    if is_sparse(matrix):
        data = matrix.data.astype(np.float64) * np.repeat(factors, np.diff(matrix.indptr))
        return csr_array((data.astype(dtype), matrix.indices, matrix.indptr), shape=matrix.shape)
    return (matrix.astype(np.float64) * factors[:, None]).astype(dtype)


def _values(rows: Matrix) -> Array:
    return np.asarray(rows.data if is_sparse(rows) else rows)


def _arrays(part: Matrix | None) -> tuple[Array, ...]:
    if part is None:
        return ()
    return (part.data, part.indices, part.indptr) if is_sparse(part) else (np.asarray(part),)


def _small(rows: Matrix) -> Matrix:
    """float32; sparse rows without stored zeros, columns in order."""
    with np.errstate(over="ignore"):  # what is too large for float32 is refused as infinite
        out = rows.astype(np.float32)
    if not is_sparse(rows):
        return out
    out.eliminate_zeros()
    out.sort_indices()
    return out


def _refuse(rows: Matrix, bad: Array, allowed: str) -> None:
    if not bad.any():
        return
    at = int(np.flatnonzero(bad.ravel())[0])
    if is_sparse(rows):
        row, column = int(np.searchsorted(np.asarray(rows.indptr), at, side="right")) - 1, int(rows.indices[at])
    else:
        row, column = divmod(at, rows.shape[1])
    raise BadInput(
        f"Every number of the samples must be {allowed}. Got {_values(rows).ravel()[at]} in row {row + 1}, column {column + 1} ({int(bad.sum()):,} in all)."
    )


def _read(texts: Texts, kept: Array) -> Texts:
    ids = [texts.ids[texts.starts[i] : texts.starts[i + 1]] for i in kept]
    return Texts(texts.words, np.concatenate([*ids, np.array([], np.int32)]), np.concatenate([[0], np.cumsum([len(part) for part in ids])]).astype(np.int64))


def of_ratings(ratings: Ratings) -> Samples:
    """A row of zeros for each user with her ratings in it: what non-negative factorisation makes of a ratings table."""
    if ratings.bounds[0] < 0:
        raise BadInput(f"Ratings from {ratings.bounds[0]:g} cannot be parts of a sum: non-negative factorisation needs bounds from 0 up.")
    X = csr_array((ratings.values.astype(np.float64), ratings.items, ratings.by_user), shape=(ratings.n_users, ratings.n_items))
    titles = ratings.titles or tuple(f"item {j}" for j in range(ratings.n_items))
    origin = "" if ratings.public else ratings.account
    return Samples(_small(X), titles, unit="user", name=ratings.name, public=ratings.public, assumptions=ratings.assumptions, origin=origin)


# ---- what is done to samples before they are factorised -----------------------------------------------------------------


class Preparation(BaseModel):
    """What is done to samples before they are factorised."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    most_samples: int | None = Field(None, ge=2, description="samples: keep so many rows, drawn by a hash")
    hashed: int | None = Field(None, ge=2, le=1_000_000, description="documents: fold words into so many buckets by a hash; nothing is learned from others")
    min_df: int = Field(1, ge=1, description="documents: words in at least so many documents")
    max_df: float = Field(1.0, gt=0, le=1, allow_inf_nan=False, description="documents: words in at most this share of them")
    most_words: int | None = Field(None, ge=2, description="documents: the words in most documents")
    drawn_words: int | None = Field(None, ge=2, description="documents: so many words, drawn by a hash")
    weighting: Literal["tfidf", "tf", "none"] | None = Field(None, description="documents: tfidf unless another is given")
    outlier_rows: float = Field(0.0, ge=0, le=1, allow_inf_nan=False, description="samples: plant outliers in this share of the rows")
    outlier_cells: float = Field(0.0, ge=0, le=1, allow_inf_nan=False, description="samples: and in this share of their cells")


def prepared(samples: Samples, how: Preparation) -> Samples:
    """Fewer rows, a vocabulary, weights, planted outliers: in this order. Raises BadInput where a step does not suit the data."""
    if how.most_samples is not None and how.most_samples < len(samples):
        samples = samples.rows(np.sort(np.argsort(keyed_uniform(0, np.arange(len(samples))), kind="stable")[: how.most_samples]))
    if samples.vocabulary is not None and samples.unit != "user":
        samples = _weighted(_with_vocabulary(samples, how), how.weighting or "tfidf")
    elif how.hashed or how.most_words or how.drawn_words or how.weighting or how.min_df > 1 or how.max_df < 1:
        raise BadInput(f"{samples.name} has no words: hashing, document frequencies, vocabulary size and weights are for documents.")
    if how.outlier_rows and how.outlier_cells:
        samples = contaminated(samples, how.outlier_rows, how.outlier_cells)
    if not _values(samples.X).any():
        raise BadInput(f"Nothing of {samples.name} is left: every row is empty. Loosen the vocabulary's limits.")
    return samples


def _with_vocabulary(samples: Samples, how: Preparation) -> Samples:
    if how.hashed:
        return _hashed(samples, how.hashed)
    df = np.bincount(samples.X.indices, minlength=samples.X.shape[1]) if is_sparse(samples.X) else (samples.X > 0).sum(axis=0)
    kept = np.flatnonzero(((df >= how.min_df) | (how.min_df == 1)) & (df <= how.max_df * len(samples)))
    chosen = how.min_df > 1 or how.max_df < 1
    if how.most_words is not None and how.most_words < len(kept):
        kept, chosen = np.sort(kept[np.argsort(-df[kept], kind="stable")[: how.most_words]]), True
    if how.drawn_words is not None and how.drawn_words < len(kept):
        kept = np.sort(kept[np.argsort(keyed_uniform(1, kept), kind="stable")[: how.drawn_words]])
    if not len(kept):
        raise BadInput(f"No word of {samples.name} is in at least {how.min_df} documents and in at most {how.max_df:.0%} of them. Loosen the limits.")
    if len(kept) < samples.X.shape[1]:
        samples = samples.features(kept)
    return samples.assuming(VOCABULARY_IS_PUBLIC) if chosen else samples


def _hashed(samples: Samples, buckets: int) -> Samples:
    """Words folded into buckets by a hash of their letters: nothing is learned from other documents. Buckets of private documents have no names."""
    words = samples.vocabulary or ()
    bucket = np.array([zlib.crc32(word.encode()) % buckets for word in words])
    fold = csr_array((np.ones(len(words), np.float32), (np.arange(len(words)), bucket)), shape=(len(words), buckets))
    names: list[list[str]] = [[] for _ in range(buckets)]
    weight = np.asarray(samples.X.sum(axis=0)).ravel()
    for j in np.argsort(-weight, kind="stable"):
        names[bucket[j]].append(words[j])
    labels = tuple(("/".join(some[:2]) if samples.public else "") or f"bucket {b + 1}" for b, some in enumerate(names))
    kept = tuple(a for a in samples.assumptions if a != WORDS_ARE_PUBLIC)
    parts = None if samples.parts is None else samples.parts @ fold
    return replace(samples, X=_small(csr_array(samples.X @ fold)), vocabulary=labels, parts=parts, assumptions=kept)


def _weighted(samples: Samples, weighting: str) -> Samples:
    """Term counts as they are (`none`), as shares of the document (`tf`), or times log((1 + n) / (1 + df)) + 1 (`tfidf`, scikit-learn's)."""
    if weighting == "none":
        return samples
    if weighting == "tf":
        totals = np.asarray(samples.X.sum(axis=1), np.float64).ravel()
        return replace(samples, X=by_row(samples.X, 1 / np.maximum(totals, 1e-300)))
    from sklearn.feature_extraction.text import TfidfTransformer

    weights = TfidfTransformer(norm=None).fit(samples.X)
    parts = None if samples.parts is None else samples.parts * weights.idf_
    return replace(samples, X=_small(csr_array(weights.transform(samples.X))), parts=parts).assuming(WEIGHTS_ARE_PUBLIC)


def contaminated(samples: Samples, rows: float, cells: float, seed: int = 0) -> Samples:
    """Uniform noise in [-1, 1] on a share of the cells of a share of the rows, after each row was scaled to maximum 1; what falls below 0 becomes 0.

    (Saha & Imtiaz 2022, section 4.) Which rows and cells is drawn by a hash, so a row's fate is its own. An empty row stays empty.
    """
    if is_sparse(samples.X) and samples.X.shape[0] * samples.X.shape[1] > 5e7:
        raise BadInput(f"Outliers fill empty cells: {samples.name} is too large for that. Use fewer rows or words.")
    X = samples.X.toarray() if is_sparse(samples.X) else samples.X
    top = X.max(axis=1, keepdims=True)
    clean = (X / np.where(top > 0, top, 1)).astype(np.float32)
    dirty = clean.copy()
    for row in np.flatnonzero((keyed_uniform(seed, np.arange(len(X)), 10**9) < rows) & (top[:, 0] > 0)):
        hit = keyed_uniform(seed + 1, row, np.arange(X.shape[1])) < cells
        noise = 2 * keyed_uniform(seed + 2, row, np.arange(X.shape[1])) - 1
        dirty[row, hit] = np.maximum(dirty[row, hit] + noise[hit], 0)
    return replace(samples, X=dirty, clean=clean)
