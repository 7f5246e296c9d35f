"""The command line. Results go to standard output, everything else to standard error.

Exit code: 0 done, 2 bad input, 130 interrupted, 1 anything else.
"""

import contextlib
import errno
import gc
import os
import sys
from collections.abc import Iterator, Sequence
from pkgutil import resolve_name

import click

from dpmf_core import __version__
from dpmf_core.base import interrupts
from dpmf_core.base.errors import BadInput, Cancelled, closest
from dpmf_core.base.program import program as program_name
from dpmf_core.base.requesters import OPERATOR, asking

EXIT_OK = 0
EXIT_FAILURE = 1
EXIT_BAD_INPUT = 2
EXIT_INTERRUPT = 130

# by name: the place of a command, which is loaded when it runs, and its help in one line
PLACES = {
    "account": (
        "accounting_commands:account",
        "Compute what releases cost together, or the noise for a budget, without data.",
    ),
    "algorithms": (
        "data_command:algorithms",
        "List the algorithms, their sources, guarantees and parameters.",
    ),
    "app": (
        "app:app",
        "Serve the dashboard on this machine and open it in the browser.",
    ),
    "audit": (
        "audit_command:audit",
        "Attack an algorithm and print the measured epsilon next to the proven one.",
    ),
    "check": (
        "data_command:check",
        "Read data and report what was left out, changed, recognised and assumed.",
    ),
    "choose": (
        "choose_command:choose",
        "Find a proven private algorithm and an epsilon.",
    ),
    "datasets": (
        "data_command:datasets",
        "List data sets: licence, size, and whether they are on this machine.",
    ),
    "fit": ("run_commands:fit", "Train one model on all cores and store the run."),
    "papers": (
        "paper_commands:papers",
        "List the claims of the source papers and their verdicts.",
    ),
    "runs": ("run_store:runs", "List and manage the stored runs."),
    "spent": (
        "account_commands:total_spent",
        "Show what was drawn from private data, as one epsilon.",
    ),
    "sweep": ("run_commands:sweep", "Compute many runs in worker processes."),
    "tune": (
        "tune_command:tune",
        "Search over parameters by validation ratings, and test the best.",
    ),
}


@contextlib.contextmanager
def _without_collection() -> Iterator[None]:
    """Import without garbage collection, which would take a sixth of the start-up time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collects:
            gc.enable()


class LazyGroup(click.Group):
    """The commands of `PLACES`."""

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in PLACES and not args[0].startswith("-"):
            context.fail(f"No such command '{args[0]}'.{closest(args[0], PLACES)}")
        return super().resolve_command(context, args)

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted(PLACES)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The command, loaded; None if there is none of this name."""
        if name not in PLACES:
            return None
        place, words = PLACES[name]
        with interrupts.at_once(), _without_collection():
            command: click.Command = resolve_name(f"dpmf_core.cli.{place}")
        command.help = command.help or words
        return command

    def format_commands(
        self, context: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """List the commands in `--help` without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, PLACES[name][1]) for name in sorted(PLACES)])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Completion of commands and options in bash (similar in zsh and fish):"
    ' eval "$(_DPMF_COMPLETE=bash_source dpmf)"',
)
@click.version_option(__version__, prog_name="dpmf")
def program() -> None:
    """What differential privacy costs a matrix factorisation, exactly accounted."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. User errors never end in a traceback."""
    try:
        # anyone with the machine's command line may manage its files
        with asking(OPERATOR):
            code = program.main(
                arguments,
                prog_name=program_name(),
                complete_var="_DPMF_COMPLETE",
                standalone_mode=False,
            )
        # Python's value for an output that was closed from the start
        if sys.stdout is not None:
            sys.stdout.flush()
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
    """Report an unexpected error and return its exit code.

    Raises the error itself under DPMF_DEBUG.
    """
    if interrupts.was_swallowed():
        return _print_error(interrupts.SENTENCE, EXIT_INTERRUPT)
    if isinstance(error, OSError) and (output_error := _output_error()) is not None:
        if output_error.errno == errno.EPIPE:  # the reader has gone
            return EXIT_FAILURE
        return _print_error(
            f"Standard output cannot be written ({output_error.strerror}), so the printed result is"
            " incomplete. Free some space or choose another file.",
            EXIT_FAILURE,
        )
    if os.environ.get("DPMF_DEBUG"):
        raise error
    return _print_error(
        f"{type(error).__name__}: {error}\nThis is a bug in dpmf. Set DPMF_DEBUG=1 to see where"
        " it happened.",
        EXIT_FAILURE,
    )


def _output_error() -> OSError | None:
    """The error of standard output, tested with a line break; None if it works.

    After an error it is redirected to nowhere, so that its flush at the end is silent.
    """
    try:
        print(flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return error
    return None


def _print_error(message: str, code: int) -> int:
    # if standard error fails too, only the exit code remains
    with contextlib.suppress(OSError):
        click.echo(message, err=True)
    return code
