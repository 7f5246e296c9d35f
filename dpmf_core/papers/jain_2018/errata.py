"""Corrections of Jain, Thakkar & Thakurta 2018."""

import numpy as np
from scipy.optimize import brentq

from dpmf_core.papers.erratum import EXACT, Comparison, Means, Reading, nominal
from dpmf_core.papers.source_noise import jain
from dpmf_core.privacy import Relation
from dpmf_core.privacy.accounting import epsilon as exactly

ADD, REPLACE = Relation
FEW_STEPS, MANY_STEPS = 100, 400


def _exact(stated: float, relation: Relation, within_l: bool = False) -> float:
    noise = jain(stated, row_bound="L" if within_l else "2L")
    return exactly(noise.event, noise.delta, relation)


def _cost(relation: Relation, within_l: bool = False) -> Reading:
    """Return the cost of the noise at a nominal epsilon of 1, for rows within 2L or within L."""
    name = EXACT[relation] + (", rows within L" if within_l else ", rows within 2L")
    return Reading(name, _exact(1.0, relation, within_l), "ε = {:.3f}")


def slack() -> Comparison:
    """Account the noise for which the source proves epsilon 1."""
    return Comparison(nominal(1.0), _cost(ADD))


def relation() -> Comparison:
    """Compare the same noise for a row added or removed, and for a row replaced.

    Also the nominal epsilon from which replacement costs more than stated.
    """
    equal = brentq(lambda stated: _exact(stated, REPLACE) - stated, 1.0, 20.0)
    return Comparison(
        _cost(ADD),
        _cost(REPLACE),
        (Reading("as stated, where replacing a row costs as much", equal),),
    )


def rows_within_l() -> Comparison:
    """Account the same noise if the row that enters the sum is projected to L."""
    return Comparison(_cost(ADD), _cost(ADD, within_l=True), (_cost(REPLACE, within_l=True),))


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


def rate() -> Comparison:
    """Compare what four times as many steps leave of the excess risk, as stated and computed."""
    form = "{:.2f} of the excess risk"
    few, many = excess_risk(FEW_STEPS), excess_risk(MANY_STEPS)
    return Comparison(
        Reading("by a rate of 1/T", FEW_STEPS / MANY_STEPS, form),
        Reading("computed", many / few, form),
        (Reading("left after 400 steps", many, "{:.3f} of the risk of predicting 0"),),
    )


MEANS: dict[str, Means] = {
    "jain-rate": rate,
    "jain-slack": slack,
    "jain-relation": relation,
    "jain-sensitivity": rows_within_l,
}
