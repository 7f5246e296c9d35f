"""`runs`: the store of finished runs."""

from typing import Any

import click

from dpmf_core.cli import tables
from dpmf_core.cli.lazy_group import LazyGroup, Place
from dpmf_core.cli.tables import json_option
from dpmf_core.runs.store import Store, to_json
from dpmf_core.runs.summary import RAW_FIGURES

PLACES = {
    "show": Place(
        "stored_run:show",
        "One run in full.",
    ),
    "export": Place(
        "stored_run:export",
        "A run as it may leave this machine: without what is computed from raw private rows.",
    ),
    "lists": Place(
        "stored_run:lists",
        "Every user's recommendations by a run, as a Parquet FILE.",
    ),
    "report": Place(
        "stored_run:report",
        "Up to six stored runs as one HTML file: what differs, figures, curves, ledgers.",
    ),
    "warm": Place(
        "warming:warm",
        "Compile the kernels and compute what the Explore page shows first, at every epsilon of"
        " its grid, so that a class starts at once; with --all what every page shows first.",
    ),
    "delete": Place(
        "stored_run:delete",
        "Forget a run.",
    ),
    "pin": Place(
        "stored_run:pin",
        "Keep a run when older ones go to make room.",
    ),
    "check": Place(
        "stored_run:check",
        "Read every stored run; exit code 1 where one is not what was written.",
    ),
}


@click.group(cls=LazyGroup, places=PLACES, invoke_without_command=True)
@json_option
@click.pass_context
def runs(context: click.Context, as_json: bool) -> None:
    """The finished runs; without a command, a list of them."""
    if context.invoked_subcommand is not None:
        return
    store = Store()
    rows = store.rows()
    if n_unreadable := store.count() - len(rows):
        click.echo(
            f"Stored runs that cannot be read: {n_unreadable}. `runs check` says why.", err=True
        )
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
    """A line as it may leave this machine: of private data without what was computed from raw
    rows.
    """
    from dpmf_core.runs.specification import file_of  # which the list itself does without

    if row["public"]:
        return row
    harmless = {name: value for name, value in row.items() if name not in RAW_FIGURES}
    return harmless | {"dataset": file_of(row["dataset"])}


def _line(row: dict[str, Any]) -> list[Any]:
    minute, figures = (
        row["created"][:16].replace("T", " "),
        (tables.epsilon(row["epsilon"]), row["seed"], tables.number(row["rmse"])),
    )
    return [row["key"][:8], minute, row["dataset"], row["algorithm"], *figures]
