"""The course: lessons in order, with predictions and a question. Texts are in `lessons.toml`."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from dpmf_core.base.documents import render
from dpmf_core.base.frozen import Frozen
from dpmf_core.base.registry import by_id
from dpmf_core.teaching.text_files import content_of


class LessonPart(Frozen):
    """One demonstration.

    Attributes
    ----------
    words
        An introduction.
    question, answers
        The prediction, asked before the demonstration.
    right
        The index of the correct answer.
    because
        The explanation.
    task
        Something to try afterwards.
    result, caption
        Templates for the demonstration's values.
    figure
        Axes, lines and description.
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
    figure: Mapping[str, Any] = {}


class Lesson(Frozen):
    """A lesson of a few minutes.

    Attributes
    ----------
    idea
        The idea that it teaches.
    parts
        Its demonstrations.
    own_words
        The final question.
    model
        One good answer to it.
    choices
        The answers from which students choose. It is empty if they answer in their own words.
    """

    id: str
    title: str
    idea: str
    parts: tuple[LessonPart, ...]
    own_words: str
    model: str
    choices: tuple[str, ...] = ()

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps of the lesson: a prediction for each part, then the answer."""
        return (*(part.id for part in self.parts), ANSWER)

    @property
    def summary(self) -> str:
        """The first sentence of the idea."""
        return re.split(r"(?<=\.) ", self.idea, maxsplit=1)[0]

    @property
    def minutes(self) -> int:
        """About how long the lesson takes: to read it, to try its parts and to answer."""
        texts = [self.idea, self.own_words, self.model]
        for part in self.parts:
            texts += [part.words, part.question, *part.answers, part.because, part.task]
            texts += [part.result, part.caption]
        reading = len(" ".join(texts).split()) / WORDS_A_MINUTE
        return round(
            reading + MINUTES_OF_A_PART * len(self.parts) + MINUTES_OF_AN_ANSWER
        )


ANSWER = "answer"
WORDS_A_MINUTE = 180  # of a text that is studied
MINUTES_OF_A_PART = 1.5  # to predict, and to try the demonstration
MINUTES_OF_AN_ANSWER = 2.0  # in one's own words


LESSONS = by_id(map(Lesson.model_validate, content_of("lessons")["lesson"]))


def question_only(title: str, question: str, choices: tuple[str, ...] = ()) -> Lesson:
    """A teacher's question on another page as a lesson without parts.

    Parameters
    ----------
    choices
        The answers to a private question.
    """
    return Lesson(
        id="",
        title=title,
        idea="",
        parts=(),
        own_words=question,
        model="",
        choices=choices,
    )


def handout(lessons: Sequence[Lesson], solved: bool = False, title: str = "") -> str:
    """One HTML file that prints on paper: what to predict, and room to write.

    Parameters
    ----------
    lessons : sequence of Lesson
        In their order.
    solved : bool
        With the answers, for the teacher.
    title : str
        Of the sequence; empty for the course.
    """
    return render(
        "handout.html",
        lessons=lessons,
        solved=solved,
        title=title,
    )
