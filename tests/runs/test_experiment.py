"""From a specification to a run: repeats, keys, claims, exports, cancelling."""

import dataclasses
from typing import ClassVar

import numpy as np
import pytest

from dpmf_core import algorithms
from dpmf_core.algorithms import Recommender
from dpmf_core.algorithms.baselines import PrivateBias
from dpmf_core.algorithms.item_offsets import SumsAndCounts
from dpmf_core.base.documents import to_json
from dpmf_core.base.errors import BadInput, Cancelled
from dpmf_core.data.ratings import often_rated
from dpmf_core.evaluation.judges import by_split
from dpmf_core.privacy import Guarantee, PlanViolation, Status
from dpmf_core.runs.data_access import open_data, open_split
from dpmf_core.runs.execution import run
from dpmf_core.runs.planning import prepared_for
from dpmf_core.runs.record import Run, RunRecord
from dpmf_core.runs.specification import DataSpec, RunSpec, run_key, seeds
from dpmf_core.testing.rating_worlds import low_rank

pytestmark = pytest.mark.usefixtures("catalogue")
BUDGET = {"epsilon": 2.0, "delta": 1e-6}


def spec(**parts):
    return RunSpec.parse(**{"data": {"id": "films"}, "algorithm": "bias", **parts})


def arrays(finished_run):
    return {name: array.tobytes() for name, array in finished_run.arrays.items()}


def bias_run(**changed):
    return spec(**{"algorithm": "private-bias", "budget": BUDGET, **changed})


@pytest.mark.parametrize("name", ["als", "dp-sgd", "dpals", "spectral"])
def test_on_public_data_a_run_follows_from_its_specification(name, monkeypatch):
    """Whatever the date and the number of threads; another seed splits and draws anew."""
    run_spec = spec(
        algorithm=name,
        budget=BUDGET,
        seed=5,
    )
    other_spec = spec(
        algorithm=name,
        budget=BUDGET,
        seed=6,
    )
    first = run(run_spec)
    monkeypatch.setenv("DPMF_THREADS", "5")
    second = run(run_spec)
    assert arrays(first) == arrays(second)
    changing = {"seconds", "peak_mb", "created"}
    record = first.record.model_dump(exclude=changing)
    assert second.record.model_dump(exclude=changing) == record
    assert arrays(run(other_spec)) != arrays(first)
    held_out = open_split(run_spec).test
    assert open_split(other_spec).test.fingerprint != held_out.fingerprint


def test_noise_on_private_data_cannot_be_repeated(catalogue):
    catalogue(films=dataclasses.replace(low_rank(), public=False))
    first = run(bias_run(seed=1))
    second = run(bias_run(seed=1))
    assert arrays(first) != arrays(second)
    assert first.key == second.key
    assert first.record.noise_is_reproducible is False


def places_of(ratings):
    """The (user, item) of every rating, in one number each."""
    return ratings.users.astype(int) * ratings.n_items + ratings.items


def test_held_out_ratings_do_not_reach_the_fit(catalogue):
    data = low_rank()
    run_spec = spec(
        algorithm="dpals",
        budget=BUDGET,
        parameters={"rank": 3, "steps": 2},
        seed=3,
    )
    before = run(run_spec)
    held_out = open_split(run_spec).test
    is_held_out = np.isin(places_of(data), places_of(held_out))
    assert is_held_out.sum() == len(held_out)
    values = np.where(is_held_out, np.float32(0.5), data.values)
    catalogue(films=dataclasses.replace(data, values=values))
    after = run(run_spec)
    assert arrays(before) == arrays(after)
    assert before.record.metrics["rmse"] != after.record.metrics["rmse"]


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1}, {"algorithm": "dpals"}, {"parameters": {"prior_deviation": 0.7}},
        {"budget": {**BUDGET, "epsilon": 3.0}}, {"budget": {**BUDGET, "delta": 1e-7}},
        {"budget": {**BUDGET, "relation": "replace-one"}},
        {"budget": {**BUDGET, "calibration": "source"}}, {"split": {"kind": "per-user"}},
        {"split": {"test_fraction": 0.2}}, {"data": {"id": "films", "top_items": 5}},
        {"data": {"id": "films", "min_user_count": 2}}, {"curve_points": 5},
    ],
    ids=str,
)  # fmt: skip
def test_whatever_changes_a_run_changes_its_key(change):
    data = low_rank()
    assert run_key(bias_run(**change), data) != run_key(bias_run(), data)


