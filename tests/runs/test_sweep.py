"""Which runs a sweep holds, and what is made of them."""

import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Shape
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.sweep import Sweep, rows
from tests.support.records import run_of

SHAPE = Shape(500, 30, (1, 5))


def sweep(**changed):
    parts = {
        "data": {"id": "small"},
        "methods": [{"algorithm": "dpals"}, {"algorithm": "als"}],
        "epsilons": (1.0, 5.0),
        "seeds": (0, 1),
    }
    return Sweep.model_validate(parts | changed)


def runs_of(points, value=1.0):
    """Runs as a store would hold them; each draw a little worse than the one before."""
    out = {}
    for place, point in enumerate(points):
        figures = {"rmse": value + place / 10}
        parts = {"exact": point.epsilon}
        out[point.key] = run_of(
            spec=point.spec,
            metrics=figures,
            epsilon=parts,
            delta=1e-5,
            calibration="exact",
            seconds={"fit": 0.1},
            key=str(place),
        )
    return out


def test_what_releases_nothing_runs_once_a_seed_and_the_rest_at_every_epsilon():
    points = sweep().points()
    assert [(p.label, p.epsilon, p.spec.seed) for p in points] == [
        ("DPALS", 1.0, 0),
        ("DPALS", 5.0, 0),
        ("ALS", None, 0),
        ("DPALS", 1.0, 1),
        ("DPALS", 5.0, 1),
        ("ALS", None, 1),
    ]
    assert len({p.key for p in points}) == 6


def test_a_grid_crosses_the_parameters_a_method_has():
    points = sweep(
        seeds=(0,),
        epsilons=(1.0,),
        methods=[{"algorithm": "dpals"}, {"algorithm": "bias"}],
        grid={"rank": (2, 4), "damping": (1.0, 9.0)},
    ).points()
    assert [(p.label, dict(p.grid)) for p in points] == [
        ("DPALS", {"rank": 2}),
        ("DPALS", {"rank": 4}),
        ("Damped biases", {"damping": 1.0}),
        ("Damped biases", {"damping": 9.0}),
    ]
    assert points[1].spec.parameters == {"rank": 4}


def test_a_sweep_is_refused_whole_before_its_first_run():
    with pytest.raises(BadInput):
        sweep(grid={"rnak": (2,)}).points()
    with pytest.raises(BadInput):
        sweep(seeds=tuple(range(3000))).points()
    with pytest.raises(BadInput, match="rank"):
        sweep(grid={"rank": (2, 31)}).points_on(SHAPE)
    with pytest.raises(BadInput):
        sweep(epsilons=()).points_on(SHAPE)
    sweep(grid={"rank": (2, 30)}).points_on(SHAPE)


def test_summaries_hold_every_draw_and_only_finished_runs():
    points = sweep(
        methods=[{"algorithm": "dpals"}],
        seeds=(0, 1, 2),
        epsilons=(1.0,),
    ).points()
    runs = runs_of(points)
    assert [
        (measured.median, measured.low, measured.high, measured.draws)
        for measured in Draws.of_runs(points, runs).measured("rmse")
    ] == [(1.1, 1.0, 1.2, (1.0, 1.1, 1.2))]
    del runs[points[2].key]
    assert Draws.of_runs(points, runs).measured("rmse")[0].draws == (1.0, 1.1)
    assert Draws.of_runs(points, runs).measured("recall_at_20") == []
    assert [row["rmse"] for row in rows(points, runs)] == [1.0, 1.1]
