"""The answers of a class by question: counts, texts without senders, and publications with noise.

What one student answered to several questions is never in one row.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from dpmf_core.teaching.class_records import Answers, Publication
from dpmf_core.teaching.lesson_links import LessonLink
from dpmf_core.teaching.lessons import ANSWER, Lesson, LessonPart


@dataclass(frozen=True)
class ClassPage:
    """One page of a class.

    Attributes
    ----------
    title
        The title of the page.
    link
        The link that opens it.
    lesson
        The questions of the page.
    publications
        The publications of its private question, oldest first.
    """

    title: str
    link: LessonLink
    lesson: Lesson
    publications: Sequence[Publication] = ()


def page_name(place: int, title: str) -> str:
    """A page's title with its number. `place` counts from 0."""
    return f"{place + 1}. {title}"


def step_name(place: int, step: str) -> str:
    """The name under which answers keep a step of a page. `place` is the page's, from 0."""
    return f"{place}.{step}"


def prediction_counts(
    all_answers: Sequence[Answers], place: int, part: LessonPart
) -> list[int]:
    """How many students gave each answer to a prediction."""
    counter = Counter(answers.get(step_name(place, part.id)) for answers in all_answers)
    return [counter[str(number)] for number in range(len(part.answers))]


def texts(all_answers: Sequence[Answers], place: int) -> list[str]:
    """The answers in words to a page's question, in an order that reveals no sender."""
    step = step_name(place, ANSWER)
    return sorted(
        " ".join(answers[step].split()) for answers in all_answers if step in answers
    )


def answers_table(
    pages: Sequence[ClassPage], all_answers: Sequence[Answers]
) -> pd.DataFrame:
    """All answers that a teacher may see.

    The columns are page, question, answer, right ("yes", "no" or "") and students. Publications
    also have epsilon and answers; their students are counted with noise. Answers to private
    questions are in no other row.
    """
    rows: list[dict[str, object]] = []
    for place, page in enumerate(pages):
        start = {"page": page_name(place, page.title)}
        if page.link.choices:
            rows += [start | row for row in _published_rows(page)]
            continue
        for part in page.lesson.parts:
            counts = prediction_counts(all_answers, place, part)
            for number, (answer, count) in enumerate(
                zip(part.answers, counts, strict=True)
            ):
                right = "yes" if number == part.right else "no"
                rows.append(start | _row(part.question, answer, count, right))
        for text, count in Counter(texts(all_answers, place)).items():
            rows.append(start | _row(page.lesson.own_words, text, count))
    columns = ["page", "question", "answer", "right", "students", "epsilon", "answers"]
    return pd.DataFrame(rows, columns=columns).astype(
        {"epsilon": "Float64", "answers": "Int64"}
    )


def _row(question: str, answer: str, count: int, right: str = "") -> dict[str, object]:
    return {"question": question, "answer": answer, "right": right, "students": count}


def _published_rows(page: ClassPage) -> list[dict[str, object]]:
    return [
        _row(page.link.question, choice, count)
        | {"epsilon": publication.epsilon, "answers": publication.n_answers}
        for publication in page.publications
        for choice, count in zip(page.link.choices, publication.counts, strict=True)
    ]
