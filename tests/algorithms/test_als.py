"""ALS and DPALS against plain float64 numpy, and the parts of DPALS against what they are defined to be."""

from typing import Any

import numpy as np
import pytest

from dpmf_core.algorithms import REGISTRY, Fit, Streams, als
from dpmf_core.algorithms.als import DPALS, AdaDPALS, nearest_psd, orthonormal
from dpmf_core.data import Ratings, SplitSpec, split
from dpmf_core.metrics import rmse
from dpmf_core.privacy import Noise, normal_form

N, M, R = 60, 23, 3
VANISHING = 1e-9  # level at which noise is far below rounding


@pytest.fixture(scope="module")
def data() -> Ratings:
    """A low-rank matrix of ratings on a rectangle, a third observed, user 0 empty."""
    random = np.random.default_rng(7)
    truth = 3 + random.normal(size=(N, R)) @ random.normal(size=(R, M)) / 2
    users, items = np.nonzero(random.random((N, M)) < 0.4)
    users, items = users[users > 0], items[users > 0]
    return Ratings.of(users, items, truth[users, items], n_users=N, n_items=M, bounds=(-4.0, 10.0), public=True)


def fitted(name: str, data: Ratings, level: float = 1.0, seed: int = 0, **parameters: Any) -> Fit:
    algorithm = REGISTRY[name](**parameters)
    noise = Noise(algorithm.plan(data.shape, level), np.random.SeedSequence(seed))
    return algorithm.fit(data, noise=noise, rng=Streams(np.random.default_rng(seed), seed))


def ridge_rows(rows: np.ndarray, columns: np.ndarray, values: np.ndarray, factors: np.ndarray, n: int, ridge: np.ndarray, base: Any = 0) -> np.ndarray:
    """Dense float64 least squares, one row at a time."""
    out = np.zeros((n, factors.shape[1]))
    for i in range(n):
        F, v = factors[columns[rows == i]], values[rows == i]
        out[i] = np.linalg.solve(F.T @ F + base + ridge[i] * np.eye(F.shape[1]), F.T @ v)
    return out


@pytest.mark.parametrize("unobserved_weight", [0.0, 0.3])
def test_als_equals_dense_least_squares(data: Ratings, unobserved_weight: float) -> None:
    fit = fitted("als", data, rank=4, steps=3, biases="off", regularisation=0.2, regularisation_exponent=0.5, unobserved_weight=unobserved_weight)
    V, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((M, 4)))
    x = data.values.astype(float)
    per_user, per_item = (0.2 * np.maximum(np.bincount(ids, minlength=size), 1) ** 0.5 for ids, size in ((data.users, N), (data.items, M)))
    for _ in range(3):
        U = ridge_rows(data.users, data.items, x, V, N, per_user, unobserved_weight * V.T @ V)
        V = ridge_rows(data.items, data.users, x, U, M, per_item, unobserved_weight * U.T @ U)
    np.testing.assert_allclose(fit.model.item_factors, V, rtol=5e-3, atol=5e-4)
    U = ridge_rows(data.users, data.items, x, V, N, per_user, unobserved_weight * V.T @ V)
    personal = fit.model.personal(data)
    predicted = fit.model.predict(personal, data.users, data.items)
    np.testing.assert_allclose(predicted, np.clip((U[data.users] * V[data.items]).sum(1), -4, 10), atol=5e-3)


