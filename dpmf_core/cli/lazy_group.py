"""Commands that are loaded when they run, so that start-up loads only what is used."""

import contextlib
import gc
import importlib
from collections.abc import Iterator, Mapping
from typing import Any

import click

from dpmf_core.base import interrupts
from dpmf_core.base.errors import closest


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
    """A group of commands by name: the place of each (module:attribute) and its one-line help."""

    def __init__(self, *args: Any, places: Mapping[str, tuple[str, str]], **options: Any) -> None:
        super().__init__(*args, **options)
        self.places = places

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.places and not args[0].startswith("-"):
            context.fail(f"No such command '{args[0]}'.{closest(args[0], self.places)}")
        return super().resolve_command(context, args)

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted(self.places)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The command, loaded; None if there is none of this name."""
        if name not in self.places:
            return None
        place, words = self.places[name]
        module, _, attribute = place.partition(":")
        with interrupts.at_once(), _without_collection():
            imported = importlib.import_module(f"dpmf_core.cli.{module}")
        command: click.Command = getattr(imported, attribute)
        command.help = command.help or words
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in `--help` without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self.places[name][1]) for name in self.list_commands(context)]
            )
