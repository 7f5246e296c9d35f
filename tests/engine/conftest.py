from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.clusters import Processes
from tests.support.engines import CATALOGUE


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    """A scheduler and workers, once they are asked for."""
    group = Processes(tmp_path)
    yield group
    group.close()


@pytest.fixture
def tls_processes(tmp_path: Path) -> Iterator[Processes]:
    """The same, speaking TLS."""
    group = Processes(tmp_path, encrypted=True)
    yield group
    group.close()


@pytest.fixture
def two_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are on the two small simulated sets."""
    monkeypatch.setenv("DPMF_CATALOGUE", CATALOGUE)
