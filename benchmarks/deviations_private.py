"""What deviations from Chien et al. 2021 and Jain et al. 2018 cost in error.

`python -m benchmarks.deviations_private [ALGORITHM ...]` runs each algorithm as printed and with
one deviation, on the same ratings with the same draws, and records both errors
(`dpmf_core/papers/deviations.json`).
"""

import contextlib
import functools
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt

from benchmarks.deviation_costs import record_costs
from dpmf_core.base.threads import single_threaded_blas
from dpmf_core.papers.chien_2021 import printed as chien
from dpmf_core.papers.deviations import Cost
from dpmf_core.papers.jain_2018 import printed as jain
from dpmf_core.runs.data_access import open_ratings
from dpmf_core.runs.specification import DataSpec

Array = npt.NDArray[Any]
DRAWS = 3
TEST_SHARE = 0.1
MOST_PER_USER = 80
DATA = DataSpec(id="rankone-20k", most_per_user=MOST_PER_USER)


@dataclass(frozen=True)
class World:
    """Ratings within 1 of rank one: what is learned from, and what is held out."""

    M: Array
    Omega: Array
    held_out: Array

    @classmethod
    def drawn(cls, seed: int) -> "World":
        ratings = open_ratings(DATA)
        table = np.zeros((ratings.n_users, ratings.n_items))
        table[ratings.users, ratings.items] = ratings.values
        rated = np.zeros(table.shape, np.bool_)
        rated[ratings.users, ratings.items] = True
        test = rated & (
            np.random.default_rng([seed, 1]).random(table.shape) < TEST_SHARE
        )
        return cls(
            np.where(test, 0.0, table), rated & ~test, np.where(test, table, np.nan)
        )

    def error(self, predictions: Array) -> float:
        """The RMSE on what is held out."""
        return math.sqrt(float(np.nanmean((predictions - self.held_out) ** 2)))


def symmetric(rng: np.random.Generator, deviation: float, size: int) -> Array:
    """Independent noise of one deviation on the upper triangle."""
    upper = np.triu(rng.normal(0.0, deviation, (size, size)))
    return np.asarray(upper + np.triu(upper, 1).T)


# ---- Jain et al. 2018 ----------------------------------------------------------------------------

NOMINAL = jain.FrankWolfeInputs(
    epsilon=10.0,
    delta=1e-6,
    T=5,
    L=math.sqrt(MOST_PER_USER),  # of at most 80 ratings within 1
    beta=0.01,
    k=math.sqrt(20_000 * 400) / 3,  # of factors that are uniform in [-1, 1]
)
CLIP = 0.08  # of ours at an unknown signal, in half-ranges times √m


def top_pair(seed: int) -> jain.TopPair:
    rng = np.random.default_rng([seed, 2])
    return lambda A, sigma: jain.top_eigenpair(
        A, sigma, lambda s, n: symmetric(rng, s, n)
    )


def one_round_more(
    Y_star: Array, Omega: Array, inputs: jain.FrankWolfeInputs, top: jain.TopPair
) -> Array:
    """Users also step along the last released direction: T directions in T steps of 1/T."""
    v = np.zeros(Y_star.shape[1])
    lambda_prime = math.inf
    slack = math.sqrt(inputs.sigma * math.log(len(v) / inputs.beta)) * len(v) ** 0.25
    Y = np.zeros(Y_star.shape)
    for t in range(inputs.T + 1):
        A = np.where(Omega, Y - Y_star, 0.0)
        step = inputs.k / inputs.T * np.outer(A @ v / lambda_prime, v)
        if t:
            Y = jain.project((1 - 1 / inputs.T) * Y - step, Omega, inputs.L)
        if t < inputs.T:
            v, lambda_ = top(np.where(Omega, Y - Y_star, 0.0), inputs.sigma)
            lambda_prime = lambda_ + slack
    return Y


def without_slack(inputs: jain.FrankWolfeInputs) -> jain.FrankWolfeInputs:
    """beta at which log(n/beta) is next to 0; n = 400 items."""
    return jain.FrankWolfeInputs(**{**asdict(inputs), "beta": 400 / (1 + 1e-12)})


