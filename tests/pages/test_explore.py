"""The Explore page, driven as a person would, without a browser."""

import statistics
import time
from pathlib import Path

import pandas as pd
import pytest
from scipy import stats
from streamlit.testing.v1 import AppTest

from dpmf_core import algorithms
from dpmf_core.compare import DRAWS
from dpmf_core.experiment import RunSpec, run
from tests.pages.driving import held, words

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
    return RunSpec.parse(**{"data": {"id": "cinema-small"}, "algorithm": "dpals", "budget": {"epsilon": epsilon, "delta": 5e-5}, **more})


def drawn(algorithm: str, epsilon: float | None, draws: int = DRAWS, **parameters: object) -> list[float]:
    """RMSE of the same seeds as the page's, each run here."""
    asked = [spec(epsilon or 1, algorithm=algorithm, seed=seed, parameters=parameters).canonical() for seed in range(draws)]
    return [float(run(one).record["metrics"]["rmse"]) for one in asked]


def test_the_headline_is_the_median_draw_and_its_range() -> None:
    app = page(eps="5")
    private, twin, trivial = (drawn(name, 5) for name in ("dpals", "als", "global-mean"))
    shares = [(guess - own) / (guess - plain) for own, plain, guess in zip(private, twin, trivial, strict=True)]
    low, high = min(shares), max(shares)
    assert app.title[0].value.startswith(f"At ε = 5, DPALS keeps {statistics.median(shares):.0%} of the gain over guessing ({low:.0%} to {high:.0%})")
    said = f"Held-out RMSE **{statistics.median(private):.3f}** ({min(private):.3f} to {max(private):.3f}) with privacy, **{statistics.median(twin):.3f}**"
    assert said in words(app)


def shown(app: AppTest) -> pd.DataFrame:
    return next(table.value for table in app.dataframe if list(table.value.columns) == ["name", "id", "draw", "rmse"])


def test_every_method_of_the_ladder_has_the_same_draws() -> None:
    table = shown(page(eps="2"))
    assert {name: sorted(draws) for name, draws in table.groupby("name")["draw"]} == {name: list(range(DRAWS)) for name in table["name"]}
    ours = table[table["name"] == "Private biases"].sort_values("draw")["rmse"].tolist()
    assert ours == pytest.approx(drawn("private-bias", 2))


def test_a_method_that_clearly_loses_is_said_to() -> None:
    app = page(eps="2")
    mine, rivals = drawn("dpals", 2), {name: drawn(name, 2) for name in ("private-bias", "spectral", "ada-dpals")}
    rivals["dpals-plain"] = drawn("dpals", 2, biases=False)
    ahead = {name: found for name, found in rivals.items() if all(a < b for a, b in zip(found, mine, strict=True))}
    clear = {name: found for name, found in ahead.items() if stats.ttest_rel(found, mine).pvalue < 0.05}
    best = min(clear, key=lambda name: statistics.median(clear[name]))  # on this data set there are some
    title = {"private-bias": "Private biases", "spectral": "One-shot spectral", "ada-dpals": "Ada-DPALS", "dpals-plain": "DPALS without biases"}[best]
    assert app.title[0].value.endswith(f"; {title} does better")
    assert f"**{title} errs less in each of the {DRAWS} draws**" in words(app)


def test_a_selection_is_called_one_and_every_method_is_shown_on_request() -> None:
    app = page(eps="2")
    assert "Selected methods, at this ε" in [it.value for it in app.subheader]
    app.toggle(key="explore.every").set_value(True)
    settled(app)
    assert "Every private method, at this ε" in [it.value for it in app.subheader]
    private = {name for name, kind in algorithms.of_task("ratings").items() if kind.plan is not algorithms.Algorithm.plan}
    assert private <= set(shown(app)["id"])


def test_the_card_shows_epsilon_in_full_and_follows_the_box() -> None:
    app = page(eps="5")
    assert "ε = 5.00 (δ = 5e-5, per user, add/remove, exact)" in words(app)
    held(app.number_input, "sidebar.eps").set_value(1.0)
    settled(app)
    assert "ε = 1.00 (δ = 5e-5" in words(app)
    assert app.title[0].value.startswith("At ε = 1,")
    assert held(app.select_slider, "sidebar.slider").value == 1.0
    held(app.select_slider, "sidebar.slider").set_value(2.0)
    settled(app)
    assert held(app.number_input, "sidebar.eps").value == 2.0
    assert "ε = 2.00 (δ = 5e-5" in words(app)


def test_a_parameter_enters_the_run_and_an_impossible_one_is_named() -> None:
    app = page(eps="5")
    app.number_input(key="explore.dpals.rank").set_value(1)
    settled(app)
    own = drawn("dpals", 5, rank=1)
    assert f"Held-out RMSE **{statistics.median(own):.3f}** ({min(own):.3f} to {max(own):.3f}) with privacy" in words(app)
    app.number_input(key="explore.dpals.rank").set_value(300)
    settled(app)
    assert "The 'rank' parameter of DPALS must be at most the number of items, 200. Got 300." in words(app)
    assert held(app.number_input, "sidebar.eps").value == 5.0


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


def test_nothing_that_is_not_proved_has_an_epsilon() -> None:
    """A posterior sample that SGLD has not reached: its claim in quotation marks and why it is none; no price by any rule, no odds, no target."""
    app = page(algo="sgld", eps="5", **{"p.reading": "posterior-sample", "p.steps": "20"})
    said = words(app)
    assert app.title[0].value.startswith("With nothing proved, SGLD ")
    assert 'The source says: "provably differentially private"' in said
    assert "must keep the prior's variance 0.250, has 0." in said
    assert "every rule of composition" not in said
    assert "ε = 5" not in said
    assert "What this ε means" not in [header.value for header in app.header]
    assert not [toggle for toggle in app.toggle if toggle.key == "explore.target"]


def test_sgld_is_proved_by_its_steps() -> None:
    said = words(page(algo="sgld", eps="5", **{"p.steps": "5"}))
    assert "PROVEN" in said
    assert "ε = 5.00 (δ = 5e-5, per user, add/remove, exact)" in said
