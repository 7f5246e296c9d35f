"""Every figure of the source papers while its runs come in, in whichever order: what there is is drawn, and nothing is claimed too early."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.experiment import Run
from dpmf_core.figures import Preset
from dpmf_core.part_presets import PART_PRESETS
from dpmf_core.presets import PRESETS, RATINGS_PRESETS
from dpmf_core.sweeps import Point
from pages.kit import charts, findings, parts, runs, sketched, swept
from pages.kit.frames import framed
from tests.pages.driving import behind_sidebar
from tests.pages.made_up import made_up

SKETCHED = ("balu-fig1", "balu-fig2", "balu-fig3", "balu-fig4")


def states(points: list[Point]) -> Iterator[tuple[str, list[str]]]:
    """Keys of the runs that have finished: none, the first, the last, all but one, one method alone, all but one, every other one, all."""
    keys = list(dict.fromkeys(point.key for point in points))
    yield from (("none", []), ("the first", keys[:1]), ("the last", keys[-1:]), ("all but the first", keys[1:]), ("all but the last", keys[:-1]))
    yield from (("every other", keys[::2]), ("every third", keys[1::3]), ("all", keys))
    for label in list(dict.fromkeys(point.label for point in points))[-3:]:  # what is not private comes last
        own = {point.key for point in points if point.label == label}
        yield f"only {label}", [key for key in keys if key in own]
        yield f"all but {label}", [key for key in keys if key not in own]


def finished(points: list[Point]) -> Iterator[tuple[str, dict[str, Run]]]:
    every = {point.key: made_up(point.spec) for point in points}
    yield from ((state, {key: every[key] for key in keys}) for state, keys in states(points))


@pytest.mark.parametrize("preset", RATINGS_PRESETS.values(), ids=lambda it: it.id)
def test_frames_and_sentences_of_a_trade_off_hold_in_every_state(preset: Preset) -> None:
    points = preset.points()
    grid = {name for point in points for name in point.grid}
    for state, done in finished(points):
        table = swept.frame(points, done, preset.metric)
        assert {*swept.PLACE, *grid} == set(table.columns), state
        if preset.axis != "step":
            charts.against(swept.best_of_second(table, preset.axis, preset.metric), preset.axis, "RMSE", "x")
        assert list(swept.curve_rows(points, done).columns) == list(swept.STEP), state
        charts.steps(swept.curve_rows(points, done), None)
        title, _ = findings.finding(points, done, preset.metric)
        at = swept.middle(point.epsilon for point in points if point.epsilon is not None)
        cautioned = swept.cautions(points, done)
        rivals = {point.key for point in points if point.epsilon == at and point.label not in cautioned}
        assert "is best" not in title or rivals <= done.keys(), state
        for text in findings.worse_than_guessing(points, done, preset.metric):
            label = text.split("**")[1].removesuffix(f" does worse than {text.split(' does worse than ')[1].split('**')[0]}")
            assert all(point.key in done for point in points if point.label == label and f"ε = {point.epsilon:g} (" in text), (state, text)
        assert list(swept.which_epsilon(points, done, preset.metric, 0.9).columns) == list(swept.NEEDED), state
        swept.methods_table(points, done)
        assert not preset.verdict(points, done).reproduced or len(done) == len({point.key for point in points}), state


@pytest.mark.parametrize("preset_id", SKETCHED)
def test_frames_of_the_sketch_hold_in_every_state(preset_id: str) -> None:
    preset = PRESETS[preset_id]
    points = sketched.points(preset, preset.sweeps(False)[0].data, 0, 8)
    for state, done in finished(points):
        for metric in ("rmse", "kl", "kl_top_users"):
            table = sketched.frame(points, done, metric)
            assert preset.axis in table.columns and set(sketched.LINE) <= set(table.columns), state
            sketched.against(table, preset, metric)
        if preset_id == "balu-fig2":
            best = sketched.best(points, table)
            sketched.best_heat(best)
            assert state != "all" or len(best) == len({(point.grid["rank"], point.grid["space_gain"]) for point in points})
            assert state != "all but the last" or len(best) == len({(point.grid["rank"], point.grid["space_gain"]) for point in points}) - 1


@pytest.mark.parametrize("preset", PART_PRESETS.values(), ids=lambda it: it.id)
def test_frames_of_parts_hold_in_every_state(preset: Preset) -> None:
    points = preset.points()
    for _, done in finished(points):
        there = [point for point in points if point.key in done]
        if there:  # the page says nothing else before
            (parts._by_step if preset.axis == "step" else parts._against)(preset, there, done)


def shown(script: str, monkeypatch: pytest.MonkeyPatch, chosen: Any, **link: str) -> AppTest:
    """A page, of whose runs those that `chosen` picks have finished; none is computed."""

    def some(page: str, specs: Mapping[str, Any], patience: float = 1.5, **more: Any) -> dict[str, Any]:
        kept = chosen(list(specs))
        return {name: made_up(spec) for name, spec in specs.items() if name in kept and hasattr(spec, "algorithm") and hasattr(spec, "budget")}

    monkeypatch.setattr(runs, "wanted", some)
    app = AppTest.from_string(script, default_timeout=60)
    for name, value in link.items():
        if name.startswith("sketch"):
            app.session_state[name.replace("_", ".")] = value
        else:
            app.query_params[name] = value
    app.run()
    assert not app.exception and not app.error, [it.value for it in (*app.exception, *app.error)]
    assert app.title
    return app


PICKS = {"none": lambda names: [], "first": lambda names: names[:1], "last": lambda names: names[-1:], "without the last": lambda names: names[:-1]}


@pytest.mark.parametrize("pick", PICKS)
@pytest.mark.parametrize("figure", SKETCHED)
def test_the_sketch_page_stands_in_every_state(figure: str, pick: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown(behind_sidebar("recommend/sketch.py"), monkeypatch, PICKS[pick], data="cinema-small", sketch_figure=figure)


@pytest.mark.parametrize("figure", SKETCHED[:1] + SKETCHED[2:])
def test_the_sketch_page_draws_regular_factorisation_while_it_is_alone(figure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    only = lambda names: [name for name in names if '"sgd-mf"' in name]  # noqa: E731
    app = shown(behind_sidebar("recommend/sketch.py"), monkeypatch, only, data="cinema-small", sketch_figure=figure)
    (table,) = [it.value for it in app.dataframe if "gain" in it.value.columns]
    assert table["name"].tolist() == ["Regular MF"]


@pytest.mark.parametrize("pick", PICKS)
@pytest.mark.parametrize("preset", RATINGS_PRESETS)
def test_the_trade_off_page_stands_in_every_state(preset: str, pick: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pages.kit.forecast.stored", frozenset)
    shown(behind_sidebar("recommend/tradeoff.py"), monkeypatch, PICKS[pick], fig=preset)


def test_a_frame_has_its_columns_without_rows_and_nothing_else() -> None:
    columns = {"name": str, "value": float, "draw": int}
    empty = framed([], columns)
    assert list(empty.columns) == ["name", "value", "draw"] and empty["value"].dtype == float
    half = framed([{"name": "a"}, {"name": "b", "value": 1.0, "draw": 2}], columns)
    assert half["draw"].tolist()[1] == 2.0 and half["value"].isna().tolist() == [True, False]
    with pytest.raises(KeyError, match="not declared: rank"):
        framed([{"rank": 2}], columns)
