"""The sum of paired errors: how far a user moves it, what it adds up, and what intervals hold."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from dpmf_core.algorithms import Recommender
from dpmf_core.curator import NoisyCurator, OpenCurator, in_memory
from dpmf_core.data.domain import OutsideDomain
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.splits import SplitSpec, split
from dpmf_core.privacy import NOTHING, Noise
from dpmf_core.runs.paired_errors import PairedErrors, PairedSums
from dpmf_core.testing import rating_worlds

RADII = (0.5, 1.0)
CLIPS = (0.01, 0.2, 1.0)
CONSTANTS = (None, 0.5, 3.1)


def people(ratings, blocks=1):
    parts = split(ratings, SplitSpec(test_fraction=0.4), 0)
    return in_memory({"history": parts.history, "test": parts.test}, blocks)


def total(statistic, ratings, model, constant=None, blocks=1):
    curator = OpenCurator(people(ratings, blocks), Noise(NOTHING), {})
    return curator.total(statistic, model, constant)


def models(shape):
    """Models with small and huge offsets and factors, some of which overflow."""
    rng = np.random.default_rng(1)
    for scale in (0.0, 0.5, 1e30):
        offsets = (scale * rng.standard_normal(shape.n_items)).astype(np.float32)
        yield Recommender.of_means(shape, item_offsets=offsets)
        factors = (scale * rng.standard_normal((shape.n_items, 2))).astype(np.float32)
        yield Recommender.of_means(
            shape,
            item_offsets=offsets,
            item_factors=factors,
        )


def rows():
    """Rows of one user: none, one rating, extremes, and every item."""
    low, high = rating_worlds.BOUNDS
    everything = list(range(rating_worlds.N_ITEMS))
    alternating = [low, high] * (len(everything) // 2) + [low]
    yield [], []
    yield [2], [high]
    yield everything, [low] * len(everything)
    yield everything, [high] * len(everything)
    yield everything, alternating


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("clip", CLIPS)
def test_no_user_moves_the_sums_further_than_declared(radius, clip):
    statistic = PairedErrors(radius, clip, clip / 2)
    furthest = statistic.sensitivity * statistic.replace_one_factor
    world = rating_worlds.world()
    variants = [
        rating_worlds.with_row(world, rating_worlds.HEAVY, *row) for row in rows()
    ]
    for model, constant in itertools.product(models(world.shape), CONSTANTS):
        sums = [total(statistic, variant, model, constant) for variant in variants]
        gone, *others = sums
        for present in others:
            assert np.isfinite(present).all()
            assert np.linalg.norm(present - gone) <= statistic.sensitivity
        for one, another in itertools.combinations(others, 2):
            assert np.linalg.norm(one - another) <= furthest


def three_users(users, items, values):
    """Public ratings of three users for six items, from 1 to 5."""
    return Ratings.of(
        users,
        items,
        values,
        n_users=3,
        n_items=6,
        bounds=(1.0, 5.0),
        public=True,
    )


def of_one(history, held_out):
    """Tables of three users, of whom the first knows one rating and has one held out."""
    known = three_users([0], [0], [history])
    return in_memory({"history": known, "test": three_users([0], [1], [held_out])})


def exact_sums(tables, statistic, model):
    return OpenCurator(tables, Noise(NOTHING), {}).total(statistic, model)


@pytest.mark.parametrize("radius", RADII)
def test_the_worst_users_reach_the_bounds(radius):
    """Own means that are right and wrong where the model's squared error is half of its bound."""
    statistic = PairedErrors(radius, 0.1, 0.1)
    guess = 5 - math.sqrt(2)
    shape = of_one(3, 5).shape
    half = Recommender.of_means(
        shape,
        centre=guess,
        user_damping=None,
    )
    wrong = exact_sums(of_one(3, 5), statistic, half)
    right = exact_sums(of_one(5, 5), statistic, half)
    assert np.linalg.norm(wrong) == pytest.approx(statistic.sensitivity, rel=1e-5)
    moved = np.linalg.norm(wrong - right)
    assert moved == pytest.approx(2 * radius, rel=1e-5)
    furthest = statistic.sensitivity * statistic.replace_one_factor
    assert moved <= furthest <= 2 * statistic.sensitivity


def test_sums_do_not_depend_on_blocks_by_a_bit():
    world = rating_worlds.world()
    statistic = PairedErrors(1.0, 0.3, 0.3)
    for model in models(world.shape):
        whole = total(statistic, world, model, 3.0)
        for blocks in (2, 7, world.n_users):
            assert np.array_equal(total(statistic, world, model, 3.0, blocks), whole)


