"""From events to the exact epsilon and delta, and from a budget to the noise that it needs.

Ledgers of Gaussian releases, continuous and discrete, compose exactly (`gaussian`). Laplace leaves
go to the PLD accountant of `dp_accounting`, on a grid that fits the ledger; where its rounding
exceeds another proven bound, that bound is taken. An unknown event is an error, never a zero.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from dpmf_core.base.errors import BadInput
from dpmf_core.privacy.budget import NEEDS_DELTA, Budget
from dpmf_core.privacy.events import Event, Ledger, event_of, normal_form
from dpmf_core.privacy.gaussian import (
    all_gaussian,
    first_that_holds,
    gaussian_epsilon,
    log_delta,
    mu,
)
from dpmf_core.privacy.mechanisms import (
    AdditiveNoise,
    DiscreteGaussian,
    Gaussian,
    Mechanism,
    PosteriorSample,
    Relation,
    UnsupportedEvent,
)

MOST_LAPLACE = 10**6  # releases; composing more takes minutes
MOST_LOSS = 2500.0  # the largest privacy loss that can be composed numerically
LOG_ORDERS = (-12.0, 18.0)  # the searched range of log(alpha - 1)


def failure(event: Event) -> float:
    """The probability that any release of an event fails, at most."""
    return -math.expm1(
        sum(count * math.log1p(-leaf.failure) for leaf, count in normal_form(event))
    )


def _unfailing(event: Event) -> Event:
    """The releases of an event as they are when none of them fails."""
    return event_of((leaf.otherwise, count) for leaf, count in normal_form(event))


class Rule(Protocol):
    """What an event costs at a delta under a relation."""

    def __call__(
        self, event: Event, delta: float, relation: Relation = Relation.ADD_REMOVE
    ) -> float: ...


def with_failures(rule: Callable[[Event, float, Relation], float]) -> Rule:
    """Extend a rule to releases that may fail (see `FailingGaussian`).

    With p the probability that any release fails, delta(eps) <= p + delta_otherwise(eps + log(1 -
    p)) in both directions. So the cost is that of the releases that do not fail, at the delta that
    is left, plus -log(1 - p).
    """

    @functools.wraps(rule)
    def whole(
        event: Event, delta: float, relation: Relation = Relation.ADD_REMOVE
    ) -> float:
        p = failure(event)
        if not p:
            return rule(event, delta, relation)
        if p < delta:
            return rule(_unfailing(event), delta - p, relation) - math.log1p(-p)
        return math.inf

    return whole


def _pure_epsilon(ledger: Ledger, relation: Relation) -> float:
    """The sum of pure epsilons (delta = 0); infinite if any release is Gaussian."""
    return sum(
        count * leaf.pure_epsilon(leaf.multiplier(relation)) for leaf, count in ledger
    )


def _range(ledger: Ledger, relation: Relation) -> float:
    """A bound on the privacy loss, up to tails of 1e-19.

    It is the smaller of the largest possible sum and the mean plus nine standard deviations.
    """
    # an upper bound on the variance of the loss: of Gaussian releases, and of the others
    squares = {True: 0.0, False: 0.0}
    for leaf, count in ledger:
        squares[isinstance(leaf, Gaussian)] += count / leaf.multiplier(relation) ** 2
    pure = _pure_epsilon(
        tuple(entry for entry in ledger if not isinstance(entry[0], Gaussian)), relation
    )
    gaussian, others = (
        square / 2 + 9 * math.sqrt(square) for square in (squares[True], squares[False])
    )
    return gaussian + min(pure, others)


@functools.lru_cache(64)
def loss_distribution(ledger: Ledger, relation: Relation) -> Any:
    """The privacy loss of all releases together, composed numerically.

    Raises
    ------
    UnsupportedEvent
        If too many releases have noise that is not Gaussian.
    """
    releases = sum(count for leaf, count in ledger if not isinstance(leaf, Gaussian))
    if releases > MOST_LAPLACE:
        raise UnsupportedEvent(
            f"At most {MOST_LAPLACE:,} releases without Gaussian noise can be composed numerically."
            f" Got {releases:,}. Plan fewer releases."
        )
    # as fine for epsilon 0.01 as for 500, and as quick
    interval = _range(ledger, relation) / 1e5
    parts = [
        leaf.privacy_loss(leaf.multiplier(relation), interval).self_compose(count)
        for leaf, count in ledger
    ]
    return functools.reduce(lambda first, second: first.compose(second), parts)


def renyi(
    event: Event, relation: Relation = Relation.ADD_REMOVE
) -> Callable[[float], float]:
    """The Renyi curve alpha -> rdp(alpha) of a ledger."""
    parts = [
        (leaf, count, leaf.multiplier(relation)) for leaf, count in normal_form(event)
    ]

    def curve(alpha: float) -> float:
        return sum(count * leaf.renyi(alpha, z) for leaf, count, z in parts)

    return curve


def _best_order(bound: Callable[[float], float]) -> float:
    from scipy.optimize import minimize_scalar  # loaded when first needed

    least = minimize_scalar(
        lambda log: bound(1 + math.exp(log)),
        bounds=LOG_ORDERS,
        method="bounded",
        options={"xatol": 1e-9},
    )
    return max(0.0, float(least.fun))


def rdp_source(event: Event, delta: float, relation: Relation) -> float:
    """min over alpha of rdp(alpha) + log(1/delta)/(alpha - 1).

    For Gaussian noise this is zCDP's rho + 2 sqrt(rho log(1/delta)).
    """
    if all_gaussian(event):
        rho = mu(event, relation) ** 2 / 2
        return rho + 2 * math.sqrt(rho * -math.log(delta))
    curve = renyi(event, relation)
    return _best_order(lambda alpha: curve(alpha) - math.log(delta) / (alpha - 1))


def rdp_tight(event: Event, delta: float, relation: Relation) -> float:
    """Canonne, Kamath & Steinke 2020, Prop. 12, as in dp_accounting, over continuous alpha."""
    if not normal_form(event):
        return 0.0
    return epsilon_of_renyi(renyi(event, relation), delta)


def epsilon_of_renyi(curve: Callable[[float], float], delta: float) -> float:
    """The epsilon at delta of a Renyi curve: Canonne, Kamath & Steinke 2020, Prop. 12."""
    return _best_order(
        lambda alpha: (
            curve(alpha)
            + math.log1p(-1 / alpha)
            - math.log(delta * alpha) / (alpha - 1)
        )
    )


def zcdp(event: Event, relation: Relation = Relation.ADD_REMOVE) -> float:
    """The smallest known rho for which the event is rho-zCDP (Bun & Steinke 2016).

    Gaussian noise has rho = mu^2 / 2 (Prop. 1.6), pure epsilon-DP epsilon^2 / 2 (Prop. 1.4), and
    rho adds up (Lemma 1.7).

    Raises
    ------
    UnsupportedEvent
        On releases that may fail.
    """
    rho = 0.0
    for leaf, count in normal_form(event):
        z = leaf.multiplier(relation)
        square = 1 / z**2
        if not isinstance(leaf, Gaussian):
            square = leaf.pure_epsilon(z) ** 2
        if leaf.failure or not math.isfinite(square):
            raise UnsupportedEvent(
                f"A {leaf.mechanism} of {leaf.statistic!r} has no rho. Use `epsilon`, which covers"
                " it."
            )
        rho += count * square / 2
    return rho


def rule_of(event: Event, relation: str = Relation.ADD_REMOVE) -> str:
    """The rule by which `epsilon` accounts an event, as printed next to the figure.

    Under replace-one no single neighbour is the worst for every release, so the figure is an upper
    bound.
    """
    ledger = normal_form(event)
    discrete = any(isinstance(leaf, DiscreteGaussian) for leaf, _ in ledger)
    replaced = relation == Relation.REPLACE_ONE and bool(ledger)
    if discrete or replaced or failure(event):
        return "at most"
    return "exact"


def _single(ledger: Ledger) -> Mechanism | None:
    """The only release of a ledger; None if there are more."""
    if len(ledger) == 1 and ledger[0][1] == 1:
        return ledger[0][0]
    return None


@with_failures
def epsilon(
    event: Event, delta: float, relation: Relation = Relation.ADD_REMOVE
) -> float:
    """Compute the exact epsilon of an event.

    Gaussian ledgers are accounted by the Gaussian formula, others by PLD. PLD rounds upwards and
    drops tails of 1e-15, so for many releases or a tiny delta the sum of epsilons or the RDP bound
    may be smaller; then that one is returned. Both also cover losses in the thousands, where PLD
    overflows.

    Parameters
    ----------
    event
        Releases, composed.
    delta : float
        0 or more and below 1; at 0 the result is the sum of pure epsilons, infinite if any release
        is Gaussian.
    relation
        Which data sets are neighbours.

    Returns
    -------
    float
        0 or more; infinite where no finite epsilon holds.
    """
    if not delta:
        return _pure_epsilon(normal_form(event), relation)
    if all_gaussian(event):
        return gaussian_epsilon(mu(event, relation), delta)
    ledger = normal_form(event)
    if (one := _single(ledger)) is not None:
        alone = one.epsilon_alone(one.multiplier(relation), delta)
        if alone is not None:
            return alone
    pld_epsilon = math.inf
    if _range(ledger, relation) <= MOST_LOSS:
        pld_epsilon = float(
            loss_distribution(ledger, relation).get_epsilon_for_delta(delta)
        )
    return min(
        pld_epsilon, _pure_epsilon(ledger, relation), rdp_tight(event, delta, relation)
    )


def delta(
    event: Event, epsilon: float, relation: Relation = Relation.ADD_REMOVE
) -> float:
    """The exact delta of an event at epsilon; 1 where losses are too large to compose."""
    if all_gaussian(event):
        return math.exp(log_delta(mu(event, relation), epsilon))
    if p := failure(event):
        return min(
            1.0,
            p + delta(_unfailing(event), max(0.0, epsilon + math.log1p(-p)), relation),
        )
    ledger = normal_form(event)
    if epsilon >= _pure_epsilon(ledger, relation):
        return 0.0
    if (one := _single(ledger)) is not None:
        alone = one.delta_alone(one.multiplier(relation), epsilon)
        if alone is not None:
            return alone
    if _range(ledger, relation) > MOST_LOSS:
        return 1.0
    return min(
        1.0, float(loss_distribution(ledger, relation).get_delta_for_epsilon(epsilon))
    )


def calibrate(plan: Callable[[float], Event], budget: Budget) -> float:
    """Find the smallest level at which a plan costs at most the budget's epsilon.

    Parameters
    ----------
    plan
        plan(level) is the event at a level above 0: the noise multiplier of a release that takes
        the whole budget. A higher level must never cost more.
    budget
        Epsilon, delta and neighbouring relation.

    Returns
    -------
    float
        The level; 1.0 for a plan without releases. The exact epsilon of the plan at this level is
        not above the budget's, to the last bit.

    Raises
    ------
    ValueError
        If the plan's releases may fail with a probability of the budget's delta or more.
    BadInput
        If delta is 0 and the plan's noise has no pure epsilon.
    """
    if not normal_form(plan(1.0)):
        return 1.0
    if not budget.delta and math.isinf(epsilon(plan(1.0), 0.0, budget.relation)):
        raise BadInput(NEEDS_DELTA)
    if (p := failure(plan(1.0))) and p >= budget.delta:
        raise ValueError(
            f"The plan's releases may fail with probability {p:.2g}, which must be below delta ="
            f" {budget.delta:.2g}. Give a larger delta."
        )

    from scipy.optimize import brentq  # loaded when first needed

    def excess(log_level: float) -> float:
        event = plan(math.exp(log_level))
        if all_gaussian(event):
            return math.log(mu(event, budget.relation) / budget.mu)
        return epsilon(event, budget.delta, budget.relation) - budget.epsilon

    low = -1.0
    high = 1.0
    while excess(low) < 0:
        low -= 2.0
    while excess(high) > 0:
        high += 2.0

    def is_within(level: float) -> bool:
        return epsilon(plan(level), budget.delta, budget.relation) <= budget.epsilon

    level = math.exp(brentq(excess, low, high, xtol=1e-12, rtol=1e-12))
    return first_that_holds(is_within, level, +1)


def of_group(event: Event, size: int) -> Event:
    """The same releases for a group of `size` units that are added, removed or replaced together.

    Each unit moves a statistic by at most its sensitivity, whatever was released before. So the
    group moves it by at most `size` times as much, and the noise multiplier is divided by `size`. A
    density that one unit changes by at most e^(1/z) changes by at most e^(size/z).

    Raises
    ------
    UnsupportedEvent
        For thresholded names. A name that no unit brings above the threshold alone may pass it when
        all of the group bring it.
    """
    if not size >= 1:
        raise ValueError(f"A group must have at least 1 unit. Got {size}.")
    if size == 1:
        return event
    if other := [
        leaf
        for leaf, _ in normal_form(event)
        if leaf.failure or not isinstance(leaf, AdditiveNoise | PosteriorSample)
    ]:
        raise UnsupportedEvent(
            f"The cost of a {other[0].mechanism} is not known for a group of units. Account it for"
            " one unit."
        )

    def scaled_leaf(leaf: Mechanism) -> Mechanism:
        """Noise of the same scale on a statistic that moves `size` times as far."""
        z = leaf.noise_multiplier / size
        sensitivity = leaf.sensitivity * size
        return replace(leaf, noise_multiplier=z, sensitivity=sensitivity)

    return event_of((scaled_leaf(leaf), count) for leaf, count in normal_form(event))


def group_epsilon(
    event: Event, delta: float, relation: Relation = Relation.ADD_REMOVE, size: int = 1
) -> float:
    """The epsilon at delta for a person whose `size` units are added, removed or replaced together.

    Exact for Gaussian ledgers, where mu grows `size`-fold.
    """
    return epsilon(of_group(event, size), delta, relation)
