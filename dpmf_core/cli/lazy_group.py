"""Commands that are loaded when they run, so that the list of them, and each of them, waits for
nothing that it does not use.
"""

import contextlib
import gc
import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import click

from dpmf_core import interrupts


@dataclass(frozen=True)
class Place:
    """Where a command is, as module:attribute, and the first sentence of what it says of itself."""

    path: str
    words: str

    def load(self) -> click.Command:
        module, _, attribute = self.path.partition(":")
        with interrupts.at_once(), _without_collection():
            command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command


@contextlib.contextmanager
def _without_collection() -> Iterator[None]:
    """What is imported stays: to search it for garbage again and again takes a sixth of a start."""
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

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted({*self.places, *self.commands})

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """The command, loaded; None where there is none of this name."""
        if name in self.places and name not in self.commands:
            self.commands[name] = self.places[name].load()
        return super().get_command(context, name)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in `--help`, of which nothing is loaded."""
        names = self.list_commands(context)
        width = formatter.width - 6 - max(map(len, names))
        with formatter.section("Commands"):
            formatter.write_dl([(name, self._line(name, width)) for name in names])

    def _line(self, name: str, width: int) -> str:
        if name in self.places:
            return click.Command(name, help=self.places[name].words).get_short_help_str(width)
        return self.commands[name].get_short_help_str(width)
