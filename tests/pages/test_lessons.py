"""The course is walked through, each prediction before its result, and the glossary looks up."""

import pytest

from dpmf_core.teaching import completion
from dpmf_core.teaching.lesson_links import LessonLink, LessonSequence, link_token
from dpmf_core.teaching.lessons import LESSONS
from tests.pages.driving import app_of, settled, words


def page(lesson):
    return settled(app_of("lessons/page.py", lesson=lesson))


@pytest.mark.parametrize("name", list(LESSONS))
def test_a_lesson_is_walked_to_its_code(name):
    """Nothing is shown before it is predicted; the first prediction is wrong, all others right."""
    app = page(name)
    lesson = LESSONS[name]
    assert app.title[0].value == lesson.title
    for place, part in enumerate(lesson.parts):
        assert part.because not in words(app)
        assert lesson.model not in words(app)
        press(app, "Show what happens")
        assert "Predict first" in words(app)
        app.radio(key=f"learn.predict.{name}.{part.id}").set_value(
            (part.right + (place == 0)) % len(part.answers)
        )
        press(app, "Show what happens")
        assert part.because in words(app)
        verdict = "That is right."
        if place == 0:
            verdict = "Not quite."
        assert app.subheader[-1].value == verdict
    app.text_area(key=f"learn.words.{name}").set_value("because *I* say so")
    press(app, "Send")
    assert lesson.model in words(app)
    assert r"because \*I\* say so" in words(app)
    code = completion.read(app.code[0].value)
    assert code.what == completion.mark(name)
    assert code.right == len(lesson.parts) - 1
    assert code.n_questions == len(lesson.parts)
    app.run()
    assert completion.read(app.code[0].value) == code  # it stays what it was


def test_the_course_page_has_a_card_for_each_lesson_and_counts_what_is_done():
    app = settled(app_of("lessons/page.py"))
    texts = words(app)
    assert app.get("progress")[0].proto.text == "0 of 11 done"
    labels = [link.proto.label for link in app.get("page_link")]
    assert len(labels) == 11
    assert len(LESSONS) == 11
    for place, (lesson, label) in enumerate(zip(LESSONS.values(), labels, strict=True)):
        assert label == f"**{place}. {lesson.title}**"
        assert f"{lesson.minutes} minutes" in texts
    assert "done" not in texts
    app.query_params["lesson"] = "clipping"
    app.run()
    (part,) = LESSONS["clipping"].parts
    app.radio[0].set_value(part.right)
    press(app, "Show what happens")
    del app.query_params["lesson"]
    app.run()
    assert f"{LESSONS['clipping'].minutes} minutes · 1 of 2 steps done" in words(app)
    app.query_params["lesson"] = "clipping"
    app.run()
    app.text_area[0].set_value("short rows need less noise")
    press(app, "Send")
    del app.query_params["lesson"]
    app.run()
    assert app.get("progress")[0].proto.text == "1 of 11 done"
    assert f"{LESSONS['clipping'].minutes} minutes · done" in words(app)
    queries = [link.proto.query_string for link in app.get("page_link")]
    # a new tab continues as the same person
    for query in queries:
        assert "seat=" in query


def test_an_unknown_lesson_says_so_on_the_course_page():
    app = settled(app_of("lessons/page.py", lesson="found *here*"))
    assert r"There is no lesson “found \*here\*”" in words(app)
    assert len(app.get("page_link")) == len(LESSONS)


def press(app, label):
    next(button for button in app.button if button.label == label).click()
    settled(app)


SEQUENCE = """
import streamlit as st
from pages.kit.base import lesson
lesson.current()
st.write(str(lesson.place()))
st.button("Next", on_click=lesson.go, args=(1,))
"""


def test_a_lesson_link_with_another_name_of_compare_opens_it():
    step = LessonLink.parse(page="compare-methods", query={"epsilons": "2"})
    app = app_of(SEQUENCE)
    app.query_params["class"] = link_token(LessonSequence.parse(steps=[step]))
    app.run()
    assert not app.exception
    assert app.session_state["lesson.link"].page == "compare"
    assert app.query_params["view"] == "compare"
    assert app.query_params["epsilons"] == "2"


@pytest.mark.parametrize(
    ("query", "view"), [({"from": "claim"}, "ledger"), ({"models": "4"}, "accountant")]
)
def test_a_lesson_link_to_account_as_one_page_opens_the_view_that_it_means(query, view):
    step = LessonLink.parse(page="accountant", query=query)
    app = app_of(SEQUENCE)
    app.query_params["class"] = link_token(LessonSequence.parse(steps=[step]))
    app.run()
    assert not app.exception
    assert app.session_state["lesson.link"].page == view
    assert ("view" in app.query_params) == (view == "ledger")


@pytest.mark.parametrize("came_back", [True, False])
def test_the_back_button_leads_to_the_page_before_in_a_sequence(came_back, monkeypatch):
    """A browser that repeats an old address, because it has not heard of the new one, does not."""
    steps = [
        LessonLink.parse(page="lessons", query={"lesson": name})
        for name in list(LESSONS)[:2]
    ]
    app = app_of(SEQUENCE)
    app.query_params["class"] = link_token(LessonSequence.parse(steps=steps))
    app.run()
    app.button[0].click().run()
    assert app.markdown[0].value == "1"
    monkeypatch.setattr("pages.kit.base.links.came_back", lambda: came_back)
    app.query_params["at"] = "1"
    app.run()
    assert app.markdown[0].value == str(int(not came_back))
    assert app.query_params["at"] in (str(2 - came_back), [str(2 - came_back)])
