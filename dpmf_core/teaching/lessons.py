"""The course: lessons in order, with predictions and a question. Texts are in `lessons.toml`."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from dpmf_core.base.documents import render
from dpmf_core.base.registry import by_id


@dataclass(frozen=True)
class Part:
    """One demonstration.

    words: an introduction. question, answers: the prediction, asked before the demonstration.
    right: index of the correct answer. because: the explanation. task: something to try afterwards.
    result, caption: templates for the demonstration's values. figure: axes, lines and description.
    """

    id: str
    heading: str
    words: str
    question: str
    answers: tuple[str, ...]
    right: int
    because: str
    task: str
    result: str = ""
    caption: str = ""
    figure: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Lesson:
    """A lesson of about five minutes. own_words: the final question. model: one good answer."""

    id: str
    title: str
    idea: str
    parts: tuple[Part, ...]
    own_words: str
    model: str

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of the lesson: a prediction for each part, then the answer."""
        return (*(part.id for part in self.parts), ANSWER)


ANSWER = "answer"


def _lessons() -> dict[str, Lesson]:
    content = tomllib.loads(files(__package__).joinpath("lessons.toml").read_text("utf-8"))
    lessons = []
    for fields in content["lesson"]:
        parts = [{**part, "answers": tuple(part["answers"])} for part in fields.pop("parts")]
        lessons.append(Lesson(**fields, parts=tuple(Part(**part) for part in parts)))
    return by_id(lessons)


LESSONS = _lessons()


def question_only(title: str, question: str) -> Lesson:
    """Return a teacher's question on another page as a lesson without parts."""
    return Lesson("", title, "", (), question, "")


def handout(lessons: Sequence[Lesson], solved: bool = False, title: str = "") -> str:
    """Return one HTML file that prints on paper: what to predict, and room to write.

    Parameters
    ----------
    lessons : sequence of Lesson
        In their order.
    solved : bool
        With the answers, for the teacher.
    title : str
        Of the sequence; empty for the course.
    """
    return render("handout.html", lessons=lessons, solved=solved, title=title)
