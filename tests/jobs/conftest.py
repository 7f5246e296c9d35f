import pytest

from tests.support.engines import CATALOGUE


@pytest.fixture
def two_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are on the two small simulated sets."""
    monkeypatch.setenv("DPMF_CATALOGUE", CATALOGUE)