def test_data_and_the_algorithm_s_version_are_in_the_key(monkeypatch):
    before = run_key(bias_run(), low_rank())
    assert run_key(bias_run(), low_rank(1)) != before
    monkeypatch.setattr(PrivateBias, "version", PrivateBias.version + 1)
    assert run_key(bias_run(), low_rank()) != before


def test_a_budget_that_an_algorithm_does_not_use_is_not_in_the_key():
    data = low_rank()
    with_budget = spec(algorithm="als", budget=BUDGET)
    assert run_key(with_budget, data) == run_key(spec(algorithm="als"), data)


def test_data_that_change_on_disk_are_read_again(catalogue):
    films = DataSpec(id="films")
    before = open_data(films)
    assert open_data(films) is before
    catalogue(films=low_rank(9))
    assert open_data(films).fingerprint != before.fingerprint


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ({"data": {"id": "films", "top_items": 8}}, "CONDITIONAL"),
        ({"data": {"id": "films", "min_user_count": 3}}, "PROVEN"),
        ({"split": {"kind": "window", "windows": 4, "window": 2}}, "CONDITIONAL"),
    ],
)
def test_what_a_choice_assumes_makes_a_proof_conditional(parts, status):
    run_spec = bias_run(**parts)
    prepared = prepared_for(run_spec, open_data(run_spec.data))
    assert prepared.guarantee.status == status


class ClaimedProof(PrivateBias):
    id: ClassVar[str] = "claimed"

    def guarantee(self):
        return Guarantee(Status.UNPROVEN, claim="ours is private")


class Hasty(PrivateBias):
    """Leaves a planned release out."""

    id: ClassVar[str] = "hasty"

    def fit(self, curator, rng):
        n_items = curator.shape.n_items
        curator.release(SumsAndCounts(), 1.0, np.ones(n_items), np.zeros(n_items))
        yield Recommender(
            curator.shape.bounds,
            3.0,
            np.zeros(curator.shape.n_items),
            np.zeros((curator.shape.n_items, 0)),
        )


@pytest.fixture
def claimed_proof(monkeypatch):
    more = {kind.id: kind for kind in (ClaimedProof, Hasty)}
    monkeypatch.setattr(algorithms.REGISTRY, "_external", more)


@pytest.mark.usefixtures("claimed_proof")
def test_an_unproven_claim_is_quoted_and_never_an_epsilon_of_ours():
    record = run(spec(algorithm="claimed", budget=BUDGET)).record
    assert set(dict(record.epsilon).values()) == {None}
    assert '"ours is private"' in record.guarantee.words


@pytest.mark.usefixtures("claimed_proof")
def test_a_run_that_spends_other_than_planned_is_refused():
    with pytest.raises(PlanViolation, match="planned"):
        run(spec(algorithm="hasty", budget=BUDGET))


def rmse(model, personal, part):
    errors = model.predict(personal, part.users, part.items) - part.values
    return float(np.sqrt(np.mean(errors.astype(float) ** 2)))