def clipped_residuals(top: jain.TopPair, C: float) -> jain.TopPair:
    """Residual rows within C, with the noise of 2L = C."""

    def clipped(A: Array, _sigma: float) -> tuple[Array, float]:
        sigma = jain.deviation(NOMINAL.epsilon, NOMINAL.delta, NOMINAL.T, C / 2)
        return top(jain.project(A, A != 0, C), sigma)

    return clipped


def frank_wolfe_errors(seed: int) -> Mapping[str, float]:
    world = World.drawn(seed)
    run = functools.partial(jain.private_frank_wolfe, world.M, world.Omega)
    C = CLIP * math.sqrt(world.M.shape[1])
    short = jain.FrankWolfeInputs(**{**asdict(NOMINAL), "L": C})
    return {
        "": world.error(run(NOMINAL, top_pair(seed))),
        "slack": world.error(run(without_slack(NOMINAL), top_pair(seed))),
        "last direction": world.error(
            one_round_more(world.M, world.Omega, NOMINAL, top_pair(seed))
        ),
        "clipped residuals": world.error(
            run(short, clipped_residuals(top_pair(seed), C))
        ),
    }


def svd_errors(seed: int) -> Mapping[str, float]:
    world = World.drawn(seed)
    rng = np.random.default_rng([seed, 2])
    predictions = jain.private_svd(
        world.M,
        world.Omega,
        epsilon=NOMINAL.epsilon,
        delta=NOMINAL.delta,
        L=NOMINAL.L,
        r=1,
        noise=lambda sigma, n: symmetric(rng, sigma, n),
    )
    own_shares = world.Omega.mean(axis=1, keepdims=True)
    return {
        "": world.error(predictions),
        "share": world.error(predictions * world.Omega.mean() / own_shares),
    }


# ---- Chien et al. 2021 ---------------------------------------------------------------------------

CHIEN_EPSILON = 10.0
CHIEN_DELTA = 1e-5
RIDGE_OF_ITEMS = 1000.0


def chien_inputs(seed: int) -> chien.DPALSInputs:
    start = np.random.default_rng([seed, 3]).standard_normal((400, 1))
    return chien.DPALSInputs(
        sigma=chien.noise_of_theorem_1(CHIEN_EPSILON, CHIEN_DELTA, MOST_PER_USER, 3),
        Gamma_u=10.0,
        Gamma_M=0.5,
        T=3,
        lambda_=0.02,
        V_0=start / np.linalg.norm(start),
    )


def chien_draws(world: World, seed: int) -> chien.DPALSDraws:
    rng = np.random.default_rng([seed, 2])
    return chien.DPALSDraws(
        matrix=lambda _t, _j, deviation: symmetric(rng, deviation, 1),
        vector=lambda _t, _j, deviation: rng.normal(0.0, deviation, 1),
        item_sample=lambda _t: world.Omega,  # nobody has more than k
        user_sample=lambda _t: world.Omega,
    )


def ridge_after_projection(
    noisy_gram: Array, noisy_side: Array, lambda_: float
) -> Array:
    """The noisy Gram matrix is projected alone, and the ridge is added afterwards."""
    values, Q = np.linalg.eigh(noisy_gram)
    return np.asarray(Q @ ((Q.T @ noisy_side) / (np.maximum(values, 0) + lambda_)))


def large_ridge_of_items(noisy_gram: Array, noisy_side: Array, _lambda: float) -> Array:
    return SOLVE_ITEM(noisy_gram, noisy_side, RIDGE_OF_ITEMS)


SOLVE_ITEM = chien.solve_item
USER_PROCEDURE = chien.user_procedure
ORTHONORMAL = chien.orthonormal
Run = Callable[[], tuple[Array, Array]]


@contextlib.contextmanager
def replaced(name: str, function: Callable[..., Any]) -> Iterator[None]:
    """Replace a function of the printed version."""
    with mock.patch.object(chien, name, function):
        yield


