"""`datasets` and `algorithms`: what there is to work with."""

import contextlib
import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from dpmf_core import algorithms as registry
from dpmf_core.algorithms import Algorithm
from dpmf_core.base.errors import BadInput
from dpmf_core.base.registry import find
from dpmf_core.cli import output
from dpmf_core.cli.data_options import on_data, tell_changes
from dpmf_core.cli.options import Options, with_options
from dpmf_core.data import AnyData, PartitionedRatings
from dpmf_core.data.addresses import split
from dpmf_core.data.catalogue import catalogue
from dpmf_core.data.facts import FACTS
from dpmf_core.data.partitioned import ItemCounts
from dpmf_core.data.ratings import USERS_ARE_PUBLIC, Ratings
from dpmf_core.data.report import BY_PLACE, Report, condition_words, outside_of
from dpmf_core.data.samples import PEOPLE_ARE_COUNTED, Samples, samples_report


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
        {name: it for name, it in row.items() if row["public"] or name != "n_ratings"}
        for row in rows
    ]
    head = ["id", "title", "rows x columns", "present", "licence"]
    output.show(as_json, shown_rows, output.table(head, [_line(row) for row in rows]))


def _line(row: dict[str, Any]) -> list[str]:
    if "n_users" in row:
        size = f"{row['n_users']:,} x {row['n_items']:,}, {row['n_ratings']:,} ratings"
    else:
        size = f"{row['n_samples']:,} x {row['n_features']:,} {row['holds']}"
    present = "yes" if row["present"] else f"no ({row['size_mb']:g} MB)"
    return [row["id"], row["title"], size, present, row["licence"]]


@datasets.command()
@click.argument("data_id", metavar="ID")
@click.option("--accept-licence", is_flag=True, help="You have read the licence and accept it.")
@output.json_option
def fetch(data_id: str, accept_licence: bool, as_json: bool) -> None:
    """Download a data set from its official source, after its licence, with a checksum test."""
    entry = find(_entries(), data_id, "data set")
    if not accept_licence and sys.stdin.isatty() and sys.stderr.isatty():
        click.echo(
            f"{entry.title}, {entry.size_mb:g} MB\n{entry.licence}\n{entry.citation}\n{entry.home}",
            err=True,
        )
        accept_licence = click.confirm("Do you accept these terms?", err=True)
    catalogue().fetch(data_id, accept_licence=accept_licence, progress=sys.stderr.isatty())
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
@click.argument("data_id", metavar="ID")
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
        raise BadInput("--partitions needs --partitioned. Add it, or leave --partitions out.")
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


def _import_partitions(name: str, path: str, n_partitions: int | None, replace: bool) -> Any:
    """Import with a progress bar for each stage."""
    with contextlib.ExitStack() as stack:
        bars: dict[str, tqdm[Any]] = {}

        def tell(stage: str, count: int, total: int) -> None:
            if stage not in bars:
                bar = tqdm(desc=stage, total=total, file=sys.stderr, disable=None)
                bars[stage] = stack.enter_context(bar)
            bars[stage].update(count - bars[stage].n)

        return catalogue().import_partitions(
            name, path, n_partitions=n_partitions, replace=replace, progress=tell
        )


@click.command()
@click.argument("data", metavar="FILE|ID")
@on_data("data", in_help=FACTS, is_told=False)
@output.json_option
def check(data: str, as_json: bool) -> None:
    """Read data and report what was left out, changed, recognised and assumed.

    FILE is a table of ratings, documents or images, or what `datasets import --partitioned` reads.
    Nothing is stored, and no account is charged. The options declare facts of the file, as they do
    for all commands that read it; each may also follow the path: 'ratings.csv?bounds=1,5&user=who'.
    With --json the report has the counts of problems, which follow from private rows.
    """
    report, assumptions = _reading(data)
    sentences = [str(report), condition_words(assumptions), *_further_facts(report, assumptions)]
    output.show(as_json, report.to_dict(), "\n".join(sentences))


