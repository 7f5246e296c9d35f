"""Frank-Wolfe and DPFW against dense numpy, published figures, and what their parts are defined to be."""

import math
import tracemalloc
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from datasets.synthetic import lowrank
from dpmf_core.algorithms import REGISTRY, Fit, Streams, build
from dpmf_core.algorithms.frank_wolfe import DPFW, FW, DPFWOja, FrankWolfeModel
from dpmf_core.data import Ratings, Shape, SplitSpec, split
from dpmf_core.errors import BadInput
from dpmf_core.kernels.replay import Rows, replay
from dpmf_core.metrics import rmse
from dpmf_core.privacy import Budget, Calibration, Noise, Relation, calibrate, normal_form
from dpmf_core.privacy.accounting import epsilon, mu

Array = np.ndarray[Any, Any]
N, M = 40, 17
VANISHING = 1e-13  # level at which noise is far below rounding
BOUNDS = (-4.0, 10.0)


@pytest.fixture(scope="module")
def data() -> Ratings:
    """A low-rank matrix of ratings on a rectangle, half observed, user 0 empty."""
    random = np.random.default_rng(7)
    truth = 3 + random.normal(size=(N, 3)) @ np.diag([2, 1, 0.5]) @ random.normal(size=(3, M)) / 2
    users, items = np.nonzero(random.random((N, M)) < 0.5)
    users, items = users[users > 0], items[users > 0]
    return Ratings.of(users, items, truth[users, items], n_users=N, n_items=M, bounds=BOUNDS, public=True)


def fitted(name: str, data: Ratings, level: float = 1.0, seed: int = 0, **parameters: Any) -> Fit:
    algorithm = REGISTRY[name](**parameters)
    noise = Noise(algorithm.plan(data.shape, level), np.random.SeedSequence(seed))
    return algorithm.fit(data, noise=noise, rng=Streams(np.random.default_rng(seed), seed))


def frank_wolfe(fit: Fit) -> FrankWolfeModel:
    assert isinstance(fit.model, FrankWolfeModel)
    return fit.model


def dense(data: Ratings, left: Array, kappa: float, rates: Array, bound: float = np.inf) -> Array:
    """[J18, Alg. 1] on whole n x m float64 matrices with numpy's SVD; every Y_t, (T, n, m)."""
    seen, Y_star = np.zeros((N, M), bool), np.zeros((N, M))
    seen[data.users, data.items], Y_star[data.users, data.items] = True, left

    def within(rows: Array) -> Array:
        lengths = np.linalg.norm(np.where(seen, rows, 0), axis=1, keepdims=True)
        return rows * np.minimum(1, bound / np.maximum(lengths, 1e-300))

    Y, path = np.zeros((N, M)), []
    for eta in rates:
        A = within(np.where(seen, Y - Y_star, 0))
        u, _, v = np.linalg.svd(A)
        Y = within((1 - eta) * Y - eta * kappa * np.outer(u[:, 0], v[0]))
        path.append(Y)
    return np.array(path)


def completed(fit: Fit, data: Ratings) -> Array:
    """All of Y (n, m), as the users find it by themselves."""
    return np.asarray(fit.model.personal(data).factors.astype(float) @ fit.model.item_factors.astype(float).T)


def centred(data: Ratings) -> Array:
    values = data.values.astype(float) - 3.0
    means = np.bincount(data.users, values, N) / np.maximum(np.bincount(data.users, minlength=N), 1)
    return np.asarray(values - means[data.users])


@pytest.mark.parametrize("step_size", ["2/(t+2)", "1/T"])
def test_without_noise_equals_dense_frank_wolfe(data: Ratings, step_size: str) -> None:
    T = 12
    fit = fitted("fw", data, steps=T, nuclear_norm=0.1, step_size=step_size, biases=False)
    rates = np.array([2 / (t + 2) if step_size == "2/(t+2)" else 1 / T for t in range(T)])
    np.testing.assert_allclose(completed(fit, data), dense(data, centred(data), 0.1 * 7 * math.sqrt(N * M), rates)[-1], atol=1e-6)