@contextlib.contextmanager
def whole_entries(M: Array, Omega: Array) -> Iterator[None]:
    """Users' own factors see their ratings without the clip to Gamma_M."""
    whole = np.where(Omega, M, 0.0)

    def user_procedure(
        V: Array, _M: Array, inputs: chien.DPALSInputs, cells: Array
    ) -> Array:
        return USER_PROCEDURE(V, whole, inputs, cells)

    with replaced("user_procedure", user_procedure):
        yield


def last_step(run: Run, M: Array, Omega: Array, inputs: chien.DPALSInputs) -> Array:
    """Predictions by the last V as it was solved times Gamma_u / sqrt(r), and U without a clip.

    M: the ratings that the users' last factors see.
    """
    solved: list[Array] = []

    def remembering(V: Array) -> Array:
        solved.append(V)
        return ORTHONORMAL(V)

    with replaced("orthonormal", remembering):
        run()
    V = solved[-1] * inputs.Gamma_u / math.sqrt(inputs.V_0.shape[1])
    unbounded = chien.DPALSInputs(**{**vars(inputs), "Gamma_u": math.inf})
    return np.asarray(
        USER_PROCEDURE(V, np.where(Omega, M, 0.0), unbounded, Omega) @ V.T
    )


def dpals_errors(seed: int) -> Mapping[str, float]:
    world = World.drawn(seed)
    inputs = chien_inputs(seed)

    def run() -> tuple[Array, Array]:
        return chien.dpals(world.M, world.Omega, inputs, chien_draws(world, seed))

    def error() -> float:
        U, V = run()
        return world.error(U @ V.T)

    clipped = np.clip(world.M, -inputs.Gamma_M, inputs.Gamma_M)
    errors = {
        "": error(),
        "last step": world.error(last_step(run, clipped, world.Omega, inputs)),
    }
    with whole_entries(world.M, world.Omega):
        errors["entries"] = error()
    with replaced("solve_item", ridge_after_projection):
        errors["ridge"] = error()
    with replaced("solve_item", large_ridge_of_items):
        errors["one ridge"] = error()
    return errors


# ---- the record ----------------------------------------------------------------------------------

ON = "Rank one, 20,000 users"
OF_JAIN = f"{ON} (ε = 10, T = 5, L = √80, β = 0.01, the true nuclear norm)"
OF_OJA = f"{ON}, with Algorithm 1's eigenpairs (ε = 10, T = 5, L = √80, β = 0.01)"
OF_SVD = f"{ON} (ε = 10, L = √80, r = 1)"
OF_CHIEN = f"{ON} (ε = 10, k = 80, T = 3, Γ_u = 10, Γ_M = 0.5, λ = 0.02)"


def cost(on: str, errors: Callable[[int], Mapping[str, float]], key: str) -> Cost:
    """The cost of one deviation, from errors by a seed: as printed under '', or by its key."""
    draws = [errors(seed) for seed in range(DRAWS)]
    as_printed = round(float(np.mean([draw[""] for draw in draws])), 6)
    ours = round(float(np.mean([draw[key] for draw in draws])), 6)
    return Cost(on=on, printed=as_printed, ours=ours, draws=DRAWS)


def measures(
    on: str, errors: Callable[[int], Mapping[str, float]], *keys: str
) -> Mapping[str, Callable[[], Cost]]:
    of_seed = functools.cache(errors)  # one run measures all keys
    return {key: functools.partial(cost, on, of_seed, key) for key in keys}


KEYS_OF_STEPS = ("slack", "last direction", "clipped residuals")
MEASURES: Mapping[str, Mapping[str, Callable[[], Cost]]] = {
    "dpals": measures(
        OF_CHIEN, dpals_errors, "entries", "ridge", "one ridge", "last step"
    ),
    "dpfw": measures(OF_JAIN, frank_wolfe_errors, *KEYS_OF_STEPS),
    # the steps are the same; the step size of Oja's method is not printed
    "dpfw-oja": measures(OF_OJA, frank_wolfe_errors, *KEYS_OF_STEPS),
    "private-svd": measures(OF_SVD, svd_errors, "share"),
}

if __name__ == "__main__":
    chosen = sys.argv[1:] or list(MEASURES)
    with single_threaded_blas:
        record_costs({algorithm: MEASURES[algorithm] for algorithm in chosen})
