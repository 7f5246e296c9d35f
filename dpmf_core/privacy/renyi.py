"""The Renyi curve of a ledger, and its conversions to epsilon."""

import math
from collections.abc import Callable

from dpmf_core.privacy.events import Event, normal_form
from dpmf_core.privacy.gaussian import all_gaussian, mu
from dpmf_core.privacy.mechanisms import Relation

LOG_ORDERS = (-12.0, 18.0)  # the range of log(alpha - 1) in which an order is searched


def _renyi(event: Event, relation: Relation) -> Callable[[float], float]:
    """The Renyi curve alpha -> rdp(alpha) of a ledger."""
    parts = [(leaf, count, leaf.multiplier(relation)) for leaf, count in normal_form(event)]

    def curve(alpha: float) -> float:
        return sum(count * leaf.renyi(alpha, z) for leaf, count, z in parts)

    return curve


def _best_order(bound: Callable[[float], float]) -> float:
    from scipy.optimize import minimize_scalar  # loaded when first needed

    best = minimize_scalar(
        lambda log: bound(1 + math.exp(log)),
        bounds=LOG_ORDERS,
        method="bounded",
        options={"xatol": 1e-9},
    )
    return max(0.0, float(best.fun))


def rdp_source(event: Event, delta: float, relation: Relation) -> float:
    """min over alpha of rdp(alpha) + log(1/delta)/(alpha - 1).

    For Gaussian noise this is zCDP's rho + 2 sqrt(rho log(1/delta)).
    """
    if all_gaussian(event):
        rho = mu(event, relation) ** 2 / 2
        return rho + 2 * math.sqrt(rho * -math.log(delta))
    curve = _renyi(event, relation)
    return _best_order(lambda alpha: curve(alpha) - math.log(delta) / (alpha - 1))


def rdp_tight(event: Event, delta: float, relation: Relation) -> float:
    """Canonne, Kamath & Steinke 2020, Prop. 12, as in dp_accounting, over continuous alpha."""
    if not normal_form(event):
        return 0.0
    curve = _renyi(event, relation)
    return _best_order(
        lambda alpha: curve(alpha) + math.log1p(-1 / alpha) - math.log(delta * alpha) / (alpha - 1)
    )
