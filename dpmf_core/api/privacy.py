"""Account for releases: what they cost together, and how much noise a budget needs.

The words are those of `dp_accounting`: an *event* is what was released, events compose, and an
accountant finds epsilon at a delta or delta at an epsilon. Here every event is accounted exactly
where a closed form is known, and by privacy loss distributions elsewhere. Nothing is drawn, and no
data are read.

A figure holds if the event lists every release and if every sensitivity is right. Noise multipliers
are the scale of the noise over the sensitivity, which is how far adding or removing one person's
data moves the statistic. For data with one row per person, the relation "replace-one" is a
`ChangeOneDistance` of 1 in OpenDP, and "add-remove" a `SymmetricDistance` of 1.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, Union

import pandas as pd

from dpmf_core.api.names import RelationName
from dpmf_core.base.errors import BadInput, checked
from dpmf_core.privacy import accounting, exchange, gaussian
from dpmf_core.privacy.budget import Budget
from dpmf_core.privacy.events import Event, Ledger, Repeat, Sequence, event_of
from dpmf_core.privacy.mechanisms import (
    DiscreteGaussian,
    Gaussian,
    Laplace,
    Mechanism,
    Relation,
    UnsupportedEvent,
)
from dpmf_core.privacy.rules import every_epsilon
from dpmf_core.runs.record import Run

if TYPE_CHECKING:  # it takes a second to load
    from dp_accounting.dp_event import DpEvent

__all__ = [
    "DiscreteGaussian",
    "Gaussian",
    "Laplace",
    "UnsupportedEvent",
    "calibrate",
    "compose",
    "delta",
    "epsilon",
    "epsilon_of_gdp",
    "epsilon_of_renyi",
    "epsilons",
    "from_dp_accounting",
    "gdp",
    "group",
    "noise_multiplier",
    "renyi",
    "to_dp_accounting",
    "zcdp",
]
MechanismName = Literal["gaussian", "laplace", "discrete-gaussian"]
MECHANISMS: dict[str, type[Mechanism]] = {
    "gaussian": Gaussian,
    "laplace": Laplace,
    "discrete-gaussian": DiscreteGaussian,
}
MOST = 10**9  # releases of one kind; for more, rules would differ by rounding only
Released = Union[Event, Ledger, Run, "DpEvent"]


def compose(*events: Released, count: int = 1) -> Event:
    """Compose events. Each may depend on the results of earlier ones.

    Parameters
    ----------
    events
        Mechanisms, composed events, ledgers (`model.ledger_`), models that `fit` returned, or
        events of `dp_accounting` with Gaussian and Laplace noise.
    count
        How often all of them happen, from 0 to 10^9.

    Returns
    -------
    Event
        For the other functions here.

    Raises
    ------
    BadInput
        If an argument is not an event, or count is not a whole number from 0 to 10^9.

    Examples
    --------
    >>> from dpmf import privacy
    >>> year = privacy.compose(privacy.Gaussian(8.0), count=12)
    >>> round(privacy.gdp(year) ** 2, 6)  # 12 / 8^2
    0.1875
    """
    if not (isinstance(count, int) and 0 <= count <= MOST):
        raise BadInput(
            f"count must be a whole number from 0 to {MOST:,}. Got {count!r}."
        )
    return Repeat(Sequence(tuple(as_event(event) for event in events)), count)


def epsilon(
    event: Released, delta: float, relation: RelationName = "add-remove"
) -> float:
    """Compute the exact epsilon of an event at a delta.

    Ledgers of Gaussian noise have a closed form (Balle & Wang 2018). Others are composed by privacy
    loss distributions, and the smaller of their result and of the Renyi bound is returned.

    Parameters
    ----------
    event
        See `compose`.
    delta
        From 0 to 1; at 0 the result is the sum of pure epsilons, infinite for Gaussian noise.
    relation
        Which data sets are neighbours: "add-remove" or "replace-one".

    Returns
    -------
    float
        0 or more; infinite where no finite epsilon holds.

    Raises
    ------
    BadInput
        If delta or the event cannot be used.
    UnsupportedEvent
        If no accountant covers the event.

    Examples
    --------
    >>> from dpmf import privacy
    >>> round(privacy.epsilon(privacy.Gaussian(3.7306), 1e-5), 3)  # Balle & Wang 2018
    1.0
    >>> privacy.epsilon(privacy.compose(privacy.Laplace(2.0), count=3), 0)
    1.5
    """
    require_delta(delta)
    if is_of_dp_accounting(event):
        return exchange.dp_event_epsilon(event, delta, relation_of(relation))
    return accounting.epsilon(as_event(event), delta, relation_of(relation))


def delta(
    event: Released, epsilon: float, relation: RelationName = "add-remove"
) -> float:
    """Compute the exact delta of an event at an epsilon.

    Parameters
    ----------
    event
        See `compose`.
    epsilon
        0 or more.
    relation
        Which data sets are neighbours: "add-remove" or "replace-one".

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    BadInput
        If epsilon or the event cannot be used.

    Examples
    --------
    >>> from dpmf import privacy
    >>> f"{privacy.delta(privacy.Gaussian(3.7306), 1.0):.1e}"
    '1.0e-05'
    """
    if not 0 <= epsilon < math.inf:
        raise BadInput(f"epsilon must be a number of at least 0. Got {epsilon!r}.")
    return accounting.delta(as_event(event), epsilon, relation_of(relation))


def calibrate(
    make_event: Callable[[float], Released],
    epsilon: float,
    delta: float,
    relation: RelationName = "add-remove",
) -> float:
    """Find the noise with which an event costs at most epsilon at a delta.

    Parameters
    ----------
    make_event
        The event at a noise multiplier; more noise must never cost more.
    epsilon
        The budget's epsilon, from 1e-4 to 1000.
    delta
        The budget's delta, from 0 to below 0.5; 0 only for noise with a pure epsilon.
    relation
        Which data sets are neighbours: "add-remove" or "replace-one".

    Returns
    -------
    float
        The smallest noise multiplier that is found; the exact epsilon at it is not above the
        budget, to the last bit.

    Raises
    ------
    BadInput
        If the budget cannot be used, or delta is 0 and the noise has no pure epsilon.

    Examples
    --------
    One Gaussian sum, and a count with half of its noise:

    >>> from dpmf import privacy
    >>> def release(z):
    ...     return privacy.compose(privacy.Gaussian(z), privacy.Gaussian(z / 2))
    >>> z = privacy.calibrate(release, epsilon=1.0, delta=1e-5)
    >>> round(privacy.epsilon(release(z), 1e-5), 9)
    1.0
    """
    parts = {"epsilon": epsilon, "delta": delta, "relation": relation_of(relation)}
    budget = checked(Budget, "the budget", parts)
    return accounting.calibrate(lambda level: as_event(make_event(level)), budget)


def noise_multiplier(
    epsilon: float,
    delta: float,
    *,
    mechanism: MechanismName = "gaussian",
    count: int = 1,
    relation: RelationName = "add-remove",
) -> float:
    """Find the noise multiplier of a mechanism of one's own.

    Add noise of scale `noise_multiplier * sensitivity` to each released statistic, where the
    sensitivity is in L2 for Gaussian noise and in L1 for Laplace noise.

    Parameters
    ----------
    epsilon
        The budget's epsilon, from 1e-4 to 1000.
    delta
        The budget's delta, from 0 to below 0.5; 0 only for noise with a pure epsilon.
    mechanism
        "gaussian", "laplace" or "discrete-gaussian".
    count
        The number of releases, at least 1.
    relation
        Which data sets are neighbours. Under "replace-one" a replaced person is taken to move the
        statistic by at most twice the sensitivity.

    Returns
    -------
    float
        The scale of the noise over the sensitivity.

    Raises
    ------
    BadInput
        If an argument cannot be used.

    Examples
    --------
    >>> from dpmf import privacy
    >>> round(privacy.noise_multiplier(1.0, 1e-5), 3)  # Balle & Wang 2018
    3.731
    >>> round(privacy.noise_multiplier(0.5, 0, mechanism="laplace", count=4), 6)
    8.0
    """
    if mechanism not in MECHANISMS:
        raise BadInput(
            f"mechanism must be one of {', '.join(MECHANISMS)}. Got {mechanism!r}."
        )
    if count == 0:
        raise BadInput(
            "count must be at least 1: nothing is released otherwise. Got 0."
        )
    kind = MECHANISMS[mechanism]
    return calibrate(lambda z: compose(kind(z), count=count), epsilon, delta, relation)


def group(event: Released, size: int) -> Event:
    """What an event is for a group of people, such as a family.

    A group moves a statistic by at most `size` times as much as one person does.

    Parameters
    ----------
    event
        See `compose`.
    size
        The number of people who are added, removed or replaced together, at least 1.

    Returns
    -------
    Event
        Its epsilon holds for the group.

    Raises
    ------
    BadInput
        If size is below 1.
    UnsupportedEvent
        If the cost for a group is not known, as for thresholded item sets.

    Examples
    --------
    >>> from dpmf import privacy
    >>> family = privacy.group(privacy.Gaussian(10.0), 4)
    >>> privacy.gdp(family)  # mu grows with the size: 4 / 10
    0.4
    """
    if not (isinstance(size, int) and size >= 1):
        raise BadInput(f"size must be a whole number of at least 1. Got {size!r}.")
    return accounting.of_group(as_event(event), size)


# ---- conversions between rules -------------------------------------------------------------------


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


# ---- what people give ----------------------------------------------------------------------------


def as_event(released: Released) -> Event:
    """What was released, as an event.

    Raises BadInput on anything else, and on what has no proven epsilon.
    """
    if isinstance(released, Mechanism | Repeat | Sequence):
        return released
    if isinstance(released, Run):
        return _event_of_run(released)
    if is_of_dp_accounting(released):
        return exchange.from_dp_event(released)
    is_ledger = isinstance(released, tuple | list) and all(
        isinstance(row, tuple) and len(row) == 2 and isinstance(row[0], Mechanism)
        for row in released
    )
    if is_ledger and not released:
        raise BadInput(
            "This ledger is empty: no noise was drawn, which is so for methods without privacy too."
            " If nothing was released, account compose()."
        )
    if is_ledger:
        return event_of(released)
    raise BadInput(
        "An event is a mechanism such as Gaussian(4.0), what compose returned, a ledger, a model"
        f" that fit returned, or an event of dp_accounting. Got {type(released).__name__}."
    )


def _event_of_run(run: Run) -> Event:
    """The releases of a run. Raises BadInput if they have no proven epsilon."""
    guarantee = run.record.guarantee
    if not guarantee.has_epsilon:
        raise BadInput(f"{run.title} has no epsilon. {guarantee}")
    return run.record.event


def is_of_dp_accounting(released: Any) -> bool:
    return type(released).__module__.startswith("dp_accounting")


def relation_of(name: str) -> Relation:
    try:
        return Relation(name)
    except ValueError:
        raise BadInput(
            f"relation must be add-remove or replace-one. Got {name!r}."
        ) from None


def require_delta(delta: float) -> None:
    if not 0 <= delta < 1:
        raise BadInput(f"delta must be a number from 0 to below 1. Got {delta!r}.")
