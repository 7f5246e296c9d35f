"""Algorithm 2 of Saha & Imtiaz 2022, outliers included, in plain numpy.

Samples are columns, as in the paper: V is D x N, W is D x K, H is K x N. Comments name lines and
equations. What the text does not fix is an argument: both step sizes, the number of iterations, how
often the updates of lines 2 and 5 are repeated, lambda, M, the start, and what "normalizing each
column" (section 3.2) does to H and R, which Algorithm 2 does not list.
"""

import math
from collections.abc import Callable

import numpy as np

from dpmf_core.base.arrays import Array

# standard normal draws for "A" and for "B"
NormalDraws = Callable[[str, tuple[int, int]], Array]


def threshold(X: Array, lambda_: float, M: float) -> Array:
    """S_lambda,M(X), after equation 9."""
    size = np.abs(X)
    middle = np.where(size > lambda_ + M, np.sign(X) * M, X - np.sign(X) * lambda_)
    return np.where(size < lambda_, 0.0, middle)


def project(W: Array) -> Array:
    """P_C(W): entries at least 0, columns in the unit ball, after equation 12."""
    positive = np.maximum(W, 0)
    return np.asarray(positive / np.maximum(1, np.linalg.norm(positive, axis=0)))


def deviation(sensitivity: float, epsilon: float, delta: float) -> float:
    """tau of line 3."""
    return sensitivity / epsilon * math.sqrt(2 * math.log(1.25 / delta))


def learn_coefficients(
    V: Array, W: Array, H: Array, R: Array, *, eta_H: float, lambda_: float, M: float,
    outliers: bool, repeats: int,
) -> tuple[Array, Array]:  # fmt: skip
    """Line 2: H and R for a fixed W. `outliers` says whether R is updated (section 3.2)."""
    N = V.shape[1]
    for _ in range(repeats):
        slope = (W.T @ W @ H - W.T @ (V - R)) / N  # after (8)
        H = np.maximum(H - eta_H * slope, 0)  # (8)
        if outliers:
            R = threshold(V - W @ H, lambda_, M)  # (9)
    return H, R


def statistics(
    V: Array, H: Array, R: Array, tau_A: float, tau_B: float, noise: NormalDraws
) -> tuple[Array, Array]:
    """Line 3: return the noise perturbed A and B."""
    D, N = V.shape
    K = len(H)
    A = H @ H.T / N + tau_A * noise("A", (K, K))
    B = (V - R) @ H.T / N + tau_B * noise("B", (D, K))
    return A, B


def private_nmf(
    V: Array, W: Array, H: Array, R: Array, *, eta_H: float, eta_W: float, n: int, epsilon: float,
    delta: float, lambda_: float, M: float, outliers: bool, repeats_H: int, repeats_W: int,
    normalise: Callable[[Array], Array], noise: NormalDraws,
) -> Array:  # fmt: skip
    """Algorithm 2: W_private from the start W_0, H_0, R_0.

    Parameters
    ----------
    normalise
        Normalises the columns of H and R before they enter the statistics.
    """
    N = V.shape[1]
    tau_A = deviation(2 / N, epsilon, delta)  # Delta_A after (13)
    # Delta_B after (14)
    tau_B = deviation(4 / N if outliers else 2 / N, epsilon, delta)
    for _ in range(n):  # line 1
        H, R = learn_coefficients(
            V,
            W,
            H,
            R,
            eta_H=eta_H,
            lambda_=lambda_,
            M=M,
            outliers=outliers,
            repeats=repeats_H,
        )
        A, B = statistics(V, normalise(H), normalise(R), tau_A, tau_B, noise)
        for _ in range(repeats_W):
            W = project(W - eta_W * (W @ A - B))  # lines 4 and 5; (11), (12)
    return W  # line 7


def objective(V: Array, W: Array, H: Array) -> float:
    """The objective value of equation 15."""
    return float(np.sum((V - W @ H) ** 2) / (2 * V.shape[1]))


def overall_epsilon(epsilon: float, delta: float, n: int) -> float:
    """The total over n iterations by the formula of section 3.3."""
    # Delta_A / tau_A and Delta_B / tau_B, squared
    ratio = 2 / deviation(1, epsilon, delta) ** 2
    alpha = 1 + math.sqrt(2 / (n * ratio) * math.log(1 / delta))
    return alpha * n / 2 * ratio + math.log(1 / delta) / (alpha - 1)
