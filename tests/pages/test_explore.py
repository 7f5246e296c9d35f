"""The Explore page, driven as a person would, without a browser."""

import statistics

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.runs.comparison import DRAWS
from dpmf_core.runs.recommendations import recommend
from dpmf_core.runs.specification import RunSpec
from tests.pages.driving import (
    app_of,
    behind_sidebar,
    component,
    engine_run,
    headline,
    settled,
    words,
)

SCRIPT = behind_sidebar("explore/page.py")
pytestmark = pytest.mark.usefixtures("short_grid")


def page(**parameters: str) -> AppTest:
    """The page on the small cinema, looked at again until its runs are finished."""
    return settled(app_of(SCRIPT, **({"data": "cinema-small"} | parameters)))


def spec(epsilon: float, **more: object) -> RunSpec:
    return RunSpec.parse(
        **{
            "data": {"id": "cinema-small"},
            "algorithm": "dpals",
            "budget": {"epsilon": epsilon, "delta": 5e-5},
            **more,
        }
    )


def errors_of(
    algorithm: str, epsilon: float | None, draws: int = DRAWS, **parameters: object
) -> list[float]:
    """RMSE of the same seeds as the page's."""
    specs = [
        spec(epsilon or 1, algorithm=algorithm, seed=seed, parameters=parameters).canonical()
        for seed in range(draws)
    ]
    return [float(engine_run(one).record.metrics["rmse"]) for one in specs]


def test_the_headline_is_the_median_draw_and_its_range() -> None:
    app = page(eps="5")
    private, best_known, trivial = (errors_of(name, 5) for name in ("dpals", "bmf", "global-mean"))
    shares = [
        (guess - own) / (guess - plain)
        for own, plain, guess in zip(private, best_known, trivial, strict=True)
    ]
    low, high = min(shares), max(shares)
    text = headline(app)
    assert all(
        it in text for it in (f"{statistics.median(shares):.0%}", f"{low:.0%}", f"{high:.0%}")
    )
    errors = [f"{statistics.median(it):.2f}" for it in (private, best_known, trivial)]
    stars = [it.removeprefix("0") for it in errors]
    assert all(it in text for it in stars)
    without_noise = [
        engine_run(spec(5.0, seed=seed).open()).record.metrics["rmse"] for seed in range(3)
    ]
    own, open_, best = (
        round(statistics.median(it), 3) for it in (private, without_noise, best_known)
    )
    costs = [f"{own - open_:.3f}", f"{open_ - best:.3f}", f"{own - best:.3f}"]
    assert all(it.replace("-", "−") in text for it in costs)
    assert (
        f"RMSE {statistics.median(private):.3f} ({min(private):.3f} to {max(private):.3f})" in text
    )


def test_every_method_of_the_ladder_has_the_same_draws() -> None:
    columns = ["name", "id", "draw", "rmse"]
    tables = [it.value for it in page(eps="2").dataframe]
    (table,) = [it for it in tables if list(it.columns) == columns]
    for _, draws in table.groupby("name")["draw"]:
        assert sorted(draws) == list(range(DRAWS))
    ours = table[table["name"] == "Private biases"].sort_values("draw")["rmse"].tolist()
    assert ours == pytest.approx(errors_of("private-bias", 2))


def test_the_sources_rule_shows_what_it_truly_costs() -> None:
    printed = {"p.biases": "false", "p.gram_share": "0.5", "p.frequent_fraction": "1"}
    app = page(eps="1", delta="1e-5", rule="source", **printed)
    assert "ε = 1.06 (δ = 1e-5" in words(app)
    assert "1.06" in headline(app)


def test_nothing_that_is_not_proved_has_an_epsilon() -> None:
    """A posterior sample that SGLD has not reached: its claim in quotation marks and why it is
    none; no price by any rule, no odds, no target.
    """
    app = page(algo="sgld", eps="5", **{"p.reading": "posterior-sample", "p.steps": "20"})
    text = words(app)
    assert 'The source says: "provably differentially private"' in text
    assert "0.250" in text
    assert "ε = 5" not in text
    with pytest.raises(ValueError):
        component(app, "hundred")


def test_one_persons_list_says_what_stays_and_a_link_holds_who_was_picked() -> None:
    app = page(eps="5")
    lists = component(app, "hero")["lists"]
    run, open_run = engine_run(spec(5.0)), engine_run(spec(5.0).open())
    here = next(it for it in lists["at"] if it["epsilon"] == 5.0)
    for items, of in ((here["items"], run), (lists["open"], open_run)):
        assert [it["title"] for it in items] == [s.title for s in recommend(of, 0, len(items))]
    app = page(eps="5", person="7")
    assert component(app, "hero")["lists"]["person"] == 7
    next(it for it in app.number_input if it.label == "Show person").set_value(9)
    settled(app)
    assert component(app, "hero")["lists"]["person"] == 9
    assert app.query_params["person"] in ("9", ["9"])


def test_a_private_run_alone_shows_the_person_of_the_link(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its list stands there before the runs that the figure compares it with."""
    monkeypatch.setattr("pages.explore.story.of_grid", lambda *_: None)
    app = page(eps="5", person="7")
    assert next(it for it in app.number_input if it.label == "Show person").value == 7
    assert app.query_params["person"] in ("7", ["7"])


def test_a_link_s_parameters_apply_and_the_page_says_what_differs_from_the_default() -> None:
    app = page(eps="5", **{"p.rank": "3"})
    [sentence] = [it.value for it in app.markdown if it.value.startswith("Changed parameters")]
    assert "3" in sentence
    assert app.query_params["p.rank"] in ("3", ["3"])
    points = component(app, "hero")["points"]
    [here] = [it for it in points if it["epsilon"] == 5.0]
    assert sorted(here["values"]) == pytest.approx(sorted(errors_of("dpals", 5.0, rank=3)))
    app.button(key="explore.recommended").click()
    settled(app)
    assert not [it.value for it in app.markdown if it.value.startswith("Changed parameters")]
    assert "p.rank" not in app.query_params
