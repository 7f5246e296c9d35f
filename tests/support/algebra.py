"""What many tests of algorithms compute: exact sums, short rows, predictions, random streams."""

from typing import Any

import numpy as np

from dpmf_core.algorithms import Streams
from dpmf_core.curator import OpenCurator, in_memory
from dpmf_core.privacy import NOTHING, Noise
from tests.support.dense import Array


def streams(seed: int = 0, sampling: int = 1) -> Streams:
    """Random streams of an algorithm. seed: of its starting values."""
    return Streams(np.random.default_rng(seed), sampling)


def exact_curator(data: Any, blocks: int = 1) -> OpenCurator:
    """A curator of data in so many blocks, whose sums have no noise."""
    return OpenCurator(in_memory(data, blocks), Noise(NOTHING), {})


def predict(model: Any, data: Any, users: Any, items: Any) -> Array:
    """Predictions for pairs of users and items, with personal factors learned from the data."""
    return np.asarray(model.predict(model.personal(data), users, items))


def shortened(rows: Array, bound: float) -> Array:
    """Rows (n, m), of which none is longer than `bound`."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows * np.minimum(1, bound / np.maximum(lengths, 1e-300)))


def orthonormal(random: np.random.Generator, n_rows: int, n_columns: int) -> Array:
    """A random matrix (n_rows, n_columns) with orthonormal columns."""
    return np.linalg.qr(random.normal(size=(n_rows, n_columns)))[0]


def relative(rows: Array, length: float = 1.0) -> Array:
    """Vectors (..., m) scaled to this length."""
    return np.asarray(length * rows / np.linalg.norm(rows, axis=-1, keepdims=True))
