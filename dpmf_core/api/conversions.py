"""Conversion of a privacy loss between rules: Gaussian DP, zCDP, Renyi DP, epsilon and delta."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import pandas as pd

from dpmf_core.api.names import RelationName
from dpmf_core.api.released import Released, as_event, relation_of, require_delta
from dpmf_core.base.errors import BadInput
from dpmf_core.privacy import accounting, exchange, gaussian
from dpmf_core.privacy.events import Event
from dpmf_core.privacy.rules import every_epsilon

if TYPE_CHECKING:  # it takes a second to load
    from dp_accounting.dp_event import DpEvent


def epsilons(
    event: Released, delta: float, relation: RelationName = "add-remove"
) -> pd.DataFrame:
    """Compare what every rule of accounting finds for one event.

    The rules are the exact one, the conversions from Renyi DP of the papers and of Canonne, Kamath
    & Steinke 2020, advanced composition, and the sum of classical epsilons.

    Parameters
    ----------
    event
        See `compose`.
    delta
        From 0 to 1.
    relation
        Which data sets are neighbours: "add-remove" or "replace-one".

    Returns
    -------
    DataFrame
        A row for each rule: its name, its title as printed, its epsilon, and the reason if it has
        none.

    Raises
    ------
    BadInput
        If delta or the event cannot be used.

    Examples
    --------
    >>> from dpmf import privacy
    >>> table = privacy.epsilons(privacy.compose(privacy.Gaussian(20.0), count=16), 1e-5)
    >>> table.loc["rdp_source", "epsilon"].round(3)  # rho + 2 sqrt(rho log(1 / delta)), rho = 0.02
    np.float64(0.98)
    """
    require_delta(delta)
    rows = every_epsilon(as_event(event), delta, relation_of(relation))
    frame = pd.DataFrame(rows).set_index("rule")
    return frame.astype({"epsilon": float})


def gdp(event: Released, relation: RelationName = "add-remove") -> float:
    """Mu of Gaussian DP (Dong, Roth & Su 2022): the event is mu-GDP.

    Parameters
    ----------
    event
        See `compose`.
    relation
        Which data sets are neighbours: "add-remove" or "replace-one".

    Returns
    -------
    float
        mu, the root of the sum of 1 / noise_multiplier^2.

    Raises
    ------
    UnsupportedEvent
        If not all noise is Gaussian.

    Examples
    --------
    >>> from dpmf import privacy
    >>> privacy.gdp(privacy.compose(privacy.Gaussian(4.0), count=16))
    1.0
    """
    return gaussian.mu(as_event(event), relation_of(relation))


def zcdp(event: Released, relation: RelationName = "add-remove") -> float:
    """Rho of zero-concentrated DP (Bun & Steinke 2016): the event is rho-zCDP.

    Parameters
    ----------
    event
        See `compose`.
    relation
        Which data sets are neighbours: "add-remove" or "replace-one".

    Returns
    -------
    float
        rho. For Gaussian noise it is mu^2 / 2, for pure epsilon-DP epsilon^2 / 2.

    Raises
    ------
    UnsupportedEvent
        If a release may fail with some probability, so no rho holds.

    Examples
    --------
    >>> from dpmf import privacy
    >>> privacy.zcdp(privacy.Gaussian(5.0))
    0.02
    """
    return accounting.zcdp(as_event(event), relation_of(relation))


def renyi(
    event: Released, order: float, relation: RelationName = "add-remove"
) -> float:
    """The Renyi divergence of an event (Mironov 2017): it is (order, epsilon)-RDP.

    Parameters
    ----------
    event
        See `compose`.
    order
        alpha, above 1.
    relation
        Which data sets are neighbours: "add-remove" or "replace-one".

    Returns
    -------
    float

    Raises
    ------
    BadInput
        If order is not above 1.

    Examples
    --------
    >>> from dpmf import privacy
    >>> privacy.renyi(privacy.Gaussian(2.0), order=8.0)  # alpha / (2 z^2)
    1.0
    """
    if not 1 < order < math.inf:
        raise BadInput(f"order must be a number above 1. Got {order!r}.")
    return accounting.renyi(as_event(event), relation_of(relation))(order)


def epsilon_of_gdp(mu: float, delta: float) -> float:
    """Convert mu of Gaussian DP to epsilon at a delta, exactly.

    Parameters
    ----------
    mu
        0 or more.
    delta
        From 0 to 1.

    Returns
    -------
    float

    Raises
    ------
    BadInput
        If mu or delta cannot be used.

    Examples
    --------
    >>> from dpmf import privacy
    >>> round(privacy.epsilon_of_gdp(1 / 3.7306, 1e-5), 3)
    1.0
    """
    require_delta(delta)
    if not 0 <= mu < math.inf:
        raise BadInput(f"mu must be a number of at least 0. Got {mu!r}.")
    return gaussian.gaussian_epsilon(mu, delta)


def epsilon_of_renyi(curve: Callable[[float], float], delta: float) -> float:
    """Convert a Renyi curve to epsilon at a delta, for a mechanism of one's own.

    The conversion is Proposition 12 of Canonne, Kamath & Steinke 2020, over all orders. A mechanism
    with rho-zCDP has the curve `lambda order: rho * order`.

    Parameters
    ----------
    curve
        The Renyi divergence at each order above 1.
    delta
        Above 0 and below 1.

    Returns
    -------
    float
        An upper bound; `epsilon` is exact where the mechanism is known.

    Raises
    ------
    BadInput
        If delta cannot be used.

    Examples
    --------
    >>> from dpmf import privacy
    >>> rho = 0.02
    >>> round(privacy.epsilon_of_renyi(lambda order: rho * order, 1e-5), 3)
    0.794
    """
    require_delta(delta)
    if not delta:
        raise BadInput(
            "A Renyi curve has an epsilon only at a delta above 0. Give one."
        )
    return accounting.epsilon_of_renyi(curve, delta)


def to_dp_accounting(
    event: Released, relation: RelationName = "add-remove"
) -> "DpEvent":
    """The event of `dp_accounting` with the same cost.

    Parameters
    ----------
    event
        See `compose`.
    relation
        The neighbours for which the result, accounted by the default relation of `dp_accounting`,
        has the same cost.

    Returns
    -------
    DpEvent

    Raises
    ------
    UnsupportedEvent
        On releases that `dp_accounting` has no event for.

    Examples
    --------
    >>> from dpmf import privacy
    >>> event = privacy.to_dp_accounting(privacy.compose(privacy.Gaussian(4.0), count=2))
    >>> type(event).__name__, event.count
    ('SelfComposedDpEvent', 2)
    """
    return exchange.to_dp_event(as_event(event), relation_of(relation))


def from_dp_accounting(event: "DpEvent") -> Event:
    """The event with the cost of one of `dp_accounting`.

    Parameters
    ----------
    event
        Composed Gaussian and Laplace noise. `epsilon` takes its other events as they are.

    Returns
    -------
    Event

    Raises
    ------
    UnsupportedEvent
        On other kinds.

    Examples
    --------
    >>> from dp_accounting.dp_event import GaussianDpEvent
    >>> from dpmf import privacy
    >>> privacy.gdp(privacy.from_dp_accounting(GaussianDpEvent(2.0)))
    0.5
    """
    return exchange.from_dp_event(event)
