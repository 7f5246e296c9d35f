"""The distribution of samples behind a noisy sum and a noisy second moment, by post-processing.

The moment may be of rows, or of residuals about a mean row. A row x of norm 1 is a c + y: c the
unit mean row, y at right angles to it, a = sqrt(1 - ||y||^2).
"""

import math
from dataclasses import dataclass

import numpy as np

from dpmf_core.algorithms.nmf import unit_components
from dpmf_core.base.arrays import Array
from dpmf_core.data.samples import SampleShape
from dpmf_core.kernels import nmf_loops as kernel

EDGE = 1.0  # in units of the noise's largest eigenvalue; what is below looks like noise
CANDIDATES = 12  # numbers of leading axes to try
MOST_FEATURES = 4096  # of a second moment that is held in full: 134 MB


def least_signal(shape: SampleShape) -> float:
    """Samples times mu below which a second moment costs the mean row more than it shows.

    A mean row of many words needs more signal to be seen itself. Chosen on 400 images of Extended
    Yale B and the synthetic faces and on 3,000 documents of TDT2; checked on digits and synthetic
    news.
    """
    if shape.image is not None:
        return 150.0
    return max(150.0, 2.6 * math.sqrt(shape.n_features))


@dataclass(frozen=True)
class RowDistribution:
    """A normal distribution that produces draws in place of the rows.

    Attributes
    ----------
    mean : (d,)
    directions : (k, d)
    spreads : (k,)
        Deviations along the directions.
    space : (k, d)
        Orthonormal rows that were found in the released moment.
    overfit : (k,)
        How much the moment overstates the rows' squared norm along each row of `space`. It does so
        because each of them leans towards the noise.
    """

    mean: Array
    directions: Array
    spreads: Array
    space: Array
    overfit: Array

    def points(self, z: Array) -> Array:
        """Draws (count, d), cut off at 0, float32, from standard normals z (count, d).

        Each draw uses the first k.
        """
        rows = self.mean + (z[:, : len(self.spreads)] * self.spreads) @ self.directions
        return np.asarray(np.maximum(rows, 0), np.float32)

    def overstatement(self, W: Array) -> float:
        """How much the moment overstates the rows' squared norm in the span of W's rows (K, d)."""
        return float(
            ((self.space @ orthonormal_basis(W).T) ** 2).sum(axis=1) @ self.overfit
        )


def axes(shape: SampleShape) -> Array | None:
    """Orthonormal rows that concentrate what images show; None for other samples."""
    if shape.image is None:
        return None
    return cosine_patterns(shape.image)


def cosine_patterns(image: tuple[int, int]) -> Array:
    """Cosine patterns (pixels, pixels) of an image as orthonormal rows, slow ones first."""
    from scipy.fft import idctn

    height, width = image
    size = height * width
    pixels = np.eye(size).reshape(size, height, width)
    patterns = idctn(pixels, axes=(1, 2), norm="ortho").reshape(size, size)
    turns = np.add.outer(
        (np.arange(height) / height) ** 2, (np.arange(width) / width) ** 2
    ).ravel()
    return patterns[np.argsort(turns, kind="stable")]


def estimate_distribution(
    M: Array, total: Array, scale: float, n: int
) -> RowDistribution:
    """The distribution behind noisy sums, with the most informative features first.

    Parameters
    ----------
    M : (d, d)
        The sum of x x^T plus noise.
    total : (d,)
        The noisy sum of x.
    scale : float
        The deviation of M's noise on its diagonal.
    n : int
        The number of rows.
    """
    keep = leading_axes(M, scale)
    values, vectors = denoised_spectrum(M[:keep, :keep], scale)
    Q = np.zeros((len(values), len(M)))  # orthonormal
    Q[:, :keep] = vectors.T
    first = Q @ total / n  # the mean, as far as it is visible
    covariance = np.diag(values / n) - np.outer(first, first)
    spreads, rotation = np.linalg.eigh((covariance + covariance.T) / 2)
    normal = first @ Q, rotation.T @ Q, np.sqrt(np.maximum(spreads, 0))
    return RowDistribution(*normal, Q, overfit(values, keep * scale**2 / 2))


def overfit(values: Array, spread: float) -> Array:
    """A spike of l shows as l + v / l along a direction in which the rows have only l - v / l."""
    return np.where(values > 0, 2 * spread / np.maximum(values, 1e-300), 0.0)


