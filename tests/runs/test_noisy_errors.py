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
    SplitParts,
    charge,
    noisy_score,
    refusal,
    score_deviation,
    score_event,
)
from dpmf_core.runs.paired_errors import PairedErrors, error_of_sums
from dpmf_core.runs.specification import RunSpec
from dpmf_core.testing.rating_worlds import world
from tests.support.algebra import predict
from tests.support.parts import in_files

DELTA = 1e-5
DRAWS = 1000


def fit_run(data, algorithm="private-bias", **more):
    budget = {"epsilon": 1.0, "delta": DELTA}
    if algorithm == "bias":
        budget = None
    data_spec = {"id": data, **more}
    return run(
        RunSpec.parse(
            data=data_spec,
            algorithm=algorithm,
            budget=budget,
        )
    )


def by_user(finished_run):
    """Root of the mean over users of their mean squared errors, clipped; and how many users."""
    parts = split_of(finished_run)
    test = parts.test
    half = test.shape.half_range
    predictions = predict(finished_run.model, parts.history, test.users, test.items)
    squares = (test.values - predictions) ** 2
    of_users = []
    for user in np.unique(test.users):
        mean = float(np.mean(squares[test.users == user]))
        of_users.append(min(mean / half**2, 1.0))
    return half * math.sqrt(np.mean(of_users)), len(of_users)


def noisy_value(finished_run, multiplier, seed):
    noise = Noise(score_event(multiplier), np.random.SeedSequence(seed))
    return noisy_score(finished_run, noise).error.value


def test_a_noisy_error_is_the_clipped_error_and_noise(clinic):
    finished_run = fit_run(clinic)
    exact, users = by_user(finished_run)
    half = half_range(finished_run)
    released = [noisy_value(finished_run, 2.0, seed) for seed in range(DRAWS)]
    share = (exact / half) ** 2
    # of the mean clipped error, to first order
    deviation = 2.0 * math.hypot(share, 1 - share) / users
    spread = np.std(np.square(np.array(released) / half))

    def certainty(spread):
        return stats.chi2.cdf(DRAWS * (spread / deviation) ** 2, DRAWS)

    assert 0.005 < certainty(spread) < 0.995
    for wrong in (0.9, 1.1):
        assert not 0.005 < certainty(spread * wrong) < 0.995
    standard_error = half * deviation / (2 * math.sqrt(share * DRAWS))
    assert np.mean(released) == pytest.approx(exact, abs=5 * standard_error)


def sums_of(finished_run, test, blocks=1, model=None):
    """The exact sums over held-out ratings, of the run's model if none is given."""
    history = split_of(finished_run).history
    people = in_memory({"history": history, "test": test}, blocks)
    curator = OpenCurator(people, Noise(NOTHING), {})
    return curator.total(PairedErrors(), model or finished_run.model)


def test_sums_are_of_users_errors_and_blocks_change_no_bit(clinic):
    finished_run = fit_run(clinic)
    test = split_of(finished_run).test
    sums = sums_of(finished_run, test)
    exact, users = by_user(finished_run)
    share = (exact / half_range(finished_run)) ** 2
    assert sums[0] == pytest.approx(users * (share - 0.5), rel=1e-6)
    assert sums[3] == pytest.approx(users / 2, rel=1e-6)
    for blocks in (3, 400):
        assert np.array_equal(sums_of(finished_run, test, blocks), sums)


def test_a_user_moves_the_sums_within_the_bound(clinic):
    """A user with the largest error moves the sums by sqrt(1/2); a replaced one by 1."""
    finished_run = fit_run(clinic)
    test = split_of(finished_run).test
    is_first = test.users == int(test.users[0])
    without = test.only(~is_first)
    step = sums_of(finished_run, test) - sums_of(finished_run, without)
    assert step[3] == 0.5
    assert np.linalg.norm(step) <= PairedErrors().sensitivity

    no_factors = np.zeros((12, 0), np.float32)
    fives = Recommender((1.0, 5.0), 5.0, np.zeros(12, np.float32), no_factors)

    def sums_with(value):
        values = np.where(is_first, np.float32(value), test.values)
        return sums_of(finished_run, replace(test, values=values), model=fives)

    far = sums_with(1)
    near = sums_with(5)
    gone = sums_of(finished_run, without, model=fives)
    statistic = PairedErrors()
    assert np.linalg.norm(far - gone) == pytest.approx(statistic.sensitivity)
    assert np.linalg.norm(far - near) == 1.0
    furthest = statistic.sensitivity * statistic.replace_one_factor
    assert furthest == pytest.approx(1.0)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("noise", [0.01, 0.1, 0.3, 1.0, 10.0])
