"""Registries: tables of named things with unique ids."""

from collections.abc import Iterable
from typing import Protocol, TypeVar


class HasId(Protocol):
    """An entry of a registry."""

    @property
    def id(self) -> str: ...


Entry = TypeVar("Entry", bound=HasId)


def by_id(entries: Iterable[Entry]) -> dict[str, Entry]:
    """The entries by their ids, in their order. Raises ValueError if two have the same id."""
    entries_by_id: dict[str, Entry] = {}
    for entry in entries:
        if entry.id in entries_by_id:
            raise ValueError(f"Two entries of a registry have the id {entry.id!r}. Rename one.")
        entries_by_id[entry.id] = entry
    return entries_by_id
