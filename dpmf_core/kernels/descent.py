"""Stochastic gradient descent over ratings, and over single vectors of users, in compiled code."""

import numpy as np

from dpmf_core.base.arrays import Array
from dpmf_core.base.compilation import compile_kernel
from dpmf_core.base.threads import share_out


@compile_kernel(fastmath={"reassoc", "contract"})  # sums over factors may be vectorised
def _biased_epoch(  # type: ignore[no-untyped-def]
    users, items, values, mean, P, Q, a, b, rate, shrink, biased, shortened
):
    r = P.shape[1]
    for t in range(len(values)):
        u = users[t]
        i = items[t]
        p = P[u]
        q = Q[i]
        dot = 0.0
        size = 2.0 if biased else 0.0
        for f in range(r):
            dot += p[f] * q[f]
            size += p[f] * p[f] + q[f] * q[f]
        error = values[t] - mean - a[u] - b[i] - dot
        # a longer step would overshoot
        error *= 1 / size if shortened and rate * size > 1 else rate
        if biased:
            a[u] += error - shrink * a[u]
            b[i] += error - shrink * b[i]
        for f in range(r):
            before = p[f]
            p[f] = before + error * q[f] - shrink * before
            q[f] = q[f] + error * before - shrink * q[f]


def biased_epoch(
    users: Array, items: Array, values: Array, mean: float, P: Array, Q: Array, a: Array, b: Array,
    rate: float, penalty: float, biased: bool = True, shortened: bool = True,
) -> None:  # fmt: skip
    """Change factors P and Q and offsets a and b in place, rating by rating.

    Koren, Bell & Volinsky 2009, eq. 5.

    Parameters
    ----------
    users, items, values : (n_ratings,)
    mean : float
    P : (n, r)
    Q : (m, r)
    a : (n,)
    b : (m,)
    rate, penalty : float
    biased : bool
        Whether offsets move.
    shortened : bool
        Whether a step ends where its rating is met, and a pull at 0.
    """
    shrink = float(rate * penalty)
    if shortened:
        shrink = min(1.0, shrink)
    ratings = users, items, values, float(mean)
    _biased_epoch(*ratings, P, Q, a, b, float(rate), shrink, biased, shortened)


@compile_kernel
def _step(rate, size, penalty, shortened):  # type: ignore[no-untyped-def]
    """The length of a step and of its pull towards 0; longer than 1 / size would overshoot."""
    step = 2 * rate
    shrink = step * penalty
    if shortened and step * size > 1:
        step = 1 / size
    if shortened and shrink > 1:
        shrink = rate * 0 + 1
    return step, shrink


@compile_kernel(fastmath={"reassoc", "contract"})
def _solve(p, Q, items, residuals, iterations, rate, penalty, shortened):  # type: ignore[no-untyped-def]
    """Some passes of stochastic gradients on one vector p from its own ratings minus biases."""
    d = len(p)
    for _ in range(iterations):
        for t in range(len(items)):
            q = Q[items[t]]
            error = residuals[t]
            size = rate * 0
            for f in range(d):
                error -= p[f] * q[f]
                size += q[f] * q[f]
            step, shrink = _step(rate, size, penalty, shortened)
            for f in range(d):
                p[f] += step * error * q[f] - shrink * p[f]


@compile_kernel
def _mean(values):  # type: ignore[no-untyped-def]
    total = 0.0
    for value in values:
        total += value
    return values.dtype.type(total / max(len(values), 1))


@compile_kernel
def _item_step(q, p, error, rate, penalty, shortened):  # type: ignore[no-untyped-def]
    """A step of item factors q, by the rating minus biases before p . q is subtracted."""
    size = rate * 0
    for f in range(len(q)):
        error -= p[f] * q[f]
        size += p[f] * p[f]
    step, shrink = _step(rate, size, penalty, shortened)
    for f in range(len(q)):
        q[f] += step * error * p[f] - shrink * q[f]