def test_item_offsets_come_first(data: Ratings) -> None:
    """With offsets, the steps work on what the damped bias model leaves over."""
    model, biases = frank_wolfe(fitted("fw", data, steps=6, nuclear_norm=0.1)), fitted("bias", data).model
    assert model.centre == biases.centre
    np.testing.assert_array_equal(model.item_offsets, biases.item_offsets)
    _, left = biases.residuals(data)
    expected = dense(data, left, 0.1 * 7 * math.sqrt(N * M), 2 / (np.arange(6) + 2.0))[-1]
    np.testing.assert_allclose(completed(Fit(model), data), expected, atol=1e-6)


@pytest.mark.parametrize("noise_schedule", ["constant", "growing"])
def test_private_form_with_vanishing_noise_equals_dense_clipped_frank_wolfe(data: Ratings, noise_schedule: str) -> None:
    """Rows of the residuals and of the iterate are held within L; here both bounds bite."""
    T, L = 8, 0.1 * 7 * math.sqrt(M)
    fit = fitted("dpfw", data, VANISHING, steps=T, nuclear_norm=0.6, row_clip=0.1, noise_schedule=noise_schedule)
    expected = dense(data, centred(data), 0.6 * 7 * math.sqrt(N * M), np.full(T, 1 / T), L)[-1]
    unbounded = dense(data, centred(data), 0.6 * 7 * math.sqrt(N * M), np.full(T, 1 / T))[-1]
    assert np.abs(expected - unbounded).max() > 0.1
    np.testing.assert_allclose(completed(fit, data), expected, atol=2e-5)  # a residual row stops one part in a million short of L


def test_stays_in_the_ball_and_approaches_at_the_known_rate(data: Ratings) -> None:
    """Jaggi 2013, Thm. 1: f(Y_T) - f* <= 2 C / (T + 2) with curvature C <= 4 kappa^2 of half the squared error; f* = 0 with Y* in the ball."""
    left = centred(data)
    Y_star = np.zeros((N, M))
    Y_star[data.users, data.items] = left
    share = 1.05 * np.linalg.norm(Y_star, "nuc") / (7 * math.sqrt(N * M))
    kappa, objectives = share * 7 * math.sqrt(N * M), []
    for T in (3, 30, 300):
        Y = completed(fitted("fw", data, steps=T, nuclear_norm=share, biases=False), data)
        assert np.linalg.norm(Y, "nuc") <= kappa * (1 + 1e-6)
        objectives.append(0.5 * float(((Y[data.users, data.items] - left) ** 2).sum()))
        assert objectives[-1] <= 8 * kappa**2 / (T + 2)
    assert objectives[2] < 0.2 * objectives[1] < 0.2 * objectives[0]


def test_a_user_finds_the_row_she_had_in_training(data: Ratings) -> None:
    """The iterate on the observed cells, kept in training, is what the replayed coefficients say; any number of threads gives the same bits."""
    random = np.random.default_rng(0)
    V = np.asarray(np.linalg.qr(random.standard_normal((M, 6)))[0], np.float32)
    inverses, rates, kappa, bound = random.uniform(0.05, 0.2, 6), np.full(6, 0.3), 40.0, 3.0
    left = np.asarray(centred(data), np.float32)
    several = [Rows(data.by_user, data.items, left, bound, threads=threads) for threads in (1, 3)]
    for rows in several:
        for t in range(6):
            rows.advance(np.ascontiguousarray(V[:, t]), inverses[t], rates[t], kappa)
    assert several[0].iterate.tobytes() == several[1].iterate.tobytes()
    assert several[0].residuals().tobytes() == several[1].residuals().tobytes()
    found = [replay(data.by_user, data.items, left, V, inverses, rates, kappa, bound, threads=threads) for threads in (1, 3)]
    assert found[0].tobytes() == found[1].tobytes()
    np.testing.assert_allclose((found[0][data.users] * V[data.items]).sum(1), several[0].iterate, atol=1e-12)
    lengths = np.sqrt(np.bincount(data.users, several[0].residuals() ** 2, N))
    assert lengths.max() <= bound
    assert (lengths > 0.999 * bound).any()
    alone = data.users == 5
    hers = replay(np.array([0, alone.sum()]), data.items[alone], left[alone], V, inverses, rates, kappa, bound)
    assert hers[0].tobytes() == found[0][5].tobytes()


