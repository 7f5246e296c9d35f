"""The total cost of all releases from one private data set, and whether more fits a budget.

Without a budget the total is the composition of what was drawn. With one the account is a privacy
filter under fully adaptive composition: a release enters if the sum of mu^2 stays at or below the
budget's mu^2 (Smith & Thakurta 2022). Gaussian releases enter exactly. A release of pure epsilon
enters by the smallest mu with a trade-off curve below its own. Both curves meet at the symmetric
point a = 1 / (1 + e^epsilon), and a convex curve lies below its chords.
"""

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from dataclasses import replace as changed
from typing import Protocol, Self

from dpmf_core.base.errors import BadInput
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.privacy.accounting import failure, rule_of
from dpmf_core.privacy.budget import AccountBudget, Budget
from dpmf_core.privacy.events import Event, Ledger, event_of, normal_form, sequence
from dpmf_core.privacy.formatting import delta_text, epsilon_in_full, epsilon_text
from dpmf_core.privacy.gaussian import gaussian_epsilon
from dpmf_core.privacy.guarantee import PERSON, VALUE, Status
from dpmf_core.privacy.mechanisms import Gaussian, Mechanism, Relation, UnsupportedEvent

ROUNDING = 1e-12  # of a sum of squares, relative
SMALLER_UNITS = (VALUE, "rating")
HELD_OUT_ERRORS = "errors of the held-out ratings"  # released with noise


class HasStatus(Protocol):
    """A guarantee or its record."""

    @property
    def status(self) -> Status: ...

    @property
    def unit(self) -> str: ...


@dataclass(frozen=True)
class Charge:
    """What one run, or one private selection, takes from an account.

    The releases of a private selection stay inside it, so it has a price.

    Attributes
    ----------
    title : str
    ledger : Ledger
        Its releases.
    status, unit, delta, relation
        Those of its own guarantee.
    price : tuple of float, or None
        Of a private selection only: the epsilons of the whole at its delta, for adding or removing
        a unit and for replacing one.
    release : Ledger
        A Gaussian release that costs at least as much as the selection at every epsilon. It is
        empty if none is known.
    holds_out : bool
        Whether the run holds ratings out, on which its errors are computed.
    """

    title: str
    ledger: Ledger = ()
    status: Status = Status.NONE
    unit: str = "user"
    delta: float | None = None
    relation: Relation = Relation.ADD_REMOVE
    price: tuple[float, float] | None = None
    release: Ledger = ()
    holds_out: bool = True

    @classmethod
    def of(
        cls,
        title: str,
        event: Event,
        guarantee: HasStatus,
        budget: Budget | None,
        *,
        holds_out: bool = True,
    ) -> Self:
        """The charge of an event under its stated guarantee."""
        ledger = normal_form(event)
        charge = cls(
            title, ledger, guarantee.status, guarantee.unit, holds_out=holds_out
        )
        if budget is None:
            return charge
        return changed(charge, delta=budget.delta, relation=budget.relation)

    def settled(self, ledger: Ledger | None) -> Self:
        """The charge of what was drawn, if it is known; a selection is always charged in full."""
        if ledger is None or self.price is not None:
            return self
        return changed(self, ledger=ledger)

    def under(self, guarantee: HasStatus | None) -> Self:
        """The charge under the guarantee of the finished work."""
        if guarantee is None:
            return self
        return changed(self, status=guarantee.status, unit=guarantee.unit)

    @property
    def composed(self) -> Ledger | None:
        """Releases that cost at least as much, so that they can be composed; None if unknown."""
        if self.price is None:
            return self.ledger
        return self.release or None

    @property
    def shows_raw_errors(self) -> bool:
        """Whether it is of a run that shows its errors on the raw data.

        A private selection and a release of errors show noisy ones alone, and a run that trains on
        all ratings has none.
        """
        is_of_errors = any(leaf.statistic == HELD_OUT_ERRORS for leaf, _ in self.ledger)
        return self.holds_out and self.price is None and not is_of_errors

    @property
    def covered(self) -> bool:
        """Whether it has an epsilon for a whole row of the data."""
        return self.status.has_epsilon and self.unit not in SMALLER_UNITS

    @property
    def epsilon(self) -> float | None:
        """The charge's exact epsilon at its own delta and relation; None if nothing is proved."""
        if not self.status.has_epsilon:
            return None
        if self.price is not None:
            return self.price[self.relation is Relation.REPLACE_ONE]
        delta = 1e-9 if self.delta is None else self.delta
        return _epsilon(self.ledger, delta, self.relation)


