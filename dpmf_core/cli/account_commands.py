"""`spent`: the composed cost of everything drawn from one private data set, and its budget."""

from dataclasses import asdict
from typing import Annotated, Any

import click

from dpmf_core.base.errors import BadInput
from dpmf_core.cli import output
from dpmf_core.cli.data_options import on_data
from dpmf_core.cli.shared_options import Options, ledger_option, with_options
from dpmf_core.cli.shell_completion import complete_data
from dpmf_core.privacy import default_delta
from dpmf_core.privacy.account_texts import in_words
from dpmf_core.privacy.accounts import Account
from dpmf_core.runs import data_access
from dpmf_core.runs.planning import account_of
from dpmf_core.runs.specification import DataSpec


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
@click.argument("data", metavar="DATA", shell_complete=complete_data)
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
    budget, delta, allow, *removals = (
        options[name] for name in SpentOptions.model_fields
    )
    if (budget is not None) + sum(removals) > 1 or (
        budget is None and (delta is not None or allow)
    ):
        raise BadInput(
            "Give only one of --budget EPSILON (with --delta D, --allow-unprotected), --no-budget"
            " and --forget."
        )
    if budget is not None:
        if delta is None:
            delta = default_delta(
                data_access.open_anywhere(DataSpec(id=data)).shape.n_units
            )
        account.set_budget(budget, delta, allow_unprotected=allow)
    elif options["no_budget"]:
        account.set_budget(None)
    elif options["forget"]:
        account.forget()
    output.show(as_json, _record(account), str(account))


def _record(account: Account) -> dict[str, Any]:
    budget = account.budget
    total = asdict(account.total)
    return {name.removeprefix("n_"): value for name, value in total.items()} | {
        "budget": budget.model_dump(mode="json") if budget else None,
        "lines": [asdict(line) for line in account.lines],
    }


def tell(data_id: str) -> None:
    """Print the total on standard error, after a command that used private data."""
    account = account_of(data_id)
    if account is not None:
        figure = in_words(account.total, account.budget)
        output.note(f"{figure} `spent` shows its parts.")
