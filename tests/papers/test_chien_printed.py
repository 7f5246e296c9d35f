"""Algorithm 1 of Chien et al. as printed, and ours, on the same data with the same draws of noise.

They agree to rounding once the deviations that are declared for ours are applied to the printed
version, each in a place of its own.
"""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from dpmf_core.algorithms import find
from dpmf_core.algorithms.als import random_start
from dpmf_core.algorithms.base import Streams
from dpmf_core.base.hashing import draw_key, keyed_uniform
from dpmf_core.data.ratings import rank_within_user
from dpmf_core.papers.chien_2021 import printed
from dpmf_core.papers.deviations import read_deviations, recorded_costs
from dpmf_core.privacy import Budget, Calibration
from tests.fitting import fit
from tests.support.dense import dense, rectangle
from tests.support.heard_noise import HeardNoise

DELTA = 1e-5
SEED = 5
HALF_RANGE = 7.0  # of the ratings, from -4 to 10
N = 80
M = 14
R = 2
K = 6
T = 3
GAMMA_U = 2.0
GAMMA_M = 1.4
LAMBDA = 1.5
ROUNDING = {"rtol": 2e-3, "atol": 2e-3}  # ours solves in float32
# one ridge in all steps, Grams and right-hand sides alike, nothing else that Algorithm 1 has not
SETTINGS = {
    "rank": R,
    "steps": T,
    "clip_norm": GAMMA_U,
    "rating_clip": GAMMA_M / HALF_RANGE,
    "ratings_per_user": K,
    "regularisation": LAMBDA / GAMMA_U**2,
    "user_regularisation": LAMBDA,
    "prediction_ridge": LAMBDA,
    "noise_ridge": 0.0,
    "biases": False,
    "centring": "none",
    "gram_share": 0.5,
    "local_columns": False,
}


@pytest.fixture(scope="module")
def data():
    return rectangle(N, M, 0.7)


@pytest.fixture(scope="module")
def matrices(data):
    """M and Omega."""
    return dense(data, data.values), dense(data, 1.0) > 0


class Ours:
    """A run of ours, whose noise is heard."""

    def __init__(self, data, epsilon=20.0, **changes):
        settings = {**SETTINGS, **changes}
        algorithm = find("dpals")(**settings)
        budget = Budget(epsilon=epsilon, delta=DELTA, calibration=Calibration.SOURCE)
        level = algorithm.source_level(data.shape, budget)
        noise = HeardNoise(
            algorithm.plan(data.shape, level), np.random.SeedSequence(SEED), True
        )
        rng = Streams(np.random.default_rng(SEED), SEED)
        self.model = fit(algorithm, data, noise, rng).model
        self.releases = noise.releases
        personal = self.model.personal(data)
        self.U = personal.factors.astype(float)
        item_factors = self.model.item_factors.astype(float)
        self.predictions = self.U[:, :R] @ item_factors.T

    def noise_of(self, name):
        """The noise of a statistic, release by release."""
        return [
            drawn.reshape(exact.shape)
            for leaf, exact, drawn in self.releases
            if leaf.statistic == name
        ]

    def draws(self, item_sample, user_sample):
        grams = self.noise_of("item Grams")
        sides = self.noise_of("item right-hand sides")
        return printed.DPALSDraws(
            matrix=lambda t, j, _deviation: grams[t][j],
            vector=lambda t, j, _deviation: sides[t][j],
            item_sample=item_sample,
            user_sample=user_sample,
        )


def sample_of_ours(data, key, most=K):
    """The ratings of each user that ours draws with a key, at most so many."""
    place = keyed_uniform(key, data.users, data.items)
    mask = rank_within_user(data, place) < most
    return dense(data, mask) > 0


def inputs(lambda_=LAMBDA):
    start = random_start(Streams(np.random.default_rng(SEED), SEED), M, R)
    return printed.DPALSInputs(
        sigma=math.nan,  # the draws have it
        Gamma_u=GAMMA_U,
        Gamma_M=GAMMA_M,
        T=T,
        lambda_=lambda_,
        V_0=start.astype(float),
    )


def ridge_after_projection(noisy_gram, noisy_side, lambda_):
    """Deviation "ridge": ours projects the noisy Gram alone and adds the ridge afterwards."""
    values, Q = np.linalg.eigh(noisy_gram)
    eigenvalues = np.maximum(values, 0)
    return Q @ ((Q.T @ noisy_side) / (eigenvalues + lambda_))