@dataclass(frozen=True)
class Total:
    """The total cost of the covered charges.

    Attributes
    ----------
    epsilon : float
    delta : float or None
        None if nothing was released.
    relation : Relation
    unit : str
    n_uncovered : int
        The number of other charges.
    rule : str
        "at most" if prices of private selections were added or noise is discrete, else "exact".
    """

    epsilon: float
    delta: float | None
    relation: Relation
    unit: str
    n_uncovered: int
    rule: str = "exact"

    @property
    def words(self) -> str:
        """The total with all its terms and what it does not cover."""
        if self.delta is not None:
            text = epsilon_in_full(
                self.epsilon, self.delta, self.unit, self.relation, self.rule
            )
        elif self.n_uncovered:
            text = "ε = 0 (nothing with a guarantee was released)"
        else:
            text = "ε = 0 (nothing was released)"
        if self.n_uncovered:
            return f"{text}; not counted: {self.n_uncovered:,} without a guarantee"
        return text


@functools.lru_cache(512)
def _epsilon(ledger: Ledger, delta: float, relation: Relation) -> float:
    """The exact epsilon of a ledger.

    Non-Gaussian noise that is too much to compose numerically counts by the sum of its epsilons.
    """
    try:
        return exactly(event_of(ledger), delta, relation)
    except UnsupportedEvent:
        p = failure(event_of(ledger))
        if p >= delta:
            return math.inf
        pure = 0.0
        square = 0.0
        for leaf, count in ledger:
            z = leaf.multiplier(relation)
            if isinstance(leaf, Gaussian):
                square += count / z**2
            else:
                pure += count * leaf.pure_epsilon(z)
        return gaussian_epsilon(math.sqrt(square), delta - p) - math.log1p(-p) + pure


def merged_ledger(charges: Iterable[Charge]) -> Ledger:
    """The releases of several charges as one ledger."""
    return normal_form(sequence(*(event_of(charge.ledger) for charge in charges)))


def _in_one_unit(charges: Sequence[Charge]) -> list[Charge]:
    """Charges in one unit, if some protect people and others single rows of theirs.

    For the smaller unit, one row more is another person's data replaced.
    """
    units = {charge.unit for charge in charges if charge.covered}
    if PERSON not in units or len(units) == 1:
        return list(charges)
    return [
        _under_replacement(charge) if charge.unit == PERSON else charge
        for charge in charges
    ]


def _under_replacement(charge: Charge) -> Charge:
    """The same releases with the sensitivity of replacing a unit."""

    def replaced(leaf: Mechanism) -> Mechanism:
        z = leaf.multiplier(Relation.REPLACE_ONE)
        return changed(leaf.alone, noise_multiplier=z, replace_one_factor=1.0)

    ledger = tuple((replaced(leaf), count) for leaf, count in charge.ledger)
    release = tuple((replaced(leaf), count) for leaf, count in charge.release)
    if charge.price is None:
        price = None
    else:
        price = (charge.price[True], charge.price[True])
    return changed(
        charge,
        ledger=ledger,
        price=price,
        release=release,
    )


