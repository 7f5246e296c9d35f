"""An account in sentences, as commands and Python print it."""

from collections.abc import Sequence

from dpmf_core.base.plain_tables import minute, number, table
from dpmf_core.privacy.budget import Budget
from dpmf_core.privacy.odometer import AccountLine, Total

WITHOUT_BUDGET = (
    "This is the composition of what was drawn. If runs were chosen by earlier results, it is no"
    " guarantee by itself; a budget set beforehand is (--budget, in Python set_budget)."
)
WITH_BUDGET = (
    "The budget is a privacy filter: runs may be chosen by earlier results, and nothing is drawn"
    " that would exceed it."
)
# what no account can see: pages and commands show this next to an account
NOT_COVERED = (
    "An account covers data with the same rows, in any order and form. It cannot see the same"
    " people in other data: a copy with other rows or values, a part that was used alone, or copies"
    " in another session or on another machine. Add what was released from those yourself."
)
HEAD = (
    "what",
    "times",
    "epsilon each",
    "together",
    "state",
    "first (UTC)",
    "last (UTC)",
)


def in_words(account_total: Total, budget: Budget | None) -> str:
    """The total in full, with the budget, in one or two sentences."""
    text = account_total.words.replace("ε", "epsilon").replace("δ", "delta")
    if budget is None:
        limit = ""
    else:
        limit = f" The budget is epsilon = {budget.epsilon:g}."
    return f"Drawn from these data so far: {text}.{limit}"


def account_text(
    account_total: Total,
    budget: Budget | None,
    lines: Sequence[AccountLine],
    n_raw_errors: int,
) -> str:
    """The total, its parts in a table, and what it does not cover."""
    first = in_words(account_total, budget)
    if not lines:
        return first
    rows = [
        [
            line.title,
            line.times,
            number(line.each, 2),
            number(line.together, 2),
            line.state,
            minute(line.first),
            minute(line.last),
        ]
        for line in lines
    ]
    parts = [first, WITH_BUDGET if budget else WITHOUT_BUDGET, "", table(HEAD, rows)]
    if n_raw_errors:
        parts.append(
            f"\nThe errors of {n_raw_errors} runs were computed on the raw data: they have no"
            " epsilon, and the total does not cover them."
        )
    parts.append(f"\n{NOT_COVERED}")
    return "\n".join(parts)
