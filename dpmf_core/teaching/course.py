"""The course: lessons in their order, each with something to predict before it is shown and a
question to answer in one's own words.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Part:
    """One thing to see.

    id: of its demonstration. words: what it is about. question, answers: the prediction that is
    asked before anything is shown. right: the place of the right answer. because: why it is.
    task: what to try with the demonstration.
    """

    id: str
    heading: str
    words: str
    question: str
    answers: tuple[str, ...]
    right: int
    because: str
    task: str


@dataclass(frozen=True)
class Lesson:
    """About five minutes. own_words: the question of the answer box. model: one good answer."""

    id: str
    title: str
    idea: str
    parts: tuple[Part, ...]
    own_words: str
    model: str

    @property
    def steps(self) -> tuple[str, ...]:
        """Names of what there is to do: a prediction for each part, then the answer."""
        return (*(part.id for part in self.parts), ANSWER)


ANSWER = "answer"


def texts(thing: object) -> Iterator[str]:
    """Every template in a lesson, for whoever translates."""
    for field in fields(thing):  # type: ignore[arg-type]
        value = getattr(thing, field.name)
        for it in value if isinstance(value, tuple) else (value,):
            if isinstance(it, Part):
                yield from texts(it)
            elif isinstance(it, str) and field.name != "id":
                yield it
