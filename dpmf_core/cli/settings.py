"""`settings`: what a server of this data folder is set to."""

import click

from dpmf_core.cli.tables import json_option
from dpmf_core.runs.store import to_json
from dpmf_core.serving.settings import WITHOUT_LIMIT, setting_rows


@click.command()
@json_option
def settings(as_json: bool) -> None:
    """Every setting of a server: its value, where that comes from, what it means."""
    rows = setting_rows()
    if as_json:
        click.echo(to_json(rows))
        return
    for row in rows:
        value = (
            ", ".join(row["value"]) or "none"
            if isinstance(row["value"], tuple)
            else WITHOUT_LIMIT
            if row["value"] is None
            else row["value"]
        )
        click.echo(f"{row['name']} = {value}  ({row['from']})\n    {row['words']}")
