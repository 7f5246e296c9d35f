"""From events to epsilon, by every rule that a reader may meet.

Ledgers of Gaussian releases compose exactly: mu^2 = sum(count / noise_multiplier^2), and
    delta(eps) = Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)                    (Balle & Wang 2018, Thm. 8)
Laplace leaves go to the PLD accountant of `dp_accounting`, on a grid that fits the ledger; where its rounding exceeds
another proven bound, that bound is taken. Discrete Gaussian leaves, which have no PLD on vectors, go by the tight conversion
of their Renyi curve. An unknown event is an error, never a zero.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, model_serializer
from scipy.optimize import brentq, minimize_scalar
from scipy.special import erfcx, log_ndtr, ndtr, ndtri

from dpmf_core.privacy.events import Event, Gaussian, Ledger, Relation, Repeat, Sequence, UnsupportedEvent, normal_form

MOST_LAPLACE = 10**6  # releases; composing more takes minutes
MOST_LOSS = 2500.0  # privacy loss that can be composed numerically


class NoiseKind(StrEnum):
    """Which noise a budget is spent on."""

    CONTINUOUS = "continuous"
    DISCRETE = "discrete"


class Calibration(StrEnum):
    """By which rule noise is set for a budget."""

    EXACT = "exact"
    SOURCE = "source"


class Budget(BaseModel):
    """What a whole run may spend: (epsilon, delta)-DP for one unit under a neighbouring relation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    epsilon: float = Field(ge=1e-4, le=1000, allow_inf_nan=False, title="ε", description="total privacy loss of the run; smaller is more private")
    delta: float = Field(ge=1e-15, lt=0.5, allow_inf_nan=False, title="δ", description="probability with which the promise may fail; keep it under 1/n")
    relation: Relation = Field(Relation.ADD_REMOVE, title="neighbouring relation")
    calibration: Calibration = Field(Calibration.EXACT, description="exact: just enough noise for ε; source: as much as the source's own rule asks for")

    noise: NoiseKind = Field(NoiseKind.CONTINUOUS, description="continuous: floating-point; discrete: exact, on a grid to which statistics are rounded")

    @model_serializer(mode="wrap")
    def _said(self, whole: Any) -> dict[str, Any]:
        """Continuous noise is not said: such a run is the same run whatever other noise there is."""
        said: dict[str, Any] = whole(self)
        return {name: value for name, value in said.items() if name != "noise" or value != NoiseKind.CONTINUOUS}

    @property
    def mu(self) -> float:
        """The Gaussian-DP parameter of this budget."""
        return gaussian_mu(self.epsilon, self.delta)


def default_delta(n_users: int) -> float:
    """1 / (10 n), rounded down to one digit."""
    exponent = math.floor(math.log10(1 / (10 * n_users)) + 1e-9)
    return float(f"{math.floor(1 / (10 * n_users) / 10.0**exponent + 1e-9)}e{exponent}")


# ---- the Gaussian formula -------------------------------------------------------------------------------------------


def _log_erfcx(x: float) -> float:
    """log(e^{x^2} erfc(x)) for any x; log_ndtr covers the tail where erfcx overflows."""
    return math.log(erfcx(x)) if x > -20 else x * x + math.log(2) + float(log_ndtr(-x * math.sqrt(2)))


def log_delta(mu: float, epsilon: float) -> float:
    """log delta(epsilon) of a mu-GDP mechanism. Exact in the tails: the e^eps of the formula cancels analytically."""
    if mu == 0:
        return -math.inf if epsilon >= 0 else math.log(-math.expm1(epsilon))
    a, b = mu / 2 - epsilon / mu, mu / 2 + epsilon / mu
    ratio = _log_erfcx(b / math.sqrt(2)) - _log_erfcx(-a / math.sqrt(2))  # log of second term over first
    return float(log_ndtr(a)) + math.log(-math.expm1(min(ratio, -1e-300)))


