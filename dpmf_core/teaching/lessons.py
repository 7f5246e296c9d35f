"""The course: lessons in their order, each with something to predict before it is shown and a
question to answer in one's own words. The words are in `lessons.toml`.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from dpmf_core.base.documents import render
from dpmf_core.base.registry import by_id


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


def _lessons() -> dict[str, Lesson]:
    content = tomllib.loads(files(__package__).joinpath("lessons.toml").read_text("utf-8"))
    lessons = []
    for fields in content["lesson"]:
        parts = [{**part, "answers": tuple(part["answers"])} for part in fields.pop("parts")]
        lessons.append(Lesson(**fields, parts=tuple(Part(**part) for part in parts)))
    return by_id(lessons)


LESSONS = _lessons()


def question_only(title: str, question: str) -> Lesson:
    """What a teacher asks on another page of the app, as a lesson without parts."""
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