@pytest.mark.parametrize(
    ("algorithm", "parameters", "kind"),
    [
        ("dpals", {"rank": 3, "steps": 2}, "per-user"),
        ("private-bias", {}, "users"),
        ("als", {}, "random"),
    ],
    ids=["dpals", "private-bias", "als"],
)
def test_figures_are_those_of_the_stored_model_on_held_out_ratings(
    algorithm, parameters, kind
):
    run_spec = spec(
        algorithm=algorithm,
        parameters=parameters,
        budget=BUDGET,
        split={
            "kind": kind,
            "test_fraction": 0.3,
            "validation_fraction": 0.2,
        },
        seed=4,
    )
    finished_run = run(run_spec)
    record = finished_run.record
    stored = RunRecord.model_validate_json(to_json(record.to_dict()))
    again = Run(stored, finished_run.arrays)
    assert again.spec == run_spec.canonical()

    split = open_split(run_spec)
    figures, rows = by_split("ratings", split, seeds(run_spec.seed).split).figures(
        again.model
    )
    assert record.metrics == figures
    assert {by: tuple(groups) for by, groups in rows.items()} == again.record.buckets

    personal = again.model.personal(split.history)
    validation_error = rmse(again.model, personal, split.validation)
    test_error = rmse(again.model, personal, split.test)
    last = record.curves[-1]
    assert last["validation_rmse"] == pytest.approx(validation_error, rel=1e-6)
    assert last["test_rmse"] == pytest.approx(test_error, rel=1e-6)
    assert figures["rmse"] == pytest.approx(test_error)
    test = split.test
    errors = again.model.predict(personal, test.users, test.items) - test.values
    assert figures["mae"] == pytest.approx(np.abs(errors).mean())


@pytest.mark.parametrize("asks", [1, 2, 3, 6])
def test_a_run_that_is_stopped_leaves_nothing(asks):
    run_spec = spec(algorithm="als", parameters={"rank": 2, "steps": 4})
    calls = iter(range(1, 99))
    with pytest.raises(Cancelled):
        run(run_spec, stopped=lambda: next(calls) >= asks)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"budget": {"epsilon": -1, "delta": 1e-6}}, "'epsilon'"),
        ({"budget": {"epsilon": 1, "delta": 0.5}}, "'delta'"),
        ({"budget": {"epsilon": float("nan"), "delta": 1e-6}}, "'epsilon'"),
        ({"split": {"test_fraction": 0}}, "'test_fraction'"),
        ({"data": {"id": "films", "top_items": 0}}, "'top_items'"),
        ({"data": {}}, "'id'"),
        ({"seed": -1}, "'seed'"),
        ({"colour": 1}, "'colour'"),
    ],
)  # fmt: skip
def test_a_specification_explains_what_is_wrong_with_it(parts, words):
    with pytest.raises(BadInput, match=words):
        spec(**parts)


def als_run(**parts):
    return spec(algorithm="als", parameters={"rank": 2, "steps": 30}, **parts)


def test_a_curve_has_twelve_points_with_steps_of_one_length():
    usual = run(als_run())
    steps = [point["step"] for point in usual.record.curves]
    assert len(steps) == 12
    assert steps[0] == 1
    assert steps[-1] == 30
    lengths = np.diff(steps)
    assert max(lengths) - min(lengths) <= 1
    # keys from before it could be chosen
    assert "curve_points" not in usual.spec.model_dump()


def test_curves_have_as_many_points_as_asked_for_and_are_reported_as_they_grow():
    usual = run(als_run())
    reports = []
    every = run(als_run(curve_points=30), report=reports.append)
    curve = every.record.curves
    assert [point["step"] for point in curve] == list(range(1, 31))
    assert usual.record.metrics == every.record.metrics
    for point in usual.record.curves:
        assert point == curve[int(point["step"]) - 1]
    assert len(reports) == 30
    for step, progress in enumerate(reports, start=1):
        assert progress.step == step
        assert progress.steps == 30
        assert len(progress.curves) == step
    with pytest.raises(BadInput, match="curve_points"):
        als_run(curve_points=1)


def test_filters_come_before_the_split_in_a_fixed_order():
    data_spec = DataSpec(
        id="films",
        top_items=9,
        min_item_count=30,
        min_user_count=4,
        positives_above=3.0,
    )
    top = low_rank().top_items(9)
    frequent = top.keeping(often_rated(top.item_counts, 30))
    by_hand = frequent.min_user_count(4).positives(3.0)
    assert open_data(data_spec).fingerprint == by_hand.fingerprint