def test_the_interval_holds_the_true_error(share, noise):
    """In 95 of 100 draws, from hardly any noise to far more than there are users."""
    truth = 2.0 * math.sqrt(share)
    random = np.random.default_rng(0)
    draws = [share, 1 - share] + noise * random.normal(size=(5000, 2))
    n_true = 0
    for first, second in draws.tolist():
        error = error_of_sums(first, second, noise, 2.0)
        assert 0 <= error.low <= error.value <= error.high <= 2
        n_true += error.low <= truth <= error.high
    assert n_true / 5000 >= 0.94
    if noise == 0.01 and 0 < share < 1:
        assert n_true / 5000 <= 0.96


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
    stated = score_deviation(noise, error, n, half)
    assert stated == pytest.approx(np.std(draws), rel=0.03)


def test_a_noisy_error_is_that_in_the_released_shape(clinic):
    """With private items, the released ones count."""
    finished_run = fit_run(
        clinic,
        item_choice="private",
        top_items=8,
    )
    exact, _ = by_user(finished_run)
    assert noisy_value(finished_run, 1e-4, 0) == pytest.approx(exact, abs=1e-4)


def half_range(finished_run):
    return float(split_of(finished_run).test.shape.half_range)


def test_each_release_enters_the_account(clinic):
    result = sweep(
        clinic,
        ["private-bias", "bias"],
        epsilons=[1.0],
        delta=DELTA,
        noisy_errors=0.5,
    )
    frame = result.frame()
    noisy = frame[frame.algorithm == "private-bias"].iloc[0]
    raw = frame[frame.algorithm == "bias"].iloc[0]
    assert 0 < noisy.noisy_rmse < 3
    assert math.isnan(raw.noisy_rmse)
    assert "rmse" not in frame
    entry = account(clinic)
    assert entry.lines[-1].together == pytest.approx(0.5, rel=1e-6)
    mu = math.hypot(gaussian_mu(1.0, DELTA), gaussian_mu(0.5, DELTA))
    assert entry.total.epsilon == pytest.approx(gaussian_epsilon(mu, DELTA), rel=1e-6)


def test_every_noisy_error_comes_with_that_of_own_means_for_the_same_people(clinic):
    """A run of own means has it too, at no price."""
    result = sweep(
        clinic,
        ["user-mean", "private-bias"],
        epsilons=[1.0],
        delta=DELTA,
        noisy_errors=90.0,
    )
    frame = result.frame()
    own = frame[frame.algorithm == "user-mean"].iloc[0]
    biased = frame[frame.algorithm == "private-bias"].iloc[0]
    assert own.noisy_rmse == biased.noisy_floor
    assert own.noisy_fall == 0
    exact, _ = by_user(fit_run(clinic, "user-mean"))
    assert own.noisy_rmse == pytest.approx(exact, rel=0.03)
    assert biased.noisy_fall_low < biased.noisy_fall < biased.noisy_fall_high
    lines = account(clinic).lines
    (released,) = [line for line in lines if line.title.startswith("error of")]
    assert released.times == 1


def test_a_noisy_error_needs_private_data_and_an_epsilon_in_range(clinic):
    public = RunSpec.parse(data={"id": "cinema-small"}, algorithm="global-mean")
    assert "public" in refusal(run(public))
    assert refusal(fit_run(clinic)) == ""
    for epsilon in (0.0, -1.0, 1e9, math.nan):
        with pytest.raises(BadInput, match="most"):
            charge(fit_run(clinic), epsilon)


def test_held_out_ratings_outside_the_domain_are_refused(tmp_path):
    """Blocks of held-out ratings are checked like those that algorithms learn from."""

    def beyond_bounds(part):
        values = part.rows.values + np.float32(9)
        return replace(part, rows=replace(part.rows, values=values))

    (tmp_path / "parts").mkdir()
    ratings = in_files(replace(world(), public=False), 2, tmp_path / "parts")
    blocks = SplitParts(ratings, SplitSpec(), 0)
    assert blocks[0].n_units == ratings.n_users
    broken = ratings.with_change(beyond_bounds)
    with pytest.raises(OutsideDomain):
        SplitParts(broken, SplitSpec(), 0)[0]