def total(charges: Sequence[Charge], budget: Budget | None = None) -> Total:
    """Compose all charges, at the budget's delta and relation.

    Without a budget, delta is the sum of the largest delta among the runs (without the
    probability of a failing release), the probabilities of failing releases of all runs, and the
    deltas of private selections. The price of a selection is added at its delta. If composing its
    Gaussian release costs less, that is the total. The relation is replacement if any charge was
    made under it.
    """
    covered = [
        charge
        for charge in _in_one_unit(charges)
        if charge.covered and (charge.ledger or charge.price is not None)
    ]
    any_replaced = any(charge.relation is Relation.REPLACE_ONE for charge in covered)
    if any_replaced:
        own_relation = Relation.REPLACE_ONE
    else:
        own_relation = Relation.ADD_REMOVE
    relation = budget.relation if budget else own_relation
    runs = [charge for charge in covered if charge.price is None]
    selections = [charge for charge in covered if charge.price is not None]
    failures = [failure(event_of(run.ledger)) for run in runs]
    deltas = ((run.delta or 0.0) - p for run, p in zip(runs, failures, strict=True))
    own = max(deltas, default=0.0) + sum(failures)
    selection_delta = sum(charge.delta or 0.0 for charge in selections)
    delta = budget.delta if budget else own + selection_delta
    for_runs = delta - selection_delta
    prices = [charge.price for charge in selections if charge.price is not None]
    epsilon = sum((price[relation is Relation.REPLACE_ONE] for price in prices), 0.0)
    if runs:
        epsilon += (
            _epsilon(merged_ledger(runs), for_runs, relation)
            if for_runs >= 0
            else math.inf
        )
    elif for_runs < 0:
        epsilon = math.inf
    if selections:
        epsilon = min(epsilon, _epsilon_of_composition(covered, delta, relation))
    units = [charge.unit for charge in covered or charges] or ["user"]
    unit = next((unit for unit in units if unit != PERSON), units[0])
    if selections:
        rule = "at most"
    else:
        rule = rule_of(event_of(merged_ledger(runs)), relation)
    is_anything = delta or any(run.ledger for run in runs)
    n_uncovered = sum(not charge.covered for charge in charges)
    return Total(
        epsilon, delta if is_anything else None, relation, unit, n_uncovered, rule
    )


def _epsilon_of_composition(
    charges: Sequence[Charge], delta: float, relation: Relation
) -> float:
    """The epsilon of charges that are composed as releases; infinite where one is unknown."""
    ledgers = [charge.composed for charge in charges]
    events = [event_of(ledger) for ledger in ledgers if ledger is not None]
    if len(events) < len(ledgers):
        return math.inf
    return _epsilon(normal_form(sequence(*events)), delta, relation)


# ---- the filter ----------------------------------------------------------------------------------


def squared_mu(leaf: Mechanism, relation: Relation) -> float | None:
    """mu^2 of one release: exact for Gaussian noise, a bound for a pure epsilon, else None."""
    z = leaf.multiplier(relation)
    if isinstance(leaf, Gaussian) and not leaf.failure:
        return 1 / z**2
    from scipy.special import expit, ndtri  # loaded when first needed

    pure = leaf.pure_epsilon(z)
    if math.isfinite(pure):
        return float(2 * ndtri(expit(-pure))) ** 2
    return None


def _total_square(charges: Iterable[Charge], relation: Relation) -> float:
    """mu^2 of all covered charges. Raises BadInput on noise that the filter cannot add up."""
    square = 0.0
    for charge in charges:
        if not charge.covered:
            continue
        ledger = charge.composed
        squares = [(squared_mu(leaf, relation), count) for leaf, count in ledger or ()]
        if ledger is None or any(one is None for one, _ in squares):
            raise BadInput(
                f"{charge.title} cannot run under a budget for the whole data set. The budget adds"
                " up Gaussian noise, pure epsilons, and selections whose cost is known at every"
                " epsilon; this is none of them. Nothing was drawn. Remove the budget or choose"
                " another method."
            )
        square += sum(count * one for one, count in squares if one is not None)
    return square


