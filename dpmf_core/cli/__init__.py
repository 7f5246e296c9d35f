"""The command line. Results go to standard output, everything else to standard error.

Exit code: 0 done, 2 bad input, 130 interrupted, 1 anything else.
"""

import contextlib
import errno
import os
import sys
from collections.abc import Sequence

import click

from dpmf_core import interrupts
from dpmf_core.askers import OPERATOR, asking
from dpmf_core.cli import accounting, admin, attack, data, kept, runs, spent, storage, tuning
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
for command in (storage.check, storage.repair, storage.backup, storage.restore):
    kept.runs.add_command(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code. Nothing that a person can cause ends in a traceback."""
    try:
        with asking(OPERATOR):  # whoever has the machine's command line runs what is on it
            code = program.main(arguments, prog_name="python -m dpmf_core", standalone_mode=False) or DONE
        _flush()
        return code
    except click.ClickException as error:
        with contextlib.suppress(OSError):
            error.show()
        return BAD_INPUT
    except BadInput as error:
        return _said(str(error), BAD_INPUT)
    except (click.Abort, KeyboardInterrupt, Cancelled) as error:
        return _said(str(error) or interrupts.SENTENCE, INTERRUPTED)
    except Exception as error:
        return _failed(error)


def _failed(error: Exception) -> int:
    """The exit code of what went wrong in another way, once it is said. Raises the error itself under DPMF_DEBUG."""
    if isinstance(error, OSError) and (refused := _refused()) is not None:
        if refused.errno == errno.EPIPE:  # whoever read it has left
            return FAILED
        return _said(f"Standard output takes no more ({refused.strerror}); what was printed is not complete.", FAILED)
    if os.environ.get("DPMF_DEBUG"):
        raise error
    return _said(f"{type(error).__name__}: {error}\nThis should not happen. DPMF_DEBUG=1 shows where it did.", FAILED)


def _refused() -> OSError | None:
    """Why standard output takes no more, asked with a line break; None where it does. It goes nowhere then, so that its flush at the end is silent."""
    try:
        print(flush=True)
    except OSError as refused:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return refused
    return None


def _flush() -> None:
    if sys.stdout is not None:  # Python's value for one that was closed from the start
        sys.stdout.flush()


def _said(message: str, code: int) -> int:
    with contextlib.suppress(OSError):  # where standard error takes nothing either, the exit code is all that can be told
        click.echo(message, err=True)
    return code
