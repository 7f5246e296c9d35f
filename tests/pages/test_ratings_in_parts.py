"""Ratings in parts on the pages: chosen, trained on, judged and paid for like any other set."""

import shutil
from collections.abc import Iterator
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.base import settings
from dpmf_core.data.ratings import Ratings
from dpmf_core.jobs.engine import engine
from dpmf_core.runs.spending import account_of
from dpmf_core.testing.worlds import low_rank
from dpmf_datasets import partitions
from tests.pages.driving import (
    app_of,
    behind_sidebar,
    settled,
)
from tests.support.parts import in_files

DELTA = 1e-5
NAME = "films-in-parts"


def ratings(public: bool) -> Ratings:
    world = low_rank(n_users=240)
    titles = tuple(f"film {item}" for item in range(world.n_items))
    origin = "" if public else world.fingerprint
    return replace(world, name=NAME, titles=titles, public=public, origin=origin)


def write_set(public: bool) -> None:
    folder = partitions.folder_of(NAME)
    folder.mkdir(parents=True)
    in_files(ratings(public), 3, folder)


def gone() -> None:
    shutil.rmtree(partitions.folder_of(NAME), ignore_errors=True)
    engine().forget(NAME)


@pytest.fixture
def films() -> Iterator[None]:
    """A public set in three parts."""
    write_set(public=True)
    yield
    gone()


@pytest.fixture
def private() -> Iterator[None]:
    """The same as somebody's private data."""
    write_set(public=False)
    yield
    account = account_of(NAME)
    account.forget()
    gone()


def page_with(page: str, **link: str) -> AppTest:
    defaults = {"data": NAME, "algo": "spectral", "eps": "5", "delta": f"{DELTA}"}
    return app_of(behind_sidebar(page), **(defaults | link))


def data_sets_of(app: AppTest) -> list[str]:
    return list(app.sidebar.selectbox(key="sidebar.dataset").options)


@pytest.mark.parametrize("set_ids", [("cinema-small",), ("cinema-small", NAME)])
def test_a_server_offers_those_that_its_operator_lists(
    set_ids: tuple[str, ...], films: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPMF_PROFILE", "class")
    monkeypatch.setenv("DPMF_DATA_SETS", ",".join(set_ids))
    settings.settings.cache_clear()
    try:
        app = page_with("accountant/page.py").run()
    finally:
        monkeypatch.undo()
        settings.settings.cache_clear()
    assert (NAME in data_sets_of(app)) is (NAME in set_ids)
    assert "Cinema, 100,000 people" not in data_sets_of(app)


def entries() -> int:
    account = account_of(NAME)
    return len(account.entries)


def test_a_private_set_is_charged_once_by_the_button_alone(private: None) -> None:
    app = settled(page_with("explore/page.py"))
    assert not app.error, [it.value for it in app.error]
    assert entries() == 0
    [button] = [it for it in app.button if str(it.key) == "explore.buy.This run"]
    assert all(it in button.label for it in ("0.00", "5.00"))
    button.click()
    settled(app)
    account = account_of(NAME)
    [entry] = account.entries
    assert entry.charge.title == "Spectral" and entry.state == "finished"
    assert account.total.epsilon == pytest.approx(5.0, abs=0.01)
    settled(page_with("explore/page.py"))  # another session: the run is there
    assert entries() == 1
