"""Only planned noise is drawn, it is recorded, and it has exactly the planned scale."""

import numpy as np
import pytest
from scipy import stats

from dpmf_core.privacy import (
    Gaussian,
    Laplace,
    Noise,
    PlanViolation,
    Repeat,
    normal_form,
    sequence,
)
from dpmf_core.privacy.noise import CHUNK
from dpmf_core.privacy.random_streams import KEY_BYTES, Secret

REPEATED = sequence(Gaussian(1.5, "sums", 2.0), Laplace(4.0, "extremes", 0.5))
PLAN = sequence(Gaussian(2.0, "counts", 3.0), Repeat(REPEATED, 2))
SIZE = 120_000


def key(number):
    """Of a secret stream, so that its draws can be repeated here."""
    return number.to_bytes(KEY_BYTES, "big")


SOURCE = "a seed"


@pytest.fixture(params=["a seed", "a cipher"], autouse=True)
def source(request, monkeypatch):
    """Every law of the noise holds for both sources."""
    monkeypatch.setattr(f"{__name__}.SOURCE", request.param)
    return str(request.param)


def noise(plan=PLAN, seed=7):
    if seed is None:
        return Noise(plan)
    if SOURCE == "a seed":
        return Noise(plan, np.random.SeedSequence(seed))
    return Noise(plan, Secret(key(seed)))


def test_the_ledger_is_what_was_drawn():
    drawn = noise()
    assert not drawn.ledger
    drawn.vector("sums", np.zeros(3), sensitivity=2.0)
    assert drawn.ledger == ((Gaussian(1.5, "sums", 2.0), 1),)
    drawn.vector("counts", np.zeros(3), sensitivity=3.0)
    for _ in range(2):
        drawn.vector("extremes", np.zeros(3), sensitivity=0.5)
    drawn.vector("sums", np.zeros(3), sensitivity=2.0)
    # in the plan's order, not in the order of drawing
    assert drawn.ledger == normal_form(PLAN)


def test_equal_releases_of_a_schedule_are_taken_together():
    drawn = noise(
        sequence(
            Gaussian(5.0, "sums"),
            Gaussian(1.0, "sums"),
            Gaussian(5.0, "sums"),
        )
    )
    assert drawn.next_release("sums").noise_multiplier == 5.0
    scales = []
    for _ in range(3):
        release = drawn.release("sums", sensitivity=1.0, size=1)
        scales.append(release.scale)
    assert scales == [5.0, 5.0, 1.0]


@pytest.mark.parametrize("draw", ["vector", "release"])
def test_a_release_outside_the_plan_is_refused(draw):
    values = {
        "vector": lambda noise, name: noise.vector(name, np.zeros(4), sensitivity=3.0),
        "release": lambda noise, name: noise.release(name, sensitivity=3.0, size=4),
    }
    drawn = noise()
    with pytest.raises(PlanViolation):
        values[draw](drawn, "means")
    values[draw](drawn, "counts")
    with pytest.raises(PlanViolation):
        values[draw](drawn, "counts")
    assert drawn.ledger == ((Gaussian(2.0, "counts", 3.0), 1),)


@pytest.mark.parametrize("sensitivity", [2.9, 3.0001, 0.0, float("nan")])
def test_another_sensitivity_than_planned_is_refused(sensitivity):
    drawn = noise()
    with pytest.raises(PlanViolation):
        drawn.vector("counts", np.zeros(3), sensitivity=sensitivity)
    assert drawn.ledger == ()


def test_more_coordinates_than_declared_are_refused():
    release = noise().release("counts", sensitivity=3.0, size=10)
    release.vector(np.zeros(6))
    with pytest.raises(PlanViolation):
        release.vector(np.zeros(5))
    release.vector(np.zeros(4))
    with pytest.raises(PlanViolation):
        release.vector(np.zeros(1))


def has_scale(draws, scale, law="Gaussian"):
    """A two-sided exact chi-square test of the scale at level 1e-6."""
    draws = np.asarray(draws, np.float64).ravel() / scale
    if law == "Gaussian":
        statistic = np.sum(draws**2)
        freedom = draws.size
    else:
        statistic = 2 * np.sum(np.abs(draws))
        freedom = 2 * draws.size
    below = stats.chi2.cdf(statistic, freedom)
    above = stats.chi2.sf(statistic, freedom)
    tail = min(below, above)
    return bool(tail > 5e-7)


