"""Eigenpairs of a released second moment of items, and item factors from them: post-processing.

Eigenpairs below the noise are dropped, the others are shrunk.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.sparse.linalg import eigsh, svds

from dpmf_core.base.arrays import Array


@dataclass(frozen=True)
class Spectrum:
    """What a released second moment shows above its noise.

    Attributes
    ----------
    Q : (n_kept, K)
        Eigenvectors.
    eta : (K,)
        Shrunk eigenvalues, above 0.
    error : float or (n_kept, 1)
        The noise variance of the entries of Q eta, one for all or one a row.
    weights : float or (n_kept,)
        What multiplied the moment's rows and columns, one for all or one each.
    """

    Q: Array
    eta: Array
    error: float | Array
    weights: float | Array = 1.0


@dataclass(frozen=True)
class MomentNoise:
    """The noise of a released second moment of unit rows, from privacy and from sampling.

    Attributes
    ----------
    weights : (m,)
        Multiply the moment's rows and columns.
    deviations : (m,)
        s. After the weighting, the noise of entry ij off the diagonal has variance at most s_i s_j.
    """

    weights: Array
    deviations: Array

    @classmethod
    def uniform(cls, m: int, n_users: int, scale: float) -> "MomentNoise":
        """Variance scale^2 / 2 from privacy and n / m^2 from sampling, as if rows were random."""
        return cls(np.ones(m), np.full(m, math.sqrt(scale**2 / 2 + n_users / m**2)))

    @classmethod
    def by_popularity(
        cls, diagonal: Array, n_users: int, scale: float
    ) -> "MomentNoise":
        """Variance scale^2 / 2 from privacy and d_i d_j / n from sampling.

        d is the `diagonal` (m,) of the moment: d_i d_j / n is the sum of a_ui^2 a_uj^2, if entries
        of a row are independent. The sum of both variances is at most the root of those of ii and
        jj multiplied (Cauchy-Schwarz). The weights equalise the noise of popular items. Sums of
        rare items are of few users and not Gaussian, so their weights have a bound.
        """
        typical = float(diagonal @ diagonal) / max(float(diagonal.sum()), 1e-300)
        privacy = scale**2 / 2
        squares = 1 / np.sqrt(privacy + (diagonal + typical) ** 2 / n_users)
        return cls(np.sqrt(squares), squares * np.sqrt(privacy + diagonal**2 / n_users))


def noise_edge(deviations: Array) -> float:
    """The largest eigenvalue of symmetric independent noise of variances s_i s_j, for large m.

    For `deviations` s (m,) it is the least t sqrt(sum_j s_j / (t - s_j)) over t > max s, by the
    Dyson equation (Ajanki, Erdos & Kruger 2017). If all are equal, it is 2 s sqrt(m) (Wigner).
    """
    largest = float(deviations.max(initial=0.0))
    if not largest:
        return 0.0
    s = deviations / largest

    def edge(log_distance: float) -> float:
        t = 1 + math.exp(log_distance)
        return t * math.sqrt(float((s / (t - s)).sum()))

    smallest = minimize_scalar(
        edge,
        bounds=(-20.0, 20.0),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return largest * float(smallest.fun)


def leading_eigenpairs(M: Array, count: int, start: Array) -> tuple[Array, Array]:
    """At least the `count` largest eigenvalues of a symmetric M, ascending, and eigenvectors.

    They are found by iteration from a vector `start` (m,), unless nearly all are wanted.
    """
    if count < len(M) - 1:
        values, vectors = eigsh(
            M,
            k=count,
            which="LA",
            v0=start,
        )
        return values, vectors
    return np.linalg.eigh(M)


def spectrum(M: Array, noise: MomentNoise, most: int, shrinkage: float) -> Spectrum:
    """Eigenpairs above the noise of a released M (m, m). The diagonal of M is set to 0.

    eta^2 = w^2 - (shrinkage edge)^2, with the edge of the noise's spectrum.
    """
    m = len(M)
    np.fill_diagonal(M, 0.0)
    weighted = noise.weights[:, None] * M * noise.weights
    w, Q = leading_eigenpairs(weighted, most, np.ones(m))
    s = noise.deviations
    edge2 = (shrinkage * noise_edge(s)) ** 2
    error = (s * s.mean())[:, None]
    return _shrunk(w[::-1][:most], Q[:, ::-1][:, :most], edge2, error, noise.weights)


def column_space(Y: Array, column_ids: Array, most: int) -> Array:
    """Orthonormal Q (m, at most `most`): leading left singular vectors of noisy columns Y (m, c).

    Y are columns of a symmetric matrix, without its diagonal. Cells that were released twice, as ij
    and ji, are averaged.
    """
    Y = Y.copy()
    both = Y[column_ids]
    Y[column_ids] = (both + both.T) / 2
    Y[column_ids, np.arange(len(column_ids))] = 0.0
    if most < len(column_ids):
        Q = svds(Y, k=most, v0=np.ones(len(column_ids)))[0]
    else:
        Q = np.linalg.svd(Y, full_matrices=False)[0][:, :most]
    return with_fixed_signs(Q)


def subspace_spectrum(
    Q: Array,
    Y: Array,
    sampling: Array,
    scale: float,
    shrinkage: float,
    most: int | None = None,
) -> Spectrum:
    """The spectrum from a noisy product Y = M Q + noise (m, K).

    It takes the leading singular pairs, except those with a negative eigenvalue of M. sampling:
    deviations (m,) of M, as in `noise_edge`.
    """
    m, K = Y.shape
    left, w, right = np.linalg.svd(Y, full_matrices=False)
    upright = np.einsum("ik,ik->k", left, Q @ right.T) > 0
    edge2 = scale**2 * (math.sqrt(m) + math.sqrt(K)) ** 2 + noise_edge(sampling) ** 2
    error = (scale**2 + sampling * sampling.mean())[:, None]
    w = np.where(upright, w, 0.0)[:most]
    return _shrunk(w, left[:, :most], shrinkage**2 * edge2, error)


def _shrunk(
    w: Array, Q: Array, edge2: float, error: Array, weights: float | Array = 1.0
) -> Spectrum:
    eta = np.sqrt(np.maximum(w**2 - edge2, 0.0)) * (w > 0)
    return Spectrum(with_fixed_signs(Q[:, eta > 0]), eta[eta > 0], error, weights)


def with_fixed_signs(Q: Array) -> Array:
    """Eigenvectors Q (m, K), each with the sign that makes its largest entry positive.

    Solvers return either sign, by how a processor rounds. Noise that is added to later releases in
    these directions would otherwise differ between processors.
    """
    largest = np.take_along_axis(Q, np.abs(Q).argmax(axis=0)[None], axis=0)
    return np.asarray(np.copysign(1.0, largest) * Q)


def rating_factors(
    moment_spectrum: Spectrum, counts: Array, exponent: float, n_users: int
) -> Array:
    """Item factors F (n_kept, K) for which users' factors are about standard normal.

    Entry ij of the moment grows with the users who rated both, about C_i C_j, and with both
    weights. So M ~ h G G^T h, where h is C^(1 + exponent) times the spectrum's weights. Each row of
    G = Q sqrt(eta) / h is shrunk by as much as the error of Q eta explains of it (Wiener).
    """
    h = counts ** (1 + exponent) * moment_spectrum.weights
    error = moment_spectrum.error / moment_spectrum.eta**2
    gain = h[:, None] / (h[:, None] ** 2 + error * (h**2).sum())
    size = math.sqrt(n_users * float((counts ** (2 * exponent)).mean()))
    return np.asarray(size * moment_spectrum.Q * np.sqrt(moment_spectrum.eta) * gain)


def factor_variances(
    moment_spectrum: Spectrum, counts: Array, exponent: float, n_users: int
) -> tuple[Array, Array]:
    """Error variances of `rating_factors` (n_kept, K), and those of an unknown item (K,)."""
    h2 = (counts ** (1 + exponent) * moment_spectrum.weights) ** 2
    noise = moment_spectrum.error / moment_spectrum.eta**2 * h2.sum()
    prior = (
        n_users
        * float((counts ** (2 * exponent)).mean())
        * moment_spectrum.eta
        / h2.sum()
    )
    return prior * noise / (h2[:, None] + noise), prior


def least_signal(n_items: int, *, refined: bool = False) -> float:
    """n mu below which a second moment costs the offsets more than its factors bring.

    It is lower if factors are refined. It was chosen on MovieLens 1M and 100K and the cinema, cut
    to 100 to 3,706 items, with local columns. Factors begin to pay below 850 with 100 items, at
    1,000 to 1,200 with 400, at 1,500 to 2,000 with 1,000 to 1,700, at 2,900 with 3,706.
    """
    return float((70.0 if refined else 95.0) * n_items**0.4)


def items_that_pay(
    counts: Array, n_users: int, scale: float, exponent: float, taste: float, most: int
) -> int:
    """How many of the most counted items to keep, from released and public values alone.

    It maximises the share of ratings that factors can be expected to explain, because each further
    item adds signal and noise. The eigenvalue of the k most counted items is about n taste sum(p^2
    c^2q) / sum(p c^2q), where p is the chance that a user rated the item. The gain is the Wiener
    gain of `rating_factors`.

    Parameters
    ----------
    counts : (n_items,)
        Noisy, descending.
    n_users : int
    scale : float
        The noise of the moment.
    exponent : float
        q, the power of a count in an item's weight.
    taste : float
        The share of a rating's variance in one factor.
    most : int
        The largest number of items.
    """
    # a user adds sqrt(number of ratings) to the weighted counts
    n_rated = max((counts.sum() / n_users) ** 2, 1.0)
    p = np.minimum(counts * math.sqrt(n_rated) / n_users, 1.0)
    best = 1
    best_gain = -math.inf
    for k in np.unique(np.geomspace(1, min(len(counts), most), 80).astype(int)):
        c = counts[:k]
        chance = p[:k]
        h2 = counts[:k] ** (2 + 2 * exponent)
        weight = c ** (2 * exponent)
        eta = n_users * taste * (chance**2 * weight).sum() / (chance * weight).sum()
        error = (scale**2 / 2 + n_users / k**2) / eta**2
        gain = float((c * h2 / (h2 + error * h2.sum())).sum())
        if gain > best_gain:
            best = int(k)
            best_gain = gain
    return best


def nearest_psd(A: Array) -> Array:
    """The projection of a symmetric matrix (r, r) onto the positive semi-definite cone."""
    values, Q = np.linalg.eigh(A)
    return np.asarray((Q * np.maximum(values, 0)) @ Q.T)
