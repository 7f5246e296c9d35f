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


with_and_without_all_methods = pytest.mark.parametrize("every", [False, True])


@with_and_without_all_methods
def test_every_method_has_the_same_seeds(every):
    runs = comparison(spec(seed=7), SMALL, every).runs
    seeds = {}
    for name, run_spec in runs.items():
        method, _ = split_name(name)
        seeds.setdefault(method, []).append(run_spec.seed)
    for of_method in seeds.values():
        assert of_method == list(range(7, 7 + DRAWS))


@with_and_without_all_methods
def test_every_method_has_the_same_data_and_split(every):
    """Whatever features those are given that use them."""
    for run_spec in comparison(spec(seed=7), SMALL, every).runs.values():
        data = run_spec.data.model_copy(update={"item_features": "none"})
        assert data == spec().data
        assert run_spec.split == spec().split


@with_and_without_all_methods
def test_the_first_draws_of_all_methods_come_before_the_second_ones(every):
    names = list(comparison(spec(seed=7), SMALL, every).runs)
    assert names[0] == "main"
    assert names.index("main draw 1") > names.index("ada-dpals")


def test_the_proven_rivals_and_both_predictors_without_a_model_are_compared():
    runs = comparison(spec("spectral"), SMALL).runs
    compared = {split_name(name)[0] for name in runs}
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
    shown = comparison(run_spec, shape).points
    at_two = {point.key for point in points if point.epsilon in (None, 2.0)}
    assert {point.key for point in shown.values()} <= at_two

    private = [point for point in points if point.epsilon is not None]
    for point in private:
        assert point.spec.budget.epsilon == point.epsilon
    assert {point.epsilon for point in private} == set(EPSILONS)
    assert [point.epsilon for point in private[: len(COARSE)]] == list(COARSE)
    assert len({point.key for point in points}) == len(points)

    own = own_points(run_spec, shape)
    assert points[: len(own)] == own
    for point in own:
        if point.epsilon:
            assert point.label == shown["main"].label


def test_what_takes_no_budget_has_no_grid():
    with pytest.raises(BadInput, match="epsilon"):
        grid_points(spec("als").canonical(), SMALL)


def test_nothing_is_best_in_a_table_while_the_rivals_are_missing():
    selection = comparison(spec("spectral"), SMALL)
    figures = {
        "main": 0.9,
        "best": 0.8,
        "trivial": 1.1,
        "user-mean": 1.0,
        "open": 0.84,
    }
    finished = {}
    for method, figure in figures.items():
        for draw in range(2):
            name = run_name(method, draw)
            metrics = {"rmse": figure}
            finished[name] = run_of(spec=selection.runs[name], metrics=metrics)
    judgement = selection.table(finished).by("rmse")
    (own,) = judgement.line(selection.label)
    assert judgement.share(own) == pytest.approx(0.5)
    assert len(own.draws) == 2
    assert judgement.best(2.0) is None


def stored_references(run_spec, metrics):
    """Finished runs that a run is compared with, by their specifications. metrics: of each."""
    stored = {}
    for name, other in references(run_spec).items():
        stored[other.model_dump_json()] = run_of(spec=other, metrics=metrics[name])
    return stored


def judgement_among(stored, run_spec, metrics):
    record = run_of(spec=run_spec, metrics=metrics).record
    return judgement_of(record, lambda other: stored.get(other.model_dump_json()))


def test_a_stored_run_is_judged_by_the_runs_that_it_is_compared_with():
    run_spec = spec()
    errors = {
        "best": 0.8,
        "open": 0.84,
        "trivial": 1.1,
        "user-mean": 1.0,
    }
    metrics = {name: {"rmse": error} for name, error in errors.items()}
    stored = stored_references(run_spec, metrics)
    judgement, own = judgement_among(stored, run_spec, {"rmse": 0.9})
    assert judgement.share(own) == pytest.approx(0.5)
    cost = judgement.cost(own)
    assert cost.noise == 0.06
    assert cost.method == 0.04
    assert cost.not_sharing == 0.2
    del stored[run_spec.open().model_dump_json()]
    assert judgement_among(stored, run_spec, {"rmse": 0.9}) is None
    assert judgement_among(stored, run_spec.open(), {"rmse": 0.9}) is None


def test_a_stored_run_on_likes_is_judged_by_its_lists():
    run_spec = spec(positives_above=3.0)
    figures = {
        "best": 0.4,
        "open": 0.3,
        "trivial": 0.1,
        "user-mean": 0.1,
    }
    metrics = {}
    for name, figure in figures.items():
        metrics[name] = {"rmse": 0.0, "recall_at_20": figure}
    stored = stored_references(run_spec, metrics)
    own_metrics = {"rmse": 0.01, "recall_at_20": 0.25}
    judgement, own = judgement_among(stored, run_spec, own_metrics)
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
