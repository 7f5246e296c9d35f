"""The Explore page, driven as a person would, without a browser."""

import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.compare import comparison
from dpmf_core.experiment import RunSpec, run
from tests.pages.driving import words

ROOT = Path(__file__).parents[2]
SCRIPT = f"""
import runpy
from pages.kit import sidebar
sidebar.draw()
runpy.run_path({str(ROOT / "pages" / "recommend" / "explore.py")!r})
"""


def page(**parameters: str) -> AppTest:
    """The page on the small cinema, looked at again until its runs are finished."""
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    for name, value in ({"data": "cinema-small"} | parameters).items():
        app.query_params[name] = value
    return settled(app)


def settled(app: AppTest) -> AppTest:
    app.run()
    for _ in range(100):
        assert not app.exception, [error.value for error in app.exception]
        if app.error or not any(button.key == "explore.cancel" for button in app.button):
            return app
        time.sleep(0.2)
        app.run()
    raise AssertionError("the runs did not finish")


def spec(epsilon: float, **more: object) -> RunSpec:
    return RunSpec.parse(data={"id": "cinema-small"}, algorithm="dpals", budget={"epsilon": epsilon, "delta": 5e-5}, **more)


def test_the_sentence_says_what_the_runs_say() -> None:
    app = page(eps="5")
    found = {name: run(one).record["metrics"]["rmse"] for name, one in comparison(spec(5)).items() if name in ("main", "twin", "trivial")}
    kept = (found["trivial"] - found["main"]) / (found["trivial"] - found["twin"])
    assert app.title[0].value == f"At ε = 5, DPALS keeps {kept:.0%} of the gain over guessing"
    assert f"Held-out RMSE **{found['main']:.3f}** with privacy in this draw of split and noise, **{found['twin']:.3f}** without (ALS)" in words(app)


def test_the_card_shows_epsilon_in_full_and_follows_the_box() -> None:
    app = page(eps="5")
    assert "ε = 5.00 (δ = 5e-5, per user, add/remove, exact)" in words(app)
    app.number_input(key="sidebar.eps").set_value(1.0)
    settled(app)
    assert "ε = 1.00 (δ = 5e-5" in words(app)
    assert app.title[0].value.startswith("At ε = 1,")
    assert app.select_slider(key="sidebar.slider").value == 1.0
    app.select_slider(key="sidebar.slider").set_value(2.0)
    settled(app)
    assert app.number_input(key="sidebar.eps").value == 2.0
    assert "ε = 2.00 (δ = 5e-5" in words(app)


def test_a_parameter_enters_the_run_and_an_impossible_one_is_named() -> None:
    app = page(eps="5")
    app.number_input(key="explore.dpals.rank").set_value(1)
    settled(app)
    own = run(spec(5, parameters={"rank": 1})).record["metrics"]["rmse"]
    assert f"Held-out RMSE **{own:.3f}** with privacy" in words(app)
    app.number_input(key="explore.dpals.rank").set_value(300)
    settled(app)
    assert "The 'rank' parameter of DPALS must be at most the number of items, 200. Got 300." in words(app)
    assert app.number_input(key="sidebar.eps").value == 5.0


def test_the_sources_rule_shows_what_it_truly_costs() -> None:
    app = page(eps="1", delta="1e-5", rule="source")
    assert "ε = 1.06 (δ = 1e-5" in words(app)
    assert app.title[0].value.startswith("At the source's ε = 1, truly 1.06, DPALS")


@pytest.mark.parametrize(
    ("name", "value"), [("eps", "minus one"), ("eps", "nan"), ("delta", "1"), ("data", "nowhere"), ("algo", "als"), ("seed", "-1"), ("top", "1")]
)
def test_a_bad_link_is_explained_and_the_default_is_used(name: str, value: str) -> None:
    app = page(**{name: value})
    assert f"'{name}' in the link must be" in words(app)
    assert app.title


def test_a_delta_of_one_over_n_is_warned_of() -> None:
    assert "would allow publishing one person's whole row" in words(page(delta="0.001"))


def test_keeping_the_most_rated_items_makes_the_claim_conditional() -> None:
    assert "provided that the item set is public" in words(page(top="100"))
