"""The runs that a private run is compared with, at its epsilon and over a grid."""

import pytest

from dpmf_core import algorithms
from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Shape
from dpmf_core.data.samples import SampleShape
from dpmf_core.runs.comparison import (
    COARSE,
    DRAWS,
    EPSILONS,
    comparison,
    grid_points,
    judgement_of,
    own_points,
    references,
    run_name,
    split_name,
)
from dpmf_core.runs.references import (
    RECOMMENDED,
    best_known,
    is_proven,
    paper_of,
    proven_methods,
)
from dpmf_core.runs.specification import RunSpec
from tests.support.records import run_of

SMALL = Shape(500, 200, (1, 5))
NEWS = SampleShape(900, 400)


def spec(algorithm="dpals", data="cinema-small", **more):
    choices = {"epsilon": 2.0, "delta": 1e-5, **more}
    return RunSpec.of(dataset=data, algorithm=algorithm, **choices)


def topics(algorithm="oneshot-nmf"):
    return spec(algorithm, "news", parameters={"n_components": 5})


@pytest.mark.parametrize("every", [False, True])
def test_every_method_has_the_same_seeds(every):
    runs = comparison(spec(seed=7), SMALL, every).runs
    seeds = {}
    for name, one in runs.items():
        seeds.setdefault(split_name(name)[0], []).append(one.seed)
    assert set(map(tuple, seeds.values())) == {tuple(range(7, 7 + DRAWS))}
    no_features = {"item_features": "none"}  # whatever those are given that use them
    data = {one.data.model_copy(update=no_features) for one in runs.values()}
    assert data == {spec().data}
    assert {one.split for one in runs.values()} == {spec().split}
    # draw after draw
    assert next(iter(runs)) == "main"
    assert list(runs).index("main draw 1") > list(runs).index("ada-dpals")


def test_the_proven_rivals_and_both_predictors_without_a_model_are_compared():
    compared = {
        split_name(name)[0] for name in comparison(spec("spectral"), SMALL).runs
    }
    others = set(proven_methods("ratings")) - {"spectral"}
    assert compared == {"main", "best", "open", "trivial", "user-mean"} | others
    assert RECOMMENDED["ratings"] == proven_methods("ratings")[0]


def test_a_persons_own_parameters_are_no_rival_of_the_recommended_ones():
    own = comparison(spec("spectral", parameters={"rank": 3}), SMALL).points
    assert own["main"].label == "Spectral, your parameters"
    assert not own["main"].is_rival
    assert own["spectral"].label == "Spectral"
    assert own["spectral"].is_rival
    usual = comparison(spec("spectral"), SMALL).points
    assert usual["main"].label == "Spectral"
    assert usual["main"].is_rival
    of_documents = comparison(topics(), NEWS).points
    assert of_documents["main"].is_rival
    assert "oneshot-nmf" not in of_documents


@pytest.mark.parametrize(
    ("run_spec", "shape"),
    [(spec(seed=4), SMALL), (topics(), NEWS)],
    ids=["ratings", "documents"],
)
def test_the_runs_of_a_grid_are_those_that_pages_show(run_spec, shape):
    points = grid_points(run_spec, shape)
    at_two = {point.key for point in points if point.epsilon in (None, 2.0)}
    shown = comparison(run_spec, shape).points
    assert {point.key for point in shown.values()} <= at_two
    private = [point for point in points if point.epsilon is not None]
    assert all(point.spec.budget.epsilon == point.epsilon for point in private)
    assert {point.epsilon for point in private} == set(EPSILONS)
    assert [point.epsilon for point in private[: len(COARSE)]] == list(COARSE)
    assert len({point.key for point in points}) == len(points)
    own = own_points(run_spec, shape)
    assert points[: len(own)] == own
    assert {point.label for point in own if point.epsilon} == {shown["main"].label}


def test_what_takes_no_budget_has_no_grid():
    with pytest.raises(BadInput, match="epsilon"):
        grid_points(spec("als").canonical(), SMALL)


def test_finished_runs_make_a_table():
    selection = comparison(spec("spectral"), SMALL)
    figures = {"main": 0.9, "best": 0.8, "trivial": 1.1, "user-mean": 1.0, "open": 0.84}
    finished = {
        run_name(who, draw): run_of(
            spec=selection.runs[run_name(who, draw)], metrics={"rmse": figure}
        )
        for who, figure in figures.items()
        for draw in range(2)
    }
    judgement = selection.table(finished).by("rmse")
    (own,) = judgement.line(selection.label)
    assert judgement.share(own) == pytest.approx(0.5)
    assert len(own.draws) == 2
    assert judgement.best(2.0) is None  # the rivals are missing


def test_a_stored_run_is_judged_by_the_runs_that_it_is_compared_with():
    run_spec = spec()
    errors = {"best": 0.8, "open": 0.84, "trivial": 1.1, "user-mean": 1.0}
    stored = {
        other.model_dump_json(): run_of(spec=other, metrics={"rmse": errors[who]})
        for who, other in references(run_spec).items()
    }

    def find(other):
        return stored.get(other.model_dump_json())

    judgement, own = judgement_of(
        run_of(spec=run_spec, metrics={"rmse": 0.9}).record, find
    )
    cost = judgement.cost(own)
    assert judgement.share(own) == pytest.approx(0.5)
    assert cost.noise == 0.06
    assert cost.method == 0.04
    assert cost.not_sharing == 0.2
    del stored[run_spec.open().model_dump_json()]
    assert (
        judgement_of(run_of(spec=run_spec, metrics={"rmse": 0.9}).record, find) is None
    )
    without_noise = run_of(spec=run_spec.open(), metrics={"rmse": 0.9}).record
    assert judgement_of(without_noise, find) is None


def test_a_stored_run_on_ones_alone_is_judged_by_its_lists():
    run_spec = spec(positives_above=3.0)
    figures = {"best": 0.4, "open": 0.3, "trivial": 0.1, "user-mean": 0.1}
    stored = {
        other.model_dump_json(): run_of(
            spec=other, metrics={"rmse": 0.0, "recall_at_20": figures[who]}
        )
        for who, other in references(run_spec).items()
    }
    metrics = {"rmse": 0.01, "recall_at_20": 0.25}
    record = run_of(spec=run_spec, metrics=metrics).record
    judgement, own = judgement_of(
        record, lambda other: stored.get(other.model_dump_json())
    )
    assert judgement.metric.id == "recall_at_20"
    assert judgement.share(own) == pytest.approx(0.5)


def test_a_method_that_is_registered_again_is_judged_anew(monkeypatch):
    kinds = iter([algorithms.find("dpals"), algorithms.find("input-perturbation")])
    monkeypatch.setattr(algorithms, "find", lambda _: next(kinds))
    assert [is_proven("own"), is_proven("own")] == [True, False]


def test_a_method_without_a_source_has_no_paper(monkeypatch):
    assert paper_of("dpals") == "Chien et al."
    assert paper_of("spectral") == ""
    monkeypatch.setattr(algorithms.find("dpals"), "source", "")
    assert paper_of("dpals") == ""


def test_the_best_known_depends_on_what_is_asked():
    assert best_known("rmse") == "bmf"
    assert best_known("rmse", in_parts=True) == "als"
    assert best_known("recall_at_20") == "ease"
    assert best_known("ndcg_at_20") == "ease"
    assert best_known("objective", "samples") == "nmf"
    assert best_known("objective", "samples", outliers=True) == "robust-nmf"
    with pytest.raises(BadInput):
        best_known("colour")
