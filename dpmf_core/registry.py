"""Registries: tables of named things, in which every id stands once."""

from collections.abc import Iterable
from typing import Protocol, TypeVar


class Named(Protocol):
    @property
    def id(self) -> str: ...


Entry = TypeVar("Entry", bound=Named)


def by_id(entries: Iterable[Entry]) -> dict[str, Entry]:
    """The entries by their ids, in their order. Raises ValueError where two have the same id."""
    found: dict[str, Entry] = {}
    for entry in entries:
        if entry.id in found:
            raise ValueError(f"two entries of a registry have the id {entry.id!r}")
        found[entry.id] = entry
    return found
