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
from dpmf_core.testing.worlds import low_rank

pytestmark = pytest.mark.usefixtures("catalogue")
BUDGET = {"epsilon": 2.0, "delta": 1e-6}
DPALS = {"algorithm": "dpals", "budget": BUDGET, "parameters": {"rank": 3, "steps": 2}}
BIAS = {"algorithm": "private-bias", "budget": BUDGET}


def spec(**parts):
    return RunSpec.parse(**{"data": {"id": "films"}, "algorithm": "bias", **parts})


def arrays(finished_run):
    return {name: array.tobytes() for name, array in finished_run.arrays.items()}


@pytest.mark.parametrize("name", ["als", "dp-sgd", "dpals", "spectral"])
def test_on_public_data_a_run_follows_from_its_specification(name, monkeypatch):
    """Whatever the date and the number of threads; another seed splits and draws anew."""
    first = run(spec(algorithm=name, budget=BUDGET, seed=5))
    monkeypatch.setenv("DPMF_THREADS", "5")
    second, other = (
        run(spec(algorithm=name, budget=BUDGET, seed=seed)) for seed in (5, 6)
    )
    assert arrays(first) == arrays(second) != arrays(other)
    changing = {"seconds", "peak_mb", "created"}
    assert first.record.model_dump(exclude=changing) == second.record.model_dump(
        exclude=changing
    )
    assert (
        open_split(spec(seed=5)).test.fingerprint
        != open_split(spec(seed=6)).test.fingerprint
    )


def test_noise_on_private_data_cannot_be_repeated(catalogue):
    catalogue(films=dataclasses.replace(low_rank(), public=False))
    first, second = (run(spec(**BIAS, seed=1)) for _ in range(2))
    assert arrays(first) != arrays(second)
    assert first.key == second.key
    assert first.record.noise_is_reproducible is False


def test_held_out_ratings_do_not_reach_the_fit(catalogue):
    data = low_rank()
    before = run(spec(**DPALS, seed=3))
    test_ratings = open_split(spec(seed=3)).test
    pairs = set(
        zip(test_ratings.users.tolist(), test_ratings.items.tolist(), strict=True)
    )
    in_test = np.array(
        [
            pair in pairs
            for pair in zip(data.users.tolist(), data.items.tolist(), strict=True)
        ]
    )
    catalogue(
        films=dataclasses.replace(
            data, values=np.where(in_test, np.float32(0.5), data.values)
        )
    )
    after = run(spec(**DPALS, seed=3))
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
    assert run_key(spec(**{**BIAS, **change}), data) != run_key(spec(**BIAS), data)


def test_data_and_the_algorithm_s_version_are_in_the_key_and_no_idle_budget(
    monkeypatch,
):
    before = run_key(spec(**BIAS), low_rank())
    als = spec(algorithm="als", budget=BUDGET)
    assert run_key(spec(**BIAS), low_rank(1)) != before
    monkeypatch.setattr(PrivateBias, "version", PrivateBias.version + 1)
    assert run_key(spec(**BIAS), low_rank()) != before
    assert run_key(als, low_rank()) == run_key(spec(algorithm="als"), low_rank())


def test_data_that_change_on_disk_are_read_again(catalogue):
    before = open_data(DataSpec(id="films")).fingerprint
    assert open_data(DataSpec(id="films")) is open_data(DataSpec(id="films"))
    catalogue(films=low_rank(9))
    assert open_data(DataSpec(id="films")).fingerprint != before


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ({"data": {"id": "films", "top_items": 8}}, "CONDITIONAL"),
        ({"data": {"id": "films", "min_user_count": 3}}, "PROVEN"),
        ({"split": {"kind": "window", "windows": 4, "window": 2}}, "CONDITIONAL"),
    ],
)
def test_what_a_choice_assumes_makes_a_proof_conditional(parts, status):
    assert (
        prepared_for(
            spec(**{**BIAS, **parts}), open_data(spec(**parts).data)
        ).guarantee.status
        == status
    )


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
def test_a_run_that_spends_other_than_planned_is_no_run():
    with pytest.raises(PlanViolation, match="planned"):
        run(spec(algorithm="hasty", budget=BUDGET))


@pytest.mark.parametrize(
    ("parts", "kind"),
    [(DPALS, "per-user"), (BIAS, "users"), ({"algorithm": "als"}, "random")],
    ids=["dpals", "private-bias", "als"],
)
def test_figures_are_those_of_the_stored_model_on_held_out_ratings(parts, kind):
    fractions = {"test_fraction": 0.3, "validation_fraction": 0.2}
    run_spec = spec(**parts, split={"kind": kind, **fractions}, seed=4)
    finished_run = run(run_spec)
    split = open_split(run_spec)
    stored = RunRecord.model_validate_json(to_json(finished_run.record.to_dict()))
    again = Run(stored, finished_run.arrays)
    judge = by_split("ratings", split, seeds(run_spec.seed).split)
    figures, rows = judge.figures(again.model)
    assert finished_run.record.metrics == figures
    assert {by: tuple(groups) for by, groups in rows.items()} == again.record.buckets
    assert again.spec == run_spec.canonical()
    personal = again.model.personal(split.history)
    last = finished_run.record.curves[-1]
    for name, part in (("validation", split.validation), ("test", split.test)):
        errors = again.model.predict(personal, part.users, part.items) - part.values
        rmse = float(np.sqrt(np.mean(errors.astype(float) ** 2)))
        assert last[f"{name}_rmse"] == pytest.approx(rmse, rel=1e-6)
    assert figures["rmse"] == pytest.approx(rmse)
    assert figures["mae"] == pytest.approx(np.abs(errors).mean())


@pytest.mark.parametrize("asks", [1, 2, 3, 6])
def test_a_run_that_is_stopped_leaves_nothing(asks):
    calls = iter(range(1, 99))
    with pytest.raises(Cancelled):
        run(
            spec(algorithm="als", parameters={"rank": 2, "steps": 4}),
            stopped=lambda: next(calls) >= asks,
        )


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


def test_curves_have_as_many_points_as_were_asked_for_and_are_told_as_they_grow():
    parts = {"algorithm": "als", "parameters": {"rank": 2, "steps": 30}}
    reports = []
    usual = run(spec(**parts))
    every = run(spec(**parts, curve_points=30), report=reports.append)
    steps = [
        [point["step"] for point in finished_run.record.curves]
        for finished_run in (usual, every)
    ]
    assert len(steps[0]) == 12
    assert steps[0][0] == 1
    assert steps[0][-1] == 30
    assert max(np.diff(steps[0])) - min(np.diff(steps[0])) <= 1
    assert steps[1] == list(range(1, 31))
    assert usual.record.metrics == every.record.metrics
    assert usual.record.curves == tuple(
        every.record.curves[int(step) - 1] for step in steps[0]
    )
    # keys from before it could be chosen
    assert "curve_points" not in usual.spec.model_dump()
    assert [(report.step, report.steps, len(report.curves)) for report in reports] == [
        (step, 30, step) for step in range(1, 31)
    ]
    with pytest.raises(BadInput, match="curve_points"):
        spec(**parts, curve_points=1)


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