# ---- privacy ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("steps", [1, 10, 50])
def test_noise_of_the_source(steps: int) -> None:
    """sigma^2 = 64 L^4 T ln(1/delta) / eps^2 a step, whatever T; nominal 1 is an exact 0.545 if a user moved the statistic by 4 L^2,
    0.790 when she is replaced; she moves it by L^2 at most, so that it truly is 0.124, and 0.179 when she is replaced."""
    shape, budget = Shape(1000, 100, (1.0, 5.0)), Budget(epsilon=1.0, delta=1e-6, calibration=Calibration.SOURCE)
    algorithm = DPFW(steps=steps, row_clip=0.3)
    L = 0.3 * 2 * 10
    ((leaf, count),) = normal_form(algorithm.plan(shape, algorithm.source_level(shape, budget)))
    assert count == steps
    assert leaf.sensitivity == pytest.approx(L**2)
    deviation = leaf.noise_multiplier * leaf.sensitivity
    assert deviation**2 == pytest.approx(64 * L**4 * steps * math.log(1e6))
    for moved, factor, figure in ((4.0, 1.0, 0.545), (4.0, math.sqrt(2), 0.790), (1.0, 1.0, 0.124), (1.0, math.sqrt(2), 0.179)):
        m = math.sqrt(steps) * moved * factor * L**2 / deviation

        def excess(eps: float, m: float = m) -> float:  # Balle & Wang 2018, Thm. 8
            return float(norm.cdf(m / 2 - eps / m) - math.exp(eps) * norm.cdf(-m / 2 - eps / m) - 1e-6)

        assert round(brentq(excess, 1e-3, 5), 3) == figure
    plan = algorithm.plan(shape, algorithm.source_level(shape, budget))
    assert round(epsilon(plan, 1e-6, Relation.ADD_REMOVE), 3) == 0.124
    assert round(epsilon(plan, 1e-6, Relation.REPLACE_ONE), 3) == 0.179


@pytest.mark.parametrize("kind", [DPFW, DPFWOja])
def test_schedules_differ_in_their_steps_and_agree_in_total(kind: type[DPFW]) -> None:
    shape = Shape(1000, 100, (1.0, 5.0))
    constant, growing = (kind(steps=5, noise_schedule=schedule).plan(shape, 2.0) for schedule in ("constant", "growing"))
    assert mu(constant) == pytest.approx(0.5)
    assert mu(growing) == pytest.approx(0.5)
    assert len({leaf.noise_multiplier for leaf, _ in normal_form(constant)}) == 1
    noises = [leaf.noise_multiplier for leaf, _ in normal_form(growing)]
    np.testing.assert_allclose(np.divide(noises, noises[0]), np.sqrt(np.arange(1, 6)))


@pytest.mark.parametrize("noise_schedule", ["constant", "growing"])
@pytest.mark.parametrize("name", ["dpfw", "dpfw-oja"])
def test_noise_is_what_the_ledger_says(data: Ratings, name: str, noise_schedule: str) -> None:
    """Variance of what is released, over repeats on nobody's data, against each event: chi-square, 5% off is caught."""
    inner = {"inner_steps": 5} if name == "dpfw-oja" else {}
    algorithm = REGISTRY[name](steps=3, noise_schedule=noise_schedule, **inner)
    plan = algorithm.plan(data.shape, 0.7)
    squares: dict[float, list[Array]] = {}

    class Listening(Noise):
        def _open(self, leaf: Any, size: int) -> Any:
            release = super()._open(leaf, size)

            def publish(part: Array, noise: Array) -> Array:
                assert not part.any()
                kept = noise
                if noise.ndim == 2:
                    rows, columns = np.tril_indices(len(noise))
                    kept = np.where(rows == columns, 1.0, np.sqrt(2)) * noise[rows, columns]
                squares.setdefault(leaf.noise_multiplier, []).append((kept / (leaf.noise_multiplier * leaf.sensitivity)) ** 2)
                return part + noise

            release._publish = publish  # type: ignore[method-assign]
            return release

    nobody = data.only(np.zeros(len(data), bool))
    for seed in range(100 if name == "dpfw" else 160):
        algorithm.fit(nobody, noise=Listening(plan, np.random.SeedSequence(seed)), rng=Streams(np.random.default_rng(0), 0))
    assert squares.keys() == {leaf.noise_multiplier for leaf, _ in normal_form(plan)}
    for noise_multiplier, parts in squares.items():
        draws = np.concatenate(parts)
        assert len(draws) > 14_000
        deviation = (draws.sum() - len(draws)) / np.sqrt(2 * len(draws))
        assert abs(deviation) < 4, noise_multiplier
        for off in (0.95, 1.05):
            assert abs((off**2 * draws.sum() - len(draws)) / np.sqrt(2 * len(draws))) > 4, noise_multiplier


