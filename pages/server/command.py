"""Streamlit's server as started by `python app.py`, with our messages and exit codes."""

import warnings

import click
from streamlit.web import cli

from dpmf_core.base import interrupts


def serve(script: str, options: list[str]) -> int:
    """Serve until stopped; return the exit code.

    options: those of `streamlit run`, in addition to STREAMLIT_ variables and config.toml.
    """
    # Ctrl-C just before uvicorn's coroutine starts is no error
    warnings.filterwarnings("ignore", "coroutine 'Server.serve' was never awaited", RuntimeWarning)
    return interrupts.exit_code_of(lambda: _serve(["run", script, *options]))


def _serve(arguments: list[str]) -> int:
    try:
        cli.main(arguments, prog_name="python app.py", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None  # click has converted it
    return 0
