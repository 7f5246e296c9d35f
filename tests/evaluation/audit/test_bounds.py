"""The arithmetic of an attack, against closed forms and in how many audits it errs."""

import math
from bisect import bisect_left

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq
from scipy.stats import binom, norm

from dpmf_core.evaluation.audit import epsilon_bounds, pair_test
from dpmf_core.privacy import Gaussian
from dpmf_core.privacy.accounting import epsilon as exactly


def test_a_perfect_attack_shows_no_more_than_its_runs_allow():
    """No error in n trials of each kind: both rates are below 1 - (error / 2)^(1 / n)."""
    limit = 1 - 0.025 ** (1 / 250)
    none_wrong = np.array([0])
    bound = epsilon_bounds.epsilon_of_rates(
        none_wrong, none_wrong, (250, 250), 0.0, 0.05
    )
    expected = math.log((1 - limit) / limit)
    assert bound[0] == pytest.approx(expected)
    expected = math.log((1 - limit) / limit)
    assert epsilon_bounds.most(1000, ("what is shared",), 0.0, False) == pytest.approx(
        expected
    )


def test_the_pair_test_of_the_same_trainings_shows_far_more():
    """mu >= √2 Φ⁻¹(0.02^(1/500)), as Φ(mu/√2)^500 = 0.02; epsilon by Balle & Wang 2018."""
    mu = math.sqrt(2) * norm.ppf(0.02 ** (1 / 500))

    def slack(epsilon):
        a = mu / 2 - epsilon / mu
        b = -mu / 2 - epsilon / mu
        return float(norm.cdf(a) - math.exp(epsilon + norm.logcdf(b))) - 1e-5

    released = ("what is released",)
    expected = brentq(slack, 0, 100)
    epsilon = epsilon_bounds.most(1000, released, 1e-5, True)
    assert epsilon == pytest.approx(expected, rel=0.01)
    assert epsilon > 4 * epsilon_bounds.most(1000, released, 1e-5, False)


def test_limits_are_those_of_clopper_and_pearson():
    """1 of 10 at 2.5% a side is .4450 (Clopper & Pearson 1934); tails equal the error."""
    limit = epsilon_bounds.upper_limits(10, 0.025)[1]
    assert limit == pytest.approx(0.4450, abs=5e-5)
    assert epsilon_bounds.upper_limits(10, 0.025)[10] == 1.0
    limits = epsilon_bounds.upper_limits(50, 0.01)[:-1]
    chances = binom.cdf(np.arange(50), 50, limits)
    assert_allclose(chances, 0.01, rtol=1e-9)


@pytest.mark.parametrize(
    "attacks", [("what is shared",), ("what is shared", "what is released")]
)
@pytest.mark.parametrize("through_mu", [False, True])
def test_the_tests_that_are_run_share_the_five_percent(attacks, through_mu):
    errors = epsilon_bounds.shares(attacks, through_mu)
    assert sum(errors.values()) == pytest.approx(0.05)
    assert {rule for _, rule in errors} == (
        {"pair test", "error rates"} if through_mu else {"error rates"}
    )
    result = (np.zeros(40), np.ones(40))
    scores = dict.fromkeys(attacks, result)
    assert {
        (bound.attack, bound.rule): bound.error
        for bound in epsilon_bounds.bounds_of(scores, 1e-5, through_mu)
    } == errors


@pytest.mark.parametrize(
    ("pairs", "mu"),
    [
        pytest.param(1000, 0.71875, marks=pytest.mark.slow),
        (61, 1.5),
        (20, 0.5),
    ],
)
def test_the_ideal_attacks_law_is_that_of_sorted_normals(pairs, mu):
    """Against brute force: pairs of normals sorted by their difference, class by class."""
    rng = np.random.default_rng(5)
    inside = rng.normal(mu, 1, (10_000, pairs))
    outside = rng.normal(0, 1, (10_000, pairs))
    z = inside - outside
    sixths = np.array_split(np.zeros(pairs), 6)
    weights = np.repeat(range(6, 0, -1), [len(sixth) for sixth in sixths])
    order = np.argsort(-np.abs(z), axis=1)
    is_right = np.take_along_axis(z, order, axis=1) > 0
    sums = (is_right * weights).sum(axis=1)
    reaching = pair_test.reaching(pairs, round(mu / pair_test.STEP))
    assert reaching[0] == pair_test.DRAWS
    chances = -np.diff(reaching, append=0) / pair_test.DRAWS
    totals = np.arange(len(chances))
    mean = float(chances @ totals)
    spread = math.sqrt(float(chances @ totals**2) - mean**2)
    standard_error = spread * math.sqrt(1 / len(sums) + 1 / pair_test.DRAWS)
    assert mean == pytest.approx(sums.mean(), abs=4 * standard_error)
    relative_error = 1 / math.sqrt(2 * len(sums))
    assert spread == pytest.approx(sums.std(), rel=4 * relative_error)


