"""`runs`: the store of finished runs."""

from typing import Any

import click

from dpmf_core.base.loss_text import epsilon_text
from dpmf_core.cli import tables
from dpmf_core.cli.lazy_group import LazyGroup, Place
from dpmf_core.cli.tables import json_option
from dpmf_core.runs.store import Store, to_json
from dpmf_core.runs.summary import RAW_FIGURES

PLACES = {
    "show": Place(
        "stored_run:show",
        "Show one run in full.",
    ),
    "export": Place(
        "stored_run:export",
        "Print a run as it may leave this machine, without anything from raw private rows.",
    ),
    "report": Place(
        "stored_run:report",
        "Write up to six stored runs to one HTML file.",
    ),
    "delete": Place(
        "stored_run:delete",
        "Delete a run.",
    ),
    "pin": Place(
        "stored_run:pin",
        "Keep a run when older ones are deleted.",
    ),
    "check": Place(
        "stored_run:check",
        "Read every stored run and report changed ones.",
    ),
}


@click.group(cls=LazyGroup, places=PLACES, invoke_without_command=True)
@json_option
@click.pass_context
def runs(context: click.Context, as_json: bool) -> None:
    if context.invoked_subcommand is not None:
        return
    store = Store()
    rows = store.rows()
    if n_unreadable := store.count() - len(rows):
        click.echo(f"{n_unreadable} stored runs cannot be read. `runs check` says why.", err=True)
    if as_json:
        click.echo(to_json(list(map(_export, rows))))
        return
    click.echo(
        tables.table(
            ["key", "made (UTC)", "data", "algorithm", "epsilon", "seed", "RMSE"],
            [_line(row) for row in rows],
        )
        if rows
        else "No run is stored yet."
    )


def _export(row: dict[str, Any]) -> dict[str, Any]:
    """A row as it may leave this machine, without anything from raw private rows."""
    from dpmf_core.runs.specification import file_of  # the list itself does not need it

    if row["public"]:
        return row
    harmless = {name: value for name, value in row.items() if name not in RAW_FIGURES}
    return harmless | {"dataset": file_of(row["dataset"])}


def _line(row: dict[str, Any]) -> list[Any]:
    minute, figures = (
        row["created"][:16].replace("T", " "),
        (epsilon_text(row["epsilon"]), row["seed"], tables.number(row["rmse"])),
    )
    return [row["key"][:8], minute, row["dataset"], row["algorithm"], *figures]
