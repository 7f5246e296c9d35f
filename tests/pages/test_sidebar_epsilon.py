"""What the sidebar says of epsilon."""

import math
import re

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.teaching.deployments import DEPLOYMENTS
from pages.kit import epsilon_grid
from pages.kit.sidebar_epsilon import suspicion
from pages.kit.sidebar_values import EPSILONS
from tests.pages.driving import let_go, slider_epsilon, widget_of

KINDS = """
import streamlit as st
from pages.kit import sidebar
kind = st.session_state["kind"]
sidebar.draw(kind)
choice = sidebar.choice() if kind == "ratings" else sidebar.sample_choice()
st.write(f"ε = {choice.epsilon:g} on {choice.data}")
"""


def test_an_even_suspicion_is_never_said_to_grow_less_than_it_may() -> None:
    for epsilon in EPSILONS:
        may_become = 100 / (1 + math.exp(-epsilon))
        match = re.search(r"([\d.]+)%", suspicion(epsilon))
        assert (float(match[1]) if match else 100) == pytest.approx(may_become + 0.05, abs=0.0501)
        assert (float(match[1]) if match else 100) >= may_become


def test_odds_of_three_to_one_are_three_quarters() -> None:
    assert suspicion(math.log(3) - 1e-12) == "becomes at most 75%, rare outcomes aside"
    assert suspicion(10.0) == "becomes at most 99.996%, rare outcomes aside"
    assert suspicion(1000.0) == "may become all but certainty"


def test_the_slider_goes_from_a_twentieth_to_a_hundred_and_reaches_every_mark() -> None:
    assert (EPSILONS[0], EPSILONS[-1]) == (0.05, 100.0)
    assert set(epsilon_grid.EPSILONS) <= set(EPSILONS)
    assert len(set(EPSILONS)) == len(EPSILONS) and sorted(EPSILONS) == list(EPSILONS)
    assert all(EPSILONS[0] <= it.epsilon <= EPSILONS[-1] for it in DEPLOYMENTS.values())


def page_text(app: AppTest, kind: str) -> str:
    app.session_state["kind"] = kind
    app.query_params.clear()  # as on the way to another page
    app.run()
    assert not app.exception
    return str(app.main.markdown[-1].value)


def test_each_kind_of_data_starts_at_an_epsilon_of_its_own_and_remembers_it() -> None:
    app = AppTest.from_string(KINDS, default_timeout=30)
    assert page_text(app, "documents") == "ε = 0.32 on news"
    assert page_text(app, "images") == "ε = 0.32 on faces"
    assert page_text(app, "ratings") == "ε = 5 on cinema"
    page_text(app, "documents")
    app._run(let_go(app, 2.0))
    assert app.main.markdown[-1].value == "ε = 2 on news" and slider_epsilon(app) == 2.0
    assert page_text(app, "images") == "ε = 0.32 on faces"
    widget_of(app.number_input, "sidebar.images.eps").set_value(0.7).run()
    assert app.main.markdown[-1].value == "ε = 0.7 on faces"
    assert page_text(app, "ratings") == "ε = 5 on cinema"
    assert page_text(app, "documents") == "ε = 2 on news" and slider_epsilon(app) == 2.0


def test_a_link_leads_over_the_epsilon_that_a_kind_starts_at() -> None:
    app = AppTest.from_string(KINDS, default_timeout=30)
    app.session_state["kind"] = "documents"
    app.query_params["eps"] = "7"
    assert app.run().main.markdown[-1].value == "ε = 7 on news"
