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


@pytest.mark.parametrize(
    "name", ["private-bias", "spectral", "dpals", "dp-sgd", "dpfw", "dpfw-oja"]
)
def test_a_user_lost_what_her_absence_changes_while_all_releases_are_held_fixed(name: str) -> None:
    data = world()
    parameters = {"rank": 3, "steps": 3}
    algorithm = REGISTRY[name](
        **{key: value for key, value in parameters.items() if key in REGISTRY[name].model_fields}
    )
    before = record(algorithm, data)
    noise = Noise(algorithm.plan(data.shape, 1.0), np.random.SeedSequence(0))
    curator = ListeningCurator(data, noise)
    list(algorithm.fit(curator, Streams(np.random.default_rng([0, 1]), 2)))
    for user in (HEAVY, EMPTY[0], 7):
        (block,) = split_units({"train": data}, [np.array([user])])
        after = replay(algorithm, only_users(data, lambda users, u=user: users != u), before)
        moves = [
            np.linalg.norm(one.statistic - met.statistic) / one.scale
            for one, met in pairs(before, after)
        ]
        assert curator.record.total_shift(block) == pytest.approx(
            math.hypot(*moves), rel=1e-6, abs=1e-9
        )


def test_losses_of_private_biases_follow_from_the_users_own_rows() -> None:
    """Whoever has one rating moves both releases by the root of 1/3, whoever rates highest and
    lowest in turn by 1.
    """
    data = low_rank(n_users=60)
    place = np.arange(len(data)) - data.by_user[data.users]
    extremes = np.where(place % 2, 0.5, 5.0).astype(np.float32)
    values = np.where(data.users < 30, extremes, data.values)
    data = replace(data, values=values).only((data.users < 50) | (place == 0))
    run = fit(data, "private-bias", epsilon=2, delta=1e-5, individual=True)
    assert run.individual is not None
    plain = fit(data, "private-bias", epsilon=2, delta=1e-5)
    np.testing.assert_array_equal(run.model.item_offsets, plain.model.item_offsets)
    assert plain.individual is None
    (release,) = run.record.to_dict()["ledger"]
    bound = math.sqrt(release["count"]) / release["noise_multiplier"]
    assert run.individual.bound == pytest.approx(bound)
    counts = np.diff(split(data, SplitSpec(), seeds(0).split).train.by_user)
    shares = np.sort(run.individual.mu) / bound
    empty, single = (counts == 0).sum(), (counts == 1).sum()
    assert single > 5
    assert not shares[:empty].any()
    np.testing.assert_allclose(shares[empty : empty + single], math.sqrt(1 / 3), rtol=1e-5)
    np.testing.assert_allclose(shares[30:], 1.0, rtol=1e-5)


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
    for name, parameters in (
        ("bias", {}),
        ("private-bias", {"epsilon": 2, "noise": "discrete"}),
    ):
        with pytest.raises(BadInput, match="Individual losses are of runs"):
            fit(data, name, individual=True, **parameters)
    assert account(data).lines == []


def test_what_single_users_lost_is_not_printed_or_pickled_with_a_run() -> None:
    run = fit(world(), "private-bias", epsilon=1.0, delta=1e-5, individual=True)
    assert run.individual is not None and "individual" not in repr(run)
    assert pickle.loads(pickle.dumps(run)).individual is None
