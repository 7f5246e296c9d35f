"""What a decision costs: everything that its data's account holds, composed with what is planned.

One function computes the total and the certainty of every sentence about a decision.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from dpmf_core.privacy.accounting import of_group
from dpmf_core.privacy.budget import Budget
from dpmf_core.privacy.certainty import GAUSSIAN_NOISE, Certainty, noise_of
from dpmf_core.privacy.events import event_of, normal_form
from dpmf_core.privacy.formatting import delta_text, epsilon_text
from dpmf_core.privacy.gaussian import gaussian_mu
from dpmf_core.privacy.guarantee import Status, neighbours
from dpmf_core.privacy.interpretation import exception_of
from dpmf_core.privacy.mechanisms import Gaussian, Relation, UnsupportedEvent
from dpmf_core.privacy.odometer import Charge, Total, merged_ledger, total

SELECTIONS = "private selections"


@dataclass(frozen=True)
class Decision:
    """The cost of a decision about one data set, for one unit or for a group.

    Attributes
    ----------
    total
        Everything together.
    certainty
        What an attacker may learn from everything together.
    earlier, planned : float
        The epsilons of what the account holds and of what is planned, each on its own.
    """

    total: Total
    certainty: Certainty
    earlier: float
    planned: float

    @property
    def cost(self) -> str:
        """The total with its terms and parts, such as "ε = 5.22 in total (δ = 2e-6, ...)"."""
        return f"ε = {self.epsilon} in total ({', '.join(self._terms)}{self._parts})"

    @property
    def epsilon(self) -> str:
        """The total epsilon, as printed."""
        return epsilon_text(self.total.epsilon)

    @property
    def _terms(self) -> list[str]:
        slack = f"δ = {delta_text(self.certainty.delta)}"
        relation = neighbours(self.total.unit, self.total.relation)
        return [slack, f"per {self.total.unit}", relation, self.total.rule]

    @property
    def _parts(self) -> str:
        if not (self.earlier and self.planned):
            return ""
        earlier = epsilon_text(self.earlier)
        return f"; drawn before {earlier}, planned {epsilon_text(self.planned)}"

    @property
    def not_counted(self) -> str:
        """A sentence about runs that the total does not cover; '' if there are none."""
        count = self.total.n_uncovered
        if not count:
            return ""
        runs = f"{count:,} runs"
        if count == 1:
            runs = "1 run"
        return (
            f"Not counted: {runs} without a guarantee on these data. Nothing limits what their"
            " results reveal."
        )


def decide(
    earlier: Sequence[Charge],
    planned: Sequence[Charge],
    budget: Budget | None = None,
    *,
    price_exception: float | None = None,
    unit: str = "",
) -> Decision:
    """Compose what an account holds with what is planned.

    The epsilon is the account's own (`odometer.total`). The exception is the sum of the parts'
    exceptions. If the loss of all exceeds the sum of the parts' epsilons, the loss of one part
    exceeds its own epsilon.

    Parameters
    ----------
    earlier
        The charges in the account of the data.
    planned
        The charges that the decision adds.
    budget
        The account's budget. The total is at its delta and relation.
    price_exception
        A bound on the probability of a loss above the price of the private selections among the
        charges; None if it is not known.
    unit
        Another name of the privacy unit, such as a group.
    """
    charges = [*earlier, *planned]
    whole = total(charges, budget)
    whole = replace(whole, unit=unit or whole.unit)
    certainty = Certainty(
        whole.epsilon,
        whole.delta or 0.0,
        _exception(charges, whole, price_exception),
        whole.unit,
        whole.relation,
        _noise(charges),
    )
    before = total(earlier, budget).epsilon
    return Decision(whole, certainty, before, total(planned, budget).epsilon)


def _exception(
    charges: Sequence[Charge], whole: Total, price_exception: float | None
) -> float | None:
    prices = [charge.price for charge in _covered(charges) if charge.price is not None]
    units = {charge.unit for charge in _covered(charges)}
    if len(units) > 1 or (prices and price_exception is None):
        return None
    of_selections = sum(
        price[whole.relation is Relation.REPLACE_ONE] for price in prices
    )
    # their composition costs less, and its exception is unknown
    if whole.epsilon < of_selections:
        return None
    of_runs = max(0.0, whole.epsilon - of_selections)
    # the price of a selection is not in the ledger, which holds the other releases
    runs = event_of(merged_ledger(_covered(charges)))
    exception = exception_of(runs, of_runs, whole.relation)
    if prices and price_exception is not None:
        exception += price_exception
    return min(1.0, exception)


def _noise(charges: Sequence[Charge]) -> str:
    """The kinds of noise in all charges."""
    runs = event_of(merged_ledger(_covered(charges)))
    if normal_form(runs):
        noise = noise_of(runs)
    else:
        noise = GAUSSIAN_NOISE
    if any(charge.price is not None for charge in charges):
        return f"{noise} and {SELECTIONS}"
    return noise


def _covered(charges: Iterable[Charge]) -> list[Charge]:
    return [charge for charge in charges if charge.covered]


def planned_run(
    epsilon: float,
    delta: float,
    relation: Relation = Relation.ADD_REMOVE,
    title: str = "training",
) -> Charge:
    """The charge of a run with Gaussian noise that costs exactly epsilon at delta.

    A budget for adding or removing a unit lets a replaced unit move a release at most twice as far;
    a budget for replacing one covers both.
    """
    factor = 1.0 if relation is Relation.REPLACE_ONE else 2.0
    event = Gaussian(1 / gaussian_mu(epsilon, delta), title, 1.0, factor)
    ledger = normal_form(event)
    return Charge(title, ledger, Status.PROVEN, delta=delta, relation=relation)


def for_group(
    charges: Iterable[Charge], size: int, price: float | None = None
) -> list[Charge]:
    """The charges as they count for a group of `size` units together.

    Parameters
    ----------
    charges : iterable of Charge
    size : int
    price : float, optional
        The price of a private selection for the group. It is needed if one of the charges is a
        private selection.

    Raises
    ------
    UnsupportedEvent
        If the cost for a group is not known.
    """
    return [_for_group(charge, size, price) for charge in charges]


def _for_group(charge: Charge, size: int, price: float | None) -> Charge:
    if not charge.covered:
        return charge
    if charge.price is None:
        return replace(
            charge, ledger=normal_form(of_group(event_of(charge.ledger), size))
        )
    if price is None:
        raise UnsupportedEvent(
            f"The cost of {charge.title} is not known for a group. Account it for one unit."
        )
    release = normal_form(of_group(event_of(charge.release), size))
    return replace(charge, price=(price, price), release=release)
