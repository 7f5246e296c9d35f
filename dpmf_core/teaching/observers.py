"""Who sees what: the data of each design, who looks at them, and what they learn about you."""

import json
from collections.abc import Iterator
from string import Template

from dpmf_core.base.frozen import Frozen
from dpmf_core.base.registry import by_id
from dpmf_core.teaching.text_files import content_of

JOINT = "joint"  # this design's words depend on the kind of data


class Thing(Frozen):
    """Data that an observer may see.

    Attributes
    ----------
    has_noise
        Whether it shows people's data only with noise.
    """

    id: str
    label: str
    has_noise: bool


class Observer(Frozen):
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


class Flow(Frozen):
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


class Design(Frozen):
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


def _designs() -> Iterator[Design]:
    content = content_of("observers")
    for fields in content["design"]:
        if fields["id"] != JOINT:
            yield Design.model_validate(fields)
            continue
        text = Template(json.dumps(fields))
        for kind, nouns in content["nouns"].items():
            filled = json.loads(text.substitute(nouns))
            yield Design.model_validate(filled | {"id": kind})


DESIGNS = by_id(_designs())
