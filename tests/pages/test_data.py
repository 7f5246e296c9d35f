"""The Data page, and what it brings to the sidebar of the others."""

import csv
import io
import re
import zipfile
from pathlib import Path
from urllib.parse import parse_qs

import numpy as np
import openpyxl
import pytest
from scipy.io import savemat

import dpmf_datasets as datasets
from dpmf_core.runs.planning import account_of
from dpmf_datasets import session_files
from pages.kit.base import data_sets
from tests.pages.driving import (
    app_of,
    behind_sidebar,
    brought,
    component,
    everything_asked,
    settled,
    words,
)

ACCOUNTANT = behind_sidebar("accountant/page.py")


def table():
    rows = [f"p{u},thing {i},{1 + (u * i) % 5}" for u in range(30) for i in range(12)]
    return ("Member,Product,Points\n" + "\n".join(rows) + "\n").encode()


@pytest.fixture
def mine():
    facts = {
        "bounds": "1,5",
        "user": "Member",
        "item": "Product",
        "rating": "Points",
    }
    return session_files.read(table(), "a [b](javascript:x) *c*.csv", facts)


def test_nobody_opens_anothers_file_by_its_address(mine):
    app = app_of(ACCOUNTANT, dataset=mine.entry.id).run()
    assert app.sidebar.selectbox(key="sidebar.dataset").value == "cinema"
    assert app.warning


def test_a_plan_of_models_on_ones_own_data_says_nothing_of_what_they_keep(mine):
    app = app_of(ACCOUNTANT, brought(mine.entry)).run()
    assert "not known without a release" in words(app)
    assert not re.search(r"keeps \d+%", words(app))


def test_raw_figures_of_ones_own_data_are_for_the_screen(mine):
    """Only the numbers of the trade-off curve can be saved, which follow from the ledger."""
    app = app_of(behind_sidebar("explore/page.py"), brought(mine.entry))
    app = everything_asked(settled(app))
    assert [button.label for button in app.get("download_button")].count(
        "Download as CSV"
    ) == 1


def with_upload(page, upload, kind):
    return settled(app_of(behind_sidebar(page), brought(upload.entry, kind)))


def pictures():
    out = io.BytesIO()
    savemat(out, {"fea": np.random.default_rng(0).random((40, 36))})
    return out.getvalue()


def texts():
    return "\n".join(
        f"orbit rocket planet{k % 4} engine fuel{k % 3} launch" for k in range(40)
    ).encode()


SAMPLES = {
    "documents": ("topics/page.py", lambda: session_files.read(texts(), "a.txt", {})),
    "images": ("faces/page.py", lambda: session_files.read(pictures(), "a.mat", {})),
}


@pytest.mark.parametrize("holds", SAMPLES)
def test_documents_and_images_of_ones_own_are_worked_with(holds):
    """Nothing trains unasked; one figure says what all runs cost."""
    page, make = SAMPLES[holds]
    upload = make()
    app = with_upload(page, upload, holds)
    assert "0.00" in words(app)
    app = everything_asked(app)
    assert not app.error
    story = component(app, "matched_parts")
    card = next(
        markdown.value
        for markdown in app.markdown
        if "Privacy card" in markdown.value or "in total :" in markdown.value
    )
    assert "CONDITIONAL" in card
    account = account_of(upload.entry.id)
    assert account is not None
    assert account.total.epsilon > story["epsilon"]
    assert account.total.unit == holds.removesuffix("s")
    assert f"{account.total.epsilon:.2f}" in words(app)
    session_files.remove(upload.entry)


def test_a_person_with_all_her_images_is_protected_where_it_is_said_whose_they_are():
    """The card says so, offers no group, and the default for delta follows the number of people."""
    out = io.BytesIO()
    savemat(
        out,
        {"fea": np.random.default_rng(0).random((40, 36)), "gnd": np.arange(40) % 8},
    )
    by_person = session_files.read(out.getvalue(), "a.mat", {"group": "gnd"})
    app = with_upload("faces/page.py", by_person, "images")
    # 1 / (10 x 8), rounded down
    assert "(δ = 1e-2, per person, add/remove, exact)" in words(app)
    assert not [
        field for field in app.number_input if str(field.key).startswith("card.each")
    ]
    assert any("40 images of 8 people" in caption.value for caption in app.caption)
    alone = session_files.read(out.getvalue(), "a.mat", {})
    app = with_upload("faces/page.py", alone, "images")
    assert "per image, add/remove, exact)" in words(app)
    assert app.number_input(key="card.each.image.10").value == 10
    for upload in (by_person, alone):
        session_files.remove(upload.entry)


