"""Fixtures that all tests share."""

import os
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[1] / ".venv/compiled"))  # compiled once, whichever data folder a test has

from dpmf_core import experiment
from dpmf_core.accounts import LEDGER
from dpmf_core.data import Ratings
from dpmf_core.errors import BadInput
from tests.worlds import low_rank, world

CATALOGUE = "tests.small_catalogue"


@pytest.fixture(autouse=True)
def ledger(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test enters an account in the data folder of whoever runs it; those about accounts unset this."""
    monkeypatch.setenv(LEDGER, str(tmp_path_factory.getbasetemp() / f"{uuid.uuid4().hex}.ledger"))


@pytest.fixture(scope="session")
def small() -> Ratings:
    """23 users, 19 items: empty and heavy users, merged duplicates, clamped half stars."""
    return world()


@pytest.fixture
def catalogue(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """A catalogue in memory for `experiment.run`; call it with id=Ratings to put a data set in. Holds 'small' and 'films'."""
    held: dict[str, Ratings] = {"small": world(), "films": low_rank()}
    stamps: dict[str, float] = {}

    def load(data_id: str) -> Ratings:
        if data_id not in held:
            raise BadInput(f"There is no data set {data_id!r}. Known: {', '.join(held)}.")
        return held[data_id]

    def put(**more: Ratings) -> None:
        for name, ratings in more.items():
            held[name] = ratings
            stamps[name] = stamps.get(name, 0.0) + 1.0

    module = ModuleType(CATALOGUE)
    module.load, module.stamp = load, lambda data_id: stamps.get(data_id, 0.0)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, CATALOGUE, module)
    monkeypatch.setenv("DPMF_CATALOGUE", CATALOGUE)
    _forget()
    yield put
    _forget()


def _forget() -> None:
    for cache in (experiment._raw, experiment._prepared, experiment._split):
        cache.cache_clear()
