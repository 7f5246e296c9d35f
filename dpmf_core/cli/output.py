"""Results as a terminal shows them: JSON, tables, and runs in words. It loads little."""

import sys
from typing import TYPE_CHECKING, Any

import click

from dpmf_core.base.plain_tables import minute as minute
from dpmf_core.base.plain_tables import number as number
from dpmf_core.base.plain_tables import table as table

if TYPE_CHECKING:
    from dpmf_core.runs.privacy_record import PrivacyRecord
    from dpmf_core.runs.record import RunRecord

json_option = click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print one JSON value on standard output, nothing else.",
)
# colours of a guarantee's status; `click.echo` removes them if the output is not a terminal
COLOURS = {"PROVEN": "green", "CONDITIONAL": "yellow", "UNPROVEN": "red"}


def progress_bar(*parts: Any, disable: bool | None = None, **options: Any) -> Any:
    """A progress bar on standard error, by default if that is a terminal."""
    from tqdm import tqdm  # not needed to serve the app

    return tqdm(*parts, file=sys.stderr, disable=disable, **options)


def note(words: str) -> None:
    """Print words on standard error, next to a result."""
    click.echo(words, err=True)


def show(as_json: bool, value: Any, words: str) -> None:
    """Print a result as one JSON value or in words."""
    from dpmf_core.base.documents import to_json  # not needed to serve the app

    click.echo(to_json(value) if as_json else words)


def privacy(record: "PrivacyRecord", *more: str) -> str:
    """The privacy of a record, with the guarantee's status in its colour."""
    return record.privacy_text(*more, mark=_coloured)


def run(record: "RunRecord") -> str:
    """A run in words, with the guarantee's status in its colour."""
    return record.run_text(mark=_coloured)


def _coloured(status: str) -> str:
    return click.style(status, fg=COLOURS.get(status), bold=True)
