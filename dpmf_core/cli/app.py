"""`app`: serve the dashboard, and list the settings of a server."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import click

from dpmf_core.base.errors import BadInput
from dpmf_core.base.extras import missing
from dpmf_core.cli import output


@click.command(context_settings={"ignore_unknown_options": True})
@click.option(
    "--settings",
    "settings_only",
    is_flag=True,
    help="Only list every setting of a server: value, source of the value, meaning.",
)
@output.json_option
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def app(options: tuple[str, ...], settings_only: bool, as_json: bool) -> int:
    """Serve the dashboard on this machine and open it in the browser.

    OPTIONS are those of `streamlit run` (see `streamlit run --help`), such as --server.port 8502.
    --json goes with --settings.
    """
    if settings_only:
        _show_settings(as_json)
        return 0
    if importlib.util.find_spec("streamlit") is None:
        raise missing("streamlit", "app")
    command = [sys.executable, str(script()), *options]
    if os.name == "posix":  # elsewhere no process takes another's place
        sys.stdout.flush()
        os.execv(command[0], command)
    return subprocess.run(command, check=False).returncode


def script() -> Path:
    """The app's script: installed, or next to the core in a clone. Raises BadInput."""
    package = importlib.util.find_spec("dpmf_app")
    locations = getattr(package, "submodule_search_locations", None)
    for folder in (*map(Path, locations or ()), Path(__file__).parents[2]):
        if (folder / "app.py").is_file() and (folder / "pages").is_dir():
            return folder / "app.py"
    raise BadInput(
        "The app's script, app.py, is not installed. Install the package dpmf again."
    )


def _show_settings(as_json: bool) -> None:
    # not needed to serve the app
    from dpmf_core.base.settings import (
        WITHOUT_LIMIT,
        setting_rows,
    )

    lines = []
    rows = setting_rows()
    for row in rows:
        value = WITHOUT_LIMIT if row["value"] is None else row["value"]
        text = value
        if isinstance(value, tuple):
            text = ", ".join(value) or "none"
        lines.append(f"{row['name']} = {text}  ({row['from']})\n    {row['words']}")
    output.show(as_json, rows, "\n".join(lines))
