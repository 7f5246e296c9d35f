"""The algorithms of Jain, Thakkar & Thakurta 2018 as printed, in plain numpy.

The paper has m users and n items. P_Omega keeps the rated cells of a matrix and sets the others to
0; Y* are the ratings. The available copies of the paper show its words and no formulas. Lines of
Algorithm 1 are those that its sections 3 and D describe; their order, the start and the second term
of lambda' are as transcribed in the public repository YangletLiu/DP_Matrix_Completion_Alt_Min,
DP_FW/Global_Component.m and Local_Update.m. What none of them fixes is an argument: the law of the
noise matrix, and in Algorithm 2 the step size, the number of products, the start and the
eigenvalue.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpmf_core.base.arrays import Doubles, Flags

# the top right singular vector and value of A (m, n), noisy; sigma is the noise's deviation
TopPair = Callable[[Doubles, float], tuple[Doubles, float]]


@dataclass(frozen=True, kw_only=True)
class FrankWolfeInputs:
    """The input of Algorithm 1 in addition to the data.

    Attributes
    ----------
    T
        The number of rounds.
    L
        A bound of ||P_Omega(Y*_i)||_2 for every user.
    beta
        The failure probability.
    k
        A bound of the nuclear norm.
    """

    epsilon: float
    delta: float
    T: int
    L: float
    beta: float
    k: float

    @property
    def sigma(self) -> float:
        return deviation(self.epsilon, self.delta, self.T, self.L)


def deviation(epsilon: float, delta: float, T: int, L: float) -> float:
    """Algorithm 1, A_global: sigma = L^2 sqrt(64 T log(1/delta)) / epsilon."""
    # input of Algorithm 1: the (concentrated) guarantee needs epsilon <= 2 log(1/delta)
    assert epsilon <= 2 * math.log(1 / delta)
    return L**2 * math.sqrt(64 * T * math.log(1 / delta)) / epsilon


def project(M: Doubles, Omega: Flags, L: float) -> Doubles:
    """Section 3, "Controlling norm via projection": Pi_{L, Omega}.

    Row i of M is multiplied by min(L / ||P_Omega(M)_i||_2, 1), all of its entries alike.
    """
    norms = np.linalg.norm(np.where(Omega, M, 0.0), axis=1)
    factors = np.ones(len(M))
    longer = norms > L
    factors[longer] = L / norms[longer]
    return factors[:, None] * M


def private_frank_wolfe(
    Y_star: Doubles, Omega: Flags, inputs: FrankWolfeInputs, top_pair: TopPair
) -> Doubles:
    """Algorithm 1, private Frank-Wolfe: Y^(T), (m, n)."""
    m, n = Y_star.shape
    T = inputs.T
    sigma = inputs.sigma
    # A_global: before the first round
    v = np.zeros(n)
    lambda_ = 0.0
    Y = np.zeros((m, n))  # A_local: Y_i^(0) = 0
    for t in range(1, T + 1):
        # A_global: the second term bounds the spectral norm of the noise (footnote 2)
        lambda_prime = lambda_ + math.sqrt(sigma * math.log(n / inputs.beta)) * n**0.25
        # A_local, for all users i as rows: A_i = P_Omega(Y_i^(t-1) - Y*_i)
        A = np.where(Omega, Y - Y_star, 0.0)
        u = A @ v / lambda_prime  # before equation (3): u_i = A_i v / lambda'
        # equation (3) with steps of 1/T, within Pi_{L, Omega}; in the first round v = 0
        Y = project((1 - 1 / T) * Y - inputs.k / T * np.outer(u, v), Omega, inputs.L)
        if t < T:
            v, lambda_ = top_pair(np.where(Omega, Y - Y_star, 0.0), sigma)  # A_global
    return Y


def top_eigenpair(
    A: Doubles, sigma: float, noise: Callable[[float, int], Doubles]
) -> tuple[Doubles, float]:
    """Algorithm 1, A_global: v and lambda, of W = sum_i A_i^T A_i + N with deviation sigma.

    Parameters
    ----------
    noise
        Draws N (n, n).
    """
    W = A.T @ A + noise(sigma, A.shape[1])
    values, vectors = np.linalg.eigh(W)
    return vectors[:, -1], math.sqrt(values[-1])  # the eigenvalue is lambda^2


def oja(
    A: Doubles,
    *,
    Gamma: int,
    v_0: Doubles,
    eta: Callable[[int, Doubles], float],
    noise: Callable[[int], Doubles],
    eigenvalue: Callable[[Doubles, Doubles], float],
) -> tuple[Doubles, float]:
    """Algorithm 2: Oja's method in place of `top_eigenpair`.

    Parameters
    ----------
    A : (m, n)
        The matrix.
    Gamma
        The number of updates.
    v_0 : (n,)
        The start.
    eta
        The step size, by the number of the update and the noisy product.
    noise
        Draws g (n,), by the number of the update.
    eigenvalue
        The noisy lambda^2 of A along v.

    Returns
    -------
    v : (n,)
        The vector after Gamma updates.
    lambda_ : float
        The root of the noisy lambda^2 along v.
    """
    v = v_0
    for tau in range(1, Gamma + 1):
        # equation (4) with A^T A + N_tau; N_tau v is replaced by a Gaussian vector g (section 3.2)
        product = A.T @ (A @ v) + noise(tau)
        v = v + eta(tau, product) * product
        v = v / np.linalg.norm(v)
    return v, math.sqrt(eigenvalue(A, v))


def private_svd(
    Y_star: Doubles,
    Omega: Flags,
    *,
    epsilon: float,
    delta: float,
    L: float,
    r: int,
    noise: Callable[[float, int], Doubles],
) -> Doubles:
    """Algorithm 4, matrix completion by private SVD: Y (m, n) of rank r."""
    ratings = np.where(Omega, Y_star, 0.0)
    # global: the key step "remains the same" as in Algorithm 1 (after Theorem B.1), with T = 1
    X = project(ratings, Omega, L)
    W = X.T @ X + noise(deviation(epsilon, delta, 1, L), X.shape[1])
    V = np.linalg.eigh(W)[1][:, ::-1][:, :r]  # the top-r right singular subspace
    # local: each user projects their record onto V "after appropriate scaling": 1/p, p = |Omega|/mn
    p = Omega.sum() / Omega.size
    return np.asarray(ratings @ V @ V.T / p)