def test_users_without_held_out_ratings_add_nothing():
    known = three_users([0, 1, 2], [0, 1, 2], [1, 2, 3])
    tables = in_memory({"history": known, "test": three_users([], [], [])})
    model = Recommender.of_means(known.shape)
    assert not exact_sums(tables, PairedErrors(), model).any()


def test_errors_that_overflow_count_as_the_bound():
    tables = of_one(3, 5)
    offsets = np.full(6, np.nan, np.float32)
    broken = Recommender.of_means(
        tables.shape,
        item_offsets=offsets,
        user_damping=None,
    )
    sums = exact_sums(tables, PairedErrors(), broken)
    assert sums[[0, 3]].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("value", [math.nan, math.inf, 9.0])
def test_held_out_ratings_outside_the_domain_are_refused(value):
    held_out = three_users([0], [1], [3])
    wrong = replace(held_out, values=np.array([value], np.float32))
    two = three_users([0, 0], [1, 2], [3, 3])
    twice = replace(two, items=np.array([1, 1], two.items.dtype))
    for broken in (wrong, twice):
        with pytest.raises(OutsideDomain):
            in_memory({"history": held_out, "test": broken})


# ---- intervals -----------------------------------------------------------------------------------

CASES = [
    # people, noise multiplier; mean error and differences over half-range^2
    (500, 24.0, 0.25, 0.03, 0.08),
    (2000, 24.0, 0.25, 0.03, 0.03),
    (2000, 24.0, 0.3, 0.1, 0.01),
    (3000, 9.0, 0.05, -0.02, 0.05),
    (6000, 5.0, 0.6, 0.2, 0.0),
    (100, 24.0, 0.25, 0.03, 0.08),
]


def fall(error, difference):
    return math.sqrt(error + difference) - math.sqrt(error)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("radius", "has_constant"), [(0.5, False), (1.0, True)])
def test_intervals_hold_the_fall_in_95_of_100_draws(case, radius, has_constant):
    n, z, error, own, constant = case
    statistic = PairedErrors.of(n, z, radius)
    scale = z * statistic.sensitivity
    excess = 0.002
    of_own = own / statistic.own_clip
    of_constant = (constant + excess) / statistic.constant_clip
    exact = n * np.array([error - 0.5, of_own, of_constant, 0.5])
    truth = fall(error, own)
    if has_constant:
        truth = fall(error, min(own, constant))
    rng = np.random.default_rng(0)
    n_true = 0
    for _ in range(600):
        sums = tuple((exact + scale * rng.standard_normal(4)).tolist())
        noisy = PairedSums(statistic, sums, scale, 1.0, has_constant, excess).fall
        assert -1 <= noisy.low <= noisy.value <= noisy.high <= 1
        n_true += noisy.low <= truth <= noisy.high
    assert n_true / 600 >= 0.935


def test_sums_without_noise_show_the_fall_itself():
    statistic = PairedErrors(1.0, 0.2, 0.4)
    sums = (400 * -0.2, 400 * 0.06 / 0.2, 400 * 0.02 / 0.4, 200.0)
    shown = PairedSums(statistic, sums, 1e-9, 2.0, has_constant=True)
    assert shown.error.value == pytest.approx(2 * math.sqrt(0.3))
    assert shown.fall.value == pytest.approx(2 * fall(0.3, 0.02))
    assert shown.floor == "constant"
    assert shown.fall.high - shown.fall.low < 1e-6


@pytest.mark.parametrize("wrong", [1 / 1.05, 1.0, 1.05])
def test_noise_that_is_off_by_a_twentieth_is_noticed(wrong):
    """The public scale, on which intervals rest, is that of the draws."""
    world = rating_worlds.world()
    statistic = PairedErrors(1.0, 0.3, 0.3)
    model = Recommender.of_means(world.shape)
    exact = total(statistic, world, model, 3.0)
    noises = []
    for seed in range(1500):
        noise = Noise(statistic.event(2.0), np.random.SeedSequence(seed))
        curator = NoisyCurator(people(world), noise)
        scale = curator.scale(statistic) * wrong
        released = curator.release(statistic, model, 3.0)
        noises.append((released - exact) / scale)
    square = float(np.square(noises).sum())
    is_right = 0.005 < stats.chi2.cdf(square, np.size(noises)) < 0.995
    assert is_right == (wrong == 1.0)