def _reading(address: str) -> tuple[Report, tuple[str, ...]]:
    """The report of data, and what they leave conditional in a guarantee. Raises BadInput."""
    if catalogue().are_tables(address):
        tables: tuple[Report, tuple[str, ...]] = catalogue().check_tables(address)
        return tables
    data: AnyData = catalogue().load(address)
    if isinstance(data, Samples):
        return data.report or samples_report(data), data.assumptions
    if isinstance(data, Ratings):
        return data.report or _report_of_stored(data, len(data)), data.assumptions
    n_ratings = int(data.fold(ItemCounts(data.n_items)).sum())
    return _report_of_stored(data, n_ratings), data.assumptions


def _report_of_stored(ratings: Ratings | PartitionedRatings, n_ratings: int) -> Report:
    """The report of ratings that were checked when they were stored, or are simulated."""
    return Report(
        name=ratings.name,
        read=n_ratings,
        kept=n_ratings,
        n_users=ratings.n_users,
        n_items=ratings.n_items,
    )


def _further_facts(report: Report, assumptions: tuple[str, ...]) -> Iterator[str]:
    """What can be declared next, with the options that do."""
    if USERS_ARE_PUBLIC in assumptions:
        yield "Declare the number of users if it is public: --users N, at least as many."
    if PEOPLE_ARE_COUNTED in assumptions:
        yield "Declare the number of people if it is public: --people N, at least as many."
    if BY_PLACE in dict(report.recognised).values():
        yield "Columns were taken by their place. Name them: --user, --item, --rating, --time."
    beyond = outside_of(report.problems)
    if beyond is not None and not beyond.is_left_out:
        yield "Ratings outside the bounds were changed. Leave their rows out: --outside leave-out."
    elif beyond is not None:
        yield "If the bounds are wrong, declare others: --bounds LOW,HIGH."
        for value, times in beyond.commonest:
            if 2 * times > beyond.count:
                yield f"If {value} means 'not rated', say so: --missing={value}."


def describe(kind: type[Algorithm]) -> dict[str, Any]:
    """An algorithm as JSON: description, guarantee, and parameters as a JSON schema."""
    guarantee, names = kind().guarantee(), ("id", "title", "words", "source", "task", "version")
    return {name: getattr(kind, name) for name in names} | {
        "unit": guarantee.unit,
        "guarantee": {"status": str(guarantee.status), "words": guarantee.words},
        "parameters": kind.model_json_schema(),
    }


@click.command()
@output.json_option
def algorithms(as_json: bool) -> None:
    """List algorithms, their parameters, and where they depart from the paper that they follow."""
    rows = [
        {**describe(kind), "deviations": _deviations(kind.id)}
        for kind in registry.REGISTRY.values()
    ]
    lines = [[row["id"], row["title"], row["guarantee"]["status"], row["source"]] for row in rows]
    parts = [
        output.table(["id", "title", "guarantee", "source"], lines),
        "\nParameters (--json adds ranges and meanings)",
    ]
    for row in rows:
        names = ", ".join(row["parameters"].get("properties", {})) or "none"
        parts.append(f"  {row['id']}: {names}")
    parts.append("\nDeviations from the papers' algorithms (--json adds what they print, and why)")
    for row in rows:
        for deviation in row["deviations"]:
            where = f"{row['id']}, {deviation['source']}, {deviation['place']}"
            parts.append(f"  {where}: {deviation['ours']} ({deviation['cost']})")
    output.show(as_json, rows, "\n".join(parts))


def _deviations(algorithm: str) -> list[dict[str, str]]:
    """Where an algorithm departs from the papers' algorithms, and what that costs."""
    from dpmf_core.papers.deviations import cost_words  # slow to load, needed only here
    from dpmf_core.papers.registry import DEVIATIONS, PAPERS

    return [
        {
            "source": PAPERS[paper].short,
            **dataclasses.asdict(deviation),
            "cost": cost_words(algorithm, deviation),
        }
        for paper, by_algorithm in DEVIATIONS.items()
        for deviation in by_algorithm.get(algorithm, ())
    ]
