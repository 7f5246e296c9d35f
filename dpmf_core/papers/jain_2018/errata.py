"""Corrections of Jain, Thakkar & Thakurta 2018."""

import numpy as np
from scipy.optimize import brentq

from dpmf_core.algorithms.item_moments import RowBound
from dpmf_core.papers.erratum import Means, Values
from dpmf_core.papers.source_noise import jain
from dpmf_core.privacy import Relation
from dpmf_core.privacy.accounting import epsilon as exactly

ADD, REPLACE = Relation
FEW_STEPS, MANY_STEPS = 100, 400


def _cost(stated: float, relation: Relation, row_bound: RowBound = "2L") -> float:
    noise = jain(stated, row_bound=row_bound)
    return exactly(noise.event, noise.delta, relation)


def slack() -> Values:
    """Account the noise for which the source proves epsilon 1."""
    return 1.0, _cost(1.0, ADD)


def relation() -> Values:
    """Account the same noise for a row replaced, and for a row added or removed.

    Also the nominal epsilon from which replacement costs more than stated.
    """
    equal = brentq(lambda stated: _cost(stated, REPLACE) - stated, 1.0, 20.0)
    return 1.0, _cost(1.0, REPLACE), _cost(1.0, ADD), equal


def rows_within_l() -> Values:
    """Account the same noise if the row that enters the sum is projected to L."""
    return 1.0, _cost(1.0, ADD, "L"), _cost(1.0, REPLACE, "L"), _cost(1.0, ADD)


def excess_risk(steps: int, users: int = 30, items: int = 20) -> float:
    """Return the relative excess risk of Frank-Wolfe with steps of 1/T on a matrix of rank one.

    The matrix is fully observed, k is its nuclear norm, every direction is exact, and the risk of 0
    is 1.
    """
    target = np.outer(np.linspace(-1, 1, users), np.linspace(-1, 1, items))
    k = float(np.linalg.norm(target))  # of rank one: the nuclear norm
    iterate = np.zeros_like(target)
    for _ in range(steps):
        left, _, right = np.linalg.svd(target - iterate)
        iterate += (k * np.outer(left[:, 0], right[0]) - iterate) / steps
    return float(np.sum((iterate - target) ** 2)) / k**2


def rate() -> Values:
    """Compare what four times as many steps leave of the excess risk, as stated and computed."""
    few, many = excess_risk(FEW_STEPS), excess_risk(MANY_STEPS)
    return FEW_STEPS / MANY_STEPS, many / few, many


MEANS: dict[str, Means] = {
    "jain-rate": rate,
    "jain-slack": slack,
    "jain-relation": relation,
    "jain-sensitivity": rows_within_l,
}