@compile_kernel
def _arrivals(  # type: ignore[no-untyped-def]
    Q, bias_sums, bias_counts, items, values, indptr, position, rows, iterations, rate, item_rate,
    penalty, shortened, all_rated, shared, biased,
):  # fmt: skip
    """For each arriving rating, compute the user's vector, move items, and drop the vector.

    The vector is computed from all that the user has rated so far. The new item or all their items
    take a step.
    """
    p = np.empty(Q.shape[1], Q.dtype)
    for t in range(len(position)):
        # the user's ratings in order of arrival, the new one included
        first = indptr[rows[t]]
        last = position[t] + 1
        own_items = items[first:last]
        residuals = values[first:last] - _mean(values[first:last])
        n = len(own_items)
        if biased:
            bias_sums[own_items[n - 1]] += residuals[n - 1]
            bias_counts[own_items[n - 1]] += 1
            for s in range(n):
                bias = bias_sums[own_items[s]] / max(bias_counts[own_items[s]], 1)
                residuals[s] -= values.dtype.type(bias)
        p[:] = 0
        _solve(p, Q, own_items, residuals, iterations, rate, penalty, shortened)
        begin = 0 if all_rated else n - 1
        own_rate = item_rate / values.dtype.type(n - begin) if shared else item_rate
        for s in range(begin, n):
            _item_step(Q[own_items[s]], p, residuals[s], own_rate, penalty, shortened)


@compile_kernel(fastmath={"reassoc", "contract"})
def _epoch(P, Q, users, items, values, rate, penalty, shortened):  # type: ignore[no-untyped-def]
    d = P.shape[1]
    for t in range(len(values)):
        p = P[users[t]]
        q = Q[items[t]]
        error = values[t]
        size = rate * 0
        for f in range(d):
            error -= p[f] * q[f]
            size += p[f] * p[f] + q[f] * q[f]
        step, shrink = _step(rate, size, penalty, shortened)
        for f in range(d):
            before = p[f]
            p[f] += step * error * q[f] - shrink * before
            q[f] += step * error * before - shrink * q[f]


@compile_kernel
def _users(  # type: ignore[no-untyped-def]
    P, Q, items, residuals, indptr, iterations, rate, penalty, shortened, first, last
):
    for user in range(first, last):
        own = slice(indptr[user], indptr[user + 1])
        _solve(
            P[user], Q, items[own], residuals[own], iterations, rate, penalty, shortened
        )


def epoch(
    P: Array, Q: Array, users: Array, items: Array, values: Array, *, rate: float, penalty: float,
    shortened: bool = True,
) -> None:  # fmt: skip
    """One pass of stochastic gradients over the ratings in their order.

    It changes P and Q in place.

    Parameters
    ----------
    P : (n, d)
    Q : (m, d)
    users, items : (n_ratings,)
    values : (n_ratings,)
        Ratings minus each user's mean.
    rate, penalty : float
    shortened : bool
        Whether a step ends where its rating is met, and a pull at 0.
    """
    kind = Q.dtype.type
    _epoch(P, Q, users, items, values, kind(rate), kind(penalty), shortened)


def arrivals(
    Q: Array, bias_sums: Array, bias_counts: Array, items: Array, values: Array, indptr: Array,
    position: Array, rows: Array, *, iterations: int, rate: float, item_rate: float, penalty: float,
    shortened: bool = True, all_rated: bool, shared: bool = False, biased: bool = True,
) -> None:  # fmt: skip
    """Change item factors Q in place by each arriving rating.

    Parameters
    ----------
    Q : (m, d)
    bias_sums, bias_counts : (m,)
        If `biased`, each arriving rating minus its user's mean is added to the sums and counted, in
        place. An item's bias is their quotient.
    items, values : (n_ratings,)
        The ratings of all users, in order of arrival.
    indptr : (n_users + 1,)
        Where each user's ratings start.
    position, rows : (n_arriving,)
        The arriving ratings and their users.
    iterations : int
        Passes over a user's ratings to find their vector.
    rate, item_rate, penalty : float
        The steps of users' vectors and of items, and the pull of both towards 0.
    shortened : bool
        Whether a step ends where its rating is met, and a pull at 0.
    all_rated : bool
        Whether all items that the user has rated take a step (variant 4b), instead of the new one
        alone (4a).
    shared : bool
        Whether `item_rate` is divided by the number of items that take a step.
    biased : bool
        Whether items have biases.
    """
    kind = Q.dtype.type
    ratings = items, values, indptr, position, rows
    lengths = iterations, kind(rate), kind(item_rate), kind(penalty), shortened
    _arrivals(Q, bias_sums, bias_counts, *ratings, *lengths, all_rated, shared, biased)


def users(
    P: Array, Q: Array, items: Array, residuals: Array, indptr: Array, *, iterations: int,
    rate: float, penalty: float, shortened: bool = True,
) -> Array:  # fmt: skip
    """P (n, d) after some passes over each row's own ratings minus biases."""
    P = P.copy()
    kind = Q.dtype.type
    args = (items, residuals, indptr, iterations, kind(rate), kind(penalty), shortened)
    share_out(
        lambda first, last: _users(P, Q, *args, first, last), np.diff(indptr) + 1.0
    )
    return P
