"""A teacher's form: what a link locks, and the data that no link can carry."""

from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.serving.lesson_links import CONTROLS, LessonSequence
from dpmf_datasets import session_files
from tests.pages.driving import words

SCRIPT = """
import streamlit as st
from pages.kit import lesson_maker, sidebar
from pages.kit.page_table import BY_ID
page = BY_ID["explore"]
panel = st.container()
sidebar.draw(page.data_kind, page.unused)
lesson_maker.draw(page, st.sidebar, panel)
"""


@pytest.fixture
def mine() -> Iterator[Any]:
    table = "user,item,rating\n" + "".join(
        f"p{it},thing {it % 5},{it % 5 + 1}\n" for it in range(40)
    )
    upload = session_files.ratings(table.encode(), "clinic.csv", {}, (1.0, 5.0))
    yield upload
    session_files.remove(upload.entry)


def form_page(**state: Any) -> AppTest:
    """The sidebar of Explore and the form."""
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    app.query_params["data"] = "cinema-small"
    for key, value in state.items():
        app.session_state[key.replace("__", ".")] = value
    app.run()
    app.button(key="lesson.open").click().run()
    assert not app.exception
    return app


def test_a_press_is_not_lost_where_the_page_begins_anew_above_the_button() -> None:
    """As it does when runs have ended while somebody presses."""
    anew = """
import streamlit as st
if st.session_state.pop("anew", False):
    st.rerun()
"""
    app = AppTest.from_string(anew + SCRIPT, default_timeout=60)
    app.query_params["data"] = "cinema-small"
    app.run()
    for key in ("lesson.open", "lesson.make"):
        app.session_state["anew"] = True
        app.button(key=key).click().run()
        assert not app.exception
    assert len(app.session_state["lesson.made"].steps) == 1


def make_link(app: AppTest) -> LessonSequence:
    app.button(key="lesson.make").click().run()
    assert not app.exception
    sequence: LessonSequence = app.session_state["lesson.made"]
    return sequence


def test_a_choice_says_what_the_class_may_change() -> None:
    app = form_page()
    (step,) = make_link(app).steps
    assert set(step.locked) == set(CONTROLS) - {"eps"} and not step.hidden  # only ε is free
    app.toggle(key="lesson.hide").set_value(True).run()
    assert "changed since" in words(app)
    (step,) = make_link(app).steps
    assert set(step.hidden) == set(CONTROLS) - {"eps"} and not step.locked
    for choice, controls in (("everything", set()), ("nothing", set(CONTROLS))):
        app.radio(key="lesson.may_change").set_value(choice).run()
        if choice == "nothing":
            app.toggle(key="lesson.hide").set_value(False).run()
        (step,) = make_link(app).steps
        assert set(step.locked) == controls and not step.hidden
    app.radio(key="lesson.may_change").set_value("as I choose").run()
    app.multiselect(key="lesson.hidden").set_value(["delta"]).run()
    (step,) = make_link(app).steps
    assert step.locked == ("data", "algo", "seed") and step.hidden == ("delta",)


def test_no_link_is_made_of_data_that_it_cannot_carry(mine: Any) -> None:
    own = {"data__own": {mine.entry.id: mine.entry}, "sidebar__data": mine.entry.id}
    app = form_page(**own, sidebar__eps=2.0, sidebar__delta=1e-3)
    assert "a link cannot carry a file" in words(app)
    assert "lesson.make" not in {it.key for it in app.button}
    assert app.session_state["sidebar.data"] == mine.entry.id  # nothing of it is lost
    app.selectbox(key="sidebar.data").set_value("cinema-small").run()
    (step,) = make_link(app).steps
    assert step.query["data"] == "cinema-small"
