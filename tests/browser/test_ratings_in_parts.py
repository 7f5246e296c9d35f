"""Ratings in parts in a real browser: trained on by the server's workers, cancelled, paid for."""

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from dpmf_core.privacy.accounts import LEDGER
from tests.browser.conftest import ROOT, Server, go

pytestmark = pytest.mark.browser
Visit = Callable[..., Any]
A_PART = 30.0  # seconds; to make and read one of cinema-10m takes a few


@pytest.fixture
def clinic(server: Server, tmp_path: Path) -> str:
    """A private table, imported in parts while the server runs."""
    draw = random.Random(0)
    rows = [f"p{user},{item},{draw.randint(1, 5)}" for user in range(300) for item in range(30)]
    name = f"clinic{time.time_ns()}"  # each attempt at a test has its own account
    rows.append(f"{name},0,3")
    file = tmp_path / "clinic.csv"
    file.write_text("\n".join(["user,item,rating", *rows]) + "\n")
    command("import", name, f"{file}?bounds=1,5", "--partitioned", "--parts", "3", on=server)
    return name


def command(*words: str, on: Server) -> str:
    """A command beside the server, in the same data folder."""
    environment = {**os.environ, "DPMF_DATA": str(on.data)}
    environment.pop(LEDGER, None)  # the account lies in the data folder, as for the server
    process = subprocess.run(
        [sys.executable, "-m", "dpmf_core", *words],
        cwd=Path(ROOT),
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return process.stdout


def test_a_private_set_is_trained_on_by_its_button_and_charged_once(
    visit: Visit, server: Server, clinic: str
) -> None:
    page = visit(f"/explore?data={clinic}&algo=private-bias&eps=2")
    page.get_by_role("button", name="This run: total ε 0.00 → 2.00").click()
    expect(page.get_by_text("Drawn from these data so far: ε = 2.00")).to_be_visible()
    expect(page.get_by_role("heading", name="Error by step")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Error by step")).to_be_visible()
    expect(page.get_by_text("Drawn from these data so far: ε = 2.00")).to_be_visible()
    total = json.loads(command("spent", clinic, "--json", on=server))
    assert total["epsilon"] == pytest.approx(2.0, rel=1e-3)
    go(page, "Sketch")
    expect(page.get_by_text(f"'{clinic}' is kept in parts")).to_be_visible()
    go(page, "Explore")
    expect(page.get_by_role("heading", name="Error by step")).to_be_visible()
    assert page.get_by_test_id("stException").count() == 0


def test_progress_names_the_part_and_cancel_stops_within_one(visit: Visit) -> None:
    page = visit("/explore?data=cinema-10m&algo=spectral")
    expect(page.get_by_text("reading part").first).to_be_visible()
    began = time.monotonic()
    page.get_by_role("button", name="Cancel").first.click()
    expect(page.get_by_text("nothing of the cancelled runs was kept")).to_be_visible()
    other = visit("/explore?data=cinema-small")  # a worker is free for it
    expect(other.get_by_role("heading", name="Error by step")).to_be_visible()
    assert time.monotonic() - began < A_PART
