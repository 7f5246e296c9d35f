"""The Data page, and what it brings to the sidebar of the others."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat
from streamlit.testing.v1 import AppTest

import dpmf_datasets as datasets
from dpmf_core.engine.executor import engine
from dpmf_core.runs import data_access
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.spending import account_of
from dpmf_datasets import session_files
from tests.pages.driving import behind_sidebar, component, everything_asked, settled, words

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "pages" / "data" / "page.py"
EXPLORE = f"""
import runpy
from pages.kit import sidebar
sidebar.draw()
runpy.run_path({str(ROOT / "pages" / "accountant" / "page.py")!r})
"""


def table() -> bytes:
    rows = [f"p{u},thing {i},{1 + (u * i) % 5}" for u in range(30) for i in range(12)]
    return ("Member,Product,Points\n" + "\n".join(rows) + "\n").encode()


@pytest.fixture
def mine() -> Any:
    return session_files.ratings(table(), "a [b](javascript:x) *c*.csv", {}, (1.0, 5.0))


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
    assert (
        app.query_params["data"] == ["cinema-small"] or app.query_params["data"] == "cinema-small"
    )


def test_nobody_opens_anothers_by_its_address(mine: Any) -> None:
    app = AppTest.from_string(EXPLORE, default_timeout=60)
    app.query_params["data"] = mine.entry.id
    app.run()
    assert app.sidebar.selectbox(key="sidebar.data").value == "cinema"
    assert app.warning


def test_what_is_brought_is_told_about_and_removed(mine: Any) -> None:
    app = with_own(AppTest.from_file(str(PAGE), default_timeout=60), mine.entry)
    assert not app.exception, [error.value for error in app.exception]
    title = next(it.value for it in app.subheader if "(yours" in it.value.replace("\\", ""))
    assert "[b]" not in title and "*c*" not in title and r"\(javascript" in title
    app.button(key=f"data.remove.{mine.entry.id}").click().run()
    assert not app.session_state["data.own"]
    assert not Path(mine.entry.id.partition("?")[0]).exists()


def test_raw_figures_of_ones_own_data_are_for_the_screen(mine: Any) -> None:
    """The numbers below a figure can be saved where they come from public data alone."""
    app = everything_asked(
        settled(
            with_own(
                AppTest.from_string(behind_sidebar("explore/page.py"), default_timeout=60),
                mine.entry,
            )
        )
    )
    labels = [button.label for button in app.get("download_button")]
    # of the trade-off curve, which follows from the ledger
    assert labels.count("Download as CSV") == 1
    app.sidebar.selectbox(key="sidebar.data").set_value("cinema-small")
    assert [button.label for button in settled(app).get("download_button")].count(
        "Download as CSV"
    ) == 5


def with_upload(app: AppTest, upload: Any, holds: str) -> AppTest:
    app.session_state["data.own"] = {upload.entry.id: upload.entry}
    app.session_state[f"sidebar.{holds}.data"] = upload.entry.id
    return settled(app)


def pictures() -> bytes:
    out = io.BytesIO()
    savemat(out, {"fea": np.random.default_rng(0).random((40, 36))})
    return out.getvalue()


def texts() -> bytes:
    return "\n".join(
        f"orbit rocket planet{k % 4} engine fuel{k % 3} launch" for k in range(40)
    ).encode()


SAMPLES = {
    "documents": ("topics/page.py", lambda: session_files.samples(texts(), "a.txt", {})),
    "images": ("faces/page.py", lambda: session_files.samples(pictures(), "a.mat", {})),
}


@pytest.mark.parametrize("holds", SAMPLES)
def test_documents_and_images_of_ones_own_are_worked_with(holds: str) -> None:
    """Nothing is trained unasked; the card rests on what was counted in the file; one figure
    says what all runs cost.
    """
    page, make = SAMPLES[holds]
    upload = make()
    app = with_upload(AppTest.from_string(behind_sidebar(page), default_timeout=90), upload, holds)
    assert "0.00" in words(app)
    app = everything_asked(app)
    assert not app.error
    story = component(app, "matched_parts")
    (title,) = [it["title"] for it in story["points"] if it["epsilon"] == story["epsilon"]]
    findings = ("of the gain over guessing", "no better", "no worse")
    assert any(finding in title for finding in findings)
    card = next(
        it.value for it in app.markdown if "Privacy card" in it.value or "in total :" in it.value
    )
    assert "CONDITIONAL" in card
    account = account_of(upload.entry.id)
    assert (
        account is not None
        and account.total.epsilon > story["epsilon"]
        and account.total.unit == holds.removesuffix("s")
    )
    assert f"{account.total.epsilon:.2f}" in words(app)
    session_files.remove(upload.entry)


def test_a_person_with_all_her_images_is_protected_where_it_is_said_whose_they_are() -> None:
    """The card says so, offers no group, and the default for delta follows the number of people."""
    out = io.BytesIO()
    savemat(out, {"fea": np.random.default_rng(0).random((40, 36)), "gnd": np.arange(40) % 8})
    by_person = session_files.samples(out.getvalue(), "a.mat", {"group": "gnd"})
    app = with_upload(
        AppTest.from_string(behind_sidebar("faces/page.py"), default_timeout=90),
        by_person,
        "images",
    )
    assert "(δ = 1e-2, per person, add/remove, exact)" in words(app)  # 1 / (10 x 8), rounded down
    assert not [field for field in app.number_input if str(field.key).startswith("card.each")]
    assert any("40 images of 8 people" in it.value for it in app.caption)
    alone = session_files.samples(out.getvalue(), "a.mat", {})
    app = with_upload(
        AppTest.from_string(behind_sidebar("faces/page.py"), default_timeout=90),
        alone,
        "images",
    )
    assert (
        "per image, add/remove, exact)" in words(app)
        and app.number_input(key="card.each.image.10").value == 10
    )
    for upload in (by_person, alone):
        session_files.remove(upload.entry)


def test_the_card_of_ones_own_ratings_rests_on_what_was_counted(mine: Any) -> None:
    app = settled(
        with_own(
            AppTest.from_string(behind_sidebar("explore/page.py"), default_timeout=60), mine.entry
        )
    )
    assert "CONDITIONAL" in next(
        it.value for it in app.markdown if "Privacy card" in it.value or "in total :" in it.value
    )


def test_a_private_file_under_a_published_name_is_private_on_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    (tmp_path / "mine.csv").write_bytes(
        table().replace(b"Member,Product,Points", b"user,item,rating")
    )
    datasets.import_("ml-100k", tmp_path / "mine.csv")
    entry = next(it for it in datasets.ratings() if it.id == "ml-100k")
    assert not entry.public and (entry.n_users, entry.n_items) == (30, 12) and entry.assumptions
    app = AppTest.from_string(behind_sidebar("explore/page.py"), default_timeout=60)
    app.query_params["data"] = "ml-100k"
    app = settled(app)
    assert [button.label for button in app.get("download_button")].count("Download as CSV") == 1
    assert "CONDITIONAL" in next(
        it.value for it in app.markdown if "Privacy card" in it.value or "in total :" in it.value
    )


def tasks_on_data(spec: RunSpec) -> list[Any]:
    """The engine's tasks on the data of this run."""
    tasks = list(engine()._results._remembered_tasks.values())
    return [task for task in tasks if getattr(task.spec, "data", None) == spec.data]


