"""`datasets` and `algorithms`: the data and algorithms to work with."""

import contextlib
import dataclasses
import sys
from pathlib import Path
from typing import Any

import click

from dpmf_core.base.errors import BadInput
from dpmf_core.base.registry import find
from dpmf_core.cli import output
from dpmf_core.cli.data_options import on_data, tell_changes
from dpmf_core.cli.shared_options import Options, with_options
from dpmf_core.cli.shell_completion import complete_data, complete_data_id
from dpmf_core.data.addresses import split
from dpmf_core.data.catalogue import catalogue
from dpmf_core.data.facts import FACTS


def _entries() -> dict[str, Any]:
    entries = (*catalogue().catalogue(), *catalogue().in_parts())
    return {entry.id: entry for entry in entries}


@click.group(invoke_without_command=True)
@output.json_option
@click.pass_context
def datasets(context: click.Context, as_json: bool) -> None:
    if context.invoked_subcommand is not None:
        return
    rows = [
        {**dataclasses.asdict(entry), "present": catalogue().present(name)}
        for name, entry in _entries().items()
    ]
    # the number of ratings in private data does not leave this machine
    shown_rows = [
        {
            name: value
            for name, value in row.items()
            if row["public"] or name != "n_ratings"
        }
        for row in rows
    ]
    head = ["id", "title", "rows x columns", "present", "licence"]
    output.show(as_json, shown_rows, output.table(head, [_line(row) for row in rows]))


def _line(row: dict[str, Any]) -> list[str]:
    if "n_users" in row:
        size = f"{row['n_users']:,} x {row['n_items']:,}, {row['n_ratings']:,} ratings"
    else:
        size = f"{row['n_samples']:,} x {row['n_features']:,} {row['holds']}"
    if row["present"]:
        present = "yes"
    else:
        present = f"no ({row['size_mb']:g} MB)"
    return [row["id"], row["title"], size, present, row["licence"]]


@datasets.command()
@click.argument("data_id", metavar="ID", shell_complete=complete_data_id)
@click.option(
    "--accept-licence", is_flag=True, help="You have read the licence and accept it."
)
@output.json_option
def fetch(data_id: str, accept_licence: bool, as_json: bool) -> None:
    """Download a data set from its official source, after its licence, with a checksum test."""
    entry = find(_entries(), data_id, "data set")
    if not accept_licence and sys.stdin.isatty() and sys.stderr.isatty():
        output.note(
            f"{entry.title}, {entry.size_mb:g} MB\n{entry.licence}\n{entry.citation}\n{entry.home}"
        )
        accept_licence = click.confirm("Do you accept these terms?", err=True)
    catalogue().fetch(
        data_id, accept_licence=accept_licence, progress=sys.stderr.isatty()
    )
    facts = {"id": data_id, "present": catalogue().present(data_id)}
    output.show(as_json, facts, f"{entry.title} is on this machine.")


class ImportOptions(Options):
    """How a file or folder is imported."""

    replace: bool = False
    """Replace another set of this name."""
    partitioned: bool = False
    """Store ratings of any size in partitions under a new name; one partition is in memory at a
    time. PATH is a table, a folder of tables or a pattern, with its facts
    ('BIG.csv?bounds=1,5')."""
    partitions: int | None = None
    """With --partitioned: the number of partitions; one per 32,768 users by default."""


@datasets.command("import")
@click.argument("data_id", metavar="ID", shell_complete=complete_data_id)
@click.argument("path")
@on_data("path", is_told=False)
@with_options(ImportOptions)
@output.json_option
def import_(
    data_id: str,
    path: str,
    replace: bool,
    partitioned: bool,
    partitions: int | None,
    as_json: bool,
) -> None:
    """Import a file or folder: the official archive or folder, or a table with a header.

    With --partitioned, ratings need not fit in memory. The facts of the tables are options, listed
    by `check --help`.
    """
    if partitions is not None and not partitioned:
        raise BadInput(
            "--partitions needs --partitioned. Add it, or leave --partitions out."
        )
    if partitioned:
        report = _import_partitions(data_id, path, partitions, replace)
    else:
        find(_entries(), data_id, "data set")
        _refuse_facts(data_id, path)
        report = catalogue().import_(data_id, Path(path), replace=replace)
    facts = {"id": data_id, "present": catalogue().present(data_id), **report.facts}
    output.show(as_json, facts, report.words)
    tell_changes(path, report)


def _refuse_facts(data_id: str, path: str) -> None:
    """Raise BadInput on facts of a published set's files."""
    _, facts = split(path)
    if facts:
        raise BadInput(
            f"The facts of {data_id} are known. Leave {', '.join(facts)} out. For ratings of your"
            " own add --partitioned, or use the file itself as the data set."
        )


def _import_partitions(
    name: str, path: str, n_partitions: int | None, replace: bool
) -> Any:
    """Import with a progress bar for each stage."""
    with contextlib.ExitStack() as stack:
        bars: dict[str, Any] = {}

        def tell(stage: str, count: int, total: int) -> None:
            if stage not in bars:
                bar = output.progress_bar(desc=stage, total=total)
                bars[stage] = stack.enter_context(bar)
            bars[stage].update(count - bars[stage].n)

        return catalogue().import_partitions(
            name,
            path,
            n_partitions=n_partitions,
            replace=replace,
            progress=tell,
        )


@click.command()
@click.argument("data", metavar="FILE|ID", shell_complete=complete_data)
@on_data("data", in_help=FACTS, is_told=False)
@output.json_option
def check(data: str, as_json: bool) -> None:
    """Read data and report what was left out, changed, recognised and assumed.

    FILE is a table of ratings, documents or images, or what `datasets import --partitioned` reads.
    Nothing is stored, and no account is charged. The options declare facts of the file, as they do
    for all commands that read it; each may also follow the path: 'ratings.csv?bounds=1,5&user=who'.
    With --json the report has the counts of problems, which follow from private rows.
    """
    from dpmf_core.api.checking import check_address  # slow to load, needed only here

    checked = check_address(data)
    output.show(as_json, checked.to_dict(), "\n".join(checked.sentences(_as_option)))


def _as_option(name: str, value: str) -> str:
    """How a fact is declared here."""
    mark = "=" if name == "missing" else " "  # a number below 0 is not an option
    return f"--{name}{mark}{value}"


@click.command()
@output.json_option
def algorithms(as_json: bool) -> None:
    """List algorithms, their parameters, and where they depart from the paper that they follow."""
    from dpmf_core.algorithms import REGISTRY  # slow to load, needed only here
    from dpmf_core.api.describing import description

    rows = [description(kind) for kind in REGISTRY.values()]
    lines = [
        [row["id"], row["title"], row["guarantee"]["status"], row["source"]]
        for row in rows
    ]
    parts = [
        output.table(["id", "title", "guarantee", "source"], lines),
        "\nParameters (--json adds ranges and meanings)",
    ]
    for row in rows:
        names = ", ".join(row["parameters"].get("properties", {})) or "none"
        parts.append(f"  {row['id']}: {names}")
    parts.append(
        "\nDeviations from the papers' algorithms (--json adds what they print, and why)"
    )
    for row in rows:
        for deviation in row["deviations"]:
            where = f"{row['id']}, {deviation['source']}, {deviation['place']}"
            parts.append(f"  {where}: {deviation['ours']} ({deviation['cost']})")
    output.show(as_json, rows, "\n".join(parts))