def _energy(values: Array, spread: float) -> float:
    return float(
        np.sum(values - np.where(values > 0, spread / np.maximum(values, 1e-300), 0))
    )


def denoised_spectrum(M: Array, scale: float) -> tuple[Array, Array]:
    """Eigenvalues without the noise's part (k,), largest first, and eigenvectors (m, k).

    There is at least one. A spike of l under symmetric noise with entries of variance v = scale^2 /
    2 shows at l + m v / l, if l > sqrt(m v) (Capitaine et al. 2009).
    """
    spread = len(M) * scale**2 / 2
    values, vectors = np.linalg.eigh(M)
    values = values[::-1]
    vectors = vectors[:, ::-1]
    k = max(1, int((values > EDGE * 2 * np.sqrt(spread)).sum()))
    root = np.sqrt(np.maximum(values[:k] ** 2 - 4 * spread, 0))
    return np.maximum((values[:k] + root) / 2, 0), vectors[:, :k]


def leading_axes(M: Array, scale: float) -> int:
    """How many leading axes to keep.

    Their spikes, minus what noise turns out of them, hold most of the rows' energy.
    """
    m = len(M)
    candidates = np.unique(np.geomspace(min(m, 4), m, CANDIDATES).round().astype(int))

    def energy(keep: int) -> float:
        return _energy(
            denoised_spectrum(M[:keep, :keep], scale)[0], keep * scale**2 / 2
        )

    return int(candidates[int(np.argmax([energy(int(keep)) for keep in candidates]))])


def mean_row(total: Array, scale: float, axes: Array | None) -> Array:
    """The direction (d,), at least 0, of a released sum of rows with noise of deviation `scale`.

    Coordinates (along `axes`, if given) are soft-thresholded at the least estimated risk (Donoho &
    Johnstone 1995, SURE). Even if nothing exceeds the noise, the result is a direction.
    """
    y = total if axes is None else axes @ total
    size = np.abs(y)
    sorted_sizes = np.sort(size)
    # the number of coordinates at or below the threshold
    threshold = np.append(0.0, sorted_sizes)
    below = np.arange(len(y) + 1)
    risk = (len(y) - 2 * below) * scale**2 + np.append(0.0, np.cumsum(sorted_sizes**2))
    risk = risk + (len(y) - below) * threshold**2
    signal = np.sign(y) * np.maximum(size - threshold[np.argmin(risk)], 0)
    row = np.maximum(signal if axes is None else signal @ axes, 0)
    return row if row.any() else np.ones(len(row))