def unclipped_entries(Omega, M):
    """Deviation "entries": ours clips ratings in the item step only.

    The printed version is run on the ratings as they are; its user procedure takes them unclipped.
    """
    whole = np.where(Omega, M, 0.0)
    user_procedure = printed.user_procedure
    return lambda V, _M, inputs, cells: user_procedure(V, whole, inputs, cells)


def last_step_of_ours(V_tilde, M, Omega):
    """Deviations "last V" and "last U".

    Ours returns the item factors of the last step as they are, times Gamma_u / sqrt(r), and does
    not clip the users' last factors.
    """
    V = V_tilde * GAMMA_U / math.sqrt(R)
    unbounded = printed.DPALSInputs(
        sigma=0.0, Gamma_u=math.inf, Gamma_M=GAMMA_M, T=T, lambda_=LAMBDA, V_0=V
    )
    U = printed.user_procedure(V, np.where(Omega, M, 0.0), unbounded, Omega)
    return U @ V.T


# keys of their costs; the ridges are settings
DEVIATIONS = (
    "ridge",
    "entries",
    "last step",
)


def test_the_cost_of_each_deviation_is_recorded():
    declared = read_deviations("dpmf_core.papers.chien_2021")
    measured = {deviation.cost for deviation in declared["dpals"]} - {""}
    assert measured == {*DEVIATIONS, "one ridge"}
    assert set(recorded_costs()["dpals"]) == {*DEVIATIONS, "one ridge"}


def deviating(monkeypatch, matrices, draws, without=""):
    """The predictions of the printed version with the deviations of ours, but for one."""
    M_, Omega = matrices
    last = []
    orthonormal = printed.orthonormal

    def remembered(V):
        last.append(V)
        return orthonormal(V)

    monkeypatch.setattr(printed, "orthonormal", remembered)
    if without != "ridge":
        monkeypatch.setattr(printed, "solve_item", ridge_after_projection)
    if without != "entries":
        monkeypatch.setattr(printed, "user_procedure", unclipped_entries(Omega, M_))
    U, V = printed.dpals(M_, Omega, inputs(), draws)
    monkeypatch.undo()
    if without == "last step":
        return U @ V.T
    return last_step_of_ours(last[-1], M_, Omega)


@pytest.mark.parametrize("epsilon", [2.0, 20.0])
def test_ours_is_algorithm_1_as_run_but_for_its_deviations(
    data, matrices, monkeypatch, epsilon
):
    """One sample of ratings for all steps, and all ratings for the users' own factors."""
    ours = Ours(data, epsilon)
    sample = sample_of_ours(data, SEED)
    draws = ours.draws(lambda _t: sample, lambda _t: matrices[1])
    theirs = deviating(monkeypatch, matrices, draws)
    assert_allclose(ours.predictions, theirs, **ROUNDING)
    for one in DEVIATIONS:
        other = deviating(monkeypatch, matrices, draws, without=one)
        assert np.abs(other - theirs).max() > 0.1, one


def test_ours_is_algorithm_1_as_analysed_but_for_its_deviations(
    data, matrices, monkeypatch
):
    """Fresh ratings at each step: k of a user for the items, a T-th for the user, rounded up."""
    ours = Ours(data, resample=True)

    def share(t):
        """A T-th; the last factor of ours takes all ratings (deviation "last U")."""
        key = draw_key(SEED, 2 * t + 1)
        place = keyed_uniform(key, data.users, data.items)
        counts = np.bincount(data.users, minlength=N)
        enough = np.ceil(counts / T)
        place_of_rating = rank_within_user(data, place)
        return dense(data, place_of_rating < enough[data.users]) > 0

    def sample(t):
        return sample_of_ours(data, draw_key(SEED, 2 * t))

    draws = ours.draws(sample, share)
    theirs = deviating(monkeypatch, matrices, draws)
    assert_allclose(ours.predictions, theirs, **ROUNDING)


