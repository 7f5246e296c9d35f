"""A word before a table is read that may not fit in memory."""

from pathlib import Path

import click

from dpmf_core.jobs import machine

# measured on tables of ten million ratings: from reading to the saved model
BYTES_FOR_A_BYTE = 4.0
GZIP_RATIO = 5.0  # times as large as a .gz
TEXTS = (".csv", ".tsv", ".txt", ".dat", ".data")


def warn_of(dataset: str) -> None:
    """Says on standard error where a table of ratings is large for this machine."""
    name, _, facts = dataset.partition("?")
    path = Path(name)
    is_packed = path.suffix.lower() == ".gz"
    kind = Path(path.stem).suffix if is_packed else path.suffix
    if kind.lower() not in TEXTS or "bounds=" not in facts or not path.is_file():
        return
    megabytes = path.stat().st_size * BYTES_FOR_A_BYTE * (GZIP_RATIO if is_packed else 1.0) / 1e6
    if megabytes > machine.memory():
        click.echo(
            f"{path.name} may need {megabytes / 1000:,.1f} GB of memory, and there are"
            f" {machine.memory() / 1000:,.1f} GB. If that is too much, keep it in parts:"
            f" `import NAME '{path.name}?{facts}' --partitioned`, then `fit --dataset NAME`.",
            err=True,
        )
