"""Who sees what: the data of each design, who looks at them, and what they learn about you."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from string import Template
from typing import Any

from dpmf_core.base.registry import by_id

JOINT = "joint"  # this design's words depend on the kind of data


@dataclass(frozen=True)
class Thing:
    """Data that an observer may see.

    Attributes
    ----------
    has_noise
        Whether it shows people's data only with noise.
    """

    id: str
    label: str
    has_noise: bool


@dataclass(frozen=True)
class Observer:
    """A person or company that looks.

    Attributes
    ----------
    sees
        The ids of the things that they read.
    exact, noisy
        The same in words, without and with noise.
    learns
        What they can learn about you.
    """

    id: str
    name: str
    sees: tuple[str, ...]
    exact: str
    noisy: str
    learns: str


@dataclass(frozen=True)
class Flow:
    """An arrow of the diagram, between ids of things and observers.

    Attributes
    ----------
    dashed
        Whether private data pass without noise where others may see them.
    """

    start: str
    end: str
    words: str = ""
    dashed: bool = False


@dataclass(frozen=True)
class Design:
    """A way to share what is learned from people's data.

    Attributes
    ----------
    words
        What it protects.
    """

    id: str
    title: str
    words: str
    things: tuple[Thing, ...]
    observers: tuple[Observer, ...]
    flows: tuple[Flow, ...]

    def thing_labels(self, observer: Observer, *, is_seen: bool) -> list[str]:
        """The labels of what an observer sees or does not see."""
        things = [
            thing for thing in self.things if (thing.id in observer.sees) == is_seen
        ]
        return [thing.label for thing in things]


def _filled(value: Any, nouns: dict[str, str]) -> Any:
    """A value of the file with its nouns."""
    if isinstance(value, str):
        return Template(value).substitute(nouns)
    if isinstance(value, list):
        return [_filled(part, nouns) for part in value]
    if isinstance(value, dict):
        return {name: _filled(part, nouns) for name, part in value.items()}
    return value


def _design(fields: dict[str, Any]) -> Design:
    things = (
        Thing(one["id"], one["label"], one["noise"] == "with")
        for one in fields["things"]
    )
    observers = (
        Observer(**{**one, "sees": tuple(one["sees"])}) for one in fields["observers"]
    )
    return Design(
        id=fields["id"],
        title=fields["title"],
        words=fields["words"],
        things=tuple(things),
        observers=tuple(observers),
        flows=tuple(Flow(**flow) for flow in fields["flows"]),
    )


def _designs() -> Iterator[Design]:
    content = tomllib.loads(
        files(__package__).joinpath("observers.toml").read_text("utf-8")
    )
    for fields in content["design"]:
        if fields["id"] == JOINT:
            for kind, nouns in content["nouns"].items():
                yield _design(_filled(fields, nouns) | {"id": kind})
        else:
            yield _design(fields)


DESIGNS = by_id(_designs())