def test_what_is_removed_leaves_memory_too(mine: Any) -> None:
    spec = RunSpec.parse(data={"id": mine.entry.id}, algorithm="global-mean")
    job = engine().submit(spec)
    assert job.result().record.public is False
    assert tasks_on_data(spec)
    engine().forget(mine.entry.id)
    assert not tasks_on_data(spec)
    assert not [data for data, _ in engine()._data._facts if data.id == mine.entry.id]
    assert data_access._raw.cache_info().currsize == 0


# ---- the form of a table -------------------------------------------------------------------------


def with_table(content: bytes, name: str = "mine.csv") -> AppTest:
    app = AppTest.from_file(str(PAGE), default_timeout=60).run()
    app.file_uploader[0].upload(name, content)
    return app.run()


def rating_table(header: str, row: str) -> bytes:
    rows = [
        row.format(
            u=u, i=i, r=1 + (u * i) % 5, t=978_300_000 + 60 * (12 * u + i), d=1 + (u + i) % 28
        )
        for u in range(30)
        for i in range(12)
    ]
    return "\n".join([*([header] if header else []), *rows, ""]).encode()


def captions(app: AppTest) -> list[str]:
    return [str(it.value) for it in app.caption]


def on_scale(app: AppTest, rating: str, scale: str, name: str = "mine.csv") -> AppTest:
    return app.segmented_control(key=f"data.scale.{name}.{rating}").set_value(scale).run()


def test_dates_that_can_be_read_in_two_ways_are_asked_and_never_guessed() -> None:
    app = with_table(rating_table("user,item,rating,date", "p{u},thing {i},{r},{d:02d}/11/2021"))
    control = app.segmented_control(key="data.dates.mine.csv")
    # some of the first rows tell
    assert len(control.options) == 3
    table = rating_table("user,item,rating,date", "p{u},thing {i},{r},0{r}/11/2021")
    app = on_scale(with_table(table), "rating", "1 to 5")
    assert app.segmented_control(key="data.dates.mine.csv").value is None
    app.segmented_control(key="data.dates.mine.csv").set_value("as the whole column tells").run()
    app.button(key="data.use").click().run()
    assert "data.own" not in app.session_state
    again = app.segmented_control(key="data.dates.again.mine.csv")
    assert again.value is None and len(again.options) == 2
    again.set_value("the day first").run()
    app.button(key="data.use").click().run()
    numbers = with_table(rating_table("user,item,rating,date", "p{u},thing {i},{r},{t}"))
    assert not [it for it in numbers.segmented_control if "dates" in str(it.key)]