def test_als_with_joint_offsets_equals_dense_least_squares(data: Ratings) -> None:
    """Each side's offset is one more column of its least squares, on what damped offsets leave; in float64 by numpy."""
    from dpmf_core.algorithms.baselines import damped_biases

    fit = fitted("als", data, rank=3, steps=2, biases="joint", regularisation=0.1)
    V, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((M, 3)))
    x, unit = data.values.astype(float), data.shape.half_range / 2
    centre, first = damped_biases(data, als.BIAS_DAMPING)
    per_user, per_item = (0.1 * np.maximum(np.bincount(ids, minlength=size), 1) for ids, size in ((data.users, N), (data.items, M)))
    b = first.astype(float)

    def people(b: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        left = x - centre - b[data.items]
        a = np.bincount(data.users, left, N) / (np.bincount(data.users, minlength=N) + als.BIAS_DAMPING)
        U = ridge_rows(data.users, data.items, left - a[data.users], np.column_stack([V, np.full(M, unit)]), N, per_user)
        return a + unit * U[:, -1], U[:, :-1]

    for _ in range(2):
        a, U = people(b, V)
        W = ridge_rows(data.items, data.users, x - centre - a[data.users] - first[data.items], np.column_stack([U, np.full(N, unit)]), M, per_item)
        b, V = first + unit * W[:, -1], W[:, :-1]
    np.testing.assert_allclose(fit.model.item_offsets, b, rtol=5e-3, atol=2e-3)
    a, U = people(b, V)
    predicted = fit.model.predict(fit.model.personal(data), data.users, data.items)
    np.testing.assert_allclose(predicted, np.clip(centre + a[data.users] + b[data.items] + (U[data.users] * V[data.items]).sum(1), -4, 10), atol=2e-2)


def few_and_many() -> tuple[Ratings, Ratings]:
    """The cinema cut to its first 300 people, and a dense table with more than `als.PLENTY` ratings a row."""
    import datasets

    cinema = datasets.load("cinema")
    few = cinema.users < 300
    small = Ratings.of(cinema.users[few], cinema.items[few], cinema.values[few], n_users=300, n_items=400, bounds=(1.0, 5.0), public=True)
    users, items = np.divmod(np.arange(300 * 200), 200)
    values = 1 + np.random.default_rng(0).integers(0, 5, len(users))
    return small, Ratings.of(users, items, values, n_users=300, n_items=200, bounds=(1.0, 5.0), public=True)


def test_the_twin_follows_how_many_ratings_there_are_on_both_sides_of_its_rule() -> None:
    few, many = few_and_many()
    assert als.ratings_per_row(few) < als.PLENTY < als.ratings_per_row(many)
    assert (als.ALS()._biases(few), als.ALS()._biases(many)) == ("joint", "off")
    assert als.ALS()._ridge(many) == als.RIDGE
    assert als.ALS()._ridge(few) == pytest.approx(0.08 * (50 * (300 + 400) / len(few)) ** (2 / 3))
    assert als.ALS(unobserved_weight=0.1)._biases(few) == "off"
    assert als.ALS()._biases(few.positives(3)) == "off"
    assert als.ALS(biases="first", regularisation=0.3)._biases(few) == "first"
    assert als.ALS(biases="first", regularisation=0.3)._ridge(few) == 0.3
    same = [fitted("als", many, rank=3, steps=2, **more).model.item_factors for more in ({}, {"biases": "off", "regularisation": 0.08})]
    assert np.array_equal(*same)


def test_the_twin_beats_every_trivial_predictor_on_few_people() -> None:
    """Without offsets and at the ridge of large data it does not."""
    few, _ = few_and_many()
    parts = split(few, SplitSpec(), 0)
    errors = {}
    for name, options in (("als", {}), ("plain", {"biases": "off", "regularisation": 0.04}), ("global-mean", {}), ("user-mean", {}), ("bias", {})):
        model = fitted("als" if name == "plain" else name, parts.train, **options).model
        errors[name] = rmse(model.predict(model.personal(parts.history), parts.test.users, parts.test.items), parts.test.values)
    assert errors["als"] < min(errors["global-mean"], errors["user-mean"], errors["bias"])
    assert errors["als"] < errors["plain"] - 0.02


def test_als_lowers_its_own_objective_and_recovers_low_rank(data: Ratings) -> None:
    errors = []
    for steps in (1, 3, 10):
        model = fitted("als", data, rank=R + 1, steps=steps, regularisation=1e-3).model
        errors.append(rmse(model.predict(model.personal(data), data.users, data.items), data.values))
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.1 * float(data.values.std())


def test_dpals_without_noise_is_clipped_alternating_least_squares(data: Ratings) -> None:
    """A vanishing level, no sub-sampling: each item step is least squares on clipped user rows; [C21, Alg. 1] in float64."""
    options: dict[str, Any] = {
        "rank": 3, "steps": 2, "clip_norm": 0.8, "rating_clip": 2.0, "ratings_per_user": M, "regularisation": 0.5, "noise_ridge": 0.0,
        "user_regularisation": 0.2, "biases": False, "centring": "user",
    }  # fmt: skip
    fit = fitted("dpals", data, VANISHING, **options)
    counts = np.bincount(data.users, minlength=N)
    means = np.bincount(data.users, data.values - 3.0, N) / np.maximum(counts, 1)
    left = data.values - 3.0 - means[data.users]
    V, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((M, 3)))
    for _ in range(2):
        U = ridge_rows(data.users, data.items, left, V, N, np.full(N, 0.2))
        U *= np.minimum(1, 0.8 / np.maximum(np.linalg.norm(U, axis=1, keepdims=True), 1e-30))
        solved = ridge_rows(data.items, data.users, left, U, M, np.full(M, 0.5 * 0.8**2))
        left_singular, _, right_singular = np.linalg.svd(solved, full_matrices=False)
        V = left_singular @ right_singular  # the polar factor is V (V'V)^(-1/2)
    np.testing.assert_allclose(fit.model.item_factors, solved * 0.8 / np.sqrt(3), rtol=2e-3, atol=2e-4)


