"""What is released: mechanisms, repeated and in sequence. An event knows no data.

`normal_form` flattens an event to its distinct mechanisms with counts. So two ledgers can be
compared, and no formula for a mechanism needs a count.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from dpmf_core.privacy.mechanisms import (
    MECHANISMS,
    ROUNDING,
    DiscreteGaussian,
    Gaussian,
    Mechanism,
    UnsupportedEvent,
)


@dataclass(frozen=True)
class Repeat:
    """An event `count` times in a row; each may depend on the results of those before it."""

    event: "Event"
    count: int

    def __post_init__(self) -> None:
        if not (isinstance(self.count, int) and self.count >= 0):
            raise ValueError(
                f"The 'count' of Repeat must be a whole number of at least 0. Got {self.count!r}."
            )


@dataclass(frozen=True)
class Sequence:
    """Events one after the other. `Sequence()` releases nothing."""

    events: tuple["Event", ...] = ()


Event = Mechanism | Repeat | Sequence
Ledger = tuple[tuple[Mechanism, int], ...]
NOTHING = Sequence()
# fields that a ledger's row leaves out at their default values
OPTIONAL: dict[str, Any] = {"groups": 1, "companion": "", "joint_factor": 0.0}


def sequence(*events: Event) -> Sequence:
    """Make a `Sequence` of its arguments."""
    return Sequence(events)


def event_of(ledger: Iterable[tuple[Mechanism, int]]) -> Sequence:
    """The releases of a ledger as an event."""
    return Sequence(tuple(Repeat(leaf, count) for leaf, count in ledger))


def _leaves(event: Event, times: int) -> Iterable[tuple[Mechanism, int]]:
    if isinstance(event, Mechanism):
        yield event, times
    elif isinstance(event, Repeat):
        yield from _leaves(event.event, times * event.count)
    elif isinstance(event, Sequence):
        for part in event.events:
            yield from _leaves(part, times)
    else:
        raise TypeError(f"Not an event: {event!r}.")


def on_grids(event: Event) -> Event:
    """Replace all Gaussian noise of an event by discrete noise.

    Raises
    ------
    UnsupportedEvent
        On any other mechanism.
    """
    return event_of((_on_grid(leaf), count) for leaf, count in normal_form(event))


def _on_grid(leaf: Mechanism) -> DiscreteGaussian:
    if type(leaf) is not Gaussian:  # a subclass that may fail is another mechanism
        raise UnsupportedEvent(
            f"Discrete noise can replace only Gaussian noise. Got {leaf.mechanism} noise on"
            f" {leaf.statistic!r}. Choose noise=continuous."
        )
    return DiscreteGaussian(**asdict(leaf), rounding=ROUNDING * leaf.sensitivity)


def normal_form(event: Event) -> Ledger:
    """The distinct releases with their counts, in order of first appearance.

    Composition does not depend on order. A release without its companion is counted with its own
    factor.
    """
    counts = _counts(_leaves(event, 1))
    joint = {leaf.companion for leaf in counts if leaf.companion}
    if lonely := {name for name in joint if _is_missing(name, counts)}:
        counts = _counts(
            (leaf.alone if leaf.companion in lonely else leaf, count)
            for leaf, count in counts.items()
        )
    return tuple(counts.items())


def _counts(leaves: Iterable[tuple[Mechanism, int]]) -> dict[Mechanism, int]:
    counts: dict[Mechanism, int] = {}
    for leaf, times in leaves:
        if times:
            counts[leaf] = counts.get(leaf, 0) + times
    return counts


def _is_missing(name: str, counts: Mapping[Mechanism, int]) -> bool:
    """Whether this companion is released less often than the release that names it."""
    there = sum(count for leaf, count in counts.items() if leaf.statistic == name)
    return there < sum(
        count for leaf, count in counts.items() if leaf.companion == name
    )


def ledger_rows(ledger: Ledger) -> list[dict[str, Any]]:
    """A ledger as JSON rows: one for each distinct release, with its mechanism and its count.

    A row has `groups` only above 1, and `companion` and `joint_factor` only where the release has
    them.
    """
    rows = []
    for leaf, count in ledger:
        stored = {
            name: value
            for name, value in asdict(leaf).items()
            if OPTIONAL.get(name) != value
        }
        rows.append({"mechanism": leaf.mechanism, **stored, "count": count})
    return rows


def needed_fields(kind: type[Mechanism]) -> list[str]:
    """The fields that every ledger row with this kind of mechanism must have."""
    return [field.name for field in fields(kind) if field.name not in OPTIONAL]


def event_of_rows(rows: Iterable[Mapping[str, Any]]) -> Event:
    """Read an event from ledger rows.

    Raises
    ------
    ValueError
        If a mechanism is unknown or a field is missing or out of range.
    """
    return Sequence(tuple(_event_of_row(row) for row in rows))


def _event_of_row(row: Mapping[str, Any]) -> Event:
    kind = MECHANISMS.get(row.get("mechanism", ""))
    if kind is None:
        raise ValueError(
            f"The mechanism of a ledger's row must be one of {', '.join(MECHANISMS)}. Got"
            f" {row.get('mechanism')!r}."
        )
    values = {
        field.name: row[field.name] for field in fields(kind) if field.name in row
    }
    if missing := [name for name in needed_fields(kind) if name not in row]:
        raise ValueError(
            f"A ledger's row of {kind.mechanism} lacks {', '.join(missing)}."
        )
    return Repeat(kind(**values), row["count"])
