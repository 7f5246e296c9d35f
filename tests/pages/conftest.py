"""A store and an engine of each page test module's own."""

from collections.abc import Iterator

import pytest

from dpmf_core.accounts import LEDGER
from dpmf_core.engine import Engine


@pytest.fixture(autouse=True)
def accounts(ledger: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each upload has its own account here."""
    monkeypatch.delenv(LEDGER)


@pytest.fixture(scope="module", autouse=True)
def own_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPMF_DATA", str(tmp_path_factory.mktemp("data")))
        patch.setenv("DPMF_ENGINE", "threads")
        held: list[Engine] = []
        patch.setattr("dpmf_core.engine._only", held)
        yield
        for made in held:
            made.close()
            made.store.close()