def remaining(charges: Sequence[Charge], budget: AccountBudget) -> float:
    """The largest epsilon, at the budget's delta, of Gaussian releases that still fit a budget.

    Raises
    ------
    BadInput
        If the charges hold noise that the budget cannot add up.
    """
    square = budget.mu**2 - _total_square(_in_one_unit(charges), budget.relation)
    return gaussian_epsilon(math.sqrt(max(square, 0.0)), budget.delta)


def check(
    before: Sequence[Charge], request: Sequence[Charge], budget: AccountBudget
) -> None:
    """Raise BadInput if the charges together would exceed the budget.

    It also raises if a new charge has no epsilon and the budget does not allow that.
    """
    uncovered = next((charge for charge in request if not charge.covered), None)
    if uncovered is not None and not budget.allow_unprotected:
        raise BadInput(
            f"{uncovered.title} has no epsilon for a row of these data, so their budget cannot"
            " limit it. Nothing was drawn. To allow it, set the budget with --allow-unprotected"
            " (in Python: allow_unprotected=True)."
        )
    together = _in_one_unit([*before, *request])
    spent_square = _total_square(together[: len(before)], budget.relation)
    more = _total_square(together[len(before) :], budget.relation)
    limit = budget.mu**2
    if spent_square + more <= limit * (1 + ROUNDING):
        return
    so_far, then, remaining_epsilon = (
        gaussian_epsilon(math.sqrt(max(square, 0.0)), budget.delta)
        for square in (spent_square, spent_square + more, limit - spent_square)
    )
    raise BadInput(
        f"The budget of these data is epsilon = {epsilon_text(budget.epsilon)} (delta ="
        f" {delta_text(budget.delta)}, {budget.relation}). Drawn so far: {epsilon_text(so_far)}."
        f" This run would make it {epsilon_text(then)}, so nothing was drawn. "
        + (
            f"Use an epsilon of at most {remaining_epsilon:.3g} in all."
            if remaining_epsilon > 1e-4
            else "The budget is used up."
        )
    )


# ---- what it is made of --------------------------------------------------------------------------


@dataclass(frozen=True)
class AccountEntry:
    """A charge in an account.

    Attributes
    ----------
    charge : Charge
    charged_at : str
        ISO 8601, UTC.
    state : str
        running (the whole plan is charged), finished, cancelled or failed.
    """

    charge: Charge
    charged_at: str
    state: str


@dataclass(frozen=True)
class AccountLine:
    """Equal charges together: their number, their first and last time, the epsilons of one and all.

    The epsilons are None if the charges have no epsilon for a row of the data.
    """

    title: str
    state: str
    status: Status
    unit: str
    times: int
    first: str
    last: str
    each: float | None
    together: float | None


def lines(
    entries: Sequence[AccountEntry], budget: Budget | None = None
) -> list[AccountLine]:
    """The parts of an account's total, oldest first."""
    groups: dict[tuple[object, ...], list[AccountEntry]] = {}
    for entry in entries:
        charge = entry.charge
        # equal except for the rounding of a calibration
        each = None if charge.epsilon is None else round(charge.epsilon, 6)
        kind = (charge.title, charge.status, charge.unit, charge.delta, charge.relation)
        same = (*kind, each, entry.state)
        groups.setdefault(same, []).append(entry)
    return [_line(group, budget) for group in groups.values()]


def _line(group: Sequence[AccountEntry], budget: Budget | None) -> AccountLine:
    first = group[0]
    charge = group[0].charge
    charges = [entry.charge for entry in group]
    if charge.covered:
        together = total(charges, budget).epsilon
    else:
        together = None
    what = charge.title, first.state, charge.status, charge.unit
    times = len(group), first.charged_at, group[-1].charged_at
    return AccountLine(*what, *times, charge.epsilon, together)
