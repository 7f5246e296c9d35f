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
from dpmf_core.spending import account_of
from pages.kit import brought
from tests.pages.driving import behind_sidebar, everything_asked, settled, words

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
    app = everything_asked(settled(with_own(AppTest.from_string(behind_sidebar("recommend/explore.py"), default_timeout=60), mine.entry)))
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
    """Nothing is trained unasked; the card rests on what was counted in the file; one figure says what all runs cost."""
    page, made = SAMPLES[holds]
    found = made()
    app = uploaded(AppTest.from_string(behind_sidebar(page, holds), default_timeout=90), found, holds)
    assert "Nothing has been trained" in words(app) and "Drawn from these data so far: ε = 0.00" in words(app)
    app = everything_asked(app)
    assert (not app.error and "of the gain over guessing" in app.title[0].value) or "no better" in app.title[0].value
    card = next(it.value for it in app.markdown if "Privacy card" in it.value)
    assert "CONDITIONAL" in card and "number of samples is public" in words(app)
    account = account_of(found.entry.id)
    assert account is not None and account.total.epsilon > 5 and account.total.unit == holds.removesuffix("s")
    assert f"Drawn from these data so far: ε = {account.total.epsilon:.2f}" in words(app)
    own.remove(found.entry)


def test_a_person_with_all_her_images_is_protected_where_it_is_said_whose_they_are() -> None:
    """The card says so, offers no group, and the default for delta follows the number of people."""
    out = io.BytesIO()
    savemat(out, {"fea": np.random.default_rng(0).random((40, 36)), "gnd": np.arange(40) % 8})
    found = own.samples(out.getvalue(), "a.mat", {"group": "gnd"})
    app = uploaded(AppTest.from_string(behind_sidebar("factorise/faces.py", "images"), default_timeout=90), found, "images")
    assert "(δ = 1e-2, per person, add/remove, exact)" in words(app)  # 1 / (10 x 8), rounded down
    assert "Proved for one person (all her rows), provided that" in words(app) and "the number of people is public" in words(app)
    assert not [field for field in app.number_input if str(field.key).startswith("card.each")]
    assert any("40 images of 8 people" in it.value for it in app.caption)
    alone = own.samples(out.getvalue(), "a.mat", {})
    app = uploaded(AppTest.from_string(behind_sidebar("factorise/faces.py", "images"), default_timeout=90), alone, "images")
    assert "per image, add/remove, exact)" in words(app) and app.number_input(key="card.each.image.10").value == 10
    for brought_ in (found, alone):
        own.remove(brought_.entry)


def test_the_card_of_ones_own_ratings_rests_on_what_was_counted(mine: Any) -> None:
    app = settled(with_own(AppTest.from_string(behind_sidebar("recommend/explore.py"), default_timeout=60), mine.entry))
    assert "CONDITIONAL" in next(it.value for it in app.markdown if "Privacy card" in it.value)
    assert "the number of users is public and the items in the file are public" in words(app)


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


# ---- the form of a table ----------------------------------------------------------------------------------------------


def with_table(content: bytes, name: str = "mine.csv") -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=60).run()
    app.file_uploader[0].upload(name, content)
    return app.run()


def rated(header: str, row: str) -> bytes:
    rows = [row.format(u=u, i=i, r=1 + (u * i) % 5, t=978_300_000 + 60 * (12 * u + i), d=1 + (u + i) % 28) for u in range(30) for i in range(12)]
    return "\n".join([*([header] if header else []), *rows, ""]).encode()


def shown(app: AppTest) -> list[str]:
    return [str(it.value) for it in app.caption]


def test_a_disabled_button_says_what_it_waits_for() -> None:
    app = with_table(rated("user,item,rating_time,liking", "p{u},thing {i},{t},{r}"))
    assert app.button(key="data.use").disabled
    assert "**Check and use** waits for the column for Rating and the lowest rating and the highest rating." in shown(app)
    app.selectbox(key="data.role.2.mine.csv").set_value("liking")
    app.number_input(key="data.low.mine.csv").set_value(1)
    app.run()
    assert "**Check and use** waits for the highest rating." in shown(app)
    app.number_input(key="data.high.mine.csv").set_value(5)
    app.run()
    assert not app.button(key="data.use").disabled and not any("waits for" in it for it in shown(app))
    app.button(key="data.use").click().run()
    told = next(it.value for it in app.code)
    assert "rating: liking (1, 2, 3)" in told and "360 ratings kept" in told and not app.error


def test_a_download_says_what_it_waits_for() -> None:
    app = AppTest.from_file(str(PAGE), default_timeout=60).run()
    app.selectbox(key="data.download").set_value("ml-32m").run()
    assert app.button(key="data.fetch").disabled and "**Download** waits for your consent." in shown(app)


def test_three_values_stand_below_each_chosen_column() -> None:
    app = with_table(rated("user,item,rating,ReviewDate", "p{u},thing *{i}*,{r},{t}"))
    values = shown(app)
    assert "p0" in values and "1" in values
    assert r"thing \*0\*, thing \*1\*, thing \*2\*" in values
    assert "978300000, 978300060, 978300120" in values
    assert app.selectbox(key="data.role.3.mine.csv").value == "ReviewDate"


def test_columns_without_a_header_are_chosen_too() -> None:
    app = with_table(rated("", "{u},{i},{t},{r}"))
    assert [app.selectbox(key=f"data.role.{place}.mine.csv").value for place in range(5)] == ["column 1", "column 2", "column 4", "column 3", ""]
    assert not app.selectbox(key="data.role.2.mine.csv").disabled
    app.selectbox(key="data.role.2.mine.csv").set_value("column 3")
    app.selectbox(key="data.role.3.mine.csv").set_value("")
    for key, value in (("low", 1), ("high", 5)):
        app.number_input(key=f"data.{key}.mine.csv").set_value(value)
    app.run()
    app.button(key="data.use").click().run()
    assert "They look like times" in app.error[0].value and "another column above, under Rating" in app.error[0].value
    assert "columns=" not in app.error[0].value and "?bounds" not in app.error[0].value


def test_how_dates_are_written_is_asked_where_they_can_be_read_in_two_ways() -> None:
    app = with_table(rated("user,item,rating,date", "p{u},thing {i},{r},{d:02d}/11/2021"))
    asked = app.selectbox(key="data.dates.mine.csv")
    assert asked.value == "" and asked.options == ["as the whole column tells", "the day first", "the month first"]
    asked.set_value("dmy")
    for key, value in (("low", 1), ("high", 5)):
        app.number_input(key=f"data.{key}.mine.csv").set_value(value)
    app.run()
    app.button(key="data.use").click().run()
    assert "with the day first: so it was declared" in next(it.value for it in app.code)
    assert not [it for it in with_table(rated("user,item,rating,date", "p{u},thing {i},{r},{t}")).selectbox if it.key == "data.dates.mine.csv"]