def gaussian_epsilon(mu: float, delta: float) -> float:
    """The smallest epsilon >= 0 with delta(epsilon) <= delta."""
    target = math.log(delta)
    if mu == 0 or log_delta(mu, 0.0) <= target:
        return 0.0
    high = mu * mu / 2 + mu * math.sqrt(2 * -target) + 1e-9  # zCDP bound (Bun & Steinke 2016): always above
    return float(brentq(lambda eps: log_delta(mu, eps) - target, 0.0, high, xtol=1e-13 * max(1.0, high), rtol=1e-14))


@functools.lru_cache(1024)
def gaussian_mu(epsilon: float, delta: float) -> float:
    """The largest mu whose mechanism is (epsilon, delta)-DP."""
    target = math.log(delta)
    low, high = math.log(1e-12), math.log(10.0 + 2 * math.sqrt(epsilon) + epsilon)
    return math.exp(float(brentq(lambda log_mu: log_delta(math.exp(log_mu), epsilon) - target, low, high, xtol=1e-13, rtol=1e-14)))


# ---- whole ledgers --------------------------------------------------------------------------------------------------


def mu(event: Event, relation: Relation = Relation.ADD_REMOVE) -> float:
    """The Gaussian-DP parameter of a ledger of Gaussian releases. Raises UnsupportedEvent on any other leaf."""
    total = 0.0
    for leaf, count in normal_form(event):
        if not isinstance(leaf, Gaussian) or leaf.failure:
            raise UnsupportedEvent(f"The GDP rule is exact for Gaussian noise only; found {leaf.mechanism} noise on {leaf.statistic!r}.")
        total += count / leaf.multiplier(relation) ** 2
    return math.sqrt(total)


def _all_gaussian(event: Event) -> bool:
    return all(isinstance(leaf, Gaussian) and not leaf.failure for leaf, _ in normal_form(event))


def failure(event: Event) -> float:
    """The probability with which any release of an event may fail."""
    return -math.expm1(sum(count * math.log1p(-leaf.failure) for leaf, count in normal_form(event)))


def _unfailing(event: Event) -> Event:
    """The same releases, none of which fails."""
    return Sequence(tuple(Repeat(leaf.otherwise, count) for leaf, count in normal_form(event)))


class Rule(Protocol):
    """What an event costs at a delta under a relation."""

    def __call__(self, event: Event, delta: float, relation: Relation = Relation.ADD_REMOVE) -> float: ...


def _apart(rule: Callable[[Event, float, Relation], float]) -> Rule:
    """A rule for releases that may fail: what they cost otherwise at the delta that is left, and -log(1 - p) (see `FailingGaussian`).

    With p the probability that any fails, delta(eps) <= p + delta_otherwise(eps + log(1 - p)), in both directions.
    """

    @functools.wraps(rule)
    def whole(event: Event, delta: float, relation: Relation = Relation.ADD_REMOVE) -> float:
        p = failure(event)
        if not p:
            return rule(event, delta, relation)
        return rule(_unfailing(event), delta - p, relation) - math.log1p(-p) if p < delta else math.inf

    return whole


def _pure_epsilon(ledger: Ledger, relation: Relation) -> float:
    """The epsilon at delta = 0: the sum over all releases, without end where Gaussian noise is among them."""
    return sum(count * leaf.pure_epsilon(leaf.multiplier(relation)) for leaf, count in ledger)


def _range(ledger: Ledger, relation: Relation) -> float:
    """How far the privacy loss reaches, tails of 1e-19 apart: the sum of what it can be, or its mean and nine standard deviations."""
    squares = {True: 0.0, False: 0.0}  # variance of the loss, at most: of Gaussian releases, and of others
    for leaf, count in ledger:
        squares[isinstance(leaf, Gaussian)] += count / leaf.multiplier(relation) ** 2
    pure = _pure_epsilon(tuple(entry for entry in ledger if not isinstance(entry[0], Gaussian)), relation)
    gaussian, others = (square / 2 + 9 * math.sqrt(square) for square in (squares[True], squares[False]))
    return gaussian + min(pure, others)


