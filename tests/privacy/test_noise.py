"""Drawing is recording, and what is drawn has the scale that is recorded."""

import numpy as np
import pytest

from dpmf_core.privacy import Gaussian, Laplace, Noise, PlanViolation, Repeat, normal_form, sequence

SEED = np.random.SeedSequence


def deviation(draws: np.ndarray, scale: float) -> float:
    """How many standard deviations the sum of squares of Gaussian draws is away from its mean."""
    squares = (np.asarray(draws, float).ravel() / scale) ** 2
    return float((squares.sum() - squares.size) / np.sqrt(2 * squares.size))


def assert_scale(draws: np.ndarray, scale: float) -> None:
    assert abs(deviation(draws, scale)) < 4
    for off in (0.95, 1.05):
        assert abs(deviation(draws, scale * off)) > 6, "too few draws to see a scale that is off by 5%"


def test_drawing_is_recording() -> None:
    plan = sequence(Repeat(Gaussian(2.0, "counts", 3.0), 2), Gaussian(5.0, "sums"))
    noise = Noise(plan, SEED(0))
    assert noise.spent == ()
    noise.vector("sums", np.zeros(4), sensitivity=1.0)
    assert noise.spent == ((Gaussian(5.0, "sums"), 1),)
    for _ in range(2):
        noise.vector("counts", np.zeros(4), sensitivity=3.0)
    assert noise.spent == normal_form(plan)


def test_what_the_plan_does_not_hold_is_refused() -> None:
    noise = Noise(Gaussian(2.0, "counts", 3.0), SEED(0))
    with pytest.raises(PlanViolation, match="no further release of 'sums'"):
        noise.vector("sums", np.zeros(4), sensitivity=3.0)
    with pytest.raises(PlanViolation, match=r"planned with sensitivity 3\.0"):
        noise.vector("counts", np.zeros(4), sensitivity=1.0)
    assert noise.spent == ()
    noise.vector("counts", np.zeros(4), sensitivity=3.0)
    with pytest.raises(PlanViolation, match="no further release"):
        noise.vector("counts", np.zeros(4), sensitivity=3.0)


def test_more_coordinates_than_declared_are_refused() -> None:
    release = Noise(Gaussian(1.0, "grams"), SEED(0)).release("grams", sensitivity=1.0, size=10)
    release.vector(np.zeros(4))
    release.symmetric(np.zeros((1, 3, 3)))
    with pytest.raises(PlanViolation, match="0 coordinates left"):
        release.vector(np.zeros(1))


def test_releases_of_one_name_come_in_the_plans_order() -> None:
    noise = Noise(sequence(Gaussian(1.0, "step"), Gaussian(9.0, "step")), SEED(0))
    drawn = [noise.vector("step", np.zeros(20_000), sensitivity=1.0) for _ in range(2)]
    assert_scale(drawn[0], 1.0)
    assert_scale(drawn[1], 9.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_vector_scale_is_two_sided(dtype: type) -> None:
    values = np.arange(40_000, dtype=dtype) % 7
    out = Noise(Gaussian(1.5, "x", 0.2), SEED(1)).vector("x", values, sensitivity=0.2)
    assert out.dtype == dtype
    assert_scale(out.astype(float) - values, 0.3)


def test_symmetric_scale_is_isometric_in_parts_and_whole() -> None:
    """Variance s^2 on the diagonal, s^2 / 2 off it (privacy.md, section 1)."""
    r, count = 4, 12_000
    size = count * r * (r + 1) // 2
    release = Noise(Gaussian(2.0, "H", 0.5), SEED(2)).release("H", sensitivity=0.5, size=size)
    out = np.concatenate([release.symmetric(np.zeros((part, r, r), np.float32)) for part in (5_000, 7_000)])
    assert (out == out.swapaxes(1, 2)).all()
    rows, columns = np.tril_indices(r, -1)
    assert_scale(out[:, range(r), range(r)], 1.0)
    assert_scale(out[:, rows, columns], np.sqrt(0.5))


def test_laplace_scale() -> None:
    draws = Noise(Laplace(3.0, "x", 2.0), SEED(3)).vector("x", np.zeros(60_000), sensitivity=2.0)
    mean = np.abs(draws).mean()  # of Laplace noise: its scale, with standard error scale / sqrt(n)
    assert abs(mean / 6.0 - 1) < 4 / np.sqrt(60_000)


def test_draws_do_not_depend_on_threads() -> None:
    size = 700_000

    def draw(threads: int) -> np.ndarray:
        return Noise(Gaussian(1.0, "x"), SEED(4), threads).vector("x", np.zeros(size), sensitivity=1.0)

    assert np.array_equal(draw(1), draw(3))


def test_events_and_parts_never_share_a_stream() -> None:
    noise = Noise(Repeat(Gaussian(1.0, "x"), 2), SEED(5))
    release = noise.release("x", sensitivity=1.0, size=8_000)
    draws = [release.vector(np.zeros(4_000)), release.vector(np.zeros(4_000)), noise.vector("x", np.zeros(4_000), sensitivity=1.0)]
    for first in range(3):
        for second in range(first):
            assert abs(np.corrcoef(draws[first], draws[second])[0, 1]) < 4 / np.sqrt(4_000)


def test_a_seed_repeats_and_no_seed_never_does() -> None:
    def draw(seed: np.random.SeedSequence | None) -> np.ndarray:
        return Noise(Gaussian(1.0, "x"), seed).vector("x", np.zeros(5), sensitivity=1.0)

    assert np.array_equal(draw(SEED(6)), draw(SEED(6)))
    assert not np.array_equal(draw(SEED(6)), draw(SEED(7)))
    assert not np.array_equal(draw(None), draw(None))