def test_noise_is_that_of_theorem_1(data):
    """sigma Gamma_u^2 on the whole upper triangle, sigma Gamma_u Gamma_M on the sides."""
    ours = Ours(data, 20.0, steps=50)
    sigma = printed.noise_of_theorem_1(20.0, DELTA, K, 50)
    grams = np.concatenate(ours.noise_of("item Grams"))
    sides = np.concatenate(ours.noise_of("item right-hand sides"))
    # 700 draws
    on_diagonal = grams[:, 0, 0].std() / sigma / GAMMA_U**2
    assert on_diagonal == pytest.approx(1, abs=0.1)
    off_diagonal = grams[:, 0, 1].std() / sigma / GAMMA_U**2
    assert off_diagonal == pytest.approx(1, abs=0.1)
    of_sides = sides.std() / sigma / GAMMA_U / GAMMA_M
    assert of_sides == pytest.approx(1, abs=0.07)


def test_the_rarest_frequent_items_of_a_user(data, matrices):
    """Section 5.1: ours takes the same items from the same noisy counts."""
    _, Omega = matrices
    ours = Ours(data, sampling="adaptive", frequent_fraction=0.6)
    (counts,) = (
        exact + drawn
        for leaf, exact, drawn in ours.releases
        if leaf.statistic == "item counts"
    )
    frequent = printed.frequent_items(counts, 0.6)
    has_factor = ours.model.item_factors.any(axis=1)
    assert_array_equal(np.flatnonzero(has_factor), frequent)
    sample = printed.adaptive_sample(Omega, counts, frequent, K)
    assert sample.sum(axis=1).max() == K
    # the exact Grams of the first step count these raters: their trace is the sum of |u|^2
    first_grams = next(
        exact for leaf, exact, _ in ours.releases if leaf.statistic == "item Grams"
    )
    V_0 = inputs().V_0
    U = printed.user_procedure(V_0, matrices[0], inputs(), Omega)
    squares = (U**2).sum(axis=1)
    terms = sample[:, frequent] * squares[:, None]
    traces = np.trace(first_grams, axis1=1, axis2=2)
    assert_allclose(traces, terms.sum(axis=0), rtol=1e-4)


def test_infrequent_items_get_the_user_s_average(data, matrices):
    """Section 5.1, by hand for the printed version."""
    # the first user has no ratings
    M_ = matrices[0][1:]
    Omega = matrices[1][1:]
    frequent = np.array([0, 3])
    U = np.ones((N - 1, 1))
    V = np.array([[2.0], [5.0]])
    M_hat = printed.predictions(U, V, frequent, M_, Omega)
    assert_allclose(M_hat[:, 3], 5.0)
    user = 4
    expected = M_[user, Omega[user]].mean()
    assert_allclose(M_hat[user, 1], expected)


def test_ours_gives_infrequent_items_the_same_average(data, matrices):
    """Section 5.1 with a global mean: U V^T plus the mean, or the user's average rating."""
    # the first user has no ratings
    M_ = matrices[0][1:]
    Omega = matrices[1][1:]
    ours = Ours(data, centring="global", frequent_fraction=0.5, epsilon=1e3).model
    personal = ours.personal(data)
    has_factor = ours.item_factors.any(axis=1)
    frequent = np.flatnonzero(has_factor)
    assert len(frequent) == 7
    U = personal.factors[1:, :R].astype(float)
    theirs = printed.predictions(
        U, ours.item_factors[frequent].astype(float), frequent, M_, Omega
    )
    theirs[:, frequent] += ours.centre
    users, items = np.divmod(np.arange(N * M), M)
    predictions = ours.predict(personal, users, items)
    predictions = predictions.reshape(N, M)[1:]
    assert_allclose(predictions, theirs.clip(-4, 10), rtol=1e-4, atol=1e-4)


def test_steps_by_hand():
    """A user with one item, and an item with one user, for lambda = 1."""
    one = printed.DPALSInputs(
        sigma=0.0, Gamma_u=1.0, Gamma_M=9.0, T=1, lambda_=1.0, V_0=np.eye(2)
    )
    M_ = np.array([[4.0, 0.0]])
    Omega = np.array([[True, False]])
    expected = [[1.0, 0.0]]
    assert_allclose(printed.user_procedure(np.eye(2), M_, one, Omega), expected)
    gram = np.diag([1.0, -3.0])
    side = np.array([4.0, 4.0])
    solution = printed.solve_item(gram, side, 1.0)
    assert_allclose(solution, [2.0, 0.0])  # 1 - 3 + lambda < 0 becomes 0
    Q = printed.orthonormal(np.array([[3.0, 0.0], [4.0, 1.0]]))
    assert_allclose(Q.T @ Q, np.eye(2), atol=1e-12)