@functools.lru_cache(64)
def _pld(ledger: Ledger, relation: Relation) -> Any:
    releases = sum(count for leaf, count in ledger if not isinstance(leaf, Gaussian))
    if releases > MOST_LAPLACE:
        raise UnsupportedEvent(f"Releases without Gaussian noise are composed numerically, at most {MOST_LAPLACE:,} of them. Got {releases:,}.")
    interval = _range(ledger, relation) / 1e5  # as fine for epsilon 0.01 as for 500, and as quick
    parts = [leaf.privacy_loss(leaf.multiplier(relation), interval).self_compose(count) for leaf, count in ledger]
    return functools.reduce(lambda first, second: first.compose(second), parts)


def is_exact(event: Event) -> bool:
    """Whether `epsilon` composes privacy loss distributions of this event; else it is the bound of the Renyi curve."""
    return all(leaf.has_loss_distribution for leaf, _ in normal_form(event))


def rule_of(event: Event) -> str:
    """By which rule `epsilon` accounts an event, as it is printed beside the figure."""
    if failure(event):
        return "at most"
    return "exact" if is_exact(event) else "Rényi bound"


def _can_compose(ledger: Ledger, relation: Relation) -> bool:
    return all(leaf.has_loss_distribution for leaf, _ in ledger) and _range(ledger, relation) <= MOST_LOSS


@_apart
def epsilon(event: Event, delta: float, relation: Relation = Relation.ADD_REMOVE) -> float:
    """The exact epsilon of an event at delta: the Gaussian formula, or PLD where other noise is in the ledger.

    Where a leaf has no PLD: the tight conversion of the Renyi curve.
    PLD rounds upwards and drops tails of 1e-15: among many releases or at a tiny delta, the sum of epsilons or the RDP bound may be
    closer. Losses in the thousands, where it overflows, are left to these two.
    """
    if _all_gaussian(event):
        return gaussian_epsilon(mu(event, relation), delta)
    ledger = normal_form(event)
    composed = float(_pld(ledger, relation).get_epsilon_for_delta(delta)) if _can_compose(ledger, relation) else math.inf
    return min(composed, _pure_epsilon(ledger, relation), _rdp_tight(event, delta, relation))


def delta(event: Event, epsilon: float, relation: Relation = Relation.ADD_REMOVE) -> float:
    """The exact delta of an event at epsilon; 1 where losses are too large to be composed numerically. Without a PLD: by the Renyi curve."""
    if _all_gaussian(event):
        return math.exp(log_delta(mu(event, relation), epsilon))
    if p := failure(event):
        return min(1.0, p + delta(_unfailing(event), max(0.0, epsilon + math.log1p(-p)), relation))
    ledger = normal_form(event)
    if epsilon >= _pure_epsilon(ledger, relation):
        return 0.0
    composed = float(_pld(ledger, relation).get_delta_for_epsilon(epsilon)) if _can_compose(ledger, relation) else 1.0
    return min(1.0, composed) if is_exact(event) else min(1.0, composed, _rdp_delta(event, epsilon, relation))


# ---- the other rules ------------------------------------------------------------------------------------------------


def _renyi(event: Event, relation: Relation) -> Callable[[float], float]:
    """The Renyi curve alpha -> rdp(alpha) of a ledger."""
    parts = [(leaf, count, leaf.multiplier(relation)) for leaf, count in normal_form(event)]

    def curve(alpha: float) -> float:
        return sum(count * leaf.renyi(alpha, z) for leaf, count, z in parts)

    return curve


def _best_order(bound: Callable[[float], float]) -> float:
    best = minimize_scalar(lambda log: bound(1 + math.exp(log)), bounds=(-12.0, 18.0), method="bounded", options={"xatol": 1e-9})
    return max(0.0, float(best.fun))


