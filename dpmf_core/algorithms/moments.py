"""What a noisy sum and a noisy second moment of rows tell of their distribution. Everything here is post-processing."""

from dataclasses import dataclass

import numpy as np

from dpmf_core.algorithms.base import Array

EDGE = 1.0  # of the noise's largest eigenvalue: what lies below cannot be told from noise
CANDIDATES = 12  # of how many leading axes to look at


@dataclass(frozen=True)
class Seen:
    """mean (d,), directions (k, d), spreads (k,): a normal distribution whose draws stand for the rows."""

    mean: Array
    directions: Array
    spreads: Array

    def points(self, z: Array) -> Array:
        """Draws (count, d), cut off at 0, float32, from standard normal numbers z (count, d), of which each takes the first k."""
        rows = self.mean + (z[:, : len(self.spreads)] * self.spreads) @ self.directions
        return np.asarray(np.maximum(rows, 0), np.float32)


def by_frequency(image: tuple[int, int]) -> Array:
    """Cosine patterns (pixels, pixels) of an image as orthonormal rows, slow ones first."""
    from scipy.fft import idctn

    height, width = image
    size = height * width
    patterns = idctn(np.eye(size).reshape(size, height, width), axes=(1, 2), norm="ortho").reshape(size, size)
    turns = np.add.outer((np.arange(height) / height) ** 2, (np.arange(width) / width) ** 2).ravel()
    return np.asarray(patterns[np.argsort(turns, kind="stable")])


def seen(M: Array, total: Array, scale: float, n: int, axes: Array | None) -> Seen:
    """The distribution behind noisy sums. M: sum of x x^T plus noise of deviation `scale` on its diagonal. axes: orthonormal rows, most telling first."""
    inside = M if axes is None else axes @ M @ axes.T
    keep = _most_telling(inside, scale)
    values, vectors = _above_noise(inside[:keep, :keep], scale)
    front = np.eye(len(M))[:keep] if axes is None else axes[:keep]  # (keep, d)
    Q = vectors.T @ front  # (k, d), orthonormal
    first = Q @ total / n  # the mean, where anything is seen of it
    covariance = np.diag(values / n) - np.outer(first, first)
    spreads, turned = np.linalg.eigh((covariance + covariance.T) / 2)
    return Seen(first @ Q, turned.T @ Q, np.sqrt(np.maximum(spreads, 0)))


def _above_noise(M: Array, scale: float) -> tuple[Array, Array]:
    """Eigenvalues without what noise adds to them (k,), largest first, and eigenvectors (m, k); at least one.

    A spike of l under symmetric noise with entries of variance v = scale^2 / 2 shows at l + m v / l, if l > sqrt(m v) (Capitaine et al. 2009).
    """
    spread = len(M) * scale**2 / 2
    values, vectors = np.linalg.eigh(M)
    values, vectors = values[::-1], vectors[:, ::-1]
    k = max(1, int((values > EDGE * 2 * np.sqrt(spread)).sum()))
    root = np.sqrt(np.maximum(values[:k] ** 2 - 4 * spread, 0))
    return np.maximum((values[:k] + root) / 2, 0), vectors[:, :k]


def _most_telling(M: Array, scale: float) -> int:
    """How many leading axes to keep: those whose spikes, less what noise turns out of them, hold most of the rows' energy."""
    m = len(M)
    candidates = np.unique(np.geomspace(min(m, 4), m, CANDIDATES).round().astype(int))

    def energy(keep: int) -> float:
        values, _ = _above_noise(M[:keep, :keep], scale)
        spread = keep * scale**2 / 2
        return float(np.sum(values - np.where(values > 0, spread / np.maximum(values, 1e-300), 0)))

    return int(candidates[int(np.argmax([energy(int(keep)) for keep in candidates]))])
