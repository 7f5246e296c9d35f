"""A newcomer with a messy table: from the Choose page to a report with nothing of its rows."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import choose
from tests.support.messy_table import MessyTable, messy_table

pytestmark = [pytest.mark.browser, pytest.mark.slow]
Visit = Callable[..., Any]
WORK = 300_000  # ms for trainings on a busy machine


def test_a_messy_table_ends_in_a_report_without_a_word_of_its_rows(
    visit: Visit, tmp_path: Path
) -> None:
    table = messy_table()
    (tmp_path / "visits.csv").write_bytes(table.content)
    page = visit("/choose")
    page.get_by_role("link", name="Bring a file").click()
    page.locator("input[type=file]").set_input_files(tmp_path / "visits.csv")
    choose(page, "What", "programme")
    page.get_by_text("half stars, 0.5 to 5").click()
    page.get_by_role("button", name="Check and use").click()
    page.get_by_text("ratings lie outside 0.5 to 5").wait_for()
    page.get_by_role("button", name=re.compile("^Leave these")).click()
    page.get_by_role("button", name="Which method and epsilon? Choose").click()
    page.get_by_role("heading", name="Which method, at which ε?").wait_for()
    page.get_by_text("a simulated twin").first.wait_for()
    page.get_by_role("button", name="Find the answer").click()
    page.get_by_role("heading", name=re.compile("^(Use|No method|Up to)")).wait_for(timeout=WORK)
    report, _ = without_rows(page, table)
    page.get_by_role("button", name=re.compile("^Choose on my data")).click()  # a private selection
    cost = "a private selection cost ε = "
    page.get_by_text(cost).wait_for(timeout=WORK)
    full_report, _ = without_rows(page, table)
    assert cost in full_report and cost not in report
    assert not page.outside


def without_rows(page: Any, table: MessyTable) -> list[str]:
    """Report and notebook, in which nothing of the table's rows stands."""
    files = []
    for name in ("Report, to print", "Notebook"):
        with page.expect_download() as download:
            page.get_by_role("button", name=name).click()
        files.append(Path(download.value.path()).read_text("utf-8"))
    assert "visits (yours)" in files[0] and '"nbformat"' in files[1]
    for file in files:
        assert not {secret for secret in table.secrets if secret in file}
        assert not re.search(rf"\b{table.rows:,}\b|\b{table.rows}\b", file)
    return files