def test_dpals_with_shared_second_moment_without_noise(data: Ratings) -> None:
    options: dict[str, Any] = {
        "rank": 2, "steps": 1, "clip_norm": 0.5, "rating_clip": 2.0, "ratings_per_user": M, "regularisation": 0.5, "noise_ridge": 0.0,
        "user_regularisation": 0.2, "biases": False, "centring": "none", "unobserved_weight": 0.4,
    }  # fmt: skip
    fit = fitted("dpals", data, VANISHING, **options)
    V, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((M, 2)))
    values = data.values.astype(float)
    U = ridge_rows(data.users, data.items, values, V, N, np.full(N, 0.2), 0.4 * V.T @ V)
    U *= np.minimum(1, 0.5 / np.maximum(np.linalg.norm(U, axis=1, keepdims=True), 1e-30))
    solved = ridge_rows(data.items, data.users, values, U, M, np.full(M, 0.5 * 0.25), 0.4 * U.T @ U)
    np.testing.assert_allclose(fit.model.item_factors, solved * 0.5 / np.sqrt(2), rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("sampling", ["uniform", "adaptive"])
def test_at_most_k_ratings_a_user_enter_the_item_step(data: Ratings, sampling: str) -> None:
    algorithm = DPALS(ratings_per_user=4, sampling=sampling, biases=False)
    noise = Noise(algorithm.plan(data.shape, VANISHING), np.random.SeedSequence(0))
    rng = Streams(np.random.default_rng(0), 5)
    model, counts = algorithm._centred(data, noise, rng)
    entries = algorithm._contributions(data, model, counts, rng)
    entered = np.bincount(entries.raters, minlength=N)
    assert (entered == np.minimum(np.bincount(data.users, minlength=N), 4)).all()
    if sampling == "adaptive":
        assert counts is not None
        items = np.repeat(entries.kept, np.diff(entries.starts))
        for user in range(1, N):
            own, chosen = counts[data.items[data.users == user]], counts[items[entries.raters == user]]
            np.testing.assert_allclose(np.sort(chosen), np.sort(own)[: len(chosen)])


def test_rows_are_clipped_whatever_the_inner_solve_leaves() -> None:
    """Tiny factors under a tiny ridge overflow float32: such a row must not carry a NaN into what all users add up to."""
    U = np.array([[np.inf, 1], [np.nan, 0], [1e38, -1e38], [-np.inf, np.inf], [3, 4], [0.1, 0], [0, 0]], np.float32)
    clipped = DPALS(clip_norm=0.5)._clipped(U)
    norms = np.linalg.norm(clipped.astype(float), axis=1)
    assert (norms <= 0.5).all()
    np.testing.assert_allclose(norms[[0, 2, 4, 5, 6]], [0.5, 0.5, 0.5, 0.1, 0], rtol=1e-5)
    np.testing.assert_allclose(clipped[4:6], [[0.3, 0.4], [0.1, 0]], rtol=1e-5)


def test_the_size_of_a_block_is_only_a_matter_of_memory(data: Ratings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Grams are released block by block as one event: same ledger, same model up to (vanishing) noise."""
    whole = fitted("dpals", data, VANISHING, rank=3, steps=2, biases=False)
    monkeypatch.setattr(als, "BLOCK_BYTES", 4 * 3 * 3 * 5)  # 5 of 23 items at a time
    parts = fitted("dpals", data, VANISHING, rank=3, steps=2, biases=False)
    assert parts.spent == whole.spent
    np.testing.assert_allclose(parts.model.item_factors, whole.model.item_factors, rtol=1e-4, atol=1e-6)


def test_ada_weights_sum_to_k_for_every_user(data: Ratings) -> None:
    algorithm = AdaDPALS(ratings_per_user=5)
    noise = Noise(algorithm.plan(data.shape, 1.0), np.random.SeedSequence(0))
    rng = Streams(np.random.default_rng(0), 5)
    model, counts = algorithm._centred(data, noise, rng)
    entries = algorithm._contributions(data, model, counts, rng)
    squares = np.bincount(entries.raters, entries.weights.astype(float) ** 2, N)  # type: ignore[union-attr]
    present = np.bincount(data.users, minlength=N) > 0
    np.testing.assert_allclose(squares[present], 5, rtol=1e-4)
    assert (squares <= 5).all()


def test_frequent_fraction_leaves_rare_items_without_factors(data: Ratings) -> None:
    model = fitted("dpals", data, 0.01, rank=2, frequent_fraction=0.5, biases=False).model
    without = ~model.item_factors.any(axis=1)
    assert without.sum() == M - 12
    popularity = np.bincount(data.items, minlength=M)
    assert popularity[without].max() <= popularity[~without].min()


@pytest.mark.parametrize("start", ["random", "private-svd"])
@pytest.mark.parametrize("name", ["dpals", "ada-dpals"])
def test_noise_is_what_the_ledger_says(data: Ratings, name: str, start: str) -> None:
    """Variance of what is released, over repeats on nobody's data, against each event: chi-square, 5% off is caught."""
    algorithm = REGISTRY[name](rank=4, steps=2, unobserved_weight=0.2, start=start)
    plan = algorithm.plan(data.shape, 0.7)
    squares: dict[str, list[np.ndarray]] = {}

    class Listening(Noise):
        def _open(self, leaf: Any, size: int) -> Any:
            release = super()._open(leaf, size)

            def publish(part: np.ndarray, noise: np.ndarray) -> np.ndarray:
                weight = 1.0
                if noise.ndim > 1 and noise.shape[-1] == noise.shape[-2]:
                    rows, columns = np.tril_indices(noise.shape[-1])
                    weight, noise_kept = np.where(rows == columns, 1.0, np.sqrt(2)), noise[..., rows, columns]
                else:
                    noise_kept = noise
                squares.setdefault(leaf.statistic, []).append(((noise_kept * weight / (leaf.noise_multiplier * leaf.sensitivity)) ** 2).ravel())
                return part + noise

            release._publish = publish  # type: ignore[method-assign]
            return release

    nobody = data.only(np.zeros(len(data), bool))
    for seed in range(1 + 650 * (start == "random")):
        noise = Listening(plan, np.random.SeedSequence(seed))
        algorithm.fit(nobody, noise=noise, rng=Streams(np.random.default_rng(0), 0))
    assert squares.keys() == {leaf.statistic for leaf, _ in normal_form(plan)}
    for statistic, parts in squares.items():
        draws = np.concatenate(parts)
        deviation = (draws.sum() - len(draws)) / np.sqrt(2 * len(draws))
        assert abs(deviation) < 4, statistic
        if start == "random" and len(draws) > 14_000:
            for off in (0.95, 1.05):
                assert abs((off**2 * draws.sum() - len(draws)) / np.sqrt(2 * len(draws))) > 4, statistic


def test_orthonormal_and_nearest_psd() -> None:
    V = np.random.default_rng(0).normal(size=(30, 4))
    Q = orthonormal(V)
    np.testing.assert_allclose(Q.T @ Q, np.eye(4), atol=1e-5)
    assert np.isfinite(orthonormal(np.zeros((30, 4)))).all()
    A = np.diag([2.0, -1.0])
    np.testing.assert_allclose(nearest_psd(A), np.diag([2.0, 0.0]), atol=1e-12)


def test_without_psd_projection_noise_ruins_the_fit(data: Ratings) -> None:
    """The ablation of [C21, Fig. 5]: unprojected Grams are worse."""
    options: dict[str, Any] = {"rank": 4, "noise_ridge": 0.0, "regularisation": 0.1, "biases": False}

    def error(psd: bool) -> float:
        models = [fitted("dpals", data, 3.0, seed, psd=psd, **options).model for seed in range(5)]
        return float(np.median([rmse(model.predict(model.personal(data), data.users, data.items), data.values) for model in models]))

    assert error(psd=True) < error(psd=False)
