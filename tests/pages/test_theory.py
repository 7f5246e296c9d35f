"""The Theory page in every state: each bound and axis, links, missing results, its own runs."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.papers import results
from dpmf_core.papers.bounds import BOUNDS
from pages.kit.page_table import BY_ID
from tests.pages.driving import settled, words

SCRIPT = BY_ID["theory"].script


def page(**address: str) -> AppTest:
    app = AppTest.from_string(
        "import runpy\nfrom pages.kit import run_progress\nrun_progress.begin()\n"
        f"runpy.run_path({str(SCRIPT)!r})\nrun_progress.leave()\n",
        default_timeout=120,
    )
    for name, value in address.items():
        app.query_params[name] = value
    return app


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("axis", ["users", "items", "epsilon"])
def test_every_bound_along_every_axis(bound: str, axis: str) -> None:
    app = settled(page(bound=bound, axis=axis))
    assert not app.exception
    text = words(app)
    assert BOUNDS[bound].statement in text
    assert "the error goes as" in app.title[0].value
    assert f"^{{{BOUNDS[bound].exponents[axis]:g}}}$" in app.title[0].value
    assert "With its constant fitted on the one point" in text
    assert app.query_params["bound"] == bound
    assert app.query_params["axis"] == axis


def test_a_choice_enters_the_address() -> None:
    app = settled(page())
    app.selectbox(key="theory.bound").select("dpfw")
    settled(app)
    assert app.query_params["bound"] == "dpfw"
    assert app.title[0].value.startswith("DPFW")


def test_a_bad_link_is_named_and_the_page_still_opens() -> None:
    app = settled(page(bound="<b>dpsgd</b>", axis="rank"))
    assert len(app.warning) == 2
    assert "must be one of dpals, dpals-squared, dpfw" in app.warning[0].value
    assert "<b>" not in app.warning[0].value.replace("\\<", "")
    assert app.query_params["axis"] == "users"


def test_without_results_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "RECORDED_FOLDER", tmp_path)
    app = settled(page())
    assert not app.exception
    assert "No exponent yet" in app.info[0].value
    assert "comparison" in words(app)


def test_tables_and_users_follow_the_numbers() -> None:
    app = settled(page())
    app.number_input(key="theory.m").set_value(10_000)
    app.number_input(key="theory.entry").set_value(0.5)
    app.number_input(key="theory.ratings").set_value(10)
    settled(app)
    tables = " ".join(str(element.value.to_dict()) for element in app.table)
    assert "100,000" in tables  # m^(5/4)
    assert "**ε = 5** where δ = 0" in words(app)


@pytest.mark.slow
def test_its_own_runs_replace_the_recorded_ones() -> None:
    app = page(bound="dpals", axis="users")
    app.session_state["theory.measure"] = True
    settled(app)
    assert not app.exception
    assert "the error goes as $n^{-1" in app.title[0].value