def _rdp_source(event: Event, delta: float, relation: Relation) -> float:
    """min over alpha of rdp(alpha) + log(1/delta)/(alpha - 1); for Gaussian noise this is zCDP's rho + 2 sqrt(rho log(1/delta))."""
    if _all_gaussian(event):
        rho = mu(event, relation) ** 2 / 2
        return rho + 2 * math.sqrt(rho * -math.log(delta))
    curve = _renyi(event, relation)
    return _best_order(lambda alpha: curve(alpha) - math.log(delta) / (alpha - 1))


def _rdp_tight(event: Event, delta: float, relation: Relation) -> float:
    """Canonne, Kamath & Steinke 2020, Prop. 12, the conversion that dp_accounting uses, over continuous alpha."""
    curve = _renyi(event, relation)
    return _best_order(lambda alpha: curve(alpha) + math.log1p(-1 / alpha) - math.log(delta * alpha) / (alpha - 1))


def _rdp_delta(event: Event, epsilon: float, relation: Relation) -> float:
    """The same conversion, from epsilon to delta: any order gives a bound, the best one found is taken."""
    curve = _renyi(event, relation)
    best = minimize_scalar(
        lambda log: math.exp(log) * (curve(1 + math.exp(log)) + math.log1p(-1 / (1 + math.exp(log))) - epsilon) - math.log1p(math.exp(log)),
        bounds=(-12.0, 18.0), method="bounded", options={"xatol": 1e-9},
    )  # fmt: skip
    return math.exp(min(0.0, float(best.fun)))


def _classical(event: Event, share: float, relation: Relation) -> list[tuple[float, int]]:
    """Each release's own epsilon by the classical Gaussian mechanism at delta_0 = share / N (Dwork & Roth 2014, Thm. A.1)."""
    ledger = normal_form(event)
    releases = sum(count for leaf, count in ledger if isinstance(leaf, Gaussian))
    out = []
    for leaf, count in ledger:
        z = leaf.multiplier(relation)
        if not isinstance(leaf, Gaussian):
            out.append((leaf.pure_epsilon(z), count))
            continue
        eps = math.sqrt(2 * math.log(1.25 * releases / share)) / z
        if not eps < 1:
            raise NotValid(f"the classical Gaussian mechanism needs a per-release ε below 1; {leaf.statistic} would have {eps:.3g}")
        out.append((eps, count))
    return out


def _advanced(event: Event, delta: float, relation: Relation) -> float:
    """Dwork, Rothblum & Vadhan 2010, with delta/2 for the releases and delta/2 for the composition."""
    parts = _classical(event, delta / 2, relation)
    squares = sum(count * eps * eps for eps, count in parts)
    return math.sqrt(2 * math.log(2 / delta) * squares) + sum(count * eps * (math.expm1(eps) if eps < 700 else math.inf) for eps, count in parts)


def _naive(event: Event, delta: float, relation: Relation) -> float:
    return sum(count * eps for eps, count in _classical(event, delta, relation))


class NotValid(ValueError):
    """A rule's own condition does not hold for this ledger; its number would not be a bound."""


RuleName = Literal["exact", "rdp_source", "rdp_tight", "advanced", "naive"]
RULES: dict[RuleName, tuple[str, Rule]] = {
    "exact": ("exact", epsilon),
    "rdp_source": ("RDP (source) = zCDP", _apart(_rdp_source)),
    "rdp_tight": ("RDP (tight)", _apart(_rdp_tight)),
    "advanced": ("advanced composition", _apart(_advanced)),
    "naive": ("naive sum", _apart(_naive)),
}


@dataclass(frozen=True)
class RuleEpsilon:
    """One rule's figure for a ledger; `epsilon` is None where the rule is not valid, and `reason` says why."""

    rule: RuleName
    title: str
    epsilon: float | None
    reason: str = ""


def every_epsilon(event: Event, delta: float, relation: Relation = Relation.ADD_REMOVE) -> tuple[RuleEpsilon, ...]:
    """Every rule's epsilon of one event, the exact one first."""
    rows = []
    titles = {name: title for name, (title, _) in RULES.items()} | {"exact": rule_of(event)}
    for name, (_, rule) in RULES.items():
        title = titles[name]
        try:
            value = rule(event, delta, relation)
            rows.append(RuleEpsilon(name, title, value) if math.isfinite(value) else RuleEpsilon(name, title, None, "no finite bound"))
        except NotValid as why:
            rows.append(RuleEpsilon(name, title, None, str(why)))
    return tuple(rows)


