"""The Data page, and what it brings to the sidebar of the others."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from datasets import own
from pages.kit import brought
from tests.pages.driving import behind_sidebar, settled

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "pages" / "work" / "data.py"
EXPLORE = f"""
import runpy
from pages.kit import sidebar
sidebar.draw()
runpy.run_path({str(ROOT / "pages" / "privacy" / "accountant.py")!r})
"""


def table() -> bytes:
    rows = [f"p{u},thing {i},{1 + (u * i) % 5}" for u in range(30) for i in range(12)]
    return ("Member,Product,Points\n" + "\n".join(rows) + "\n").encode()


def test_the_page_opens_with_the_catalogue() -> None:
    app = AppTest.from_file(str(PAGE), default_timeout=60).run()
    assert not app.exception
    assert app.title[0].value == "Bring your own data"
    listed = next(frame.value for frame in app.dataframe if "licence" in frame.value.columns)
    assert {"cinema", "ml-1m", "eachmovie", "yaleb"} <= set(listed["id"])


@pytest.fixture
def mine() -> Any:
    return own.ratings(table(), "a [b](javascript:x) *c*.csv", {}, (1.0, 5.0))


def with_own(app: AppTest, entry: Any) -> AppTest:
    app.session_state["data.own"] = {entry.id: entry}
    app.session_state["sidebar.data"] = entry.id
    return app.run()


def test_it_is_a_data_set_on_other_pages_and_not_in_the_link(mine: Any) -> None:
    app = with_own(AppTest.from_string(EXPLORE, default_timeout=60), mine.entry)
    assert not app.exception, [error.value for error in app.exception]
    assert app.sidebar.selectbox(key="sidebar.data").value == mine.entry.id
    assert "data" not in app.query_params
    app.sidebar.selectbox(key="sidebar.data").set_value("cinema-small").run()
    assert app.query_params["data"] == ["cinema-small"] or app.query_params["data"] == "cinema-small"


def test_nobody_opens_anothers_by_its_address(mine: Any) -> None:
    app = AppTest.from_string(EXPLORE, default_timeout=60)
    app.query_params["data"] = mine.entry.id
    app.run()
    assert app.sidebar.selectbox(key="sidebar.data").value == "cinema"
    assert any("'data' in the link must be a data set on this machine" in it.value for it in app.warning)


def test_what_is_brought_is_told_about_and_removed(mine: Any) -> None:
    app = with_own(AppTest.from_file(str(PAGE), default_timeout=60), mine.entry)
    assert not app.exception, [error.value for error in app.exception]
    said = next(it.value for it in app.markdown if "data set on every page" in it.value)
    assert "[b]" not in said and "*c*" not in said.replace("**", "") and r"\(javascript" in said
    app.button(key=f"data.remove.{mine.entry.id}").click().run()
    assert not app.session_state["data.own"]
    assert not Path(mine.entry.id.partition("?")[0]).exists()


def test_activity_counts_users_and_items(mine: Any) -> None:
    found = brought.activity(mine.data)
    assert found["users"][0] == (0.0, 12) and len(found["users"]) == 30
    assert found["items"][-1] == (pytest.approx(11 / 12), 30)
    assert pd.Series([share for share, _ in found["users"]]).is_monotonic_increasing


def test_raw_figures_of_ones_own_data_are_for_the_screen(mine: Any) -> None:
    """The numbers below a figure can be saved where they come from public data alone."""
    app = settled(with_own(AppTest.from_string(behind_sidebar("recommend/explore.py"), default_timeout=60), mine.entry))
    saved = [button.label for button in app.get("download_button")]
    assert saved.count("Download as CSV") == 1  # of the trade-off curve, which follows from the ledger
    assert sum("for your eyes, so there is no file of it" in it.value for it in app.caption) >= 2
    app.sidebar.selectbox(key="sidebar.data").set_value("cinema-small")
    assert [button.label for button in settled(app).get("download_button")].count("Download as CSV") == 3