def noise_by_part(how, wrong=1.0):
    """Noise of one release by coordinates with a common scale; `wrong` multiplies the scale."""
    scale = 6.0
    r = 4
    release = noise().release("counts", sensitivity=3.0, size=2 * SIZE)
    release.scale *= wrong
    if "whole" in how:
        parts = [SIZE]
    else:
        parts = [SIZE // 2, SIZE // 4, SIZE // 4]
    if "vector" in how:
        noise_of_parts = [release.vector(np.zeros(part)) for part in parts]
        return {"all": (np.concatenate(noise_of_parts), scale)}
    matrices = []
    for part in parts:
        nothing = np.zeros((part // 10, r, r))
        matrices.append(release.symmetric(nothing))
    matrices = np.concatenate(matrices)
    diagonal = matrices[:, np.arange(r), np.arange(r)]
    below = matrices[:, *np.tril_indices(r, -1)]
    assert np.array_equal(matrices, matrices.swapaxes(1, 2))
    return {
        "diagonal": (diagonal, scale),
        "off the diagonal": (below, scale / np.sqrt(2)),
    }


WAYS = ["vector, whole", "vector, in parts", "symmetric, whole", "symmetric, in parts"]


@pytest.mark.parametrize("how", WAYS)
def test_the_scale_is_the_event_s(how):
    for values, scale in noise_by_part(how).values():
        assert values.dtype == np.float64
        assert has_scale(values, scale)
        assert abs(values.mean()) < 5 * scale / np.sqrt(values.size)
        pvalue = stats.kstest(values.ravel() / scale, "norm").pvalue
        assert pvalue > 1e-6


@pytest.mark.parametrize("wrong", [0.95, 1.05])
@pytest.mark.parametrize("how", WAYS)
def test_five_percent_too_little_or_too_much_is_found(how, wrong):
    for values, scale in noise_by_part(how, wrong).values():
        assert not has_scale(values, scale)


def test_a_sum_in_float32_is_refused():
    """Rounding the others' part of it would move it by more than one user does."""
    with pytest.raises(PlanViolation):
        noise().vector("counts", np.zeros(20, np.float32), sensitivity=3.0)


def test_noise_is_added_and_nothing_else_is_done():
    values = np.arange(12.0).reshape(3, 4)
    difference = noise().vector("counts", values, sensitivity=3.0) - values
    alone = noise().vector("counts", np.zeros((3, 4)), sensitivity=3.0)
    assert np.allclose(difference, alone, atol=1e-12)
    assert np.array_equal(values, np.arange(12.0).reshape(3, 4))


SEVERAL_CHUNKS = 2 * CHUNK + 12_345


def test_threads_change_no_bit(monkeypatch):
    vectors = []
    matrices = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("DPMF_THREADS", threads)
        vectors.append(
            noise().vector("counts", np.zeros(SEVERAL_CHUNKS), sensitivity=3.0)
        )
        zeros = np.zeros((30_000, 5, 5))
        matrices.append(
            noise().release("counts", sensitivity=3.0, size=450_000).symmetric(zeros)
        )
    for draws in (vectors, matrices):
        for other in draws[1:]:
            assert np.array_equal(draws[0], other)


def independent(a, b):
    """No shared coordinate and no correlation of values, squares or neighbours."""
    size = min(a.size, b.size)
    a = a.ravel()[:size]
    b = b.ravel()[:size]
    pairs = [(a, b), (a[1:], b[:-1]), (a[:-1], b[1:]), (a**2, b**2)]
    most = 4.9 / np.sqrt(size)
    correlations = [abs(np.corrcoef(x, y)[0, 1]) for x, y in pairs]
    has_shared = np.isin(a, b).any()
    return not has_shared and all(size < most for size in correlations)


def test_draws_are_independent_across_releases_parts_and_chunks():
    drawn = noise(Repeat(Gaussian(1.0, "sums"), 2))
    first = drawn.vector("sums", np.zeros(2 * CHUNK), sensitivity=1.0)
    release = drawn.release("sums", sensitivity=1.0, size=2 * SIZE)
    parts = [release.vector(np.zeros(SIZE)) for _ in range(2)]
    assert independent(first[:SIZE], parts[0])
    assert independent(*parts)
    assert independent(first[:CHUNK], first[CHUNK:])
    assert independent(first[:CHUNK:2], first[1:CHUNK:2])


def test_open_releases_do_not_disturb_each_other():
    """Releases that are open together and drawn block by block keep their own draws."""

    def draws(order):
        drawn = noise()
        samples = {}
        pens = {
            "c": drawn.release("counts", sensitivity=3.0, size=200),
            "s": drawn.release("sums", sensitivity=2.0, size=200),
        }
        for name in order:
            earlier = samples.get(name, np.empty(0))
            draws = pens[name].vector(np.zeros(100))
            samples[name] = np.append(earlier, draws)
        return samples

    one_by_one = draws("ccss")
    in_turns = draws("scsc")
    for name in "cs":
        assert np.array_equal(one_by_one[name], in_turns[name])
    of_counts = in_turns["c"] / 6.0
    of_sums = in_turns["s"] / 3.0
    assert not np.isin(of_counts, of_sums).any()


def test_a_seed_repeats_and_another_does_not():
    draws = []
    for seed in (7, 7, 8):
        drawn = noise(seed=seed)
        draws.append(drawn.vector("counts", np.zeros(1000), sensitivity=3.0))
    assert np.array_equal(draws[0], draws[1])
    assert independent(draws[0], draws[2])


def test_without_a_seed_no_two_runs_draw_alike():
    draws = []
    for _ in range(2):
        drawn = noise(seed=None)
        draws.append(drawn.vector("counts", np.zeros(1000), sensitivity=3.0))
    assert not np.isin(draws[0], draws[1]).any()
