"""Noisy errors of private data: their value, their price, and when there are none."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from dpmf import account, sweep
from dpmf_core.algorithms import Recommender
from dpmf_core.base.errors import BadInput
from dpmf_core.curator import OpenCurator, in_memory
from dpmf_core.data.domain import OutsideDomain
from dpmf_core.data.splits import SplitSpec
from dpmf_core.privacy import NOTHING, Noise
from dpmf_core.privacy.gaussian import gaussian_epsilon, gaussian_mu
from dpmf_core.runs.data_access import split_of
from dpmf_core.runs.execution import run
from dpmf_core.runs.noisy_errors import (
    _SplitParts,
    charge,
    noisy_score,
    refusal,
    score_deviation,
    score_event,
)
from dpmf_core.runs.paired_errors import PairedErrors, error_of_sums
from dpmf_core.runs.specification import RunSpec
from dpmf_core.testing.worlds import world
from tests.support.parts import in_files

DELTA = 1e-5
DRAWS = 1000


@pytest.fixture
def clinic(tmp_path, monkeypatch):
    """A private table of 400 users."""
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "data"))
    file = tmp_path / "clinic.csv"
    rows = [
        f"p{u},thing {i},{1 + (u * u + 3 * i + u * i) % 5}"
        for u in range(400)
        for i in range(12)
        if (u + i) % 4
    ]
    file.write_text("user,item,rating\n" + "\n".join(rows) + "\n")
    return f"{file}?bounds=1,5"


def fit_run(data, algorithm="private-bias", **more):
    budget = None if algorithm == "bias" else {"epsilon": 1.0, "delta": DELTA}
    return run(
        RunSpec.parse(data={"id": data, **more}, algorithm=algorithm, budget=budget)
    )


def by_user(finished_run):
    """Root of the mean over users of their mean squared errors, clipped; and how many users."""
    parts = split_of(finished_run)
    test_ratings = parts.test
    half = parts.test.shape.half_range
    errors = test_ratings.values - finished_run.model.predict(
        finished_run.model.personal(parts.history),
        test_ratings.users,
        test_ratings.items,
    )
    each = [
        min(float(np.mean(errors[test_ratings.users == u] ** 2)) / half**2, 1.0)
        for u in np.unique(test_ratings.users)
    ]
    return half * math.sqrt(np.mean(each)), len(each)


def test_a_noisy_error_is_the_clipped_error_and_noise(clinic):
    finished_run = fit_run(clinic)
    exact, users = by_user(finished_run)
    noise = [
        noisy_score(
            finished_run, Noise(score_event(2.0), np.random.SeedSequence(seed))
        ).error.value
        for seed in range(DRAWS)
    ]
    share = (exact / made_half(finished_run)) ** 2
    # of the mean clipped error, to first order
    deviation = 2.0 * math.hypot(share, 1 - share) / users
    spread = np.std([(release / made_half(finished_run)) ** 2 for release in noise])
    assert stats.chi2.cdf(DRAWS * (spread / deviation) ** 2, DRAWS) == pytest.approx(
        0.5, abs=0.495
    )
    for wrong in (0.9, 1.1):
        assert (
            not 0.005
            < stats.chi2.cdf(DRAWS * (spread * wrong / deviation) ** 2, DRAWS)
            < 0.995
        )
    assert np.mean(noise) == pytest.approx(
        exact,
        abs=5 * made_half(finished_run) * deviation / (2 * math.sqrt(share * DRAWS)),
    )


def test_a_user_moves_the_sums_within_the_bound_and_blocks_by_no_bit(clinic):
    """A user with the largest error moves the sums by sqrt(1/2); a replaced one by 1."""
    finished_run = fit_run(clinic)
    parts = split_of(finished_run)

    def sums(test, blocks=1, model=finished_run.model):
        people = in_memory({"history": parts.history, "test": test}, blocks)
        return OpenCurator(people, Noise(NOTHING), {}).total(PairedErrors(), model)

    whole = sums(parts.test)
    exact, users = by_user(finished_run)
    share = (exact / made_half(finished_run)) ** 2
    assert whole[[0, 3]] == pytest.approx([users * (share - 0.5), users / 2], rel=1e-6)
    for blocks in (3, 400):
        assert np.array_equal(sums(parts.test, blocks), whole)
    user = int(parts.test.users[0])
    theirs = parts.test.users == user
    step = whole - sums(parts.test.only(~theirs))
    assert step[3] == 0.5
    assert np.linalg.norm(step) <= PairedErrors().sensitivity
    none = np.zeros((12, 0), np.float32)
    fives = Recommender((1.0, 5.0), 5.0, np.zeros(12, np.float32), none)
    far, near = (
        sums(
            replace(parts.test, values=np.where(theirs, value, parts.test.values)),
            model=fives,
        )
        for value in np.float32([1, 5])
    )
    gone = sums(parts.test.only(~theirs), model=fives)
    assert np.linalg.norm(far - gone) == pytest.approx(PairedErrors().sensitivity)
    furthest = PairedErrors().sensitivity * PairedErrors().replace_one_factor
    assert np.linalg.norm(far - near) == 1.0
    assert pytest.approx(furthest) == 1.0


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("noise", [0.01, 0.1, 0.3, 1.0, 10.0])
def test_the_interval_holds_the_true_error(share, noise):
    """In 95 of 100 draws, from hardly any noise to far more than there are users."""
    truth = 2.0 * math.sqrt(share)
    draws = [share, 1 - share] + noise * np.random.default_rng(0).normal(size=(5000, 2))
    errors = [error_of_sums(*pair, noise, 2.0) for pair in draws.tolist()]
    coverage = np.mean([error.low <= truth <= error.high for error in errors])
    assert coverage >= 0.94
    assert all(0 <= error.low <= error.value <= error.high <= 2 for error in errors)
    if noise == 0.01 and 0 < share < 1:
        assert coverage <= 0.96


def test_the_deviation_of_a_score_is_that_of_its_draws():
    n = 5000
    error = 0.9
    half = 2.0
    noise = 5.0
    mean = (error / half) ** 2
    rng = np.random.default_rng(0)
    sums = np.array([n * mean, n * (1 - mean)]) + noise * rng.normal(size=(20_000, 2))
    draws = [error_of_sums(*pair, noise, half).value for pair in sums.tolist()]
    # 20,000 draws tell a deviation to 0.5%
    assert score_deviation(noise, error, n, half) == pytest.approx(
        np.std(draws), rel=0.03
    )


def test_it_is_the_error_in_the_released_shape(clinic):
    """With private items, the released ones count."""
    finished_run = fit_run(clinic, item_choice="private", top_items=8)
    little = score_event(1e-4)
    assert noisy_score(
        finished_run, Noise(little, np.random.SeedSequence(0))
    ).error.value == pytest.approx(by_user(finished_run)[0], abs=1e-4)


def made_half(finished_run):
    return float(split_of(finished_run).test.shape.half_range)


def test_each_release_enters_the_account(clinic):
    frame = sweep(
        clinic,
        ["private-bias", "bias"],
        epsilons=[1.0],
        delta=DELTA,
        noisy_errors=0.5,
    ).frame()
    noisy = frame[frame.algorithm == "private-bias"].iloc[0]
    raw = frame[frame.algorithm == "bias"].iloc[0]
    assert 0 < noisy.noisy_rmse < 3
    assert math.isnan(raw.noisy_rmse)
    assert "rmse" not in frame
    entry = account(clinic)
    assert entry.lines[-1].together == pytest.approx(0.5, rel=1e-6)
    mu = math.hypot(*(gaussian_mu(epsilon, DELTA) for epsilon in (1.0, 0.5)))
    assert entry.total.epsilon == pytest.approx(gaussian_epsilon(mu, DELTA), rel=1e-6)


def test_every_noisy_error_comes_with_that_of_own_means_for_the_same_people(clinic):
    """A run of own means has it too, at no price."""
    frame = sweep(
        clinic,
        ["user-mean", "private-bias"],
        epsilons=[1.0],
        delta=DELTA,
        noisy_errors=90.0,
    ).frame()
    own, biased = (
        frame[frame.algorithm == name].iloc[0] for name in ("user-mean", "private-bias")
    )
    assert own.noisy_rmse == biased.noisy_floor
    assert own.noisy_fall == 0
    exact = by_user(fit_run(clinic, "user-mean"))[0]
    assert own.noisy_rmse == pytest.approx(exact, rel=0.03)
    assert biased.noisy_fall_low < biased.noisy_fall < biased.noisy_fall_high
    released = [
        line for line in account(clinic).lines if line.title.startswith("error of")
    ]
    assert [line.times for line in released] == [1]


def test_no_error_where_nothing_is_proved_or_needed(clinic):
    assert "public" in refusal(
        run(RunSpec.parse(data={"id": "cinema-small"}, algorithm="global-mean"))
    )
    assert refusal(fit_run(clinic)) == ""
    for epsilon in (0.0, -1.0, 1e9, math.nan):
        with pytest.raises(BadInput, match="most"):
            charge(fit_run(clinic), epsilon)


def test_held_out_ratings_outside_the_domain_are_refused(tmp_path, clinic):
    """Blocks of held-out ratings are checked like those that algorithms learn from."""

    def without_bounds(part):
        return replace(
            part, rows=replace(part.rows, values=part.rows.values + np.float32(9))
        )

    (tmp_path / "parts").mkdir()
    ratings = in_files(replace(world(), public=False), 2, tmp_path / "parts")
    blocks = _SplitParts(ratings, SplitSpec(), 0)
    assert blocks[0].n_units == ratings.n_users
    broken = ratings.with_change(without_bounds)
    with pytest.raises(OutsideDomain):
        _SplitParts(broken, SplitSpec(), 0)[0]
