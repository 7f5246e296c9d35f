"""`runs`: the store of finished runs, and what can be done with each."""

from pathlib import Path
from typing import Any

import click

from dpmf_core.base.documents import to_json
from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import write_whole
from dpmf_core.base.program import program
from dpmf_core.cli import output
from dpmf_core.cli.shell_completion import complete_run
from dpmf_core.data.addresses import file_of
from dpmf_core.privacy.formatting import epsilon_text
from dpmf_core.runs import permissions, reports
from dpmf_core.runs.record import RAW_FIGURES, Run
from dpmf_core.runs.store import Store
from dpmf_core.runs.stored_charges import enter_stored

MOST = 6  # runs of a report, so that curves can be told apart
FAULTY = 1  # exit code of a check that found something


@click.group(invoke_without_command=True)
@output.json_option
@click.pass_context
def runs(context: click.Context, as_json: bool) -> None:
    if context.invoked_subcommand is not None:
        return
    store = Store()
    rows = store.rows()
    if n_unreadable := store.count() - len(rows):
        output.note(
            f"{n_unreadable} stored runs cannot be read. `runs check` says why."
        )
    head = ["key", "made (UTC)", "data", "algorithm", "epsilon", "seed", "RMSE"]
    table = "No run is stored yet."
    if rows:
        table = output.table(head, list(map(_line, rows)))
    output.show(as_json, list(map(_export, rows)), table)


def _export(row: dict[str, Any]) -> dict[str, Any]:
    """A row as it may leave this machine, without anything from raw private rows."""
    if row["public"]:
        return row
    harmless = {name: value for name, value in row.items() if name not in RAW_FIGURES}
    return harmless | {"dataset": file_of(row["dataset"])}


def _line(row: dict[str, Any]) -> list[Any]:
    figures = (epsilon_text(row["epsilon"]), row["seed"], output.number(row["rmse"]))
    moment = output.minute(row["created"])
    return [row["key"][:8], moment, row["dataset"], row["algorithm"], *figures]


def whole_key(store: Store, start: str) -> str:
    """The one stored key that begins with `start`."""
    keys = [key for key in store.run_keys() if start and key.startswith(start)]
    if len(keys) != 1:
        what = "No stored run begins"
        if keys:
            what = f"{len(keys)} stored runs begin"
        raise BadInput(f"{what} with the key {start!r}. `{program()} runs` lists them.")
    return str(keys[0])


def find_stored(start: str) -> Run:
    """The stored run with a key that begins so.

    Raises BadInput if no run or several runs have such a key, or if a budget of its data does not
    allow it.
    """
    store = Store()
    run = store.get(whole_key(store, start))
    if run is None:
        raise BadInput(
            f"The run {start!r} was just deleted. `{program()} runs` lists the others."
        )
    enter_stored(run.record)
    return run


@runs.command()
@click.argument("key", shell_complete=complete_run)
@output.json_option
def show(key: str, as_json: bool) -> None:
    """Show one run in full. The first characters of its KEY are enough."""
    record = find_stored(key).record
    output.show(as_json, record.export(), output.run(record))


@runs.command()
@click.argument("key", shell_complete=complete_run)
@click.option(
    "--script", is_flag=True, help="Print a Python script that repeats the run."
)
@click.option(
    "--notebook", is_flag=True, help="Print a Jupyter notebook that repeats the run."
)
@output.json_option
def export(key: str, script: bool, notebook: bool, as_json: bool) -> None:
    """Print a run as it may leave this machine, without raw figures."""
    if script + notebook + as_json != 1:
        raise BadInput("Choose what to export: --script, --notebook or --json.")
    run = find_stored(key)
    if as_json:
        click.echo(to_json(run.export()))
    else:
        write = reports.notebook_of_run if notebook else reports.script
        click.echo(write(run.record.exported()))


@runs.command()
@click.argument("key", shell_complete=complete_run)
@output.json_option
def delete(key: str, as_json: bool) -> None:
    """Delete a run."""
    store = Store()
    whole = whole_key(store, key)
    store.delete(whole)
    output.show(as_json, {"deleted": whole}, f"Deleted {whole}.")


@runs.command()
@click.argument("key", shell_complete=complete_run)
@click.option(
    "--off", is_flag=True, help="Unpin: the run may be deleted when it is the oldest."
)
@output.json_option
def pin(key: str, off: bool, as_json: bool) -> None:
    """Keep a run when older ones are deleted."""
    store = Store()
    whole = whole_key(store, key)
    permissions.pin(store, whole, not off)
    text = f"{whole} is {'no longer pinned' if off else 'pinned'}."
    output.show(as_json, {"key": whole, "pinned": not off}, text)


@runs.command()
@output.json_option
@click.pass_context
def check(context: click.Context, as_json: bool) -> None:
    """Read every stored run and report changed ones. The exit code is 1 if there are any."""
    store = Store()
    problems = store.check()
    number = store.count()
    whole = "The store is intact."
    if problems:
        whole = f"Problems: {len(problems)}."
    noun = "run" if number == 1 else "runs"
    lines = [f"{number:,} {noun} in {store.path}.", *problems, whole]
    output.show(as_json, {"runs": number, "problems": problems}, "\n".join(lines))
    store.close()
    if problems:
        context.exit(FAULTY)


@runs.command()
@click.argument(
    "keys",
    nargs=-1,
    required=True,
    shell_complete=complete_run,
)
@click.option("--title", default="Runs", show_default=True)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Default: standard output."
)
def report(keys: tuple[str, ...], title: str, out: Path | None) -> None:
    """Write up to six stored runs to one HTML file.

    It holds what differs, figures, curves and ledgers, and nothing raw of private data. The first
    characters of each of the KEYS are enough.
    """
    if len(keys) > MOST:
        raise BadInput(
            f"A report holds at most {MOST} runs. Got {len(keys)}. Name fewer."
        )
    page = reports.report([find_stored(key) for key in keys], title)
    if out is None:
        click.echo(page)
    else:
        write_whole(out, page)
        noun = "run" if len(keys) == 1 else "runs"
        output.note(f"{out} holds {len(keys)} {noun}.")
