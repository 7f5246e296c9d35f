"""What users compute for themselves is remembered beside their ratings, never in a model."""

import gc
import pickle
import weakref
from collections.abc import Callable

import numpy as np
import pytest

from dpmf_core import kernels
from dpmf_core.algorithms.base import Personal, Recommender
from dpmf_core.data.ratings import Ratings
from dpmf_core.testing.worlds import world


@pytest.fixture
def solve_count(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """How often least squares were solved."""
    calls: list[int] = []
    solve = kernels.solve_rows

    def counting_solve(*args: object, **kwargs: object) -> object:
        calls.append(1)
        return solve(*args, **kwargs)

    monkeypatch.setattr(kernels, "solve_rows", counting_solve)
    return lambda: len(calls)


def model_of(data: Ratings, seed: int) -> Recommender:
    factors = np.random.default_rng(seed).standard_normal((data.n_items, 3)).astype(np.float32)
    return Recommender(data.bounds, 3.0, np.zeros(data.n_items, np.float32), factors)


def same(one: Personal, other: Personal) -> bool:
    return np.array_equal(one.offsets, other.offsets) and np.array_equal(one.factors, other.factors)


def test_the_model_holds_nothing_of_it_and_it_goes_with_the_model() -> None:
    data, model = world(), model_of(world(), 0)
    before = pickle.dumps(model)
    factors = weakref.ref(model.personal(data).factors)
    assert pickle.dumps(model) == before
    assert factors() is not None
    del model
    gc.collect()
    assert factors() is None


def test_other_ratings_remember_their_own(solve_count: Callable[[], int]) -> None:
    data, model = world(), model_of(world(), 0)
    some = data.only(data.items > 2)
    first, second = model.personal(data), model.personal(some)
    assert model.personal(data) is first and model.personal(some) is second and solve_count() == 2
    copy = pickle.loads(pickle.dumps(data))
    assert same(model.personal(copy), first) and solve_count() == 3
