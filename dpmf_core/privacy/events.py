"""What is released: mechanisms, repeated and one after the other. An event knows no data.

`normal_form` flattens any event to its mechanisms with counts, so that two ledgers can be compared
and no formula for a mechanism ever sees a count.
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
    """The same event, `count` times, each possibly chosen in the light of the ones before."""

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


# fields that a ledger's row leaves out where they say nothing
OPTIONAL: dict[str, Any] = {"groups": 1, "companion": "", "joint_factor": 0.0}


def sequence(*events: Event) -> Sequence:
    """`Sequence` without the parentheses of a tuple."""
    return Sequence(events)


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
    """The same event with discrete noise in place of Gaussian noise.

    Raises UnsupportedEvent on any other mechanism.
    """
    return Sequence(tuple(Repeat(_on_grid(leaf), count) for leaf, count in normal_form(event)))


def _on_grid(leaf: Mechanism) -> DiscreteGaussian:
    if type(leaf) is not Gaussian:  # what may fail besides is another mechanism
        raise UnsupportedEvent(
            f"Discrete noise replaces only Gaussian noise; found {leaf.mechanism} noise on"
            f" {leaf.statistic!r}."
        )
    return DiscreteGaussian(
        leaf.noise_multiplier,
        leaf.statistic,
        leaf.sensitivity,
        leaf.replace_one_factor,
        ROUNDING * leaf.sensitivity,
        groups=leaf.groups,
        companion=leaf.companion,
        joint_factor=leaf.joint_factor,
    )


def normal_form(event: Event) -> Ledger:
    """The distinct leaves with how often each occurs, in order of first appearance.

    Composition does not depend on order. A release that lacks its companion is counted by its own
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
    """Whether this companion is released less often than what is counted next to it."""
    there = sum(count for leaf, count in counts.items() if leaf.statistic == name)
    return there < sum(count for leaf, count in counts.items() if leaf.companion == name)


def ledger_rows(ledger: Ledger) -> list[dict[str, Any]]:
    """A ledger as JSON holds it: a row for each distinct release, with the kind of its
    mechanism and how often it occurs. `groups` stands there where there are several, `companion`
    and `joint_factor` where a release has them.
    """
    return [
        {"mechanism": leaf.mechanism, **_stored_fields(asdict(leaf)), "count": count}
        for leaf, count in ledger
    ]


def _stored_fields(fields_of_leaf: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields_of_leaf.items() if OPTIONAL.get(name) != value}


def needed_fields(kind: type[Mechanism]) -> list[str]:
    """What every row of a ledger with this kind of mechanism says about it."""
    return [field.name for field in fields(kind) if field.name not in OPTIONAL]


def event_of_rows(rows: Iterable[Mapping[str, Any]]) -> Event:
    """The event that rows of a ledger describe.

    Raises ValueError where a mechanism is unknown or a field is missing or out of range.
    """
    return Sequence(tuple(_event_of_row(row) for row in rows))


def _event_of_row(row: Mapping[str, Any]) -> Event:
    kind = MECHANISMS.get(row.get("mechanism", ""))
    if kind is None:
        raise ValueError(
            f"The mechanism of a ledger's row must be one of {', '.join(MECHANISMS)}. Got"
            f" {row.get('mechanism')!r}."
        )
    values = {field.name: row[field.name] for field in fields(kind) if field.name in row}
    if missing := [name for name in needed_fields(kind) if name not in row]:
        raise ValueError(f"A ledger's row of {kind.mechanism} lacks {', '.join(missing)}.")
    return Repeat(kind(**values), row["count"])
