"""Streamlit's server, started by `python app.py`: what ends it is answered with a sentence and
an exit code of ours.
"""

import warnings

import click
from streamlit.web import cli

from dpmf_core.base import interrupts


def serve(script: str, options: list[str]) -> int:
    """Serve until stopped; the exit code.

    `options` are those of `streamlit run`, beside the STREAMLIT_ variables and config.toml.
    """
    # Ctrl-C between the making of uvicorn's coroutine and its start is no fault of anybody's
    warnings.filterwarnings("ignore", "coroutine 'Server.serve' was never awaited", RuntimeWarning)
    return interrupts.exit_code_of(lambda: _serve(["run", script, *options]))


def _serve(arguments: list[str]) -> int:
    try:
        cli.main(arguments, prog_name="python app.py", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except click.Abort:
        raise KeyboardInterrupt from None  # click has taken it for its own
    return 0
