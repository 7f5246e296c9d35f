"""`runs check`, `repair`, `backup` and `restore`: looking after the store."""

from dataclasses import asdict
from pathlib import Path

import click

from dpmf_core.cli.tables import json_option
from dpmf_core.runs import backup as backups
from dpmf_core.runs import repair as repairs
from dpmf_core.runs.store import Store, to_json

FAULTY = 1  # exit code of a check that found something


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


@click.command()
@json_option
@click.pass_context
def check(context: click.Context, as_json: bool) -> None:
    """Read every stored run; exit code 1 where one is not what was written."""
    store = Store()
    problems, number, aside = store.check(), len(store.run_keys()), store.aside()
    if as_json:
        click.echo(
            to_json({"runs": number, "problems": problems, "aside": [str(path) for path in aside]})
        )
    else:
        whole = (
            "The store is whole."
            if not problems
            else f"{_count(len(problems), 'problem')}; `runs repair` mends them."
        )
        click.echo("\n".join([f"{_count(number, 'run')} in {store.folder}.", *problems, whole]))
        if aside:
            click.echo(
                f"In {aside[0].parent}: {_count(len(aside), 'file')} that could not be read. Delete"
                " what lies there when nothing is missing."
            )
    store.close()
    if problems:
        context.exit(FAULTY)


@click.command()
@json_option
def repair(as_json: bool) -> None:
    """Build a damaged index again and move runs that cannot be read aside.

    Stop the servers first.
    """
    actions = repairs.repair_store()
    store = Store()
    number = len(store.run_keys())
    store.close()
    if as_json:
        click.echo(to_json({"runs": number, "done": actions}))
    else:
        click.echo(
            "\n".join(
                [
                    *(actions or ["There was nothing to repair."]),
                    f"{_count(number, 'run')} in {store.folder}.",
                ]
            )
        )


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@json_option
def backup(file: Path, as_json: bool) -> None:
    """Write runs, answers of classes, journals of searches and accounts of private data to a FILE.

    Servers may go on meanwhile. It holds what was drawn on private data: only its owner can read
    it.
    """
    contents = backups.back_up(file)
    for problem in contents.problems:
        click.echo(f"Not in the backup: {problem}", err=True)
    parts = (
        f"{_count(contents.runs, 'run')}, {_count(contents.files, 'other file')} and"
        f" {_count(contents.accounts, 'account')}"
    )
    click.echo(to_json(asdict(contents)) if as_json else f"{file} holds {parts} of private data.")


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@json_option
def restore(file: Path, as_json: bool) -> None:
    """Add what a backup FILE holds and this data folder lacks.

    Nothing is replaced or removed: an account keeps every charge that either of both knows.
    """
    report = backups.restore(file)
    lines = [
        (
            f"{_count(report.runs, 'run')} and {_count(report.files, 'other file')} were added;"
            f" {_count(report.known, 'run')} of the backup were here already."
        ),
        *report.sentences,
    ]
    click.echo(to_json(asdict(report)) if as_json else "\n".join(lines))
