"""Widgets that set each other's values, beside a browser that has not yet heard of it."""

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest

from dpmf_core.runs.first_views import DEFAULT_EPSILON
from dpmf_core.teaching.lesson_links import LessonLink
from tests.pages.driving import (
    app_of,
    let_go,
    run_with,
    slider_epsilon,
    widget_of,
    widget_states,
)
from tests.support.engines import WAIT

SCRIPT = """
import streamlit as st
from pages.kit import sidebar
sidebar.draw()
st.write(f"ε = {sidebar.choice().epsilon:g}")
st.write(f"δ = {sidebar.choice().delta:g}")
"""


def open_page():
    return app_of(SCRIPT, dataset="cinema-small").run()


def late(app, widget, value):
    """Move one widget; the browser repeats its state before it has the answer."""
    widget.set_value(value)
    states = widget_states(app)
    run_with(app, states)
    return run_with(app, states)


def test_a_late_browser_does_not_set_epsilon_back():
    app = open_page()
    run_with(app, let_go(app, 2.0))
    run_with(app, widget_states(app))
    assert app.markdown[0].value == "ε = 2"
    assert slider_epsilon(app) == 2.0
    assert latest(app).value == "2"


def test_the_slider_is_heard_at_an_epsilon_that_it_had_before_the_box_changed_it():
    app = open_page()
    run_with(app, let_go(app, 2.0))
    widget_of(app.text_input, "sidebar.epsilon").set_value("0.7").run()
    run_with(app, let_go(app, 2.0))
    assert app.markdown[0].value == "ε = 2"


@pytest.mark.parametrize("value", [0.01, 101, -1, "2", None, [2], {"epsilon": 2}])
def test_what_is_no_epsilon_of_the_slider_is_not_taken(value):
    app = open_page()
    run_with(app, let_go(app, value))
    assert app.markdown[0].value == f"ε = {DEFAULT_EPSILON:g}"
    assert not app.exception


@pytest.mark.parametrize(
    "text", ["0", "-1", "1e9", "nan", "inf", "", "two", "1,000", "2,5,1"]
)
def test_a_box_says_what_it_does_not_take_and_goes_back(text):
    app = open_page()
    widget_of(app.text_input, "sidebar.epsilon").set_value("2").run()
    latest(app).set_value(text).run()
    assert app.markdown[0].value == "ε = 2"
    assert latest(app).value == "2"
    (error,) = app.error
    for text_part in ("0.0001", "1000", f"Got '{text}'; 2 is used"):
        assert text_part in error.value
    assert ("thousands" in error.value) == ("," in text)
    latest(app).set_value("3").run()
    assert app.markdown[0].value == "ε = 3"
    assert not app.error


def latest(app):
    """The box of epsilon that is shown; those before it were replaced."""
    return [
        text_input
        for text_input in app.text_input
        if str(text_input.key).startswith("sidebar.epsilon.")
    ][-1]


def test_a_locked_slider_is_not_heard():
    app = open_page()
    app.session_state["lesson.link"] = LessonLink.parse(
        page="explore",
        query={"epsilon": "1"},
        locked=("epsilon",),
    )
    app.run()
    assert app.markdown[0].value == "ε = 1"
    run_with(app, let_go(app, 2.0))
    assert app.markdown[0].value == "ε = 1"
    assert slider_epsilon(app) == 1.0


def test_a_late_browser_does_not_keep_the_delta_of_other_data():
    app = open_page()
    assert app.markdown[1].value == "δ = 5e-05"
    late(app, app.selectbox(key="sidebar.dataset"), "cinema")
    assert app.markdown[1].value == "δ = 5e-06"


def test_what_is_typed_before_the_answer_comes_is_kept():
    app = open_page()
    box = widget_of(app.text_input, "sidebar.epsilon")
    run_with(app, let_go(app, 2.0))
    states = widget_states(app)
    # into the box that her browser still shows
    states.widgets.add(id=box.id, string_value="7")
    run_with(app, states)
    assert app.markdown[0].value == "ε = 7"
    assert widget_of(app.text_input, "sidebar.epsilon").value == "7"


@pytest.mark.parametrize(
    "value", [10**400, float("inf"), float("nan"), "2", [], {}, None]
)
def test_a_number_that_the_slider_does_not_have_is_not_taken(value):
    app = open_page()
    run_with(app, let_go(app, 2.0))
    run_with(app, let_go(app, value))
    assert not app.exception
    assert app.markdown[0].value == "ε = 2"


def options():
    import streamlit as st

    places = (st.selectbox, st.radio, st.select_slider, st.segmented_control)
    chosen_options = [
        draw("one", ["first", "second"], key=draw.__name__) for draw in places
    ]
    many = [
        draw("many", ["first", "second"], key=draw.__name__)
        for draw in (st.multiselect,)
    ]
    st.write(str([*chosen_options, *many]))


def test_an_option_that_a_frame_makes_up_is_not_taken():
    app = AppTest.from_function(options, default_timeout=WAIT).run()
    usual = app.markdown[0].value
    states = WidgetStates()
    for widget in widget_states(app).widgets:
        made_up = states.widgets.add(id=widget.id)
        if widget.WhichOneof("value") == "string_value":
            made_up.string_value = "third"
        else:
            made_up.string_array_value.data.append("third")
    assert len(states.widgets) >= 4
    run_with(app, states)
    assert not app.exception
    assert app.markdown[0].value == usual
