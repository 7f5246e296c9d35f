"""Algorithm 1 of Chien et al. 2021 and section 5.1 as printed, in plain numpy.

n users, m items, rank r. M (n, m) are the ratings, of which the cells Omega are observed. What the
paper leaves to its appendix D (k, T, lambda, Gamma_u, Gamma_M, the start) is an argument, and so is
every draw: noise, and which ratings are sampled.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpmf_core.base.arrays import Doubles, Flags


@dataclass(frozen=True, kw_only=True)
class DPALSDraws:
    """The random draws of Algorithm 1.

    "In practice, we omit the sampling in A_user, and sample only once for A_item" (section 3.1).

    Attributes
    ----------
    matrix
        N_sym(0, deviation^2)^(r x r): symmetric, with i.i.d. entries in the upper triangle. Called
        with the step t, the item j and the deviation.
    vector
        N(0, deviation^2)^r. Called with the step t, the item j and the deviation.
    item_sample
        Omega' of line 7: at most k cells of a user, by t.
    user_sample
        The sample of line 14: a 1/T fraction of each user's cells, by t.
    """

    matrix: Callable[[int, int, float], Doubles]
    vector: Callable[[int, int, float], Doubles]
    item_sample: Callable[[int], Flags]
    user_sample: Callable[[int], Flags]


@dataclass(frozen=True, kw_only=True)
class DPALSInputs:
    """The input of Algorithm 1 in addition to the ratings. V_0 (m, r) gives the rank r."""

    sigma: float
    Gamma_u: float
    Gamma_M: float
    T: int
    lambda_: float
    V_0: Doubles


def noise_of_theorem_1(epsilon: float, delta: float, k: int, T: int) -> float:
    """Theorem 1: sigma = sqrt((2kT)(epsilon + ln(1/delta))) / epsilon."""
    return math.sqrt(2 * k * T * (epsilon + math.log(1 / delta))) / epsilon


def dpals(
    M: Doubles, Omega: Flags, inputs: DPALSInputs, draws: DPALSDraws
) -> tuple[Doubles, Doubles]:
    """Algorithm 1, DPALS: U^T (n, r) and V^T (m, r)."""
    M = np.where(Omega, np.clip(M, -inputs.Gamma_M, inputs.Gamma_M), 0.0)  # line 1
    V = inputs.V_0
    for t in range(inputs.T + 1):
        U = user_procedure(V, M, inputs, draws.user_sample(t))  # lines 2 and 3
        if t < inputs.T:  # line 4
            V = item_procedure(U, M, inputs, t, draws)  # line 5
    return U, V  # line 6


def item_procedure(
    U: Doubles, M: Doubles, inputs: DPALSInputs, t: int, draws: DPALSDraws
) -> Doubles:
    """Procedure A_item, lines 7 to 13: V (m, r)."""
    m = M.shape[1]
    Omega_prime = draws.item_sample(t)  # line 7
    V_tilde = np.empty((m, U.shape[1]))
    for j in range(m):
        raters = Omega_prime[:, j]
        U_j = U[raters]
        M_j = M[raters, j]
        G_j = draws.matrix(t, j, inputs.Gamma_u**2 * inputs.sigma)  # line 8
        # line 9
        g_j = draws.vector(t, j, inputs.Gamma_u * inputs.Gamma_M * inputs.sigma)
        V_tilde[j] = solve_item(U_j.T @ U_j + G_j, U_j.T @ M_j + g_j, inputs.lambda_)
    return orthonormal(V_tilde)  # lines 12 and 13


def solve_item(noisy_gram: Doubles, noisy_side: Doubles, lambda_: float) -> Doubles:
    """Lines 10 and 11: X_j = lambda I + noisy Gram; V_j = Pi_PSD(X_j)^+ noisy right-hand side."""
    X_j = lambda_ * np.eye(len(noisy_side)) + noisy_gram
    values, Q = np.linalg.eigh(X_j)
    # 0 also for negative eigenvalues, which Pi_PSD replaces with 0
    inverses = np.zeros(len(values))
    inverses[values > 0] = 1 / values[values > 0]
    return Q @ (inverses * (Q.T @ noisy_side))


def orthonormal(V: Doubles) -> Doubles:
    """Line 13: V (V^T V)^(-1/2)."""
    values, Q = np.linalg.eigh(V.T @ V)
    return np.asarray(V @ (Q / np.sqrt(values)) @ Q.T)


def user_procedure(
    V: Doubles, M: Doubles, inputs: DPALSInputs, cells: Flags
) -> Doubles:
    """Procedure A_user of every user, lines 14 to 16: U (n, r). `cells` is Omega'_i of line 14."""
    U = np.empty((len(M), V.shape[1]))
    for i in range(len(M)):
        V_i = V[cells[i]]
        M_i = M[i, cells[i]]
        U[i] = np.linalg.solve(
            inputs.lambda_ * np.eye(V.shape[1]) + V_i.T @ V_i, V_i.T @ M_i
        )
    return clip(U, inputs.Gamma_u)


def clip(U: Doubles, c: float) -> Doubles:
    """Line 16: the projection of rows on a ball of radius c.

    The listing prints max(1, c / ||u||) and says "i.e., the projection"; only min projects.
    """
    norms = np.linalg.norm(U, axis=1)
    factors = np.ones(len(U))
    longer = norms > c
    factors[longer] = c / norms[longer]
    return factors[:, None] * U


# ---- section 5.1 ---------------------------------------------------------------------------------


def noisy_counts(
    sample: Flags, k: int, sigma: float, noise: Callable[[float], Doubles]
) -> Doubles:
    """The counts c of at most k items of a user, plus N(0, k sigma^2), drawn by the deviation."""
    return np.asarray(sample.sum(axis=0) + noise(math.sqrt(k) * sigma))


def frequent_items(counts: Doubles, beta: float) -> npt.NDArray[np.intp]:
    """Frequent: the ceil(m beta) items with the largest noisy counts, ascending."""
    size = math.ceil(len(counts) * beta)
    return np.sort(np.argsort(-counts, kind="stable")[:size])


def adaptive_sample(
    Omega: Flags, counts: Doubles, frequent: npt.NDArray[np.intp], k: int
) -> Flags:
    """For each user, the k items of Omega_i and Frequent with the lowest noisy counts."""
    sample = np.zeros(Omega.shape, np.bool_)
    rarest_first = frequent[np.argsort(counts[frequent], kind="stable")]
    for i in range(len(Omega)):
        rated = rarest_first[Omega[i, rarest_first]]
        sample[i, rated[:k]] = True
    return sample


def predictions(
    U: Doubles, V: Doubles, frequent: npt.NDArray[np.intp], M: Doubles, Omega: Flags
) -> Doubles:
    """U_i . V_j if j is in Frequent, else the average observed rating of user i; (n, m).

    V (|Frequent|, r): of the items that Algorithm 1 is run on.
    """
    averages = np.where(Omega, M, 0.0).sum(axis=1) / Omega.sum(axis=1)
    M_hat = np.repeat(averages[:, None], M.shape[1], axis=1)
    M_hat[:, frequent] = U @ V.T
    return M_hat