def pieces(row: Array, K: int, image: tuple[int, int] | None) -> Array:
    """Cut a row into K pieces (K, d) that add up to it.

    An image is cut into overlapping tiles; words are dealt out in turn, heaviest first. A sample
    with one size for each piece is explained at least as well as with one for the whole row.
    """
    if image is None:
        W = np.zeros((K, len(row)))
        order = np.argsort(-row, kind="stable")
        W[np.arange(len(row)) % K, order] = row[order]
        return W
    height, width = image
    bands = min(max(1, round(np.sqrt(K * height / width))), K)
    tiles = [K // bands + (band < K % bands) for band in range(bands)]
    windows = [
        np.outer(down, across).ravel()
        for down, count in zip(_hats(height, bands), tiles, strict=True)
        for across in _hats(width, count)
    ]
    return np.array(windows) * row


def _hats(size: int, count: int) -> Array:
    """Triangular windows (count, size) that overlap by half and add up to 1."""
    place = np.clip((np.arange(size) + 0.5) / size * count - 0.5, 0, count - 1)
    return np.asarray(np.maximum(0, 1 - np.abs(place - np.arange(count)[:, None])))


def explained_energy(M: Array, W: Array) -> float:
    """The rows' squared norm in the span of W's rows (K, d), by a released moment M (d, d).

    It is unbiased if M's noise is independent of W.
    """
    Q = orthonormal_basis(W)
    return float(np.einsum("id,de,ie->", Q, M, Q, optimize=True))


def orthonormal_basis(W: Array) -> Array:
    """Orthonormal rows that span those of W."""
    _, values, Q = np.linalg.svd(W, full_matrices=False)
    return np.asarray(Q[values > 1e-9 * values.max(initial=0.0)])


# a mean row that noise made too long says nothing about shorter residuals
LEAST_REACH = 0.1
LEAST_SHARE = 0.05  # of a point's squared norm, along the mean row


def residual_reach(total: Array, centre: Array, n: int) -> float:
    """The norm at which residuals of unit rows about `centre` are clipped.

    It is the norm of the residual of a row with a mean part along the centre. The mean part comes
    from the noisy sum of n rows. The root mean square of the residuals is at most that norm.
    """
    along = float(np.clip(total @ centre / n, 0, 1))
    return max(LEAST_REACH, math.sqrt(1 - along**2))


def patterns_under(centre: Array, axes: Array | None) -> Array:
    """Orthonormal rows (d, d) that span the centre times the leading axes.

    Images differ most by slow changes of light on what they share.
    """
    if axes is None:
        return np.eye(len(centre))
    return np.linalg.qr((axes * centre).T)[0].T


@dataclass(frozen=True)
class ResidualDistribution:
    """Rows about a unit vector, by a normal distribution of their residuals.

    Attributes
    ----------
    centre : (d,)
        The unit vector.
    axes : (d, d)
        Orthonormal rows.
    space : (k, d)
        Orthonormal directions above the noise, in coordinates along the axes.
    spreads : (k,)
        Deviations along the directions.
    remainder : (d,)
        Variances of the rest along the axes.
    excess : (k,)
        How much more variance draws have along a direction than the rows. They have more because
        the direction was found in the moment and leans towards the noise.
    """

    centre: Array
    axes: Array
    space: Array
    spreads: Array
    remainder: Array
    excess: Array

    def points(self, z: Array) -> Array:
        """Draws (count, d), cut off at 0, float32, from standard normals z (count, d)."""
        along = z @ self.space.T
        rest = self._outside(self._outside(z) * np.sqrt(self.remainder))
        y = ((along * self.spreads) @ self.space + rest) @ self.axes
        y -= np.outer(y @ self.centre, self.centre)
        share = np.sqrt(np.maximum(1 - (y**2).sum(axis=1), LEAST_SHARE))
        return np.asarray(np.maximum(share[:, None] * self.centre + y, 0), np.float32)

    def lead(self, W: Array, other: Array, points: Array) -> float:
        """How much smaller 1/2N ||X - H W||^2 is with W (K, d), found here, than with `other`.

        It is estimated on draws that neither has seen.
        """
        directions = self.space @ self.axes
        overstatement = (
            ((directions @ orthonormal_basis(W).T) ** 2).sum(axis=1) @ self.excess / 2
        )
        return float(
            unexplained_energy(points, other)
            - unexplained_energy(points, W)
            - overstatement
        )

    def _outside(self, rows: Array) -> Array:
        return np.asarray(rows - (rows @ self.space.T) @ self.space)


def unexplained_energy(points: Array, W: Array) -> float:
    """Half the mean squared distance of points (count, d) from sums of components W (K, d)."""
    P = points.astype(np.float64)
    basis = unit_components(W).astype(np.float64)
    products = P @ basis.T
    G = basis @ basis.T
    H = kernel.coefficients(products, G)
    explained_energies = np.einsum("ik,ik->i", H, 2 * products - H @ G)
    return float(((P**2).sum(axis=1) - explained_energies).mean() / 2)


def estimate_residuals(
    M: Array, centre: Array, scale: float, n: int, axes: Array | None
) -> ResidualDistribution:
    """The distribution behind M, the sum of y y^T of n rows plus noise.

    Variance below the noise is kept. Along the axes the diagonal is an unbiased estimate of it,
    made to decrease.

    Parameters
    ----------
    M : (d, d)
    centre : (d,)
    scale : float
        The deviation of the noise on the diagonal.
    n : int
    axes : (d, d) or None
        See `patterns_under`.
    """
    from scipy.optimize import isotonic_regression  # loaded when first needed

    patterns = patterns_under(centre, axes)
    inside = patterns @ M @ patterns.T
    keep = leading_axes(inside, scale)
    values, vectors = denoised_spectrum(inside[:keep, :keep], scale)
    space = np.zeros((len(values), len(M)))
    space[:, :keep] = vectors.T
    remainder = np.diag(inside) - values @ space**2
    rest = np.maximum(isotonic_regression(remainder, increasing=False).x, 0) / n
    excess = overfit(values, keep * scale**2 / 2) / (2 * n)
    return ResidualDistribution(
        centre, patterns, space, np.sqrt(values / n), rest, excess
    )
