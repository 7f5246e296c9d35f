"""Ratings in parts on the pages: trained on, judged and paid for like any other set."""

from dataclasses import replace

import pytest

from dpmf_core.runs.planning import account_of
from dpmf_core.testing.rating_worlds import low_rank
from dpmf_datasets import partitions
from tests.pages.driving import (
    app_of,
    behind_sidebar,
    settled,
)
from tests.support.parts import in_files

NAME = "films-in-parts"


def page():
    link = {
        "dataset": NAME,
        "algorithm": "spectral",
        "epsilon": "5",
        "delta": "1e-5",
    }
    return settled(app_of(behind_sidebar("explore/page.py"), **link))


def test_a_private_set_is_charged_once_by_the_button_alone():
    folder = partitions.folder_of(NAME)
    world = low_rank(n_users=240)
    folder.mkdir(parents=True)
    titles = tuple(f"film {item}" for item in range(world.n_items))
    facts = {
        "name": NAME,
        "titles": titles,
        "public": False,
        "origin": world.fingerprint,
    }
    in_files(replace(world, **facts), 3, folder)
    app = page()
    assert not app.error, [error.value for error in app.error]
    assert not account_of(NAME).entries
    [button] = [
        button for button in app.button if str(button.key) == "explore.buy.This run"
    ]
    assert all(figure in button.label for figure in ("0.00", "5.00"))
    button.click()
    settled(app)
    account = account_of(NAME)
    [entry] = account.entries
    assert entry.charge.title == "Spectral"
    assert entry.state == "finished"
    assert account.total.epsilon == pytest.approx(5.0, abs=0.01)
    page()  # another session: the run is there
    assert len(account_of(NAME).entries) == 1
