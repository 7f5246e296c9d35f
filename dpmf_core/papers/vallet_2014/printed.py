"""Factorisation without retention as Vallet et al. 2014 print it, in plain numpy.

Comments name the paper's equations and lines. What its text does not fix is an argument: the start
of every factor, the order of the ratings in an iteration, whether update rules 3 and 4 see the same
factors, the biases of items (section 3.3 gives those of users alone), and which vectors the online
rival fits again (its source [15] is another paper).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import numpy as np

from dpmf_core.base.arrays import Array

OrderedRatings = Sequence[tuple[int, int, float]]  # u, i and r_ui minus the biases
# of an iteration and the number of its ratings
Order = Callable[[int, int], Iterable[int]]
# the items' biases, from one user's items and ratings minus b_u; the last rating is new
ItemBiases = Callable[[Sequence[int], Array], Array]


def user_rule(p: Array, q: Array, r: float, lambda_: float, gamma: float) -> Array:
    """p_u after update rule 3."""
    return p + 2 * lambda_ * ((r - p @ q) * q - gamma * p)


def item_rule(p: Array, q: Array, r: float, lambda_: float, gamma: float) -> Array:
    """q_i after update rule 4."""
    return q + 2 * lambda_ * ((r - p @ q) * p - gamma * q)


def user_bias(ratings: Array) -> float:
    """b_u of all ratings in S_u, section 3.3; undefined for an empty S_u."""
    return float(np.sum(ratings) / len(ratings))


def factorise(
    ratings: OrderedRatings, P: Array, Q: Array, *, n: int, lambda_: float, gamma: float,
    order: Order, simultaneous: bool,
) -> None:  # fmt: skip
    """Change P and Q in place: the baseline, and with static ratings alone P_s and Q_s."""
    for iteration in range(n):
        for place in order(iteration, len(ratings)):
            u, i, r = ratings[place]
            p = P[u].copy()
            P[u] = user_rule(P[u], Q[i], r, lambda_, gamma)
            Q[i] = item_rule(p if simultaneous else P[u], Q[i], r, lambda_, gamma)


def fold_in(
    Q: Array,
    items: Sequence[int],
    r: Array,
    start: Array,
    *,
    n: int,
    lambda_: float,
    gamma: float,
) -> Array:
    """p_u of equation 5: n iterations of update rule 3 with Q fixed."""
    p = start
    for _ in range(n):
        for i, value in zip(items, r, strict=True):
            p = user_rule(p, Q[i], value, lambda_, gamma)
    return p


def predict(
    Q: Array, items: Sequence[int], ratings: Array, item_biases: Array, start: Array, *, n: int,
    lambda_: float, gamma: float,
) -> Array:  # fmt: skip
    """Algorithm 1: a user sends S_u; return the predictions of all items."""
    b_u = user_bias(ratings)
    residuals = ratings - b_u - item_biases[list(items)]
    p = fold_in(
        Q,
        items,
        residuals,
        start,
        n=n,
        lambda_=lambda_,
        gamma=gamma,
    )  # line 2
    return np.asarray(b_u + item_biases + Q @ p)  # line 3


def update_items(
    Q: Array, items: Sequence[int], ratings: Array, item_biases: ItemBiases, start: Array, *,
    variant: Literal["new", "rated"], n: int, lambda_: float, item_lambda: float, gamma: float,
) -> None:  # fmt: skip
    """Algorithm 2: change Q in place by S_u, whose last rating is new.

    Parameters
    ----------
    Q : (n_items, rank)
        The item factors, changed in place.
    items, ratings
        S_u: the items that the user rated, and the ratings.
    item_biases
        The item biases, from the items and their ratings without the user's bias.
    start : (rank,)
        The start of the user's factors.
    variant
        "new" changes only the item of the new rating (4a); "rated" changes all rated items (4b).
    n
        The number of iterations that fit the user's factors.
    lambda_
        The step size of equation 5.
    item_lambda
        The step size of instructions 4a and 4b.
    gamma
        The regularisation.
    """
    r = ratings - user_bias(ratings)
    r = r - item_biases(items, r)
    p = fold_in(
        Q,
        items,
        r,
        start,
        n=n,
        lambda_=lambda_,
        gamma=gamma,
    )  # line 3
    rated = list(zip(items, r, strict=True))
    for j, value in rated[-1:] if variant == "new" else rated:  # lines 4a and 4b
        Q[j] = item_rule(p, Q[j], value, item_lambda, gamma)


def refit(
    P: Array, Q: Array, ratings: OrderedRatings, users: Iterable[int], items: Iterable[int],
    start_P: Array, start_Q: Array, *, n: int, lambda_: float, gamma: float,
) -> None:  # fmt: skip
    """Section 4.1, Online: fit vectors again in place, "by iterating over all the stored ratings".

    Parameters
    ----------
    ratings
        All stored ratings.
    users, items
        The users and items whose vectors are fitted. The users come first.
    """
    for u in users:
        own = [(i, r) for v, i, r in ratings if v == u]
        P[u] = start_P[u]
        for i, r in own * n:
            P[u] = user_rule(P[u], Q[i], r, lambda_, gamma)
    for i in items:
        raters = [(u, r) for u, j, r in ratings if j == i]
        Q[i] = start_Q[i]
        for u, r in raters * n:
            Q[i] = item_rule(P[u], Q[i], r, lambda_, gamma)
