"""Widgets that set each other's values, beside a browser that has not yet heard of it."""

from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest

from tests.pages.driving import held

SCRIPT = """
import streamlit as st
from pages.kit import sidebar
sidebar.draw()
st.write(f"ε = {sidebar.choice().epsilon:g}")
st.write(f"δ = {sidebar.choice().delta:g}")
"""


def opened() -> AppTest:
    app = AppTest.from_string(SCRIPT, default_timeout=30)
    app.query_params["data"] = "cinema-small"
    return app.run()


def reported(app: AppTest) -> WidgetStates:
    """What a browser says of all its widgets."""
    return app._tree.get_widget_states()


def late(app: AppTest, widget: Any, value: Any) -> AppTest:
    """A person moves one widget; her browser repeats what it says of all before it has heard the answer."""
    widget.set_value(value)
    said = reported(app)
    app._run(said)
    return app._run(said)


def test_a_late_browser_does_not_set_epsilon_back() -> None:
    app = opened()
    late(app, held(app.select_slider, "sidebar.slider"), 2.0)
    assert app.markdown[0].value == "ε = 2"
    assert held(app.select_slider, "sidebar.slider").value == held(app.number_input, "sidebar.eps").value == 2.0


def test_a_late_browser_does_not_set_the_box_back() -> None:
    app = opened()
    late(app, held(app.number_input, "sidebar.eps"), 0.7)
    assert app.markdown[0].value == "ε = 0.7"
    assert held(app.select_slider, "sidebar.slider").value == 0.71
    held(app.number_input, "sidebar.eps").set_value(5.0).run()  # the first value again
    assert app.markdown[0].value == "ε = 5"


def test_a_late_browser_does_not_keep_the_delta_of_other_data() -> None:
    app = opened()
    assert app.markdown[1].value == "δ = 5e-05"
    late(app, app.selectbox(key="sidebar.data"), "cinema")
    assert app.markdown[1].value == "δ = 5e-06"


def test_what_is_typed_before_the_answer_comes_is_kept() -> None:
    app = opened()
    box = held(app.number_input, "sidebar.eps")
    held(app.select_slider, "sidebar.slider").set_value(2.0)
    app._run(reported(app))
    said = reported(app)
    said.widgets.add(id=box.id, double_value=7.0)  # into the box that her browser still shows
    app._run(said)
    assert app.markdown[0].value == "ε = 7"
    assert held(app.number_input, "sidebar.eps").value == 7.0
