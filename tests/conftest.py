"""Fixtures that all tests share."""

import os
import platform
import sys
import uuid
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

# a process of tests has one core: threads would only wait for each other over worlds so small
os.environ.setdefault("DPMF_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# a server of a test would otherwise compute its pages' grids meanwhile, on a core of the tests
os.environ.setdefault("DPMF_WARM", "false")
# whatever the processor: others round otherwise, which parts and attacks can amplify
if platform.machine() in ("x86_64", "AMD64"):
    os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")
# compiled once, whichever data folder a test has
os.environ.setdefault(
    "NUMBA_CACHE_DIR", str(Path(__file__).parents[1] / ".venv/compiled")
)

from dpmf_core.base.errors import BadInput
from dpmf_core.base.settings import settings as server_settings
from dpmf_core.data import PartitionedRatings
from dpmf_core.privacy.accounts import LEDGER
from dpmf_core.runs import data_access
from dpmf_core.testing.rating_worlds import low_rank, world
from tests.support import engines

# the same examples each time; one may take any time on a machine that does other work
settings.register_profile("dpmf", deadline=None, derandomize=True)
settings.load_profile("dpmf")

CATALOGUE = "tests.small_catalogue"


@pytest.fixture(scope="session", autouse=True)
def workers_of_this_process():
    """What tests have computed is computed in this process, unless they start worker processes."""
    with pytest.MonkeyPatch.context() as patch:
        engines.in_threads(patch)
        yield


def pytest_addoption(parser):
    parser.addoption(
        "--contract-of", default="", help="ids of algorithms, commas between them"
    )
    parser.addoption(
        "--renew", action="store_true", help="golden files are written anew"
    )


def pytest_collection_modifyitems(config, items):
    """Of the contract, the algorithms that were asked for."""
    ids = set(filter(None, config.getoption("contract_of").split(",")))
    if ids:
        deselection = [
            item
            for item in items
            if "contract" in item.path.parts and not _is_of(item, ids)
        ]
        config.hook.pytest_deselected(items=deselection)
        items[:] = [item for item in items if item not in set(deselection)]


def _is_of(item, algorithms):
    """Whether a test of the contract is about one of these."""
    case = getattr(item, "callspec", None)
    return (
        case is None
        or "case" not in case.params
        or case.params["case"][0].id in algorithms
    )


@pytest.fixture(scope="session", autouse=True)
def ledger_of_fixtures(tmp_path_factory):
    """Fixtures that several tests share enter no account outside these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(LEDGER, str(tmp_path_factory.getbasetemp() / "shared.ledger"))
        yield


@pytest.fixture(autouse=True)
def ledger(monkeypatch, tmp_path_factory):
    """Each test has a ledger of its own; tests of accounts unset it."""
    monkeypatch.setenv(
        LEDGER, str(tmp_path_factory.getbasetemp() / f"{uuid.uuid4().hex}.ledger")
    )


@pytest.fixture(autouse=True)
def main_module(monkeypatch):
    """A page drawn in a test replaces `__main__`, which a process spawned later would import."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    """The data folder of this test, which is empty."""
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def two_sets(data_folder, monkeypatch):
    """Runs are on the two small simulated sets."""
    monkeypatch.setenv("DPMF_CATALOGUE", engines.CATALOGUE)


@pytest.fixture
def configure(data_folder, monkeypatch):
    """configure(name=value): a server's settings; none before it is called."""

    def change(**values):
        for name, value in values.items():
            monkeypatch.setenv(f"DPMF_{name.upper()}", str(value))
        server_settings.cache_clear()

    change()
    yield change
    server_settings.cache_clear()


@pytest.fixture(scope="session")
def small():
    """23 users, 19 items: empty and heavy users, merged duplicates, clamped half stars."""
    return world()


@pytest.fixture
def catalogue(monkeypatch):
    """A catalogue of 'small' and 'films' in memory; call it with id=Ratings to add a data set."""
    data_sets = {"small": world(), "films": low_rank()}
    stamps = {}

    def load(data_id):
        if data_id not in data_sets:
            raise BadInput(
                f"There is no data set {data_id!r}. Known: {', '.join(data_sets)}."
            )
        return data_sets[data_id]

    def put(**more):
        for name, ratings in more.items():
            data_sets[name] = ratings
            stamps[name] = stamps.get(name, 0.0) + 1.0

    module = ModuleType(CATALOGUE)
    module.load = load
    module.stamp = lambda data_id: stamps.get(data_id, 0.0)
    module.is_own = lambda _: False
    module.is_in_parts = lambda data_id: isinstance(
        data_sets.get(data_id), PartitionedRatings
    )
    monkeypatch.setitem(sys.modules, CATALOGUE, module)
    monkeypatch.setenv("DPMF_CATALOGUE", CATALOGUE)
    data_access.forget()
    yield put
    data_access.forget()
