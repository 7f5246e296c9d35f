"""Factorisation in a count sketch as Balu & Furon 2016 print it, in plain numpy.

Comments name the paper's equations. What its text does not fix is an argument: the hash functions,
the start of the table and of the factors, the order of the ratings, b of the learning rate, the
sign of the gradient (equation 4 contradicts equation 5), and the threshold's rule (section 3.2
contradicts section 4.3).
"""

import math
from collections.abc import Callable, Iterable
from typing import Literal

import numpy as np

from dpmf_core.base.arrays import Array

# u, i and r_ui, minus the means (section 5.1.1)
RatedPairs = Iterable[tuple[int, int, float]]
# h_j(e, l) and s_j(e, l) of an id e, (k, d) each
Hash = Callable[[int], tuple[Array, Array]]
ThresholdRule = Literal["3.2", "4.3"]
# of (r - p q) in the gradient: -1 by equation 4, 1 as in equation 5
Sign = Literal[-1, 1]


def loss(r: float, p: Array, q: Array) -> float:
    """L(r, p q), section 2.1."""
    return float((r - p @ q) ** 2 / 2)


def functional(ratings: RatedPairs, P: Array, Q: Array, lambda_: float) -> float:
    """R_lambda(P, Q), equation 1; minus it is the log posterior up to a constant, eq. 10."""
    return sum(
        loss(r, P[u], Q[i]) + lambda_ / 2 * float(P[u] @ P[u] + Q[i] @ Q[i])
        for u, i, r in ratings
    )


def gradients(
    r: float, p: Array, q: Array, lambda_: float, sign: Sign
) -> tuple[Array, Array]:
    """The gradients of a rating's term with respect to p and q, equations 4 and 5."""
    error = r - p @ q
    return sign * error * q + lambda_ * p, sign * error * p + lambda_ * q


def factorise(
    ratings: RatedPairs, P: Array, Q: Array, *, eta: float, lambda_: float, sign: Sign
) -> None:
    """Change P (n, d) and Q (m, d) in place, rating by rating."""
    for u, i, r in ratings:
        to_p, to_q = gradients(r, P[u], Q[i], lambda_, sign)
        P[u] -= eta * to_p  # (2)
        Q[i] -= eta * to_q  # (3)


def langevin(
    ratings: RatedPairs, P: Array, Q: Array, *, eta: float, lambda_: float, sign: Sign,
    noise: Callable[[int], Array],
) -> None:  # fmt: skip
    """Change P and Q in place by noisy steps.

    Parameters
    ----------
    noise
        Draws B_P and B_Q of d components, in this order.
    """
    for u, i, r in ratings:
        to_p, to_q = gradients(r, P[u], Q[i], lambda_, sign)
        P[u] += -eta * to_p + math.sqrt(eta) * noise(len(P[u]))  # (11)
        Q[i] += -eta * to_q + math.sqrt(eta) * noise(len(Q[i]))  # (12)


def query(C: Array, cells: Array, signs: Array) -> Array:
    """The vector (d,) that the sketch C (k, w) holds, equations 13 and 14."""
    rows = np.arange(len(C))[:, None]
    return np.asarray((signs * C[rows, cells]).sum(axis=0) / len(C))


def update(C: Array, cells: Array, signs: Array, delta: Array) -> None:
    """Add delta (d,) to a vector in place, equation 6."""
    rows = np.broadcast_to(np.arange(len(C))[:, None], cells.shape)
    np.add.at(C, (rows, cells), signs * delta)


def sketched(
    ratings: RatedPairs, C: Array, users: Hash, items: Hash, *, eta: float, lambda_: float,
    epsilon: float, sign: Sign, rule: ThresholdRule,
) -> None:  # fmt: skip
    """Change the sketch C (k, w) in place, rating by rating, section 3.2."""
    for u, i, r in ratings:
        of_u = users(u)
        of_i = items(i)
        # (13), (14)
        p = query(C, *of_u)
        q = query(C, *of_i)
        to_p, to_q = gradients(r, p, q, lambda_, sign)
        if rule == "3.2" and loss(r, p, q) > epsilon:
            continue  # "the cells are not updated at all"
        if rule == "4.3" and (r - p @ q) ** 2 > epsilon:
            # the clipped log-likelihood is constant
            to_p = lambda_ * p
            to_q = lambda_ * q
        update(C, *of_u, -eta * to_p)  # (15)
        update(C, *of_i, -eta * to_q)  # (16)


def learning_rate(eta: float, b: float, t: int, T: int) -> float:
    """eta_t, section 5.1.3."""
    return eta / (1 + b * t / T)


def width(n_users: int, n_items: int, d: int, gamma: float, k: int) -> int:
    """w, equation 20; equation 17 solved for it."""
    return math.ceil((n_users + n_items) * d / (gamma * k))


def divergence(train: Array, test: Array) -> float:
    """KLD of training errors from test errors, equation 19."""
    shift = (train.mean() - test.mean()) ** 2 / test.var()
    ratio = train.var() / test.var()
    return float((ratio + shift - 1 - math.log(ratio)) / 2)
