"""What a noisy mean row and the noisy second moment about it tell of the distribution of images.

A row x of norm 1 is a c + y: c the unit mean row, y at right angles to it, a = sqrt(1 - ||y||^2).
Everything here is post-processing.
"""

import math
from dataclasses import dataclass

import numpy as np

from dpmf_core.algorithms.base import Array
from dpmf_core.algorithms.moments import (
    denoised_spectrum,
    leading_axes,
    orthonormal_basis,
    overfit,
)
from dpmf_core.algorithms.nmf import unit_parts
from dpmf_core.kernels import parts as kernel

LEAST_REACH = 0.1  # a mean row that noise has made too long says nothing of shorter residuals
LEAST_SHARE = 0.05  # of a point's squared norm, along the mean row


def residual_reach(total: Array, centre: Array, n: int) -> float:
    """The norm beyond which residuals of unit rows about `centre` are clipped, from the noisy sum
    of n rows: what a row has left whose part along the centre is the mean one.

    The root mean square of the residuals is at most that.
    """
    along = float(np.clip(total @ centre / n, 0, 1))
    return max(LEAST_REACH, math.sqrt(1 - along**2))


def patterns_under(centre: Array, axes: Array | None) -> Array:
    """Orthonormal rows (d, d) that span what the centre times the foremost axes spans: images
    differ most by slow changes of light on what they share.
    """
    if axes is None:
        return np.eye(len(centre))
    return np.asarray(np.linalg.qr((axes * centre).T)[0].T)


@dataclass(frozen=True)
class ResidualDistribution:
    """Rows about a unit vector centre (d,), by a normal distribution of their residuals.

    axes (d, d): orthonormal rows. space (k, d): orthonormal directions that stand out of the noise,
    in coordinates along the axes; spreads (k,): deviations along them. remainder (d,): variances
    along the axes of what does not stand out. excess (k,): by how much draws have more variance
    along a direction than the rows, for it was found in the moment and leans towards its noise.
    """

    centre: Array
    axes: Array
    space: Array
    spreads: Array
    remainder: Array
    excess: Array

    def points(self, z: Array) -> Array:
        """Draws (count, d), cut off at 0, float32, from standard normal numbers z (count, d)."""
        along = z @ self.space.T
        rest = self._outside(self._outside(z) * np.sqrt(self.remainder))
        y = ((along * self.spreads) @ self.space + rest) @ self.axes
        y -= np.outer(y @ self.centre, self.centre)
        share = np.sqrt(np.maximum(1 - (y**2).sum(axis=1), LEAST_SHARE))
        return np.asarray(np.maximum(share[:, None] * self.centre + y, 0), np.float32)

    def lead(self, W: Array, other: Array, points: Array) -> float:
        """By how much the objective 1/2N ||X - H W||^2 is smaller with the parts W (K, d), which
        were found here, than with others: estimated on draws that neither has seen.
        """
        directions = self.space @ self.axes
        overstatement = ((directions @ orthonormal_basis(W).T) ** 2).sum(axis=1) @ self.excess / 2
        return float(
            unexplained_energy(points, other) - unexplained_energy(points, W) - overstatement
        )

    def _outside(self, rows: Array) -> Array:
        return np.asarray(rows - (rows @ self.space.T) @ self.space)


def unexplained_energy(points: Array, W: Array) -> float:
    """Half the mean squared distance of points (count, d) from sums of parts W (K, d)."""
    P, parts = points.astype(np.float64), unit_parts(W).astype(np.float64)
    products, G = P @ parts.T, parts @ parts.T
    H = kernel.coefficients(products, G)
    explained_energies = np.einsum("ik,ik->i", H, 2 * products - H @ G)
    return float(((P**2).sum(axis=1) - explained_energies).mean() / 2)


def estimate_residuals(
    M: Array, centre: Array, scale: float, n: int, axes: Array | None
) -> ResidualDistribution:
    """The distribution behind M, the sum of y y^T of n rows plus noise of deviation `scale` on its
    diagonal. axes: as of `patterns_under`.

    What lies below the noise is not left out: on the axes, in their order, the diagonal is an
    unbiased estimate of it, and falls.
    """
    from scipy.optimize import isotonic_regression  # loaded when first needed

    patterns = patterns_under(centre, axes)
    inside = patterns @ M @ patterns.T
    keep = leading_axes(inside, scale)
    values, vectors = denoised_spectrum(inside[:keep, :keep], scale)
    space = np.zeros((len(values), len(M)))
    space[:, :keep] = vectors.T
    remainder = np.diag(inside) - values @ space**2
    return ResidualDistribution(
        centre,
        patterns,
        space,
        np.sqrt(values / n),
        np.maximum(isotonic_regression(remainder, increasing=False).x, 0) / n,
        overfit(values, keep * scale**2 / 2) / (2 * n),
    )