def test_slack_is_the_source_s(data: Ratings) -> None:
    """l + sqrt(sigma ln(m/b)) m^(1/4) with b = 0.01 [J18, Alg. 1, line 6]; the directions of the first step are the same with and without."""
    plain, slack = (frank_wolfe(fitted("dpfw", data, 0.3, steps=1, slack=slack)) for slack in (False, True))
    ((leaf, _),) = normal_form(DPFW(steps=1).plan(data.shape, 0.3))
    sigma = leaf.noise_multiplier * leaf.sensitivity
    np.testing.assert_array_equal(plain.item_factors, slack.item_factors)
    assert 1 / slack.inverse_singular[0] - 1 / plain.inverse_singular[0] == pytest.approx(math.sqrt(sigma * math.log(M / 0.01)) * M**0.25)


# ---- Oja --------------------------------------------------------------------------------------------------------------


def test_oja_without_noise_finds_the_top_eigenvector(data: Ratings) -> None:
    covariance = frank_wolfe(fitted("dpfw", data, VANISHING, steps=4))
    products = frank_wolfe(fitted("dpfw-oja", data, VANISHING, steps=4, inner_steps=200, inner_rate=1000.0))
    cosines = np.abs((covariance.item_factors * products.item_factors).sum(axis=0))
    assert (cosines > 1 - 1e-5).all()
    np.testing.assert_allclose(products.inverse_singular, covariance.inverse_singular, rtol=1e-4)
    few = frank_wolfe(fitted("dpfw-oja", data, VANISHING, steps=4, inner_steps=1, inner_rate=0.1))
    assert abs(float(few.item_factors[:, 0] @ covariance.item_factors[:, 0])) < 0.99


def test_oja_never_holds_the_item_by_item_matrix() -> None:
    """m = 10,000, whose second moment would take 800 MB: numpy's allocations stay within some hundred numbers an item or rating."""
    m, random = 10_000, np.random.default_rng(0)
    users, items = np.repeat(np.arange(200), 50), random.integers(0, m, 10_000)
    ratings = Ratings.of(users, items, random.uniform(1, 5, 10_000), n_users=200, n_items=m, bounds=(1.0, 5.0), public=True)
    fitted("dpfw-oja", ratings, steps=1)  # compiled code is loaded
    tracemalloc.start()
    model = fitted("dpfw-oja", ratings, steps=5).model
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert model.item_factors.shape == (m, 5)
    assert peak < 100 * 8 * (m + len(ratings))


def test_refuses_a_matrix_too_large_and_names_the_way_out() -> None:
    shape = Shape(100, 12_001, (1.0, 5.0))
    with pytest.raises(BadInput, match=r"at most 12,000 items. Got 12,001. Use --algorithm dpfw-oja"):
        DPFW().check(shape)
    DPFWOja().check(shape)
    FW().check(shape)


# ---- what it achieves -------------------------------------------------------------------------------------------------


