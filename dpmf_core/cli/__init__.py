"""The command line. Results go to standard output, everything else to standard error.

Exit code: 0 done, 2 bad input, 130 interrupted, 1 anything else.
"""

import os
from collections.abc import Sequence

import click

from dpmf_core.askers import OPERATOR, asking
from dpmf_core.cli import accounting, admin, attack, data, kept, runs, spent, tuning
from dpmf_core.errors import BadInput, Cancelled

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def program() -> None:
    """What differential privacy costs a matrix factorisation, exactly accounted."""


for command in (
    data.datasets,
    data.fetch,
    data.import_,
    data.algorithms,
    accounting.account,
    runs.fit,
    runs.sweep,
    runs.presets,
    runs.warm,
    attack.audit,
    tuning.tune,
    kept.runs,
    spent.spent,
    admin.admin,
    admin.settings,
):
    program.add_command(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code. Nothing that a person can cause ends in a traceback."""
    try:
        with asking(OPERATOR):  # whoever has the machine's command line runs what is on it
            return program.main(arguments, prog_name="python -m dpmf_core", standalone_mode=False) or DONE
    except click.ClickException as error:
        error.show()
        return BAD_INPUT
    except BadInput as error:
        return _said(str(error), BAD_INPUT)
    except (click.Abort, KeyboardInterrupt, Cancelled) as error:
        return _said(str(error) or "Interrupted; nothing half-written is left.", INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # whoever read our output has left; Python's own flush at the end must not complain
        return FAILED
    except Exception as error:
        if os.environ.get("DPMF_DEBUG"):
            raise
        return _said(f"{type(error).__name__}: {error}\nThis should not happen. DPMF_DEBUG=1 shows where it did.", FAILED)


def _said(message: str, code: int) -> int:
    click.echo(message, err=True)
    return code
