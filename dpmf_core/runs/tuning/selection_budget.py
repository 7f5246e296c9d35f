"""Whether a private selection fits the budget of its data, and in which words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from dpmf_core.base.errors import BadInput
from dpmf_core.privacy import Budget, Gaussian, Relation, Status
from dpmf_core.privacy.accounts import Account
from dpmf_core.privacy.budget import AccountBudget
from dpmf_core.privacy.formatting import delta_text, epsilon_text
from dpmf_core.privacy.gaussian import gaussian_epsilon
from dpmf_core.privacy.odometer import Charge, check, remaining

LEAST_EPSILON = 0.01  # of a training run that is suggested
HALVINGS = 12  # of the range in which the largest epsilon is searched


class Selection(Protocol):
    """The costs of a private selection; see `PrivateSelection`."""

    @property
    def budget(self) -> Budget: ...

    @property
    def epsilon(self) -> float: ...

    def mu(self, relation: Relation) -> float: ...

    def with_epsilon(self, epsilon: float) -> Self: ...


@dataclass(frozen=True)
class BudgetedOffer:
    """A budget's answer to a private selection.

    Attributes
    ----------
    fits
        Whether the selection fits the budget.
    words
        The answer in words, with the price and what it counts as.
    """

    fits: bool
    words: str


def under_budget(selection: Selection, account: Account | None) -> BudgetedOffer | None:
    """Whether a selection fits the budget of its data; None if they have none.

    The price of a selection holds at one delta, and releases under a budget must add up at every
    epsilon. So it counts as one Gaussian release that costs at least as much.
    """
    budget = None if account is None else account.budget
    if account is None or budget is None:
        return None
    price = (
        f"{epsilon_text(selection.epsilon)} (δ = {delta_text(selection.budget.delta)})"
    )
    mu = selection.mu(budget.relation)
    if not math.isfinite(mu):
        return BudgetedOffer(
            False,
            f"The price of this selection is ε = {price}, but no Gaussian release is known that"
            " costs as much at every ε, so the budget cannot count it. Remove the budget, or choose"
            " a smaller ε.",
        )
    gaussian = epsilon_text(gaussian_epsilon(mu, budget.delta))
    words = (
        f"The price of this selection is ε = {price}. The budget counts it as one Gaussian release"
        f" of ε = {gaussian} (δ = {delta_text(budget.delta)}), because releases under a budget must"
        " add up at every ε."
    )
    before = [entry.charge for entry in account.entries]
    if _fits(mu, before, budget):
        return BudgetedOffer(True, words)
    left = epsilon_text(remaining(before, budget))
    short = f"That is more than the ε = {left} that is left of the budget."
    return BudgetedOffer(False, f"{words} {short} {_advice(selection, before, budget)}")


def _fits(mu: float, before: Sequence[Charge], budget: AccountBudget) -> bool:
    release = Gaussian(1 / mu, "a private selection", 1.0, 1.0)
    try:
        check(
            before,
            [Charge("a private selection", ((release, 1),), Status.PROVEN)],
            budget,
        )
    except BadInput:
        return False
    return True


def _advice(
    selection: Selection, before: Sequence[Charge], budget: AccountBudget
) -> str:
    """The largest epsilon that fits, rounded down to two digits."""

    def fits(epsilon: float) -> bool:
        return _fits(
            selection.with_epsilon(epsilon).mu(budget.relation), before, budget
        )

    if not fits(LEAST_EPSILON):
        return "It does not fit with any ε for each training run: raise or remove the budget."
    low = LEAST_EPSILON
    high = selection.budget.epsilon
    for _ in range(HALVINGS):
        middle = math.sqrt(low * high)
        if fits(middle):
            low = middle
        else:
            high = middle
    digit = 10.0 ** (math.floor(math.log10(low)) - 1)
    most = math.floor(low / digit + 1e-9) * digit
    return f"It fits with ε = {most:.2g} or less for each training run."


def require_fit(selection: Selection, account: Account | None) -> None:
    """Raise BadInput, with both costs, if a selection does not fit the budget of its data."""
    offer = under_budget(selection, account)
    if offer is not None and not offer.fits:
        raise BadInput(f"{offer.words} Nothing was drawn.")