# ---- calibration ----------------------------------------------------------------------------------------------------


def calibrate(plan: Callable[[float], Event], budget: Budget) -> float:
    """The smallest level (noise over sensitivity) at which plan(level) costs at most the budget's epsilon, exactly accounted.

    plan must be monotone: a higher level never costs more. Returns 1.0 for a plan that releases nothing.
    Raises ValueError where its releases may fail more often than the budget's delta allows.
    """
    if not normal_form(plan(1.0)):
        return 1.0
    if failure(plan(1.0)) >= budget.delta:
        raise ValueError(f"Releases that fail with probability {failure(plan(1.0)):.2g} leave nothing of delta = {budget.delta:.2g}.")

    def excess(log_level: float) -> float:
        event = plan(math.exp(log_level))
        if _all_gaussian(event):
            return math.log(mu(event, budget.relation) / budget.mu)
        return epsilon(event, budget.delta, budget.relation) - budget.epsilon

    low, high = -1.0, 1.0
    while excess(low) < 0:
        low -= 2.0
    while excess(high) > 0:
        high += 2.0
    found, step = float(brentq(excess, low, high, xtol=1e-12, rtol=1e-12)), 1e-12
    while excess(found) > 0:  # the root is as near from either side; a numerical PLD even has steps
        found, step = found + step, 2 * step
    return math.exp(found)


# ---- what an attacker can do ------------------------------------------------------------------------------------------


@functools.lru_cache(64)
def _lines(ledger: Ledger, relation: Relation) -> tuple[tuple[float, float], ...]:
    """(epsilon, delta(epsilon)) for epsilon from 0 to 12, closest together where the trade-off curve bends most."""
    event = Sequence(tuple(Repeat(leaf, count) for leaf, count in ledger))
    return tuple((eps, delta(event, eps, relation)) for eps in (12 * (step / 96) ** 2 for step in range(97)))


def false_negatives(event: Event, false_positives: npt.ArrayLike, relation: Relation = Relation.ADD_REMOVE) -> npt.NDArray[np.float64]:
    """The lowest false negative rate of any test between two neighbours, for each false positive rate in [0, 1].

    Gaussian ledgers: Phi(Phi^-1(1 - a) - mu) (Dong, Roth & Su 2019). Others: the envelope of (epsilon, delta(epsilon)), Prop. 2.12 there.
    """
    a = np.asarray(false_positives, float)
    if _all_gaussian(event):
        return np.asarray(ndtr(ndtri(1 - a) - mu(event, relation)))
    best = np.zeros_like(a)
    for eps, d in _lines(normal_form(event), relation):
        best = np.maximum(best, np.maximum(1 - d - math.exp(eps) * a, math.exp(-eps) * (1 - d - a)))
    return best


@dataclass(frozen=True)
class Odds:
    """From even odds, an attacker ends at most at `factor`:1, except with probability `exception`."""

    factor: float
    exception: float

    @property
    def words(self) -> str:
        factor = f"{self.factor:,.1f}" if self.factor < 1e4 else f"{self.factor:.0e}"
        exception = f"{self.exception:.2g}" if self.exception > 0.01 else f"{self.exception:.1e}".replace("e-0", "e-")
        return f"If an attacker starts at 1:1 odds that you took part, then except with probability {exception} she ends below {factor}:1."


def odds(event: Event, delta_: float, relation: Relation = Relation.ADD_REMOVE) -> Odds:
    """How far a Gaussian ledger lets an attacker's odds move at its exact epsilon. Raises UnsupportedEvent on other noise."""
    m, eps = mu(event, relation), epsilon(event, delta_, relation)
    return Odds(math.exp(min(eps, 700.0)), float(ndtr(eps / -m + m / 2)) if m else 0.0)
