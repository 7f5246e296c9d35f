"""The figures of the papers: runnable, of the size that is promised, and judged by what the
runs say.
"""

import pytest

from dpmf_core.data.catalogue import catalogue
from dpmf_core.data.ratings import Shape
from dpmf_core.data.samples import SampleShape
from dpmf_core.errors import BadInput
from dpmf_core.papers.figures import Figure, Outcome, by_metric
from dpmf_core.papers.registry import CLAIMS, FIGURES, TABLES, find_figure
from dpmf_core.runs.record import Run
from dpmf_core.runs.sweep import Point
from dpmf_datasets import SampleEntry
from pages.kit.page_table import BY_ID
from tests.support.records import run_of

# a draw of these takes a third of a page's minute
ONE_DRAW = {f"jain-fig{panel}" for panel in ("2a", "3a", "3b", "3c", "3d")}
every = pytest.mark.parametrize("figure", FIGURES.values(), ids=FIGURES.keys())


def test_a_mistyped_id_is_answered_with_the_nearest() -> None:
    with pytest.raises(BadInput, match="Did you mean 'chien-fig3"):
        find_figure("chien-fig3")


def test_every_figure_is_on_a_page() -> None:
    assert {figure.page for figure in FIGURES.values()} <= set(BY_ID)


@every
@pytest.mark.parametrize("full", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_run_of_a_figure_could_start(figure: Figure, full: bool) -> None:
    entries = {entry.id: entry for entry in catalogue().catalogue()}
    for sweep in figure.sweeps(full):
        entry = entries[sweep.data.id]
        if isinstance(entry, SampleEntry):
            sweep.points_on(SampleShape(entry.n_samples, entry.n_features, entry.image))
            continue
        sweep.points_on(
            Shape(
                entry.n_users,
                min(sweep.data.top_items or entry.n_items, entry.n_items),
                entry.bounds,
            )
        )
        if figure.id == "saha-table4" or figure.page in ("sketch", "retention"):
            continue
        assert entry.n_users >= 900  # MovieLens 100K, the smallest set that a figure takes, has 943
        least = 100 if figure.id == "jain-fig2b" else 200  # Jester has a hundred jokes
        assert min(sweep.data.top_items or entry.n_items, entry.n_items) >= least or full
        assert len(sweep.seeds) >= 2 or figure.id in ONE_DRAW
    points = figure.points(full)
    assert points or figure.compute
    if points and figure.measure is by_metric and figure.axis not in ("epsilon", "step"):
        assert any(point.grid for point in points)


def runs_of(points: list[Point], rmse: dict[str, float]) -> dict[str, Run]:
    return {
        point.key: run_of(
            spec=point.spec,
            metrics={"rmse": rmse[point.label], "recall_at_20": rmse[point.label]},
        )
        for point in points
    }


def test_a_verdict_follows_the_runs() -> None:
    figure = CLAIMS["chien-users"]
    points = figure.points()
    values = dict.fromkeys({point.label for point in points}, 0.9) | {
        "DPALS, a quarter of the users": 0.2
    }
    assert figure.verdict(points, runs_of(points, values)).reproduced
    other = figure.verdict(
        points, runs_of(points, values | {"DPALS, a quarter of the users": 0.95})
    )
    assert other.outcome is Outcome.DIFFERS
    assert "0.9500" in other.words
    assert "no verdict yet" in figure.verdict(points, {}).words


def test_a_table_of_our_own_claims_nothing() -> None:
    assert TABLES["films-table"].judge([]).outcome is Outcome.NOTHING_CLAIMED


def test_data_that_stand_in_are_named() -> None:
    figure = CLAIMS["chien-fig3a"]
    data_id = figure.sweeps(False)[0].data.id
    assert (figure.stands_in() == "") == (data_id in figure.source_ids)
    assert CLAIMS["chien-fig4"].stands_in() == ""
