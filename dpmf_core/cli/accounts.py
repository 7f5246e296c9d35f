"""`spent`: the composed cost of everything drawn from one private data set, and its budget."""

from dataclasses import asdict
from typing import Any

import click

from dpmf_core.base.errors import BadInput
from dpmf_core.cli import output
from dpmf_core.cli.options import dataset_ids, json_option, ledger_option
from dpmf_core.privacy import default_delta
from dpmf_core.privacy.accounts import Account, in_full
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


@click.command("spent")
@click.argument("data", metavar="DATA", shell_complete=dataset_ids)
@click.option(
    "--budget", type=float, metavar="EPSILON", help="Refuse runs that would make the total larger."
)
@click.option("--delta", type=float, help="The budget's; 1/(10 n), rounded down, by default.")
@click.option(
    "--allow-unprotected",
    is_flag=True,
    help="With --budget: also allow work that has no epsilon for a row of the data.",
)
@click.option("--no-budget", is_flag=True, help="Remove the budget.")
@click.option("--forget", is_flag=True, help="Remove the account. Past releases stay public.")
@ledger_option
@json_option
def total_spent(
    data: str,
    budget: float | None,
    delta: float | None,
    allow_unprotected: bool,
    no_budget: bool,
    forget: bool,
    as_json: bool,
) -> None:
    """Show what was drawn from private data, as one epsilon.

    DATA is a path or an id of `datasets`. The total is shown with its parts.
    """
    account = account_of(data)
    if account is None:
        raise BadInput(
            f"{data} is public or simulated, so drawing from it costs no privacy and it has no"
            " account."
        )
    if (budget is not None) + no_budget + forget > 1 or (
        budget is None and (delta is not None or allow_unprotected)
    ):
        raise BadInput(
            "Give only one of --budget EPSILON (with --delta D, --allow-unprotected), --no-budget"
            " and --forget."
        )
    if budget is not None:
        if delta is None:
            delta = default_delta(data_access.open_anywhere(DataSpec(id=data)).shape.n_units)
        account.set_budget(budget, delta, allow_unprotected=allow_unprotected)
    elif no_budget:
        account.set_budget(None)
    elif forget:
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
    text = in_full(account.total).replace("ε", "epsilon").replace("δ", "delta")
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
    return "\n".join(parts)


def tell(data_id: str) -> None:
    """Print the total on standard error, after a command that used private data."""
    account = account_of(data_id)
    if account is not None:
        click.echo(f"{_figure(account)} `spent` shows its parts.", err=True)
