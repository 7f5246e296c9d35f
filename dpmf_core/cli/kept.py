"""`runs`: the store of finished runs."""

from typing import Any

import click

from dpmf_core.cli import show
from dpmf_core.cli.options import json_option
from dpmf_core.errors import BadInput
from dpmf_core.experiment import Run
from dpmf_core.store import Store, to_json


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def runs(context: click.Context, as_json: bool) -> None:
    """The finished runs; without a command, a list of them."""
    if context.invoked_subcommand is not None:
        return
    store = Store()
    rows = store.rows()
    if hidden := store.count() - len(rows):
        click.echo(f"Stored runs that cannot be read: {hidden}. `runs check` says why.", err=True)
    if as_json:
        click.echo(to_json(rows))
        return
    click.echo(
        show.table(["key", "made (UTC)", "data", "algorithm", "epsilon", "seed", "RMSE"], [_line(row) for row in rows]) if rows else "No run is stored yet."
    )


def _line(row: dict[str, Any]) -> list[Any]:
    made, figures = row["created"][:16].replace("T", " "), (show.epsilon(row["epsilon"]), row["seed"], show.number(row["rmse"]))
    return [row["key"][:8], made, row["dataset"], row["algorithm"], *figures]


def _key(store: Store, start: str) -> str:
    """The one stored key that begins with `start`."""
    found = [key for key in store.run_keys() if key.startswith(start)] if start else []
    if len(found) != 1:
        what = f"{len(found)} stored runs begin" if found else "No stored run begins"
        raise BadInput(f"{what} with the key {start!r}. `python -m dpmf_core runs` lists them.")
    return str(found[0])


def _stored(start: str) -> Run:
    store = Store()
    run = store.get(_key(store, start))
    if run is None:
        raise BadInput(f"The run {start!r} has just been deleted.")
    return run


@runs.command("show")
@click.argument("key")
@json_option
def show_run(key: str, as_json: bool) -> None:
    """One run in full. The first characters of its KEY are enough."""
    record = _stored(key).record
    click.echo(to_json(record) if as_json else show.run(record))


@runs.command()
@click.argument("key")
@click.option("--script", is_flag=True, help="A Python script that does the run again.")
@json_option
def export(key: str, script: bool, as_json: bool) -> None:
    """A run as it may leave this machine: without what is computed from raw private rows."""
    if script == as_json:
        raise BadInput("Say what to export: --script or --json.")
    run = _stored(key)
    click.echo(show.script(run.record) if script else to_json(run.export()))


@runs.command()
@click.argument("key")
@json_option
def delete(key: str, as_json: bool) -> None:
    """Forget a run."""
    store = Store()
    whole = _key(store, key)
    store.delete(whole)
    click.echo(to_json({"deleted": whole}) if as_json else f"Deleted {whole}.")
