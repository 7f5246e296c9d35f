"""The Explore page, driven as a person would, without a browser."""

import json

import pytest

from dpmf_core.runs.comparison import DRAWS
from dpmf_core.runs.first_views import DEFAULT_EPSILON, shipped_draws
from dpmf_core.runs.recommendations import recommend
from dpmf_core.runs.specification import RunSpec
from pages.kit.base import data_sets
from tests.pages.driving import (
    app_of,
    behind_sidebar,
    component,
    engine_run,
    headline,
    run_with,
    settled,
    widget_states,
    words,
)

SCRIPT = behind_sidebar("explore/page.py")
pytestmark = pytest.mark.usefixtures("short_grid")


def page(**parameters):
    """The page on the small cinema, looked at again until its runs are finished."""
    return settled(app_of(SCRIPT, **({"dataset": "cinema-small"} | parameters)))


def click(app, name, value):
    """The page after the figure reported this value, as a click in it does."""
    states = widget_states(app)
    figure = next(
        one.proto.id
        for one in app.get("bidi_component")
        if one.proto.id.endswith("-explore.hero")
    )
    event = json.dumps({"event": name, "value": value})
    states.widgets.add(
        id=f"$$STREAMLIT_INTERNAL_KEY_{figure}__events", json_trigger_value=event
    )
    run_with(app, states)


def spec(**more):
    budget = {"epsilon": 5.0, "delta": 5e-5}
    return RunSpec.parse(
        data={"id": "cinema-small"}, algorithm="dpals", budget=budget, **more
    )


def test_the_sources_rule_shows_what_it_truly_costs():
    printed = {
        "p.biases": "false",
        "p.gram_share": "0.5",
        "p.frequent_fraction": "1",
    }
    app = page(
        algorithm="dpals", epsilon="1", delta="1e-5", calibration="source", **printed
    )
    assert "ε = 1.07 (δ = 1e-5" in words(app)
    assert "1.07" in headline(app)


def test_explore_opens_with_the_best_proven_method_and_one_click_shows_a_paper_s():
    app = page()
    best = shipped_draws("ratings", "cinema-small").by("rmse").best(DEFAULT_EPSILON)
    assert headline(app).startswith(f"At ε = {DEFAULT_EPSILON:g}, {best.label} keeps ")
    methods = component(app, "hero")["methods"]
    assert [method["id"] for method in methods if method["shown"]] == [data_sets.BEST]
    click(app, "method_shown", "dpfw-oja")
    settled(app)
    assert "A better proven method is known at this ε: " in headline(app)
    assert app.query_params["algorithm"] in ("dpfw-oja", ["dpfw-oja"])
    click(app, "method_shown", data_sets.BEST)
    settled(app)
    assert headline(app).startswith(f"At ε = {DEFAULT_EPSILON:g}, {best.label} keeps ")
    assert "algorithm" not in app.query_params


def test_the_best_of_several_methods_has_no_source_s_rule():
    app = page(epsilon="5", algorithm="best", calibration="source")
    assert not [radio for radio in app.radio if radio.label == "Noise is set by"]
    assert "in total (" not in headline(app)


def test_nothing_that_is_not_proved_has_an_epsilon():
    """A posterior sample that SGLD has not reached shows no price, odds or target."""
    app = page(
        algorithm="sgld",
        epsilon="5",
        **{"p.reading": "posterior-sample", "p.steps": "20"},
    )
    text = words(app)
    assert 'The source says: "provably differentially private"' in text
    assert "0.250" in text
    assert "ε = 5" not in text
    with pytest.raises(ValueError):
        component(app, "hundred")


def test_one_persons_list_says_what_stays_and_a_link_holds_who_was_picked():
    app = page(algorithm="dpals", epsilon="5")
    lists = component(app, "hero")["lists"]
    here = next(one for one in lists["at"] if one["epsilon"] == 5.0)
    for items, run in ((here["items"], spec()), (here["open"], spec().open())):
        recommended = recommend(engine_run(run), 0, len(items))
        assert [item["title"] for item in items] == [film.title for film in recommended]
    app = page(algorithm="dpals", epsilon="5", person="7")
    assert component(app, "hero")["lists"]["person"] == 7
    next(
        number_input
        for number_input in app.number_input
        if number_input.label == "Show person"
    ).set_value(9)
    settled(app)
    assert component(app, "hero")["lists"]["person"] == 9
    assert app.query_params["person"] in ("9", ["9"])


def test_a_link_s_parameters_apply_and_the_page_says_what_differs_from_the_default():
    app = page(algorithm="dpals", epsilon="5", **{"p.rank": "3"})
    [sentence] = [
        markdown.value
        for markdown in app.markdown
        if markdown.value.startswith("Changed parameters")
    ]
    assert "3" in sentence
    assert app.query_params["p.rank"] in ("3", ["3"])
    points = component(app, "hero")["points"]
    [here] = [point for point in points if point["epsilon"] == 5.0]
    runs = [
        engine_run(spec(seed=seed, parameters={"rank": 3})) for seed in range(DRAWS)
    ]
    errors = sorted(run.record.metrics["rmse"] for run in runs)
    assert sorted(here["error"]["values"]) == pytest.approx(errors)
    app.button(key="explore.recommended").click()
    settled(app)
    assert not [
        markdown.value
        for markdown in app.markdown
        if markdown.value.startswith("Changed parameters")
    ]
    assert "p.rank" not in app.query_params
