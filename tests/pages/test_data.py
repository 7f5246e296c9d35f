"""The Data page, and what it brings to the sidebar of the others."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat
from streamlit.testing.v1 import AppTest

import datasets
from datasets import own
from dpmf_core import experiment
from dpmf_core.engine import engine
from dpmf_core.experiment import RunSpec
from pages.kit import brought
from tests.pages.driving import behind_sidebar, settled, words

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


def uploaded(app: AppTest, brought_: Any, holds: str) -> AppTest:
    app.session_state["data.own"] = {brought_.entry.id: brought_.entry}
    app.session_state[f"sidebar.{holds}.data"] = brought_.entry.id
    return settled(app)


def pictures() -> bytes:
    out = io.BytesIO()
    savemat(out, {"fea": np.random.default_rng(0).random((40, 36))})
    return out.getvalue()


def texts() -> bytes:
    return "\n".join(f"orbit rocket planet{k % 4} engine fuel{k % 3} launch" for k in range(40)).encode()


SAMPLES = {
    "documents": ("factorise/topics.py", lambda: own.samples(texts(), "a.txt", {})),
    "images": ("factorise/faces.py", lambda: own.samples(pictures(), "a.mat", {})),
}


@pytest.mark.parametrize("holds", SAMPLES)
def test_documents_and_images_of_ones_own_are_worked_with(holds: str) -> None:
    """The card rests on what was counted in the file, and says what all runs behind the page cost."""
    page, made = SAMPLES[holds]
    found = made()
    app = uploaded(AppTest.from_string(behind_sidebar(page, holds), default_timeout=90), found, holds)
    assert (not app.error and "of the gain over guessing" in app.title[0].value) or "no better" in app.title[0].value
    card = next(it.value for it in app.markdown if "Privacy card" in it.value)
    assert "CONDITIONAL" in card and "number of samples is public" in words(app)
    assert any("has no ε at all" in it.value and "together ε = " in it.value for it in app.warning)
    own.remove(found.entry)


def test_the_card_of_ones_own_ratings_rests_on_what_was_counted(mine: Any) -> None:
    app = settled(with_own(AppTest.from_string(behind_sidebar("recommend/explore.py"), default_timeout=60), mine.entry))
    assert "CONDITIONAL" in next(it.value for it in app.markdown if "Privacy card" in it.value)
    assert "the number of users and the item set are public" in words(app)


def test_a_private_file_under_a_published_name_is_private_on_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    (tmp_path / "mine.csv").write_bytes(table().replace(b"Member,Product,Points", b"user,item,rating"))
    datasets.import_("ml-100k", tmp_path / "mine.csv")
    entry = next(it for it in datasets.ratings() if it.id == "ml-100k")
    assert not entry.public and (entry.n_users, entry.n_items) == (30, 12) and entry.assumptions
    app = AppTest.from_string(behind_sidebar("recommend/explore.py"), default_timeout=60)
    app.query_params["data"] = "ml-100k"
    app = settled(app)
    assert [button.label for button in app.get("download_button")].count("Download as CSV") == 1
    assert "CONDITIONAL" in next(it.value for it in app.markdown if "Privacy card" in it.value)


def test_what_is_removed_leaves_memory_too(mine: Any) -> None:
    spec = RunSpec.parse(data={"id": mine.entry.id}, algorithm="global-mean")
    job = engine().submit(spec)
    assert job.result().record["public"] is False
    assert [task for task in engine()._answers.values() if getattr(task.spec, "data", None) == spec.data]
    engine().forget(mine.entry.id)
    assert not [task for task in engine()._answers.values() if getattr(task.spec, "data", None) == spec.data]
    assert not [data for data, _ in engine()._fingerprints if data.id == mine.entry.id]
    assert experiment._raw.cache_info().currsize == 0
