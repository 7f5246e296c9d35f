"""What the sidebar says of epsilon."""

import math
import re

import pytest

from dpmf_core.privacy.certainty import certainty_at
from dpmf_core.runs.first_views import DEFAULT_EPSILON
from pages.kit.controls.sidebar_values import EPSILONS
from tests.pages.driving import app_of, component, widget_of


def test_an_even_suspicion_is_never_said_to_grow_less_than_it_may():
    for epsilon in EPSILONS:
        may_become = 100 / (1 + math.exp(-epsilon))
        match = re.search(r"at most ([\d.]+)%", certainty_at(epsilon, 1e-5).words())
        shown = float(match[1]) if match else 100
        assert may_become - 1e-9 <= shown < may_become + 0.1


ANY_PAGE = (
    "import streamlit as st\nfrom pages.kit import sidebar\n"
    "from pages.kit.controls import sidebar_values\n"
    "where = st.session_state['where']\n"
    "if where == 'start':\n    sidebar_values.dial(2.0)\nelse:\n    sidebar.draw(where)\n"
)


def walk(app, where, **address):
    """To another page, at this address; the epsilon that it shows."""
    app.session_state["where"] = where
    app.query_params.clear()
    for name, text in address.items():
        app.query_params[name] = text
    app.run()
    assert not app.exception
    return float(app.session_state["sidebar.epsilon"])


@pytest.fixture
def app():
    return app_of(ANY_PAGE)


def test_all_pages_show_one_epsilon_until_somebody_moves_the_dial(app):
    walked = ["ratings", "documents", "start", "images", "ratings"]
    assert [walk(app, where) for where in walked] == [DEFAULT_EPSILON] * 5


@pytest.mark.parametrize("moved_to", [0.7, 5.0])
def test_a_dial_that_was_moved_is_carried_to_every_page(app, moved_to):
    walk(app, "documents")
    box = widget_of(app.text_input, "sidebar.epsilon")
    box.set_value(f"{moved_to:g}").run()
    walked = ["ratings", "start", "images", "documents"]
    assert [walk(app, where) for where in walked] == [moved_to] * 4


def test_a_link_moves_the_dial_that_nobody_has_moved_and_no_other(app):
    walk(app, "start")
    assert walk(app, "ratings", epsilon="3") == 3.0
    assert walk(app, "documents") == 3.0
    assert walk(app, "ratings", epsilon="1") == 3.0


def test_below_the_slider_a_certainty_has_its_noise_and_the_delta_of_the_page():
    app = app_of(
        ANY_PAGE,
        {"where": "ratings"},
        dataset="cinema-small",
        delta="1e-7",
    ).run()
    meaning = component(app, "epsilon_slider")["now"]["meaning"]
    assert meaning == certainty_at(app.session_state["sidebar.epsilon"], 1e-7).words()
    assert "(Gaussian noise, δ = 1e-7, per user, add/remove)" in meaning


@pytest.mark.parametrize(
    ("kind", "algorithm", "rule"),
    [
        ("documents", "dp-nmf", "the source's rule, for each statistic of each step"),
        ("ratings", "dpfw", "the source's rule"),
    ],
)
def test_under_a_source_s_rule_the_slider_names_it_and_shows_the_total(
    kind, algorithm, rule
):
    address = {"algorithm": algorithm, "epsilon": "0.5"}
    app = app_of(ANY_PAGE, {"where": kind}, calibration="source", **address).run()
    assert not app.exception
    shown = component(app, "epsilon_slider")
    assert shown["labels"]["name"] == f"ε by {rule}"
    assert "total" not in shown["labels"]["name"]
    total = re.match(r"In total: ε = (\d+\.\d\d) \(δ = ", shown["now"]["meaning"])
    assert total is not None
    assert float(total[1]) != 0.5
    exact = app_of(ANY_PAGE, {"where": kind}, **address).run()
    assert (
        component(exact, "epsilon_slider")["labels"]["name"] == "Privacy loss ε, total"
    )


def test_the_total_under_a_source_s_rule_is_that_of_the_link_s_parameters():
    """At the first drawing, before the page below has read them."""
    address = {
        "algorithm": "dp-nmf",
        "epsilon": "0.5",
        "calibration": "source",
    }

    def meaning(**parameters):
        app = app_of(ANY_PAGE, {"where": "images"}, **address, **parameters).run()
        return component(app, "epsilon_slider")["now"]["meaning"]

    def total(steps):
        text = meaning(**{"p.steps": steps, "p.start": "random"})
        return float(re.match(r"In total: ε = (\d+\.\d\d)", text)[1])

    assert total("100") > 5 * total("4") > 0.5
    assert not meaning(**{"p.steps": "100", "p.start": "nndsvd"}).startswith("In total")
