"""Every algorithm on data that nobody would choose: finite figures, or a sentence; never a
warning of numbers that broke, never a traceback.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpmf_core.algorithms import REGISTRY, Algorithm, PrivateAlgorithm
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples
from dpmf_core.errors import BadInput
from dpmf_core.runs.execution import run
from dpmf_core.runs.specification import RunSpec

LOW, HIGH = 1.0, 5.0


def ratings(users: Any, items: Any, values: Any, n_users: int, n_items: int) -> Ratings:
    return Ratings.of(
        users, items, values, n_users=n_users, n_items=n_items, bounds=(LOW, HIGH), public=True
    )


def full(n_users: int, n_items: int, value: Callable[[Any, Any], Any]) -> Ratings:
    users, items = np.divmod(np.arange(n_users * n_items), n_items)
    return ratings(
        users,
        items,
        np.broadcast_to(value(users, items), users.shape).astype(float),
        n_users,
        n_items,
    )


RATINGS: dict[str, Callable[[], Ratings]] = {
    "constant": lambda: full(30, 8, lambda u, i: 3.0),
    "all at the lowest": lambda: full(30, 8, lambda u, i: LOW),
    "at the bounds": lambda: full(30, 8, lambda u, i: np.where((u + i) % 2, LOW, HIGH)),
    "one item": lambda: full(40, 1, lambda u, i: 1 + u % 5),
    "two items, one rated by one": lambda: ratings(
        [*range(30), 0], [0] * 30 + [1], [1 + k % 5 for k in range(31)], 30, 2
    ),
    "one user with all items": lambda: full(1, 40, lambda u, i: 1 + i % 5),
    "duplicate rows": lambda: full(30, 8, lambda u, i: 1 + i % 5),
    "few users, many items": lambda: full(4, 60, lambda u, i: 1 + (u * i) % 5),
    "a rating each": lambda: ratings(
        range(60), [u % 6 for u in range(60)], [1 + u % 5 for u in range(60)], 60, 6
    ),
    "users and items without ratings": lambda: ratings(
        np.repeat(np.arange(20), 4),
        [k % 5 for k in range(80)],
        [1 + k % 5 for k in range(80)],
        50,
        30,
    ),
}
TABLES: dict[str, Callable[[], Any]] = {
    "all zero": lambda: np.zeros((20, 12)),
    "zero rows": lambda: np.vstack([np.zeros((5, 12)), np.ones((15, 12))]),
    "constant": lambda: np.full((20, 12), 0.25),
    "duplicate rows": lambda: np.tile(np.arange(12.0), (20, 1)),
    "one sample": lambda: np.arange(12.0)[None, :],
    "one feature": lambda: np.arange(20.0)[:, None],
    "few samples, many features": lambda: np.random.default_rng(0).random((3, 50)),
    "tiny and huge": lambda: (
        np.random.default_rng(0).random((20, 12)) * np.where(np.arange(12) % 2, 1e-30, 1e30)
    ),
}
EPSILONS = (1e-3, 1e3)


def samples(table: Any) -> Samples:
    return Samples.of(table, vocabulary=tuple(f"w{k}" for k in range(table.shape[1])), public=True)


def outcome(name: str, data: Ratings | Samples, epsilon: float, **parameters: Any) -> None:
    """Runs, splits and judges as any run; a refusal must be a sentence that says what to do."""
    kind = REGISTRY[name]
    budget = None if not issubclass(kind, PrivateAlgorithm) else {"epsilon": epsilon, "delta": 1e-6}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            finished_run = run(
                RunSpec.parse(
                    data={"id": "made"}, algorithm=name, parameters=parameters, budget=budget
                ),
                input_data=data,
            )
    except BadInput as error:
        assert str(error).endswith((".", "?")) and len(str(error)) > 20
        return
    for part, array in finished_run.arrays.items():
        assert np.isfinite(array).all(), part
    figures = {
        name: value for name, value in finished_run.record.metrics.items() if value is not None
    }
    assert figures and all(np.isfinite(value) for value in figures.values()), figures
    assert all(
        np.isfinite(value) for point in finished_run.record.curves for value in point.values()
    )


def factors(kind: type[Algorithm]) -> str | None:
    return next((name for name in ("rank", "n_components") if name in kind.model_fields), None)


RECOMMENDERS = [name for name, kind in REGISTRY.items() if kind.task == "ratings"]
FACTORISATIONS = [name for name, kind in REGISTRY.items() if kind.task == "samples"]


@pytest.mark.parametrize("world", RATINGS)
@pytest.mark.parametrize("name", RECOMMENDERS)
def test_recommenders(name: str, world: str) -> None:
    data = RATINGS[world]()
    private = issubclass(REGISTRY[name], PrivateAlgorithm)
    for epsilon in EPSILONS if private else (1.0,):
        outcome(name, data, epsilon)
    if word := factors(REGISTRY[name]):
        for rank in {1, min(data.n_items, 256)}:
            outcome(name, data, 1.0, **{word: rank})


@pytest.mark.parametrize("world", TABLES)
@pytest.mark.parametrize("name", FACTORISATIONS)
def test_factorisations(name: str, world: str) -> None:
    data = samples(TABLES[world]())
    private = issubclass(REGISTRY[name], PrivateAlgorithm)
    for epsilon in EPSILONS if private else (1.0,):
        outcome(name, data, epsilon)
    for rank in (1, data.X.shape[1]):
        outcome(name, data, 1.0, n_components=rank)


@pytest.mark.parametrize("name", FACTORISATIONS)
def test_factorisations_of_ratings(name: str) -> None:
    for world in ("constant", "at the bounds", "few users, many items"):
        outcome(name, RATINGS[world](), 1.0, n_components=2)