def test_rows_that_are_refused_are_told_with_lines_and_examples() -> None:
    bad = rating_table("user,item,rating,note", "p{u},thing {i},{r},x").replace(
        b",2,x", b",good,x", 2
    )
    app = on_scale(with_table(bad + b"p1,thing 1\n"), "rating", "1 to 5")
    app.button(key="data.use").click().run()
    assert {it.label: it.value for it in app.metric}["Rows left out"] == "3"
    assert "Not used: note." in captions(app)
    # the questions are folded, and what was read anew takes the place of what was read before
    first = dict(app.session_state["data.own"])
    on_scale(app, "rating", "half stars, 0.5 to 5").button(key="data.use").click().run()
    assert len(first) == len(app.session_state["data.own"]) == 1
    assert set(first) != set(app.session_state["data.own"])
    assert not any(Path(name.partition("?")[0]).exists() for name in first)


@pytest.mark.parametrize(
    ("way", "treatment", "missing"),
    [("clamp", "set to the nearest bound", 0), ("leave-out", "row left out", 4)],
)
def test_ratings_outside_the_scale_are_counted_and_named_before_anything_is_used(
    way: str, treatment: str, missing: int
) -> None:
    rows = rating_table("user,item,rating", "p{u},thing {i},{r}").replace(b",2\n", b",47\n", 3)
    app = on_scale(with_table(rows.replace(b",3\n", b",-3\n", 1)), "rating", "1 to 5")
    app.button(key="data.use").click().run()
    (warning,) = [str(it.value).replace("\\", "") for it in app.warning]
    assert "4 ratings lie outside 1 to 5: 47 (3 x), -3 (1 x)" in warning
    assert "data.own" not in app.session_state
    assert not [it for it in app.button if str(it.key).startswith("data.next.")]
    on_scale(app, "rating", "1 to 10")  # another answer takes the warning away
    assert not app.warning and "data.own" not in app.session_state
    on_scale(app, "rating", "1 to 5").button(key=f"data.use.{way}").click().run()
    assert not app.warning
    cells = [it.replace("\\", "") for it in app.table[1].value.to_numpy().tolist()[0]]
    assert cells[3:] == ["47 (3 x), -3 (1 x)", treatment]
    (entry,) = app.session_state["data.own"].values()
    assert entry.n_ratings == rows.count(b"\n") - 1 - missing


# ---- a table of the items -----------------------------------------------------------------------

ITEMS = "thing,year,genre,<b>*x*</b>\n" + "".join(
    f"thing {i},{1990 + i},{'Drama|War' if i % 2 else 'Comedy'},{i % 3}\n" for i in range(11)
)


def test_an_item_table_is_public_and_offered_in_the_sidebar() -> None:
    app = on_scale(
        with_table(rating_table("user,item,rating", "p{u},thing {i},{r}")), "rating", "1 to 5"
    )
    app.button(key="data.use").click().run()
    (plain,) = app.session_state["data.own"].values()
    app.file_uploader(key=f"data.items.{plain.id}").upload("films.csv", ITEMS.encode())
    app.run()
    assert any("**year** (1990, 1991, 1992)" in it for it in captions(app))
    assert app.session_state["data.own"] == {plain.id: plain}  # not before it is said to be public
    app.button(key=f"data.items.use.{plain.id}").click().run()
    (entry,) = app.session_state["data.own"].values()
    assert {it.label: it.value for it in app.metric}["Ratings kept"] == "360"
    assert account_of(entry.id).key == account_of(plain.id).key  # the same people
    other = with_own(AppTest.from_string(EXPLORE, default_timeout=60), entry)
    assert other.sidebar.radio(key="sidebar.features").label == f"The items' {entry.item_features}"


def test_a_bad_item_table_leaves_the_ratings_as_they_were() -> None:
    app = on_scale(
        with_table(rating_table("user,item,rating", "p{u},thing {i},{r}")), "rating", "1 to 5"
    )
    app.button(key="data.use").click().run()
    (entry,) = app.session_state["data.own"].values()
    app.file_uploader(key=f"data.items.{entry.id}").upload(
        "other.csv", b"id,year\nx,1990\ny,1991\n"
    )
    app.run()
    app.button(key=f"data.items.use.{entry.id}").click().run()
    assert app.error
    assert app.session_state["data.own"] == {entry.id: entry}
    assert not list(Path(entry.id.partition("?")[0]).parent.glob("items-*"))
