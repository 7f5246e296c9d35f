"""What single units lost in a run, against the same fit without them."""

import math
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dpmf_core import account, fit
from dpmf_core.algorithms import REGISTRY, Streams
from dpmf_core.curator.people import split_units
from dpmf_core.curator.questions import ListeningCurator
from dpmf_core.data.splits import SplitSpec, split
from dpmf_core.errors import BadInput
from dpmf_core.privacy import Noise
from dpmf_core.runs.individual_losses import IndividualLosses
from dpmf_core.runs.seeds import seeds
from dpmf_core.runs.store import Store, to_json
from dpmf_core.testing.privacy_laws import pairs, record, replay
from dpmf_core.testing.worlds import EMPTY, HEAVY, low_rank, only_users, world


@pytest.fixture(autouse=True)
def own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))


@pytest.mark.parametrize("name", ["spectral", "dpals", "ada-dpals", "dp-sgd", "dpfw", "dpfw-oja"])
def test_a_user_lost_what_her_absence_changes_while_all_releases_are_held_fixed(name: str) -> None:
    data = world()
    given = {} if name == "spectral" else {"steps": 3}
    algorithm = REGISTRY[name](
        **given, **({"rank": 3} if "rank" in REGISTRY[name].model_fields else {})
    )
    before = record(algorithm, data)
    noise = Noise(algorithm.plan(data.shape, 1.0), np.random.SeedSequence(0))
    curator = ListeningCurator(data, noise)
    list(algorithm.fit(curator, Streams(np.random.default_rng([0, 1]), 2)))
    for user in (HEAVY, EMPTY[0], 7):
        (block,) = split_units({"train": data}, [np.array([user])])
        after = replay(algorithm, only_users(data, lambda users, u=user: users != u), before)
        moves = [
            np.linalg.norm(held.statistic - met.statistic) / held.scale
            for held, met in pairs(before, after)
        ]
        assert curator.asked.moved(block) == pytest.approx(math.hypot(*moves), rel=1e-6, abs=1e-9)


def test_losses_of_private_biases_follow_from_the_users_own_rows() -> None:
    """She moves sums by |x| w and counts by sqrt(n) w, with w = 1 / max(sqrt(n), |x|)."""
    data = low_rank(n_users=60)
    run = fit(data, "private-bias", epsilon=2, delta=1e-5, individual=True)
    assert run.individual is not None
    plain = fit(data, "private-bias", epsilon=2, delta=1e-5)
    np.testing.assert_array_equal(run.model.item_offsets, plain.model.item_offsets)
    assert plain.individual is None
    rows = split(data, SplitSpec(), seeds(0).split).train
    left = (
        rows.values
        - (np.bincount(rows.users, rows.values, 60) / np.bincount(rows.users))[rows.users]
    )
    lengths = np.sqrt(np.bincount(rows.users, (left / (4.5 / 4)) ** 2))
    roots = np.sqrt(np.bincount(rows.users))
    widest = np.maximum(lengths, roots)
    sums, counts = (release["noise_multiplier"] for release in run.record.to_dict()["ledger"])
    expected = np.hypot(lengths / widest / sums, roots / widest / counts)
    np.testing.assert_allclose(np.sort(run.individual.mu), np.sort(expected), rtol=1e-5)
    assert run.individual.bound == pytest.approx(math.hypot(1 / sums, 1 / counts))


def test_a_histogram_counts_everybody_once() -> None:
    losses = IndividualLosses(np.array([0.0, 0.04, 0.31, 0.5, 0.5000001]), 0.5, 1e-5)
    bins = losses.histogram()
    assert [it.units for it in bins] == [2, 0, 0, 0, 0, 0, 1, 0, 0, 2]
    assert bins[-1].epsilon == pytest.approx(losses.epsilons[3])
    assert losses.epsilons[0] == 0


def test_losses_are_written_nowhere() -> None:
    run = fit("cinema-small", "private-bias", epsilon=2, individual=True)
    assert run.individual is not None
    assert len(run.individual.mu) == 200
    assert "individual" not in to_json(run.record.to_dict()) + to_json(run.export())
    assert list(Store().rows()) == []
    assert fit("cinema-small", "private-bias", epsilon=2).individual is None


def test_what_has_no_losses_is_refused_before_anything_is_drawn() -> None:
    data = replace(low_rank(), public=False)
    for name, given in (
        ("bias", {}),
        ("private-bias", {"epsilon": 2, "noise": "discrete"}),
    ):
        with pytest.raises(BadInput, match="Individual losses are of runs"):
            fit(data, name, individual=True, **given)
    assert account(data).lines == []


def test_what_single_users_lost_is_not_printed_or_pickled_with_a_run() -> None:
    run = fit(world(), "private-bias", epsilon=1.0, delta=1e-5, individual=True)
    assert run.individual is not None and "individual" not in repr(run)
    assert pickle.loads(pickle.dumps(run)).individual is None
