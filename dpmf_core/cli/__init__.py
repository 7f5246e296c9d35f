"""The command line. Results go to standard output, everything else to standard error.

Exit code: 0 done, 2 bad input, 130 interrupted, 1 anything else.
"""

import contextlib
import errno
import os
import sys
from collections.abc import Sequence

import click

from dpmf_core.base import interrupts
from dpmf_core.base.errors import BadInput, Cancelled
from dpmf_core.base.program import program as program_name
from dpmf_core.base.requesters import OPERATOR, asking
from dpmf_core.base.version import __version__
from dpmf_core.cli.lazy_group import LazyGroup, Place

EXIT_OK, EXIT_FAILURE, EXIT_BAD_INPUT, EXIT_INTERRUPT = 0, 1, 2, 130


PLACES = {
    "account": Place(
        "accounting:account",
        "Every rule's epsilon of a composition, the noise for a budget, or the cost of an"
        " algorithm's plan.",
    ),
    "algorithms": Place(
        "data:algorithms", "The algorithms, their sources, guarantees and parameters."
    ),
    "app": Place("app:app", "Serve the dashboard on this machine and open it in the browser."),
    "audit": Place(
        "audit:audit",
        "A measured lower bound on epsilon next to the proven one, on a small simulated set with a"
        " worst-case user or sample, or on data of yours.",
    ),
    "choose": Place("choosing:choose", "Which proven private method, at which epsilon."),
    "datasets": Place(
        "data:datasets", "The data sets: licence, size, and whether they are on this machine."
    ),
    "doctor": Place(
        "doctor:doctor",
        "Versions, data folder, data sets, stored runs and speed of this machine.",
    ),
    "fit": Place("runs:fit", "One run, in this process and on all cores; kept in the store."),
    "papers": Place("papers:papers", "Every claim of the source papers, with the last verdict."),
    "runs": Place("run_store:runs", "The finished runs; without a command, a list of them."),
    "spent": Place(
        "accounts:total_spent",
        "What was drawn so far from the private data DATA (a path, or an id of `datasets`), as one"
        " epsilon, and what it is made of.",
    ),
    "sweep": Place("runs:sweep", "Many runs, in worker processes."),
    "tune": Place(
        "tuning:tune",
        "Search over parameters, judged by validation ratings; the winner is compared with the"
        " recommended parameters over fresh draws, on test ratings.",
    ),
}


@click.group(
    cls=LazyGroup,
    places=PLACES,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Completion of commands, options and ids in bash, and likewise in zsh and fish:"
    ' eval "$(_DPMF_COMPLETE=bash_source dpmf)"',
)
@click.version_option(__version__, prog_name="dpmf")
def program() -> None:
    """What differential privacy costs a matrix factorisation, exactly accounted."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; its exit code. Nothing that a person can cause ends in a traceback."""
    try:
        with asking(OPERATOR):  # whoever has the machine's command line runs what is on it
            code = program.main(
                arguments,
                prog_name=program_name(),
                complete_var="_DPMF_COMPLETE",
                standalone_mode=False,
            )
        _flush()
        return code or EXIT_OK
    except click.ClickException as error:
        with contextlib.suppress(OSError):
            error.show()
        return EXIT_BAD_INPUT
    except BadInput as error:
        return _print_error(str(error), EXIT_BAD_INPUT)
    except (click.Abort, KeyboardInterrupt, Cancelled) as error:
        return _print_error(str(error) or interrupts.SENTENCE, EXIT_INTERRUPT)
    except Exception as error:
        return _failure_code(error)


def _failure_code(error: Exception) -> int:
    """The exit code of what went wrong in another way, once it is said.

    Raises the error itself under DPMF_DEBUG.
    """
    if interrupts.was_swallowed():
        return _print_error(interrupts.SENTENCE, EXIT_INTERRUPT)
    if isinstance(error, OSError) and (output_error := _output_error()) is not None:
        if output_error.errno == errno.EPIPE:  # whoever read it has left
            return EXIT_FAILURE
        return _print_error(
            f"Standard output takes no more ({output_error.strerror}); what was printed is not"
            " complete.",
            EXIT_FAILURE,
        )
    if os.environ.get("DPMF_DEBUG"):
        raise error
    return _print_error(
        f"{type(error).__name__}: {error}\nThis should not happen. DPMF_DEBUG=1 shows where it"
        " did.",
        EXIT_FAILURE,
    )


def _output_error() -> OSError | None:
    """Why standard output takes no more, asked with a line break; None where it does.

    It goes nowhere then, so that its flush at the end is silent.
    """
    try:
        print(flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return error
    return None


def _flush() -> None:
    if sys.stdout is not None:  # Python's value for one that was closed from the start
        sys.stdout.flush()


def _print_error(message: str, code: int) -> int:
    # where standard error takes nothing either, the exit code is all that can be told
    with contextlib.suppress(OSError):
        click.echo(message, err=True)
    return code
