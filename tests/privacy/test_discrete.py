"""Discrete noise: its exact law, its grid, and its own accounting rule."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpmf_core.privacy import (
    DiscreteGaussian,
    Laplace,
    Noise,
    Relation,
    Repeat,
    UnsupportedEvent,
)
from dpmf_core.privacy import noise_kernels as kernel
from dpmf_core.privacy.accounting import delta, epsilon
from dpmf_core.privacy.events import event_of_rows, ledger_rows, normal_form, on_grids
from dpmf_core.privacy.gaussian import gaussian_epsilon
from dpmf_core.privacy.mechanisms import CONTINUOUS_SHARE, FINE, ROUNDING
from dpmf_core.privacy.noise_kernels import LARGEST, discrete_gaussian
from dpmf_core.privacy.random_streams import KEY_BYTES, Secret
from dpmf_core.privacy.rules import every_epsilon

LEAF = DiscreteGaussian(2.0, "counts", 3.0, 2.0, 3.0 * ROUNDING)


def draws(sigma, size, seed=1):
    out = np.empty(size, np.int64)
    discrete_gaussian(np.random.SFC64(seed).random_raw, sigma, out)
    return out


def law(sigma, reach):
    values = np.arange(-reach, reach + 1)
    weights = np.exp(-((values / sigma) ** 2) / 2)
    return weights / weights.sum()


@pytest.mark.parametrize("sigma", [1, 2, 3, 10])
def test_small_sigmas_have_their_exact_law(sigma):
    size = 200_000
    reach = 8 * sigma
    counts = np.bincount(draws(sigma, size) + reach, minlength=2 * reach + 1)
    often = size * law(sigma, reach) > 10

    def chance(expected):
        """Of such counts, those of rare numbers together."""
        both = [
            np.append(row[often], row[~often].sum())
            for row in (counts, size * expected)
        ]
        return float(stats.chisquare(*both).pvalue)

    assert chance(law(sigma, reach)) > 1e-6
    for wrong in (0.95, 1.05):  # the same test finds 5%
        assert chance(law(wrong * sigma, reach)) < 1e-6


@pytest.mark.parametrize("sigma", [4097, 2**30, LARGEST])
def test_large_sigmas_are_normal(sigma):
    samples = draws(sigma, 200_000)
    dither = np.random.default_rng(0).random(len(samples)) - 0.5
    pvalue = stats.kstest((samples + dither) / sigma, "norm").pvalue
    assert pvalue > 1e-6
    square = float(((samples / sigma) ** 2).sum())
    has_law = stats.chi2.cdf(square, len(samples))
    assert 5e-7 < has_law < 1 - 5e-7
    of_smaller_sigma = stats.chi2.cdf(square / 0.95**2, len(samples))
    assert not 5e-7 < of_smaller_sigma < 1 - 5e-7
    assert np.unique(samples % 2).tolist() == [0, 1]


def chance_bounds(event, bits):
    """The least and greatest probability of an event over sequences of up to seven words."""
    total = Fraction(0)
    open_ = Fraction(0)
    stack = [()]
    while stack:
        words = stack.pop()
        cursor = np.zeros(2, np.int64)
        event_happens = event(np.array(words, np.int64), cursor)
        if not cursor[1]:
            total += Fraction(int(event_happens), 2 ** (bits * len(words)))
        elif len(words) < 7:
            stack += [(*words, word) for word in range(2**bits)]
        else:
            open_ += Fraction(1, 2 ** (bits * len(words)))
    return total, total + open_


@pytest.mark.parametrize(
    ("above", "below"),
    [
        (1, 2),
        (1, 4),
        (3, 4),
        (0, 4),
        (4, 4),
    ],
)
def test_an_event_of_probability_exp_has_it(above, below):
    """Every path of the decision, as fractions."""

    def happens(words, cursor):
        return kernel._exp.py_func(words, cursor, above, below, 1, 1)

    least, most = chance_bounds(happens, 2)
    assert float(least) <= math.exp(-above / below) <= float(most)
    assert float(most) < float(least) + 0.1


def test_words_that_run_out_bias_nothing():
    """Fed a word at a time or all at once: the same draws from the same words."""

    class Sparing:
        def __init__(self):
            self.source = np.random.SFC64(3)

        def raw(self, count):
            return self.source.random_raw(min(count, 5))

    out = np.empty(300, np.int64)
    discrete_gaussian(Sparing().raw, 1000, out)
    assert np.array_equal(out, draws(1000, 300, 3))


def noise():
    return Noise(LEAF, np.random.SeedSequence(7))


@pytest.mark.parametrize(
    "source", [np.random.SeedSequence(1), Secret(bytes(range(KEY_BYTES)))]
)
def test_what_is_released_lies_on_the_grid_and_has_the_scale(source):
    size = 100_000
    release = Noise(LEAF, source).release("counts", sensitivity=3.0, size=size)
    values = np.random.default_rng(0).normal(0, 1e5, size)
    out = release.vector(values)
    assert math.log2(release.step).is_integer()
    on_grid = np.rint(out / release.step) * release.step
    assert np.array_equal(out, on_grid)
    assert 6.0 <= release.scale <= 6.0 * (1 + 1 / 4096)
    deviations = (out - values) / release.scale
    square = float((deviations**2).sum())
    assert 5e-7 < stats.chi2.cdf(square, size) < 1 - 5e-7
    of_larger_scale = stats.chi2.cdf(square * 0.95**2, size)
    assert not 5e-7 < of_larger_scale < 1 - 5e-7


def test_a_matrix_is_released_in_its_isometric_coordinates():
    r = 4
    many = 20_000
    release = noise().release("counts", sensitivity=3.0, size=many * 10)
    A = np.random.default_rng(1).normal(0, 10, (many, r, r))
    A = A + np.swapaxes(A, 1, 2)
    out = release.symmetric(A)
    assert np.array_equal(out, np.swapaxes(out, 1, 2))
    diagonal = out[:, np.arange(r), np.arange(r)]
    below = out[:, *np.tril_indices(r, -1)] * math.sqrt(2)
    on_grid = np.rint(diagonal / release.step) * release.step
    assert np.array_equal(diagonal, on_grid)
    # but for the last rounding, after the release
    steps = below / release.step
    assert np.abs(steps - np.rint(steps)).max() < 1e-6
    noise_part = out - A
    on_diagonal = noise_part[:, np.arange(r), np.arange(r)]
    below_diagonal = noise_part[:, *np.tril_indices(r, -1)]
    for part, scale in (
        (on_diagonal, release.scale),
        (below_diagonal, release.scale / math.sqrt(2)),
    ):
        square = float((part**2).sum()) / scale**2
        assert 5e-7 < stats.chi2.cdf(square, part.size) < 1 - 5e-7


def test_the_released_matrix_is_a_function_of_whole_numbers(monkeypatch):
    """Statistics whose difference the noise makes up for give the same bits."""
    shift = np.array([[5.0, -3.0], [-3.0, 2.0]])

    def of(A, shift):
        release = noise().release("counts", sensitivity=3.0, size=3)
        fixed = np.array([11.0, 700_001.0, -12_345.0]) * release.step
        rows = np.array([A[0, 0], A[1, 0] * math.sqrt(2), A[1, 1]]) / release.step
        base = np.array([0.3, 7.2, 1.9])
        steps = np.rint(rows) - np.rint(base / release.step)
        shifted = fixed - shift * steps * release.step
        monkeypatch.setattr(type(release), "_draw", lambda self, size: shifted)
        return release.symmetric(A)

    off_diagonal = 7.2 / math.sqrt(2)
    plain = np.array([[0.3, off_diagonal], [off_diagonal, 1.9]])
    assert np.array_equal(of(plain, 1), of(plain + shift, 1))


@pytest.mark.parametrize("size", [1, 3, 1000, 10**6])
@pytest.mark.parametrize(
    ("z", "sensitivity"),
    [
        (0.01, 1.0),
        (3.7, 0.25),
        (800.0, 50.0),
    ],
)
def test_rounding_moves_neighbours_by_no_more_than_the_ledger_says(
    size, z, sensitivity
):
    """Of the room, half is for the grid and half for the sums that were rounded."""
    leaf = DiscreteGaussian(z, "sums", sensitivity, 2.0, ROUNDING * sensitivity)
    step, scale = leaf.grid(size)
    assert step * math.sqrt(size) <= leaf.rounding / 2
    assert scale >= z * sensitivity
    assert scale / step == round(scale / step) >= 4096
    few = min(size, 1000)
    rng = np.random.default_rng(2)
    for _ in range(20):
        one = rng.normal(0, 100, few)
        way = rng.normal(size=few)
        other = one + sensitivity * way / np.linalg.norm(way)
        steps = np.rint(one / step) - np.rint(other / step)
        shift = np.linalg.norm(step * steps)
        assert shift <= sensitivity + leaf.rounding / 2


def test_the_continuous_noise_of_the_ledger_is_that_of_the_lemma():
    """Four steps of smoothing: less than one part in 10^100 for 2^64 coordinates."""
    with mpmath.workdps(200):
        ripple = 3 * mpmath.exp(-2 * mpmath.pi**2 * 16)
        assert 2**64 * 2 * ripple / (1 - ripple) < mpmath.mpf("1e-100")
        share = mpmath.sqrt(1 - (mpmath.mpf(4) / FINE) ** 2)
        assert share >= CONTINUOUS_SHARE


@pytest.mark.parametrize("steps", [40, 4096, 20_000])
def test_the_account_is_a_bound_and_a_close_one(steps):
    """Of a release on 4,096 steps a deviation, against the sum over all whole numbers."""
    places = np.arange(-12 * FINE - steps, 12 * FINE + steps + 1.0)
    density = np.exp(-((places / FINE) ** 2) / 2)
    density /= density.sum()
    # as if nothing were rounded
    leaf = DiscreteGaussian(FINE / steps, "sums", 1.0, rounding=1e-15)
    for eps in (0.0, 0.01, 0.5, 2.0):
        loss = (steps**2 - 2 * places * steps) / (2.0 * FINE**2)
        excess = np.maximum(0.0, 1 - np.exp(eps - loss))
        exact = float((density * excess).sum())
        if exact > 1e-9:
            assert exact * (1 - 1e-9) <= delta(leaf, eps) <= exact * 1.0001


@pytest.mark.parametrize("relation", list(Relation))
def test_the_multiplier_counts_what_rounding_adds(relation):
    factor = 2.0 if relation is Relation.REPLACE_ONE else 1.0
    shift = 3.0 * factor + 3.0 * ROUNDING
    assert LEAF.multiplier(relation) == pytest.approx(
        6.0 / shift * CONTINUOUS_SHARE, rel=1e-15
    )


def test_it_costs_what_gaussian_noise_costs_that_is_a_thousandth_smaller():
    event = Repeat(LEAF, 5)
    mu = math.sqrt(5) / 2.0
    cost = epsilon(event, 1e-6)
    least = gaussian_epsilon(mu, 1e-6)
    most = gaussian_epsilon(mu * 1.001, 1e-6)
    assert least < cost < most
    assert delta(event, cost) == pytest.approx(1e-6, rel=1e-9)
    rows = {row.rule: row for row in every_epsilon(event, 1e-6)}
    assert rows["exact"].title == "at most"
    assert cost < rows["rdp_tight"].epsilon


def test_a_ledger_survives_json():
    ledger = ((LEAF, 4),)
    event = event_of_rows(ledger_rows(ledger))
    assert normal_form(event) == ledger
    with pytest.raises(ValueError, match="rounding"):
        DiscreteGaussian(1.0, rounding=0.0)
    with pytest.raises(UnsupportedEvent):
        on_grids(Laplace(1.0))
