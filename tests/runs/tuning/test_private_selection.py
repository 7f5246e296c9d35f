"""A private selection: what it may cost, what leaves it, and that it selects."""

import dataclasses
import json
import math

import numpy as np
import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.jobs.engine import Engine
from dpmf_core.privacy import Gaussian, Relation, normal_form
from dpmf_core.privacy.accounting import delta, epsilon
from dpmf_core.privacy.selection import SHAPES, price_of_choosing
from dpmf_core.runs.noisy_errors import Score
from dpmf_core.runs.paired_errors import NoisyError
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.privacy_record import PrivacyRecord
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store
from dpmf_core.runs.tuning import private_selection
from dpmf_core.runs.tuning.private_selection import PrivateSelection
from dpmf_core.runs.tuning.search_space import TuneSpec
from tests.support.engines import WAIT
from tests.support.records import run_of

SEARCH = {
    "clip_norm": {"low": 1.0, "high": 20.0, "log": True},
    "rank": (2, 4),
    "steps": {"low": 1, "high": 3},
}


pytestmark = pytest.mark.usefixtures("two_sets")


def search(**changed):
    parts = {
        "data": {"id": "small"},
        "algorithm": "dpals",
        "search": SEARCH,
        "budget": {"epsilon": 2.0, "delta": 1e-6},
    }
    return TuneSpec.parse(**(parts | changed))


def spec(search_spec=None, **parts):
    return PrivateSelection.parse(searches=(search_spec or search(),), **parts)


def test_the_price_is_that_of_training_and_score_together():
    """Each of multiplier 5 sqrt(2): together one Gaussian of multiplier 5."""
    multiplier = 5 * math.sqrt(2)
    one = epsilon(Gaussian(multiplier), 1e-6)
    halves = search(budget={"epsilon": one, "delta": 1e-6})
    prices = price_of_choosing(Gaussian(5.0), 10, 1e-6)
    for law in SHAPES:
        selection = spec(
            halves,
            distribution=law,
            score_noise=multiplier,
        )
        assert selection.epsilon == pytest.approx(prices.best_of[law], rel=1e-6)
    cheapest = min(prices.best_of, key=lambda law: prices.best_of[law])
    assert spec(halves).distribution == cheapest


@pytest.mark.parametrize("relation", list(Relation))
def test_no_trial_costs_more_than_was_paid_for(relation):
    """Whatever its parameters, a trial's own ledger stays below the one Gaussian of the price."""
    budget = {
        "epsilon": 2.0,
        "delta": 1e-6,
        "relation": relation,
    }
    selection = spec(search(budget=budget))
    shape = private_selection.open_anywhere(selection.data).shape
    multiplier = 1 / private_selection.gaussian_mu(2.0, 1e-6)
    paid = Gaussian(multiplier, "training", 1.0, 1.0)
    rng = np.random.default_rng(0)
    for _ in range(20):
        plan = prepare(selection._place(rng, shape), shape).plan
        for at in (0.5, 1.0, 3.0):
            most = delta(paid, at, relation) * (1 + 1e-6)
            assert delta(plan, at, relation) <= most


def test_a_cap_leaves_trainings_what_it_leaves_and_refuses_what_scores_cost():
    """The bound's total is exact in the training's epsilon: a little more would exceed the cap."""
    capped = spec(trials=5.0).within(3.0)
    assert capped.epsilon <= 3.0
    price = price_of_choosing(capped.trial_event, 5.0, capped.budget.delta)
    assert price.best_of["logarithmic"] == pytest.approx(3.0, rel=1e-3)
    assert capped.searches[0].search == search().search
    with pytest.raises(BadInput):
        spec(trials=5.0).within(0.1)


