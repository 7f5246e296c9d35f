"""`datasets` and `algorithms`: what there is to work with."""

import dataclasses
import sys
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from dpmf_core import algorithms as registry
from dpmf_core.algorithms import Algorithm
from dpmf_core.base.documents import to_json
from dpmf_core.base.errors import BadInput, closest
from dpmf_core.cli import tables
from dpmf_core.cli.completion import dataset_ids
from dpmf_core.cli.tables import json_option
from dpmf_core.data.catalogue import catalogue


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def datasets(context: click.Context, as_json: bool) -> None:
    if context.invoked_subcommand is not None:
        return
    rows = [
        {**dataclasses.asdict(entry), "present": catalogue().present(entry.id)}
        for entry in (*catalogue().catalogue(), *catalogue().in_parts())
    ]
    if as_json:
        click.echo(to_json([_without_counts(row) for row in rows]))
        return
    counts = [_size_words(row) for row in rows]
    here = ["yes" if row["present"] else f"no ({row['size_mb']:g} MB)" for row in rows]
    table = [
        [
            row["id"],
            row["title"],
            count,
            there,
            row["licence"],
        ]
        for row, count, there in zip(rows, counts, here, strict=True)
    ]
    click.echo(tables.table(["id", "title", "rows x columns", "present", "licence"], table))


def _without_counts(row: dict[str, Any]) -> dict[str, Any]:
    """A row as it may leave this machine, without the number of ratings in private data."""
    return {name: it for name, it in row.items() if row["public"] or name != "n_ratings"}


def _size_words(row: dict[str, Any]) -> str:
    if "n_users" in row:
        return f"{row['n_users']:,} x {row['n_items']:,}, {row['n_ratings']:,} ratings"
    return f"{row['n_samples']:,} x {row['n_features']:,} {row['holds']}"


def _entry(data_id: str) -> Any:
    all_entries = (*catalogue().catalogue(), *catalogue().in_parts())
    entries = {entry.id: entry for entry in all_entries}
    if data_id not in entries:
        raise BadInput(
            f"There is no data set '{data_id}'.{closest(data_id, entries)} Known:"
            f" {', '.join(entries)}."
        )
    return entries[data_id]


@datasets.command()
@click.argument("data_id", metavar="ID", shell_complete=dataset_ids)
@click.option("--accept-licence", is_flag=True, help="You have read the licence and accept it.")
@json_option
def fetch(data_id: str, accept_licence: bool, as_json: bool) -> None:
    """Download a data set from its official source, after its licence, with a checksum test."""
    entry = _entry(data_id)
    if not accept_licence and sys.stdin.isatty() and sys.stderr.isatty():
        click.echo(
            f"{entry.title}, {entry.size_mb:g} MB\n{entry.licence}\n{entry.citation}\n{entry.home}",
            err=True,
        )
        accept_licence = click.confirm("Do you accept these terms?", err=True)
    catalogue().fetch(data_id, accept_licence=accept_licence, progress=sys.stderr.isatty())
    _print(
        {"id": data_id, "present": catalogue().present(data_id)},
        f"{entry.title} is on this machine.",
        as_json,
    )


@datasets.command("import")
@click.argument("data_id", metavar="ID", shell_complete=dataset_ids)
@click.argument("path")
@click.option("--replace", is_flag=True, help="Replace another set of this name.")
@click.option(
    "--partitioned",
    is_flag=True,
    help=(
        "Store ratings of any size in partitions under a new name; one partition is in memory at a"
        " time. PATH is a table, a folder of tables or a pattern, with its facts"
        " ('BIG.csv?bounds=1,5')."
    ),
)
@click.option(
    "--partitions",
    "n_partitions",
    type=int,
    help="With --partitioned: the number of partitions; one per 32,768 users by default.",
)
@json_option
def import_(
    data_id: str,
    path: str,
    replace: bool,
    partitioned: bool,
    n_partitions: int | None,
    as_json: bool,
) -> None:
    """Import a file or folder: the official archive or folder, or a table with a header.

    With --partitioned, ratings need not fit in memory.
    """
    if n_partitions is not None and not partitioned:
        raise BadInput("--partitions needs --partitioned. Add it, or leave --partitions out.")
    if partitioned:
        report = _import_partitions(data_id, path, n_partitions, replace)
    else:
        _entry(data_id)
        report = catalogue().import_(data_id, Path(path), replace=replace)
    _print(
        {"id": data_id, "present": catalogue().present(data_id), **report.facts},
        report.on_screen,
        as_json,
    )


def _import_partitions(name: str, path: str, n_partitions: int | None, replace: bool) -> Any:
    """Import with a progress bar for each stage."""
    bars: dict[str, tqdm[Any]] = {}

    def tell(stage: str, count: int, total: int) -> None:
        if stage not in bars:
            for bar in bars.values():
                bar.close()
            bars[stage] = tqdm(desc=stage, total=total, file=sys.stderr, disable=None)
        bars[stage].update(count - bars[stage].n)

    try:
        return catalogue().import_partitions(
            name, path, n_partitions=n_partitions, replace=replace, progress=tell
        )
    finally:
        for bar in bars.values():
            bar.close()


def _print(value: dict[str, Any], words: str, as_json: bool) -> None:
    click.echo(to_json(value) if as_json else words)


def describe(kind: type[Algorithm]) -> dict[str, Any]:
    """An algorithm as JSON: description, guarantee, and parameters as a JSON schema."""
    guarantee = kind().guarantee()
    return {
        "id": kind.id,
        "title": kind.title,
        "words": kind.words,
        "source": kind.source,
        "task": kind.task,
        "version": kind.version,
        "unit": guarantee.unit,
        "guarantee": {"status": str(guarantee.status), "words": guarantee.words},
        "parameters": kind.model_json_schema(),
    }


@click.command()
@json_option
def algorithms(as_json: bool) -> None:
    rows = [describe(kind) for kind in registry.REGISTRY.values()]
    if as_json:
        click.echo(to_json(rows))
        return
    names = [", ".join(row["parameters"].get("properties", {})) for row in rows]
    table = [[row["id"], row["title"], row["guarantee"]["status"], row["source"]] for row in rows]
    click.echo(tables.table(["id", "title", "guarantee", "source"], table))
    click.echo("\nParameters (--json adds ranges and meanings)")
    click.echo(
        "\n".join(f"  {row['id']}: {own or 'none'}" for row, own in zip(rows, names, strict=True))
    )
