"""`spent`: the composed cost of everything drawn from one private data set, and its budget."""

from dataclasses import asdict
from typing import Any

import click

from dpmf_core.base.documents import to_json
from dpmf_core.base.errors import BadInput
from dpmf_core.cli import tables
from dpmf_core.cli.arguments import GroupedCommand
from dpmf_core.cli.completion import dataset_ids
from dpmf_core.cli.options import ledger_option
from dpmf_core.cli.tables import json_option
from dpmf_core.privacy import default_delta, neighbours
from dpmf_core.privacy.accounts import Account
from dpmf_core.privacy.formatting import delta_text, epsilon_text
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


@click.command("spent", cls=GroupedCommand)
@click.argument("data", metavar="DATA", shell_complete=dataset_ids)
@click.option(
    "--budget",
    type=float,
    metavar="EPSILON",
    help="Refuse runs that would make the total exceed this.",
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
        account.set_budget(
            budget,
            (
                default_delta(data_access.open_anywhere(DataSpec(id=data)).shape.n_units)
                if delta is None
                else delta
            ),
            allow_unprotected=allow_unprotected,
        )
    elif no_budget:
        account.set_budget(None)
    elif forget:
        account.forget()
    click.echo(to_json(_record(account)) if as_json else _words(account))


def _record(account: Account) -> dict[str, Any]:
    budget, total = account.budget, asdict(account.total)
    return {name.removeprefix("n_"): value for name, value in total.items()} | {
        "budget": budget.model_dump(mode="json") if budget else None,
        "lines": [asdict(line) for line in account.lines],
    }


def figure(account: Account) -> str:
    """The total in full."""
    total, budget = account.total, account.budget
    terms = "nothing with a guarantee was released" if total.n_uncovered else "nothing was released"
    if total.delta is not None:
        terms = (
            f"delta = {delta_text(total.delta)}, per {total.unit},"
            f" {neighbours(total.unit, total.relation)}, {total.rule}"
        )
    limit = f" of {epsilon_text(budget.epsilon)}" if budget else ""
    n = total.n_uncovered
    more = f" Drawn without a guarantee as well: {n:,}." if n else ""
    return (
        f"Drawn from these data so far: epsilon = {epsilon_text(total.epsilon)}{limit} ({terms})."
        + more
    )


def _words(account: Account) -> str:
    lines = account.lines
    if not lines:
        return figure(account)
    rows = [
        [
            line.title,
            line.times,
            tables.number(line.each, 2),
            tables.number(line.together, 2),
            line.state,
            _minute(line.first),
            _minute(line.last),
        ]
        for line in lines
    ]
    n_uncovered = account.total.n_uncovered
    n_raw = account.n_raw_errors
    raw = (
        f"The errors of {n_raw} runs were computed on the raw data: they have no epsilon, and the"
        " total does not cover them." * bool(n_raw)
    )
    more = (
        f" Nor does it cover the releases of {n_uncovered} of them, for which nothing is proved per"
        f" {account.total.unit}."
        if n_uncovered
        else ""
    )
    table = tables.table(
        ["what", "times", "epsilon each", "together", "state", "first (UTC)", "last (UTC)"], rows
    )
    return f"{figure(account)}\n{WITH if account.budget else WITHOUT}\n\n{table}\n\n{raw}{more}"


def _minute(moment: str) -> str:
    return moment[:16].replace("T", " ")


def tell(data_id: str) -> None:
    """Print the total on standard error, after a command that used private data."""
    account = account_of(data_id)
    if account is not None:
        click.echo(f"{figure(account)} `spent` shows its parts.", err=True)
