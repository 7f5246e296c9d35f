"""Registries: tables of named things with unique ids."""

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from dpmf_core.base.errors import BadInput, closest


class HasId(Protocol):
    """An entry of a registry."""

    @property
    def id(self) -> str: ...


Entry = TypeVar("Entry", bound=HasId)
Row = TypeVar("Row")


def by_id(entries: Iterable[Entry]) -> dict[str, Entry]:
    """The entries by their ids, in their order.

    Raises
    ------
    ValueError
        If two entries have the same id.
    """
    entries_by_id: dict[str, Entry] = {}
    for entry in entries:
        if entry.id in entries_by_id:
            raise ValueError(
                f"Two entries of a registry have the id {entry.id!r}. Rename one."
            )
        entries_by_id[entry.id] = entry
    return entries_by_id


def find(entries: Mapping[str, Row], name: str, kind: str) -> Row:
    """The entry of this name.

    Parameters
    ----------
    entries : mapping
    name : str
    kind : str
        What an entry is, such as "metric", for the message.

    Raises
    ------
    BadInput
        If the name is unknown. The message lists the known ones.
    """
    if name not in entries:
        raise BadInput(
            f"There is no {kind} {name!r}.{closest(name, entries)} Known: {', '.join(entries)}."
        )
    return entries[name]
