"""Preparation of samples: words are chosen and weighted, pixels scaled, outliers planted."""

import zlib
from dataclasses import replace
from typing import Literal

import numpy as np
from pydantic import ConfigDict, Field

from dpmf_core.base.errors import BadInput
from dpmf_core.base.frozen import Frozen
from dpmf_core.base.hashing import keyed_uniform
from dpmf_core.data.samples import (
    VOCABULARY_IS_PUBLIC,
    WEIGHTS_ARE_PUBLIC,
    WORDS_ARE_PUBLIC,
    Samples,
    _small,
    _values,
    by_row,
    is_sparse,
)


class Preparation(Frozen):
    """The preparation of samples before they are factorised."""

    model_config = ConfigDict(use_attribute_docstrings=True, allow_inf_nan=False)

    most_samples: int | None = Field(None, ge=2)
    """samples: keep this many rows, chosen by a hash"""
    hashed: int | None = Field(None, ge=2, le=1_000_000)
    """documents: hash words into this many buckets; uses no other document"""
    min_df: int = Field(1, ge=1)
    """documents: keep words in at least this many documents"""
    max_df: float = Field(1.0, gt=0, le=1)
    """documents: keep words in at most this share of documents"""
    most_words: int | None = Field(None, ge=2)
    """documents: keep this many words, those in most documents"""
    drawn_words: int | None = Field(None, ge=2)
    """documents: keep this many words, chosen by a hash"""
    weighting: Literal["tfidf", "tf", "none"] | None = None
    """documents: tfidf unless another is given"""
    outlier_rows: float = Field(0.0, ge=0, le=1)
    """samples: plant outliers in this share of the rows"""
    outlier_cells: float = Field(0.0, ge=0, le=1)
    """samples: share of those rows' cells with outliers"""


def prepared(samples: Samples, how: Preparation) -> Samples:
    """Choose rows, then a vocabulary, then weights; plant outliers last.

    Raises
    ------
    BadInput
        If a step does not suit the data.
    """
    if how.most_samples is not None and how.most_samples < len(samples):
        order = np.argsort(keyed_uniform(0, np.arange(len(samples))), kind="stable")
        samples = samples.rows(np.sort(order[: how.most_samples]))
    if samples.vocabulary is not None and samples.unit != "user":
        samples = _weighted(_with_vocabulary(samples, how), how.weighting or "tfidf")
    elif any((how.hashed, how.most_words, how.drawn_words, how.weighting)) or (
        how.min_df > 1 or how.max_df < 1
    ):
        raise BadInput(
            f"{samples.name} has no words: hashing, document frequencies, vocabulary size and"
            " weights are for documents. Leave these options out."
        )
    if how.outlier_rows and how.outlier_cells:
        samples = contaminated(samples, how.outlier_rows, how.outlier_cells)
    if not _values(samples.X).any():
        raise BadInput(
            f"All rows of {samples.name} are empty with this vocabulary. Relax the vocabulary's"
            " limits."
        )
    return samples


def _with_vocabulary(samples: Samples, how: Preparation) -> Samples:
    if how.hashed:
        return _hashed(samples, how.hashed)
    df = (samples.X > 0).sum(axis=0)
    is_often = (df >= how.min_df) | (how.min_df == 1)
    columns = np.flatnonzero(is_often & (df <= how.max_df * len(samples)))
    is_data_driven = how.min_df > 1 or how.max_df < 1
    if how.most_words is not None and how.most_words < len(columns):
        order = np.argsort(-df[columns], kind="stable")
        is_data_driven = True
        columns = np.sort(columns[order[: how.most_words]])
    if how.drawn_words is not None and how.drawn_words < len(columns):
        order = np.argsort(keyed_uniform(1, columns), kind="stable")
        columns = np.sort(columns[order[: how.drawn_words]])
    if not len(columns):
        raise BadInput(
            f"No word of {samples.name} is in at least {how.min_df} documents and in at most"
            f" {how.max_df:.0%} of them. Relax the limits."
        )
    if len(columns) < samples.X.shape[1]:
        samples = samples.features(columns)
    if is_data_driven:
        return samples.assuming(VOCABULARY_IS_PUBLIC)
    return samples


def _hashed(samples: Samples, buckets: int) -> Samples:
    """Fold words into buckets by a hash of their letters; other documents have no effect.

    Buckets of private documents have no names.
    """
    from scipy.sparse import csr_array

    words = samples.vocabulary or ()
    bucket = np.array([zlib.crc32(word.encode()) % buckets for word in words])
    fold = csr_array(
        (np.ones(len(words), np.float32), (np.arange(len(words)), bucket)),
        shape=(len(words), buckets),
    )
    names: list[list[str]] = [[] for _ in range(buckets)]
    weight = np.asarray(samples.X.sum(axis=0)).ravel()
    for j in np.argsort(-weight, kind="stable"):
        names[bucket[j]].append(words[j])
    labels = tuple(
        ("/".join(some[:2]) if samples.public else "") or f"bucket {b + 1}"
        for b, some in enumerate(names)
    )
    assumptions = tuple(a for a in samples.assumptions if a != WORDS_ARE_PUBLIC)
    parts = samples.parts
    if parts is not None:
        parts = parts @ fold
    return replace(
        samples,
        X=_small(csr_array(samples.X @ fold)),
        vocabulary=labels,
        parts=parts,
        assumptions=assumptions,
    )


def _weighted(samples: Samples, weighting: str) -> Samples:
    """Weigh term counts.

    `none` leaves them as they are. `tf` makes them shares of the document. `tfidf` multiplies them
    by log((1 + n) / (1 + df)) + 1 (scikit-learn's).
    """
    if weighting == "none":
        return samples
    if weighting == "tf":
        totals = np.asarray(samples.X.sum(axis=1), np.float64).ravel()
        return replace(samples, X=by_row(samples.X, 1 / np.maximum(totals, 1e-300)))
    from scipy.sparse import csr_array
    from sklearn.feature_extraction.text import TfidfTransformer

    weights = TfidfTransformer(norm=None).fit(samples.X)
    parts = samples.parts
    if parts is not None:
        parts = parts * weights.idf_
    X = _small(csr_array(weights.transform(samples.X)))
    return replace(samples, X=X, parts=parts).assuming(WEIGHTS_ARE_PUBLIC)


def contaminated(samples: Samples, rows: float, cells: float) -> Samples:
    """Add uniform noise in [-1, 1] to a share of the cells in a share of the rows.

    Each row is first scaled to maximum 1; results below 0 become 0 (Saha & Imtiaz 2022, section 4).
    A hash draws rows and cells, so other rows have no effect. An empty row stays empty.
    """
    X = samples.X
    if is_sparse(X):
        if X.shape[0] * X.shape[1] > 5e7:
            raise BadInput(
                f"Outliers fill empty cells, and {samples.name} is too large for that. Use fewer"
                " rows or words."
            )
        X = X.toarray()
    top = X.max(axis=1, keepdims=True)
    clean = (X / np.where(top > 0, top, 1)).astype(np.float32)
    dirty = clean.copy()
    is_hit = keyed_uniform(0, np.arange(len(X)), 10**9) < rows
    for row in np.flatnonzero(is_hit & (top[:, 0] > 0)):
        hit = keyed_uniform(1, row, np.arange(X.shape[1])) < cells
        noise = 2 * keyed_uniform(2, row, np.arange(X.shape[1])) - 1
        dirty[row, hit] = np.maximum(dirty[row, hit] + noise[hit], 0)
    return replace(samples, X=dirty, clean=clean)
