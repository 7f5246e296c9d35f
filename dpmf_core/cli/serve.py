"""`serve`: the dashboard by several processes, for a class."""

import os

import click

from dpmf_core.cli.app import script


@click.command(context_settings={"ignore_unknown_options": True})
@click.option(
    "--processes", default=2, show_default=True, type=click.IntRange(1, 16), help="how many"
)
@click.option("--port", default=8501, show_default=True, type=click.IntRange(1, 65535))
@click.option("--address", default="127.0.0.1", show_default=True, help="where browsers come")
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def serve(processes: int, port: int, address: str, options: tuple[str, ...]) -> int:
    """Serve the dashboard by several processes behind one address, where one is too slow.

    nginx stands before them and keeps each browser with one of them; they share stored runs and
    workers. OPTIONS are those of `streamlit run` for each process.
    """
    if os.name != "posix":
        raise click.ClickException("Several processes are served on Linux and macOS alone.")
    from dpmf_core.administration import supervisor

    return supervisor.serve(script(), processes, address, port, options)
