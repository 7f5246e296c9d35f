"""`report`: runs as one HTML file."""

from pathlib import Path

import click

from dpmf_core.cli.stored_run import find_stored
from dpmf_core.errors import BadInput
from dpmf_core.paths import write_whole
from dpmf_core.runs.reports import report as html_report

MOST = 6  # runs whose curves can be told apart


@click.command()
@click.argument("keys", nargs=-1, required=True)
@click.option("--title", default="Runs", show_default=True)
@click.option(
    "--out", type=click.Path(path_type=Path, dir_okay=False), help="Else standard output."
)
def report(keys: tuple[str, ...], title: str, out: Path | None) -> None:
    """Up to six stored runs as one HTML file: what differs, figures, curves, ledgers. The first
    characters of each of the KEYS are enough. Of private data it holds nothing raw.
    """
    if len(keys) > MOST:
        raise BadInput(f"A report holds at most {MOST} runs. Got {len(keys)}.")
    page = html_report([find_stored(key) for key in keys], title)
    if out is None:
        click.echo(page)
    else:
        write_whole(out, page)
        click.echo(f"{out} holds {len(keys)} run{'s' * (len(keys) > 1)}.", err=True)
