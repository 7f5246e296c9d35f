"""The list of an unfinished sequence: questions, and what tells pages of one name apart."""

from dpmf_core.teaching.lesson_links import (
    TEACHER,
    LessonLink,
    LessonSequence,
    link_token,
)
from pages.kit.lessons.lesson_maker import differences
from tests.pages.driving import app_of, settled, words


def explore(**parts):
    query = {"dataset": "cinema-small", "epsilon": "1", **parts.pop("query", {})}
    return LessonLink.parse(page="explore", query=query, **parts)


def test_pages_of_one_name_are_told_apart_by_what_differs():
    steps = [
        explore(),
        explore(query={"epsilon": "5"}),
        explore(locked=("epsilon",)),
        explore(),
        LessonLink.parse(page="glossary"),
    ]
    texts = differences(["Ratings"] * 4 + ["Glossary"], steps)
    assert texts == [
        "ε: 1; no controls locked",
        "ε: 5; no controls locked",
        "ε: 1; 1 control locked",
        "ε: 1; no controls locked; the same as page 1",
        "",
    ]


def test_answers_tell_questions_of_one_name_apart():
    ask = {"question": "Have you rated a film?"}
    steps = [explore(**ask), explore(**ask, choices=("yes", "no"))]
    assert differences(["Ratings"] * 2, steps) == [
        "answers: in their own words",
        "answers: yes, no",
    ]


def test_the_list_shows_each_question_and_names_its_buttons():
    steps = [
        explore(title="A", question="Is it *far*?"),
        explore(title="A", question="Why?"),
    ]
    sequence = LessonSequence.parse(steps=steps, gathers=True)
    app = app_of(
        "lessons/page.py",
        view="teachers",
        sequence=link_token(sequence, TEACHER),
    )
    settled(app)
    texts = words(app)
    assert r"Is it \*far\*?" in texts
    assert r"Why?" in texts
    labels = [
        button.label
        for button in app.button
        if str(button.key).startswith("teach.delete")
    ]
    assert labels == [f"*Remove page {place}, Ratings\\: A*" for place in (1, 2)]
    tips = [
        button.help
        for button in app.button
        if str(button.key).startswith("teach.arrow")
    ]
    assert tips == ["Earlier", "Later"] * 2
