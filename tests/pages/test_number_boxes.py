"""Boxes of decimal numbers take a decimal comma, or say why not; none of them drops it."""

import ast
from pathlib import Path

import pytest

from pages.kit.controls.session_widgets import read_decimal
from tests.pages.driving import app_of, slider_epsilon, widget_of

PAGES = Path(__file__).parents[2] / "pages"
BOXES = """
import streamlit as st
from pages.kit.controls.session_widgets import number_within, optional_number
st.session_state.setdefault("total", 2.0)
number = number_within(st.container(), "Total *ε*", "total", 0.01, 1000)
lowest = optional_number(st.container(), "Lowest", "lowest", -10, 10, placeholder="e.g. 0")
st.write(f"{number}, {lowest}")
"""


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2.5", 2.5),
        ("2,5", 2.5),
        (" 2,50 ", 2.5),
        ("0,125", 0.125),
        ("-0,5", -0.5),
        ("1,5e-6", 1.5e-6),
        ("1000,5", 1000.5),
        ("1000", 1000),
        ("12,3456", 12.3456),
    ],
)
def test_a_comma_stands_for_the_decimal_point(text, number):
    assert read_decimal(text) == number


@pytest.mark.parametrize(
    "text",
    [
        "1,000",
        "-12,345",
        "1,000.5",
        "1.000,5",
        "1,2,3",
        "2,5 3",
        ",",
        "",
        "nan",
        "-inf",
    ],
)
def test_a_text_with_two_meanings_or_none_is_no_number(text):
    with pytest.raises(ValueError):
        read_decimal(text)


def typed(app, key, text):
    """The page after a text was typed into the box of a key."""
    widget_of(app.text_input, key).set_value(text).run()
    assert not app.exception
    return app.markdown[0].value


def test_a_box_keeps_the_comma_that_it_was_given_and_takes_the_number():
    app = app_of(BOXES).run()
    assert typed(app, "total", "2,5") == "2.5, None"
    assert widget_of(app.text_input, "total").value == "2,5"
    assert typed(app, "lowest", "-0,5") == "2.5, -0.5"
    assert not app.error


def test_an_optional_box_may_be_emptied_and_another_may_not():
    app = app_of(BOXES).run()
    assert typed(app, "lowest", "1") == "2.0, 1.0"
    assert typed(app, "lowest", "") == "2.0, None"
    assert not app.error
    assert typed(app, "total", "") == "2.0, None"
    assert "Got ''; 2 is used" in app.error[0].value


def test_a_refusal_names_the_box_repeats_little_and_is_no_markdown():
    app = app_of(BOXES).run()
    assert typed(app, "lowest", "![x](http://example.org)" * 9) == "2.0, None"
    (error,) = app.error
    assert error.value.startswith(
        "Lowest: give a number from -10 to 10. Got '\\!\\[x\\]"
    )
    assert error.value.endswith("it stays empty.")
    assert len(error.value) < 200
    assert widget_of(app.text_input, "lowest").value == ""


def test_a_refusal_goes_when_the_number_changes_elsewhere():
    app = app_of(BOXES).run()
    typed(app, "total", "x")
    app.session_state["total"] = 3.0
    app.run()
    assert not app.error
    assert widget_of(app.text_input, "total").value == "3"


def test_epsilon_with_a_comma_moves_the_slider_and_the_address():
    app = app_of(
        "from pages.kit import sidebar\nsidebar.draw()", dataset="cinema-small"
    ).run()
    widget_of(app.text_input, "sidebar.epsilon").set_value("2,5").run()
    assert slider_epsilon(app) == 2.5
    assert app.session_state["sidebar.epsilon"] == 2.5
    assert app.query_params["epsilon"] == "2.5"
    widget_of(app.text_input, "sidebar.delta").set_value("1,5e-5").run()
    assert app.session_state["sidebar.delta"] == 1.5e-5


def test_the_browser_s_boxes_of_numbers_are_of_whole_ones_alone():
    """They drop a comma, so a decimal number would become another."""
    boxes = [
        node
        for path in PAGES.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).endswith(".number_input")
    ]
    assert boxes
    for box in boxes:
        constants = [
            node.value for node in ast.walk(box) if isinstance(node, ast.Constant)
        ]
        assert not any(isinstance(constant, float) for constant in constants), (
            ast.unparse(box)
        )
        assert not any(keyword.arg == "format" for keyword in box.keywords), (
            ast.unparse(box)
        )