def test_the_best_noisy_score_is_what_leaves(monkeypatch):
    """Of three trials the second is best; its parameters and test error leave, nothing else."""
    trials = []
    scores = iter([0.9, 0.7, 0.8])

    def score(run, noise):
        trials.append(run)
        return Score(NoisyError(next(scores), 0.5, 1.0), NoisyError(0.1, 0.0, 0.2))

    monkeypatch.setattr(private_selection, "noisy_score", score)
    monkeypatch.setattr(private_selection, "number_of_trials", lambda law, mean, rng: 3)
    result = spec().measure()
    assert result.score == 0.7
    assert result.export()["paired"]["noisy_floor"] == pytest.approx(0.8)
    assert "0.80" in result.floor_words
    assert result.winner == {name: trials[1].spec.parameters[name] for name in SEARCH}
    assert len({run.spec.seed for run in trials}) == 3
    assert "0.9" not in json.dumps(result.export()["winner"])
    assert "trials" not in result.export()


def test_no_trial_at_all_releases_nothing(monkeypatch):
    monkeypatch.setattr(private_selection, "number_of_trials", lambda law, mean, rng: 0)
    result = spec().measure()
    assert (result.score, result.winner) == (None, {})
    assert result.epsilon > 2


def test_the_same_specification_selects_the_same_on_public_data_and_not_on_private(
    monkeypatch,
):
    monkeypatch.setattr(private_selection, "number_of_trials", lambda law, mean, rng: 2)
    assert spec().measure() == spec().measure()
    public = private_selection.open_anywhere(spec().data)
    private = dataclasses.replace(public, public=False)
    monkeypatch.setattr(private_selection, "open_anywhere", lambda data_spec: private)
    first = spec().measure()
    second = spec().measure()
    assert first.score != second.score


def test_nothing_of_a_selection_is_stored(tmp_path, monkeypatch):
    engine = Engine(Store(tmp_path / "store"), workers=1)
    try:
        job = engine.submit(spec(distribution="geometric", trials=2.0))
        assert job.result(WAIT).epsilon > 2
        assert not list(engine.store.rows())
        assert not (tmp_path / "tune").exists()
        assert job.progress is None or (job.progress.step, job.progress.steps) == (0, 0)
    finally:
        engine.close()
        engine.store.close()


def measured_run(algorithm, **parameters):
    """The record of a run, as far as its privacy goes."""
    run = RunSpec.parse(
        data={"id": "small"},
        algorithm=algorithm,
        parameters=parameters,
        budget={"epsilon": 2.0, "delta": 1e-6},
    )
    ready = prepare(run, private_selection.open_anywhere(search().data).shape)
    ledger = normal_form(ready.plan)
    record = PrivacyRecord.of(ledger, ready.plan, run.budget, ready.guarantee)
    return run_of(title=algorithm, spec=run, **dict(record))


def test_releases_without_a_gaussian_curve_are_refused():
    with pytest.raises(BadInput):
        private_selection.require_gaussian(
            measured_run("sgld", reading="posterior-sample")
        )
    with pytest.raises(BadInput):
        private_selection.require_gaussian(measured_run("input-perturbation"))
    private_selection.require_gaussian(measured_run("dpals"))
    private_selection.require_gaussian(measured_run("spectral"))


@pytest.mark.parametrize(
    "trial",
    [{"trials": 1.0}, {"score_noise": 0.0}, {"distribution": "uniform"}],
    ids=str,
)
def test_trials_without_a_price_are_refused(trial):
    with pytest.raises(BadInput):
        spec(**trial)


@pytest.mark.parametrize(
    "changed",
    [
        {"algorithm": "als", "search": {"rank": (2, 4)}, "budget": None},
        {"budget": {"epsilon": 2.0, "delta": 1e-6, "calibration": "source"}},
        {"budget": {"epsilon": 2.0, "delta": 1e-6, "noise": "discrete"}},
    ],
    ids=str,
)
def test_a_search_without_a_price_is_refused(changed):
    searched = search(**changed)
    with pytest.raises(BadInput):
        spec(searched)
