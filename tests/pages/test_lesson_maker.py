"""A teacher's form: what a link locks, and the data that no link can carry."""

from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.serving.lesson_links import LessonSequence
from dpmf_datasets import session_files

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


def make_link(app: AppTest) -> LessonSequence:
    app.button(key="lesson.make").click().run()
    assert not app.exception
    sequence: LessonSequence = app.session_state["lesson.made"]
    return sequence


def test_no_link_is_made_of_data_that_it_cannot_carry(mine: Any) -> None:
    own = {"data__own": {mine.entry.id: mine.entry}, "sidebar__data": mine.entry.id}
    app = form_page(**own, sidebar__eps=2.0, sidebar__delta=1e-3)
    assert "lesson.make" not in {it.key for it in app.button}
    assert app.session_state["sidebar.data"] == mine.entry.id  # nothing of it is lost
    app.selectbox(key="sidebar.data").set_value("cinema-small").run()
    (step,) = make_link(app).steps
    assert step.query["data"] == "cinema-small"