def test_all_pairs_told_apart_bound_mu_as_the_binomial_does():
    """n right of n, whatever their weights: Phi(mu / sqrt(2))^n = error."""
    exact = math.sqrt(2) * norm.ppf(0.02 ** (1 / 200))
    total = pair_test.weighted_sum(np.zeros(200), np.ones(200))
    bound = pair_test.mu_at_least(total, 200, 0.02)
    assert exact - 0.05 < bound <= exact + pair_test.STEP


def test_ties_are_wrong_answers():
    assert pair_test.weighted_sum(np.zeros(50), np.zeros(50)) == 0
    assert pair_test.mu_at_least(0, 50, 0.02) == 0.0


N_AUDITS = 10_000
RUNS = 2000


TRUTH = 184  # in steps of the grid: mu .71875, epsilon 2.998
BOTH = ("what is shared", "what is released")


def gdp_scores(mu, count, seed):
    """Scores (count, 2, runs / 2) of exactly mu-GDP audits: the log ratio, a weaker coordinate."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((count, 2, RUNS // 2))
    ratio = mu * z + mu * mu * np.array([[-0.5], [0.5]])
    noise = 0.3 * rng.standard_normal(z.shape)
    shared = z + noise + mu * np.array([[0.0], [1.0]])
    return ratio, shared


def ruled_out(scores, error):
    """For each audit (count, 2, pairs), whether the pair test's bound exceeds the truth."""
    pairs = scores.shape[-1]
    totals = range(6 * pairs)
    critical = next(
        iter(
            totals[
                bisect_left(
                    totals,
                    True,
                    key=lambda total: pair_test.ruled_out(total, pairs, TRUTH, error),
                ) :
            ]
        ),
        6 * pairs,
    )
    totals = pair_test.weighted_sum(scores[:, 0], scores[:, 1])
    return np.asarray(totals >= critical)


def above_the_truth(attack, rule, error, scores):
    """For each audit, whether this test's bound is above the truth."""
    half = RUNS // 4
    if rule == "pair test":
        return ruled_out(
            scores if attack == "what is released" else scores[..., half:], error
        )
    event = Gaussian(1 / (TRUTH * pair_test.STEP))
    limit = exactly(event, 1e-5)
    pairs = []
    for out, inside in scores:
        first = (out[:half], inside[:half])
        second = (out[half:], inside[half:])
        pairs.append((first, second))
    return np.array(
        [
            epsilon_bounds.by_rates(learn, judge, 1e-5, error)[0] > limit
            for learn, judge in pairs
        ]
    )


@pytest.mark.slow
@pytest.mark.parametrize("gaussian", [True, False])
def test_bounds_are_above_the_truth_no_more_often_than_stated(gaussian):
    """10,000 audits of a tight mechanism of epsilon 3: each test stays within its share of 5%."""
    errors = epsilon_bounds.shares(BOTH, gaussian)
    above = {test: [] for test in errors}
    for block in range(10):
        ratio, shared = gdp_scores(TRUTH * pair_test.STEP, N_AUDITS // 10, block)
        for (attack, rule), error in errors.items():
            above[attack, rule].append(
                above_the_truth(
                    attack,
                    rule,
                    error,
                    ratio if attack == "what is released" else shared,
                )
            )
    is_above = np.array([np.concatenate(blocks) for blocks in above.values()])
    assert is_above.shape == (len(errors), N_AUDITS)
    chances = list(errors.values())
    most = binom.ppf(1 - 1e-4, N_AUDITS, chances)
    assert (is_above.sum(axis=1) <= most).all()
    most_of_any = binom.ppf(1 - 1e-4, N_AUDITS, 0.05)
    assert is_above.any(axis=0).sum() <= most_of_any


def test_less_noise_than_claimed_is_above_the_claim_more_often():
    """Noise 5% too small puts the sharpest test above the claim more often than allowed."""
    error = epsilon_bounds.shares(BOTH, True)["what is released", "pair test"]
    ratio, _ = gdp_scores(TRUTH * pair_test.STEP / 0.95, 2000, 1)
    n_ruled_out = ruled_out(ratio, error).sum()
    assert n_ruled_out > binom.ppf(1 - 1e-4, 2000, error)


def test_the_bound_is_sharp_and_ends_where_the_claim_does():
    """2,000 trainings at epsilon 3 show 2.4 to 2.6 in the median, 2.0 in 19 of 20 audits."""
    ratio, _ = gdp_scores(TRUTH * pair_test.STEP, 400, 2)
    totals = pair_test.weighted_sum(ratio[:, 0], ratio[:, 1])
    # the bound grows with the total
    epsilons = []
    for share in (0.05, 0.5):
        total = int(np.quantile(totals, share))
        mu = pair_test.mu_at_least(total, RUNS // 2, 0.02)
        epsilons.append(exactly(Gaussian(1 / mu), 1e-5))
    assert epsilons[0] > 2.0
    assert 2.4 < epsilons[1] < 2.6
    edge = ruled_out(ratio, 0.02)
    highest = totals[~edge].max()
    lowest = totals[edge].min()
    bound = [
        pair_test.mu_at_least(int(total), RUNS // 2, 0.02)
        for total in (highest, lowest)
    ]
    assert bound[0] < TRUTH * pair_test.STEP <= bound[1]
