"""Every figure of the source papers while its runs come in, in whichever order: what there is
is drawn, and nothing is claimed too early.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core import first_views
from dpmf_core.papers.figures import Figure
from dpmf_core.papers.registry import FIGURES, figures_of
from dpmf_core.runs.record import Run
from dpmf_core.runs.sweep import Point
from pages.kit import (
    comparison_charts,
    parts_figures,
    published_figures,
    run_progress,
    sweep_charts,
    sweep_frames,
)
from pages.kit.frames import to_frame
from pages.sketch import figures
from pages.tradeoff import findings, tables
from tests.pages.driving import behind_sidebar
from tests.pages.made_up import made_up

SKETCH_FIGURES = ("balu-fig1", "balu-fig2", "balu-fig3", "balu-fig4", "sketch-table")


def states(points: list[Point]) -> Iterator[tuple[str, list[str]]]:
    """Keys of the runs that have finished: none, the first, the last, all but one, one method
    alone, all but one, every other one, all.
    """
    keys = list(dict.fromkeys(point.key for point in points))
    yield from (
        ("none", []),
        ("the first", keys[:1]),
        ("the last", keys[-1:]),
        ("all but the first", keys[1:]),
        ("all but the last", keys[:-1]),
    )
    yield from (("every other", keys[::2]), ("every third", keys[1::3]), ("all", keys))
    # what is not private comes last
    for label in list(dict.fromkeys(point.label for point in points))[-3:]:
        own = {point.key for point in points if point.label == label}
        yield f"only {label}", [key for key in keys if key in own]
        yield f"all but {label}", [key for key in keys if key not in own]


def finished_states(points: list[Point]) -> Iterator[tuple[str, dict[str, Run]]]:
    every = {point.key: made_up(point.spec) for point in points}
    yield from ((state, {key: every[key] for key in keys}) for state, keys in states(points))


@pytest.mark.parametrize("figure", figures_of("trade-off").values(), ids=lambda it: it.id)
def test_frames_and_sentences_of_a_trade_off_hold_in_every_state(figure: Figure) -> None:
    points = figure.points()
    grid = {name for point in points for name in point.grid}
    for state, runs in finished_states(points):
        table = sweep_frames.frame(points, runs, figure.metric)
        assert {*sweep_frames.PLACE, *grid} == set(table.columns), state
        if figure.axis != "step":
            sweep_charts.against(
                tables.best_of_second(table, figure.axis, figure.metric),
                figure.axis,
                "RMSE",
                "x",
            )
        assert list(tables.curve_rows(points, runs).columns) == STEP, state
        comparison_charts.steps(tables.curve_rows(points, runs), None)
        title, _ = findings.finding(points, runs, figure.metric)
        at = tables.middle_epsilon(point.epsilon for point in points if point.epsilon is not None)
        cautions = sweep_frames.cautions(points, runs)
        rivals = {
            point.key for point in points if point.epsilon == at and point.label not in cautions
        }
        assert "is best" not in title or rivals <= runs.keys(), state
        for text in findings.worse_than_guessing(points, runs, figure.metric):
            label = text.split("**")[1].removesuffix(
                f" does worse than {text.split(' does worse than ')[1].split('**')[0]}"
            )
            assert all(
                point.key in runs
                for point in points
                if point.label == label and f"ε = {point.epsilon:g} (" in text
            ), (state, text)
        assert list(tables.which_epsilon(points, runs, figure.metric, 0.9).columns) == list(
            tables.WHICH_EPSILON
        ), state
        tables.methods_table(points, runs)
        assert not figure.verdict(points, runs).reproduced or len(runs) == len(
            {point.key for point in points}
        ), state


@pytest.mark.parametrize("figure_id", SKETCH_FIGURES)
def test_frames_of_the_sketch_hold_in_every_state(figure_id: str) -> None:
    whole = FIGURES[figure_id]
    figure = first_views.sketch_figure(whole, whole.sweeps(False)[0].data, 0, 8)
    points = figure.points()
    for state, runs in finished_states(points):
        for metric in ("rmse", "kl", "kl_top_users"):
            table = figures.frame(points, runs, metric)
            assert figure.axis in table.columns and LINE <= set(table.columns), state
            figures.against(table, figure, metric)
        if figure_id == "balu-fig2":
            best = figures.best(points, table)
            figures.best_heat(best)
            assert state != "all" or len(best) == len(
                {(point.grid["rank"], point.grid["space_gain"]) for point in points}
            )
            assert (
                state != "all but the last"
                or len(best)
                == len({(point.grid["rank"], point.grid["space_gain"]) for point in points}) - 1
            )


@pytest.mark.parametrize(
    "source_figure",
    [
        figure
        for figure in (*figures_of("topics").values(), *figures_of("faces").values())
        if figure.id not in parts_figures.OWN_DRAWINGS
    ],
    ids=lambda it: it.id,
)
def test_frames_of_parts_hold_in_every_state(source_figure: Figure) -> None:
    points = source_figure.points()
    for _, runs in finished_states(points):
        there = [point for point in points if point.key in runs]
        if there:  # the page says nothing else before
            published_figures.chart(source_figure, there, runs)


def page_in_state(script: str, monkeypatch: pytest.MonkeyPatch, pick: Any, **link: str) -> AppTest:
    """A page, of whose runs those that `chosen` picks have finished; none is computed."""

    def some(
        page: str, specs: Mapping[str, Any], patience: float = 1.5, **more: Any
    ) -> dict[str, Any]:
        names = pick(list(specs))
        return {
            name: made_up(spec)
            for name, spec in specs.items()
            if name in names and hasattr(spec, "algorithm") and hasattr(spec, "budget")
        }

    monkeypatch.setattr(run_progress, "request", some)
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


LINE = {"name", "id", "source", "value", "gain"}
STEP = ["name", "id", "draw", "step", "part", "rmse"]
PICKS = {
    "none": lambda names: [],
    "first": lambda names: names[:1],
    "last": lambda names: names[-1:],
    "without the last": lambda names: names[:-1],
}
FAST = ("none", "without the last")


every_pick = pytest.mark.parametrize(
    "pick", [*FAST, *(pytest.param(it, marks=pytest.mark.slow) for it in PICKS if it not in FAST)]
)


@every_pick
@pytest.mark.parametrize("figure", SKETCH_FIGURES)
def test_the_sketch_page_stands_in_every_state(
    figure: str, pick: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page_in_state(
        behind_sidebar("sketch/page.py"),
        monkeypatch,
        PICKS[pick],
        data="cinema-small",
        sketch_figure=figure,
    )


@pytest.mark.parametrize("figure", ("balu-fig3", "balu-fig4"))
def test_the_sketch_page_draws_regular_factorisation_while_it_is_alone(
    figure: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    only = lambda names: [name for name in names if '"sgd-mf"' in name]  # noqa: E731
    app = page_in_state(
        behind_sidebar("sketch/page.py"),
        monkeypatch,
        only,
        data="cinema-small",
        sketch_figure=figure,
    )
    (table,) = [it.value for it in app.dataframe if "gain" in it.value.columns]
    assert table["name"].tolist() == ["Regular MF"]


@every_pick
@pytest.mark.parametrize("figure", figures_of("trade-off"))
def test_the_trade_off_page_stands_in_every_state(
    figure: str, pick: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pages.kit.time_estimate.stored_names", frozenset)
    page_in_state(behind_sidebar("tradeoff/page.py"), monkeypatch, PICKS[pick], fig=figure)


def test_a_frame_has_its_columns_without_rows_and_nothing_else() -> None:
    columns = {"name": str, "value": float, "draw": int}
    empty = to_frame([], columns)
    assert list(empty.columns) == ["name", "value", "draw"] and empty["value"].dtype == float
    half = to_frame([{"name": "a"}, {"name": "b", "value": 1.0, "draw": 2}], columns)
    assert half["draw"].tolist()[1] == 2.0 and half["value"].isna().tolist() == [True, False]
    with pytest.raises(KeyError, match="not declared: rank"):
        to_frame([{"rank": 2}], columns)