def test_a_private_file_under_a_published_name_is_private_on_pages(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    (tmp_path / "mine.csv").write_bytes(
        table().replace(b"Member,Product,Points", b"user,item,rating")
    )
    datasets.import_("ml-100k", tmp_path / "mine.csv")
    entry = datasets.entry_of("ml-100k")
    assert not entry.public
    assert entry.n_users == 30
    assert entry.n_items == 12
    assert entry.assumptions
    app = settled(app_of(behind_sidebar("explore/page.py"), dataset="ml-100k"))
    assert [button.label for button in app.get("download_button")].count(
        "Download as CSV"
    ) == 1
    assert "CONDITIONAL" in words(app)


def with_table(content, name="mine.csv"):
    app = app_of("data/page.py").run()
    app.file_uploader[0].upload(name, content)
    return app.run()


def rating_table(header, row):
    rows = [
        row.format(
            u=u,
            i=i,
            r=1 + (u * i) % 5,
        )
        for u in range(30)
        for i in range(12)
    ]
    return "\n".join([header, *rows, ""]).encode()


def captions(app):
    return [str(caption.value) for caption in app.caption]


def on_scale(app, scale, name="mine.csv"):
    return app.segmented_control(key=f"data.scale.{name}").set_value(scale).run()


def test_a_file_that_is_not_in_use_yet_is_named_where_the_next_step_uses_other_data():
    app = with_table(rating_table("user,item,rating", "p{u},thing {i},{r}"), "mine.csv")
    answer = app_of(
        "choose/page.py", {"data.unread": app.session_state["data.unread"]}
    ).run()
    for page in (app, answer):
        (warning,) = page.warning
        assert "mine" in warning.value
        assert "Cinema" in warning.value
    on_scale(app, "1 to 5").button(key="data.use").click().run()
    assert not app.warning


def test_a_question_about_the_scale_is_the_next_step():
    table = rating_table("user,item,rating", "p{u},thing {i},{r}") + b"p1,more,9\n"
    app = on_scale(with_table(table), "1 to 5")
    app.button(key="data.use").click().run()
    assert app.button(key="data.use.clamp")
    assert len(app.warning) == 2
    on_scale(app, "half stars, 0.5 to 5")  # then the question is no more
    assert len(app.warning) == 1


def test_rows_that_are_refused_are_told_with_lines_and_examples():
    bad = rating_table("user,item,rating,note", "p{u},thing {i},{r},x").replace(
        b",2,x", b",good,x", 2
    )
    app = on_scale(with_table(bad + b"p1,thing 1\n"), "1 to 5")
    app.button(key="data.use").click().run()
    assert {metric.label: metric.value for metric in app.metric}["Rows left out"] == "3"
    assert "Not used: note." in captions(app)
    # the questions are folded, and what was read anew takes the place of what was read before
    first = dict(app.session_state["data.own"])
    on_scale(app, "half stars, 0.5 to 5").button(key="data.use").click().run()
    assert len(first) == 1
    assert len(app.session_state["data.own"]) == 1
    assert set(first) != set(app.session_state["data.own"])
    for name in first:
        assert not Path(name.partition("?")[0]).exists()


ITEMS = "thing,year,genre,<b>*x*</b>\n" + "".join(
    f"thing {i},{1990 + i},{'Drama|War' if i % 2 else 'Comedy'},{i % 3}\n"
    for i in range(11)
)


def test_an_item_table_is_public_and_offered_in_the_sidebar():
    app = on_scale(
        with_table(rating_table("user,item,rating", "p{u},thing {i},{r}")), "1 to 5"
    )
    app.button(key="data.use").click().run()
    (plain,) = app.session_state["data.own"].values()
    account = account_of(plain.id).key
    name = data_sets.name_in_keys(plain.id)
    app.file_uploader(key=f"data.items.{name}").upload("films.csv", ITEMS.encode())
    app.run()
    # not before it is said to be public
    assert app.session_state["data.own"] == {plain.id: plain}
    app.button(key=f"data.items.use.{name}").click().run()
    (entry,) = app.session_state["data.own"].values()
    assert {metric.label: metric.value for metric in app.metric}[
        "Ratings kept"
    ] == "360"
    assert account_of(entry.id).key == account  # the same people
    other = app_of(ACCOUNTANT, brought(entry)).run()
    assert (
        other.sidebar.radio(key="sidebar.item_features").label
        == f"The items' {entry.item_features}"
    )


class TestTheLayout:
    """What a person says about a file becomes facts of its address."""

    def command(self, app):
        (entry,) = app.session_state["data.own"].values()
        return parse_qs(session_files.command_path(entry.id).partition("?")[2])

    def kept(self, app):
        return {metric.label: metric.value for metric in app.metric}["Ratings kept"]

    def test_a_sheet_below_a_cover_and_a_title_is_read(self):
        book = openpyxl.Workbook()
        book.active.title = "Cover"
        book.active.append(["Ratings of our shop"])
        sheet = book.create_sheet("Ratings")
        sheet.append(["Export of May"])
        rows = csv.reader(
            rating_table("user,item,rating", "p{u},thing {i},{r}").decode().splitlines()
        )
        for row in rows:
            sheet.append(row)
        out = io.BytesIO()
        book.save(out)
        app = with_table(out.getvalue(), "shop.xlsx")
        assert app.selectbox(key="data.sheet.shop.xlsx").value == "Ratings"
        on_scale(app, "1 to 5", "shop.xlsx").button(key="data.use").click().run()
        assert self.kept(app) == "360"
        assert self.command(app)["sheet"] == ["Ratings"]

    def test_a_cover_sheet_is_no_dead_end(self):
        book = openpyxl.Workbook()
        book.active.title = "Cover"
        sheet = book.create_sheet("May")
        sheet.append(["a", "b", "c"])
        sheet.append(["p1", "x", 3])
        out = io.BytesIO()
        book.save(out)
        app = with_table(out.getvalue(), "shop.xlsx")
        assert "shop.xlsx" in app.error[0].value
        app.selectbox(key="data.sheet.shop.xlsx").set_value("May").run()
        assert not app.error
        assert app.selectbox(key="data.role.0.shop.xlsx").options[1:] == [*"abc"]

    def test_a_table_of_an_archive_is_chosen(self):
        out = io.BytesIO()
        content = rating_table("a,b,c", "p{u},thing {i},{r}")
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("old.csv", b"x,y\n1,2\n")
            archive.writestr("new.csv", content)
        app = with_table(out.getvalue(), "all.zip")
        app.selectbox(key="data.member.all.zip").set_value("new.csv").run()
        for place, column in enumerate("abc"):
            app.selectbox(key=f"data.role.{place}.all.zip").set_value(column)
        on_scale(app.run(), "1 to 5", "all.zip").button(key="data.use").click().run()
        assert self.kept(app) == "360"
        assert self.command(app)["member"] == ["new.csv"]

    def test_a_wide_table_names_its_person_and_columns_without_ratings(self):
        rows = [f"P{u},{20 + u},{1 + u % 5},{1 + (u * 3) % 5}" for u in range(30)]
        app = with_table("\n".join(["person,age,Film 1,Film 2", *rows]).encode())
        app.segmented_control(key="data.layout.mine.csv").set_value("wide").run()
        app.selectbox(key="data.person.mine.csv").set_value("person")
        on_scale(app, "1 to 5").button(key="data.use").click().run()
        assert "age" in app.error[0].value
        app.multiselect(key="data.leave.mine.csv").set_value(["age"]).run()
        app.button(key="data.use").click().run()
        assert self.kept(app) == "60"
        facts = self.command(app)
        assert facts["layout"] == ["wide"]
        assert facts["user"] == ["person"]
        assert facts["leave"] == ["age"]

    def test_most_values_outside_the_scale_may_mean_not_rated(self):
        content = rating_table("user,item,rating", "p{u},thing {i},{r}").replace(
            b",4\n", b",0\n"
        )
        app = on_scale(with_table(content), "1 to 5")
        app.button(key="data.use").click().run()
        assert "more than a tenth" in app.warning[-1].value
        app.button(key="data.use.missing").click().run()
        assert self.command(app)["missing"] == ["0"]
        for markdown in app.markdown:
            assert "outside" not in markdown.value

    def test_answers_stay_when_a_table_is_refused(self):
        app = with_table(b"user,item,rating\np1,a,5\np1,b,4\n")
        app.text_input(key="data.missing.mine.csv").set_value("0").run()
        on_scale(app, "1 to 10").button(key="data.use").click().run()
        assert "one user only" in app.error[0].value
        assert app.segmented_control(key="data.scale.mine.csv").value == "1 to 10"
        assert app.text_input(key="data.missing.mine.csv").value == "0"

    def test_documents_are_a_column_of_a_spreadsheet(self):
        book = openpyxl.Workbook()
        book.active.append(["who", "text"])
        for k in range(20):
            book.active.append(
                [f"p{k % 5}", f"orbit rocket planet{k % 4} engine fuel{k % 3}"]
            )
        out = io.BytesIO()
        book.save(out)
        app = app_of("data/page.py").run()
        app.segmented_control(key="data.kind").set_value("samples").run()
        app.file_uploader[0].upload("notes.xlsx", out.getvalue())
        app.run()
        app.selectbox(key="data.text.notes.xlsx").set_value("text")
        app.selectbox(key="data.group.notes.xlsx").set_value("who").run()
        app.button(key="data.use").click().run()
        (entry,) = app.session_state["data.own"].values()
        assert entry.n_samples == 20
        assert entry.n_people == 5
