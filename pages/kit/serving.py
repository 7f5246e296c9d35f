"""Streamlit's server, started by `python app.py`: what ends it is answered with a sentence and an exit code of ours."""

import sys

import click
from streamlit.web import cli

from dpmf_core import interrupts


def serve(script: str, options: list[str]) -> int:
    """Serve until stopped; the exit code. `options` are those of `streamlit run`, beside the STREAMLIT_ variables and config.toml."""
    interrupts.raise_in_main_thread()
    try:
        cli.main(["run", script, *options], prog_name="python app.py", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        print(interrupts.SENTENCE, file=sys.stderr)
        return interrupts.CODE
    finally:
        interrupts.exit_at_once()
    return 0
