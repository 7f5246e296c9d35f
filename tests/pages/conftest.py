"""A store and an engine of each page test module's own."""

from contextlib import contextmanager

import pytest

from dpmf_core.privacy.accounts import LEDGER
from dpmf_datasets import sandbox
from pages.kit.running import epsilon_grid, time_estimate
from pages.server import sessions as server_sessions


@pytest.fixture(autouse=True)
def in_process(monkeypatch):
    """Files are read in this process; `tests/datasets/test_hostile_files.py` starts children."""
    monkeypatch.setattr(sandbox, "is_inside", True)


@pytest.fixture(autouse=True)
def accounts(ledger, monkeypatch):
    """Each upload has its own account here."""
    monkeypatch.delenv(LEDGER)


@pytest.fixture
def short_grid(monkeypatch):
    """Three points of the grid of epsilons, so that filling it takes little time."""
    monkeypatch.setattr(epsilon_grid, "EPSILONS", (0.2, 2.0, 5.0))


@contextmanager
def fresh_store(folder):
    """An empty store in a folder, with an engine of its own.

    Word vectors of public documents, which take seconds to learn, are the whole session's.
    """
    session = next(
        (parent for parent in folder.parents if parent.name.startswith("pytest-")),
        folder.parent,
    )
    (session / "words").mkdir(exist_ok=True)
    (folder / "words").symlink_to(session / "words")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPMF_DATA", str(folder))
        patch.setenv("DPMF_THREADS", "2")  # pages estimate time by them
        # nothing runs in one before
        sessions = server_sessions.Sessions(lambda ident: True)
        patch.setattr(server_sessions, "registry", sessions)
        engines = []
        patch.setattr("dpmf_core.jobs.engine._only", engines)
        time_estimate._speeds.clear()  # those of the store before
        yield
        for one in engines:
            one.close()
            one.store.close()


@pytest.fixture(scope="module", autouse=True)
def own_store(tmp_path_factory):
    with fresh_store(tmp_path_factory.mktemp("data")):
        yield
