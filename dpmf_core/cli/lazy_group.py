"""Commands that are loaded when they run, so that start-up loads only what is used."""

import contextlib
import gc
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import click

from dpmf_core.base import interrupts
from dpmf_core.base.errors import closest


@dataclass(frozen=True)
class Place:
    """The place of a command, as module:attribute of this package, and its one-line help."""

    path: str
    words: str

    def load(self) -> click.Command:
        module, _, attribute = self.path.partition(":")
        with interrupts.at_once(), _without_collection():
            command = getattr(importlib.import_module(f"dpmf_core.cli.{module}"), attribute)
        assert isinstance(command, click.Command)
        command.help = command.help or self.words
        return command


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
    """A group of commands by their places; others may be added as to any group."""

    def __init__(self, *args: Any, places: Mapping[str, Place], **options: Any) -> None:
        super().__init__(*args, **options)
        self.places = places

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        names = self.list_commands(context)
        if args[0] not in names and not args[0].startswith("-"):
            context.fail(f"No such command '{args[0]}'.{closest(args[0], names)}")
        return super().resolve_command(context, args)

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted({*self.places, *self.commands})

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The command, loaded; None if there is none of this name."""
        if name in self.places and name not in self.commands:
            self.commands[name] = self.places[name].load()
        return super().get_command(context, name)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in `--help` without loading them."""
        names = self.list_commands(context)
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._summary(name)) for name in names])

    def _summary(self, name: str) -> str:
        return self.places[name].words if name in self.places else self.commands[name].help or ""