def test_ridge_in_the_end_is_a_regression_on_the_released_directions(data: Ratings) -> None:
    """Same releases, same directions; then every user's least squares on (V, a constant), dense in float64."""
    steps, ridge = (frank_wolfe(fitted("dpfw", data, 0.05, steps=3, user_step=step, prediction_ridge=0.3)) for step in ("steps", "ridge"))
    np.testing.assert_array_equal(steps.item_factors, ridge.item_factors)
    personal, unit = ridge.personal(data), 3.5
    left, means = centred(data), np.bincount(data.users, data.values - 3.0, N) / np.maximum(np.bincount(data.users, minlength=N), 1)
    for user in range(N):
        rows = data.users == user
        F = np.column_stack([ridge.item_factors[data.items[rows]], np.full(rows.sum(), unit)]).astype(float)
        row = np.linalg.solve(F.T @ F + 0.3 * np.eye(4), F.T @ left[rows])
        np.testing.assert_allclose(personal.factors[user], row[:3], rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(personal.offsets[user], means[user] + unit * row[3], rtol=1e-3, atol=1e-4)


def held_out(name: str, ratings: Ratings, budget: Budget, **parameters: Any) -> float:
    algorithm = build(name, parameters, ratings.shape, budget)
    exact = budget.calibration is Calibration.EXACT
    level = calibrate(lambda at: algorithm.plan(ratings.shape, at), budget) if exact else algorithm.source_level(ratings.shape, budget)
    parts = split(ratings, SplitSpec(), 3)
    noise = Noise(algorithm.plan(ratings.shape, level), np.random.SeedSequence(5))
    model = algorithm.fit(parts.train, noise=noise, rng=Streams(np.random.default_rng(0), 0)).model
    return rmse(model.predict(model.personal(parts.history), parts.test.users, parts.test.items), parts.test.values)


def test_the_published_gap_on_low_rank_data_is_largely_the_accounting_rule() -> None:
    """Chien et al. 2021, Fig. 4: DPFW by its source's calibration hardly leaves the trivial 1.00 at epsilon 1; exact accounting does."""
    ratings = lowrank(6_000, 200, rank=3, p=0.4, seed=1)
    one = Budget(epsilon=1.0, delta=1e-5)
    true: dict[str, Any] = {"nuclear_norm": math.sqrt(3) / 5}  # sqrt(r) standard deviations of 1, in half-ranges of 5
    source = held_out("dpfw", ratings, one.model_copy(update={"calibration": Calibration.SOURCE}), slack=True, **true)
    assert source > 0.9
    assert held_out("dpfw", ratings, one, **true) < 0.6
    assert held_out("dpfw", ratings, one, user_step="ridge", prediction_ridge=0.01, **true) < 0.15


def test_recommended_parameters_are_no_worse_than_learning_nothing() -> None:
    """Where there is no signal the singular value is that of the noise, and users stay where they are; with signal the error falls."""
    ratings = lowrank(3_000, 100, rank=3, p=0.4, seed=1)
    for name in ("dpfw", "dpfw-oja"):
        errors = [held_out(name, ratings, Budget(epsilon=e, delta=1e-5)) for e in (0.01, 2.0, 20.0)]
        assert errors[0] < 1.02
        assert errors[1] < 0.95
        assert errors[2] < 0.6


def test_recommendation_follows_the_budget_and_what_is_given() -> None:
    shape = Shape(20_000, 1_000, (-5.0, 5.0))
    chosen = [DPFW.recommend(shape, Budget(epsilon=e, delta=1e-5), {}) for e in (0.5, 5.0, 20.0)]
    assert [c["steps"] for c in chosen] == sorted(c["steps"] for c in chosen)
    assert chosen[0]["row_clip"] < chosen[2]["row_clip"] <= 0.12
    assert DPFW.recommend(shape, Budget(epsilon=5.0, delta=1e-5), {"steps": 1})["nuclear_norm"] == pytest.approx(0.13)
    assert build("dpfw", {"nuclear_norm": 0.447}, shape, Budget(epsilon=5.0, delta=1e-5)).model_dump()["nuclear_norm"] == 0.447
    assert DPFW.recommend(shape, None, {}) == {}
