"""`spent`: the composed cost of everything drawn from one private data set, and its budget."""

from dataclasses import asdict
from typing import Annotated, Any

import click

from dpmf_core.base.errors import BadInput
from dpmf_core.cli import output
from dpmf_core.cli.data_options import on_data
from dpmf_core.cli.options import Options, ledger_option, with_options
from dpmf_core.privacy import default_delta
from dpmf_core.privacy.accounts import NOT_COVERED, Account
from dpmf_core.runs import data_access
from dpmf_core.runs.planning import account_of
from dpmf_core.runs.specification import DataSpec

WITHOUT = (
    "This is the composition of what was drawn. If runs were chosen by earlier results, it is no"
    " guarantee by itself; a budget set beforehand is (--budget)."
)
WITH = (
    "The budget is a privacy filter: runs may be chosen by earlier results, and nothing is drawn"
    " that would exceed it."
)


class SpentOptions(Options):
    """What `spent` changes."""

    budget: Annotated[float | None, "EPSILON"] = None
    """Refuse runs that would make the total larger."""
    delta: float | None = None
    """The budget's; 1/(10 n), rounded down, by default."""
    allow_unprotected: bool = False
    """With --budget: also allow work that has no epsilon for a row of the data."""
    no_budget: bool = False
    """Remove the budget."""
    forget: bool = False
    """Remove the account. Past releases stay public."""


@click.command("spent")
@click.argument("data", metavar="DATA")
@on_data("data")
@with_options(SpentOptions)
@ledger_option
@output.json_option
def total_spent(data: str, as_json: bool, **options: Any) -> None:
    """Show what was drawn from private data, as one epsilon.

    DATA is a path or an id of `datasets`. The total is shown with its parts.
    """
    account = account_of(data)
    if account is None:
        raise BadInput(
            f"{data} is public or simulated, so drawing from it costs no privacy and it has no"
            " account."
        )
    budget, delta, allow, *removals = (options[name] for name in SpentOptions.model_fields)
    if (budget is not None) + sum(removals) > 1 or (
        budget is None and (delta is not None or allow)
    ):
        raise BadInput(
            "Give only one of --budget EPSILON (with --delta D, --allow-unprotected), --no-budget"
            " and --forget."
        )
    if budget is not None:
        if delta is None:
            delta = default_delta(data_access.open_anywhere(DataSpec(id=data)).shape.n_units)
        account.set_budget(budget, delta, allow_unprotected=allow)
    elif options["no_budget"]:
        account.set_budget(None)
    elif options["forget"]:
        account.forget()
    output.show(as_json, _record(account), _words(account))


def _record(account: Account) -> dict[str, Any]:
    budget, total = account.budget, asdict(account.total)
    return {name.removeprefix("n_"): value for name, value in total.items()} | {
        "budget": budget.model_dump(mode="json") if budget else None,
        "lines": [asdict(line) for line in account.lines],
    }


def _figure(account: Account) -> str:
    """The total in full."""
    text = account.total.words.replace("ε", "epsilon").replace("δ", "delta")
    budget = account.budget
    limit = "" if budget is None else f" The budget is epsilon = {budget.epsilon:g}."
    return f"Drawn from these data so far: {text}.{limit}"


def _words(account: Account) -> str:
    lines = account.lines
    if not lines:
        return _figure(account)
    rows = [
        [
            *(it.title, it.times, output.number(it.each, 2), output.number(it.together, 2)),
            *(it.state, output.minute(it.first), output.minute(it.last)),
        ]
        for it in lines
    ]
    head = ["what", "times", "epsilon each", "together", "state", "first (UTC)", "last (UTC)"]
    parts = [_figure(account), WITH if account.budget else WITHOUT, "", output.table(head, rows)]
    if n_raw := account.n_raw_errors:
        parts.append(
            f"\nThe errors of {n_raw} runs were computed on the raw data: they have no epsilon, and"
            " the total does not cover them."
        )
    parts.append(f"\n{NOT_COVERED}")
    return "\n".join(parts)


def tell(data_id: str) -> None:
    """Print the total on standard error, after a command that used private data."""
    account = account_of(data_id)
    if account is not None:
        click.echo(f"{_figure(account)} `spent` shows its parts.", err=True)
