"""Who uses a page and what they find: others' runs, the Operator page, lesson links."""

import contextlib
import sqlite3
from pathlib import Path

import pytest
import streamlit as st
from google.protobuf.message import Message
from streamlit.web.server.starlette.starlette_app_utils import (
    generate_xsrf_token_string,
)
from streamlit.web.server.starlette.starlette_server_config import XSRF_COOKIE_NAME

from dpmf_core.base.errors import BadInput
from dpmf_core.base.requesters import Asker, asking
from dpmf_core.jobs.engine import engine
from dpmf_core.privacy import account_files
from dpmf_core.runs.specification import RunSpec
from dpmf_core.teaching import class_records
from dpmf_core.teaching.lesson_links import LessonLink, LessonSequence, link_token
from dpmf_datasets import session_files
from pages.kit.base import safe_text
from pages.kit.running import runs
from pages.server import visitor
from tests.pages.driving import (
    app_of,
    behind_sidebar,
    brought,
    forget,
    nodes,
    words,
)
from tests.support.engines import WAIT, Gated, gated, gates
from tests.support.messy_table import messy_table

ROOT = Path(__file__).parents[2]
ADA = Asker.of_session("ada's secret")
BOB = Asker.of_session("bob's secret")
TEACHER = Asker.of_login("https://login.example.org", "1", operator=True)


@pytest.fixture
def put(configure):
    """put(name=value): the class profile with these settings."""
    configure(profile="class", deletes="owner")
    return configure


@pytest.fixture
def at(monkeypatch):
    """at(who): she is at the page from now on."""
    return lambda who: monkeypatch.setattr(visitor, "asker", lambda: who)


def hers(seed=0):
    choices = {"epsilon": 2.0, "delta": 1e-5, "seed": seed}
    spec = RunSpec.of(dataset="cinema-small", algorithm="private-bias", **choices)
    with asking(ADA):
        return str(engine().submit(spec).result(WAIT).key)


def drawn(script, **address):
    app = app_of(script, **address).run()
    assert not app.exception, [error.value for error in app.exception]
    return app


def ticked(row):
    return {"selection": {"rows": [row], "columns": [], "cells": []}}


def runs_page(key):
    """The Runs page with everyone's runs and one of them ticked."""
    app = drawn("runs/page.py", whose="everyone")
    row = app.dataframe[0].value["key"].tolist().index(key)
    app.session_state["runs.table.everyone"] = ticked(row)
    return app.run()


def labels(app):
    return {element.label for element in (*app.button, *app.text_input)}


def test_anothers_run_is_read_and_not_annotated_or_deleted(put, at):
    """Also by the button that was drawn for its owner: whoever presses it is asked again."""
    key = hers()
    at(BOB)
    assert not {"Note", "Delete"} & labels(runs_page(key))
    at(ADA)
    app = runs_page(key)
    assert {"Note", "Delete"} <= labels(app)
    at(BOB)
    app.button(key="runs.delete").click().run()
    assert engine().store.has(key)
    at(TEACHER)
    app = runs_page(key)
    assert ADA.owner not in words(app) + app.dataframe[0].value.to_csv()
    app.button(key="runs.delete").click().run()
    assert not engine().store.has(key)


def keys_of_list(app):
    return set(app.dataframe[0].value["key"])


def test_history_begins_with_the_visitors_own_runs(put, at):
    key = hers(seed=1)
    at(BOB)
    spec = RunSpec.of(
        dataset="cinema-small",
        algorithm="user-mean",
        seed=1,
    )
    with asking(BOB):
        own_key = str(engine().submit(spec).result(WAIT).key)
    app = drawn("runs/page.py")
    assert keys_of_list(app) == {own_key}
    assert app.title[0].value.startswith("Your 1 run, ")
    app.segmented_control(key="runs.whose").set_value("everyone").run()
    assert keys_of_list(app) >= {own_key, key}
    assert app.dataframe[0].value.set_index("key").loc[
        [own_key, key], "whose"
    ].tolist() == [
        "yours",
        "",
    ]
    # a reload opens a new session with the same address
    assert app.query_params == {"whose": "everyone"}
    reloaded_app = drawn("runs/page.py", **app.query_params)
    assert keys_of_list(reloaded_app) == keys_of_list(app)
    app.segmented_control(key="runs.whose").set_value("mine").run()
    assert keys_of_list(app) == {own_key}
    assert "whose" not in app.query_params


def test_a_tick_belongs_to_one_list_of_runs(put, at):
    """The same row of another list is another run."""
    hers(seed=2)
    at(ADA)
    app = drawn("runs/page.py")
    app.session_state["runs.table.mine"] = ticked(0)
    app.run()
    assert "Differences" in [subheader.value for subheader in app.subheader]
    app.segmented_control(key="runs.whose").set_value("everyone").run()
    assert "Differences" not in [subheader.value for subheader in app.subheader]


def test_a_visitor_without_runs_is_offered_everyones(put, at):
    key = hers()
    at(Asker.of_session("cleo's secret"))
    app = drawn("runs/page.py")
    assert "No run of yours" in app.title[0].value
    assert not app.dataframe
    app.button(key="runs.everyone").click().run()
    assert not app.exception
    assert key in keys_of_list(app)
    assert app.segmented_control(key="runs.whose").value == "everyone"


def test_one_person_at_their_machine_has_no_switch_between_owners(put, at):
    key = hers()
    at(Asker.of_session("x", alone=True))
    app = drawn("runs/page.py", whose="mine")
    assert not app.segmented_control
    assert key in keys_of_list(app)


def test_the_operators_page_is_empty_for_everybody_else(put, at):
    for who in (ADA, Asker(), Asker.of_session("x", alone=True)):
        at(who)
        app = drawn("operator/page.py")
        assert not words(app)
        assert not app.metric
    at(TEACHER)
    assert drawn("operator/page.py").metric


def test_the_operator_sees_the_queue_and_stops_a_run(put, at):
    at(TEACHER)
    job = engine().submit(gated("hers"), asker="ada")
    assert gates["hers"].has_begun()
    app = drawn("operator/page.py")
    button = app.button(key=f"operator.stop.{job.ticket}")
    at(BOB)
    button.click().run()
    assert job.state == "running"
    at(TEACHER)
    app.run()
    app.button(key=f"operator.stop.{job.ticket}").click().run()
    assert job.state == "cancelled"
    assert not app.exception


def test_the_operator_clears_a_class_and_all_of_one_owner_with_a_second_click(
    put, at, monkeypatch, data_folder
):
    put(lesson_key="a key that nobody guesses, of this test")
    for who, class_id in ((ADA, "of-ada-01"), (ADA, "of-ada-02"), (BOB, "of-bob-01")):
        with asking(who):
            class_records.open_class(class_id)
        class_records.record(class_id, class_records.new_seat(), {"0.answer": "noise"})
    names = {one.id: one.name for one in class_records.classes()}
    at(TEACHER)
    app = drawn("operator/page.py")
    assert all(names[class_id] in words(app) for class_id in names)
    assert "of-ada" not in words(app)
    app.button(key=f"operator.clear.{names['of-bob-01']}").click().run()
    assert class_records.class_answers("of-bob-01")
    button = app.button(key=f"operator.clear_now.{names['of-bob-01']}")
    at(BOB)
    button.click().run()
    assert class_records.class_answers("of-bob-01")
    at(TEACHER)
    app.run()
    app.button(key=f"operator.clear_now.{names['of-bob-01']}").click().run()
    assert {one.id for one in class_records.classes()} == {"of-ada-01", "of-ada-02"}

    app.button(key=f"operator.clear.of.{ADA.owner}").click().run()
    monkeypatch.setattr(class_records, "PATIENCE", 0.0)
    with contextlib.closing(sqlite3.connect(data_folder / class_records.FILE)) as db:
        db.execute("BEGIN EXCLUSIVE")
        app.button(key=f"operator.clear_now.of.{ADA.owner}").click().run()
        assert class_records.FILE in words(app)
        assert app.metric
        assert not app.exception
    assert len(class_records.classes()) == 2
    app.run()
    app.button(key=f"operator.clear.of.{ADA.owner}").click().run()
    app.button(key=f"operator.clear_now.of.{ADA.owner}").click().run()
    assert not class_records.classes()
    assert not app.exception


def test_a_message_names_a_file_and_no_path_on_the_server(put, at, data_folder):
    """One person at their own machine sees where the file is."""
    file = data_folder / account_files.FILE
    file.write_text("no database, and long enough to be looked at " * 40)
    at(TEACHER)
    text = words(drawn("operator/page.py"))
    assert account_files.FILE in text
    assert str(data_folder) not in text
    with asking(Asker.of_session("x", alone=True)):
        assert (
            safe_text.message(BadInput(f"{file} is damaged.")) == f"{file} is damaged."
        )


@pytest.mark.parametrize(
    "page", ["data", "accountant", "explore", "choose", "compare", "tune"]
)
def test_a_page_on_an_uploaded_file_sends_no_path_on_the_server(page, put):
    table = messy_table()
    columns = {
        "user": "client_ref",
        "item": "programme",
        "rating": "stars",
        "time": "watched_on",
    }
    facts = {"bounds": "0.5,5", **columns, "dates": "dmy"}
    upload = session_files.read(table.content, "visits.csv", facts)
    app = app_of(behind_sidebar(f"{page}/page.py"), brought(upload.entry)).run()
    assert not app.exception
    protos = [getattr(node, "proto", None) for node in nodes(app)]
    sent = [proto.SerializeToString() for proto in protos if isinstance(proto, Message)]
    forget(upload)
    assert len(sent) > 5
    assert str(session_files.home()).encode() not in b"".join(sent)


ASKING = """
import streamlit as st
from dpmf_datasets import session_files
from pages.kit.base import safe_text
from pages.kit.running import runs
from tests.support.engines import Gated
with runs.following():
    runs.ask("here", {"one": Gated(st.query_params["run"])})
"""


@pytest.fixture
def browse(put, monkeypatch):
    """browse(run, cookie): open a tab that asks for a gated run; return who asked for it."""
    monkeypatch.setattr(runs, "PATIENCE", 0.0)
    monkeypatch.setattr(runs, "MOMENT", 0.0)

    def open_tab(run, cookie):
        cookies = {} if cookie is None else {XSRF_COOKIE_NAME: cookie}
        monkeypatch.setattr(type(st.context), "cookies", property(lambda _: cookies))
        gated(run)
        drawn(ASKING, run=run)
        (job,) = [job for job in engine().jobs() if job.spec == Gated(run)]
        jobs.append(job)
        return job.asker

    jobs = []
    yield open_tab
    for job in jobs:
        job.stop()


def test_the_tabs_of_one_browser_have_one_turn(browse):
    """The server masks the same token differently in each answer."""
    hers = [generate_xsrf_token_string(b"sixteen bytes...") for _ in range(2)]
    his = generate_xsrf_token_string(b"sixteen others..")
    assert hers[0] != hers[1]
    first, second, third = (
        browse(f"run {tab}", connection) for tab, connection in enumerate((*hers, his))
    )
    assert first == second != third
    assert "" not in (first, third)


@pytest.mark.parametrize(
    "cookie", [None, "", "2|ab|cdef|1", "2|0|0|0", "x" * 9_000, "2|é|é|1"]
)
def test_a_tab_without_a_usable_cookie_has_a_turn_of_its_own(browse, cookie):
    first = browse("run a", cookie)
    second = browse("run b", cookie)
    assert first != second
    assert "" not in (first, second)


def test_a_login_has_one_turn_in_all_its_browsers(browse, at, monkeypatch):
    at(Asker.of_login("https://login.example.org", "2", operator=False))
    monkeypatch.setattr(visitor, "logged_in", lambda: True)
    tokens = [generate_xsrf_token_string() for _ in range(2)]
    assert (
        browse("run a", tokens[0])
        == browse("run b", tokens[1])
        == visitor.asker().owner
    )


def test_one_person_at_her_machine_may_do_everything_and_is_no_operator(put):
    script = (
        "import streamlit as st\nfrom pages.server import visitor\nwho ="
        " visitor.asker()\nst.write(f'{who.alone} {who.operator} {who.owner}')"
    )
    app = app_of(script).run()
    # a class is nobody's own machine
    assert words(app).startswith("False False session:")
    put(profile="local")
    app = app_of(script).run()
    assert words(app).startswith("True False session:")
    token = app.session_state[visitor.TOKEN]
    assert len(token) >= 32
    assert token not in words(app)
    assert words(app_of(script).run()) != words(app)
    for setting in (
        {"operators": "teacher@example.org"},
        {"hosts": "dpmf.example.org"},
    ):
        put(**setting)
        assert words(app_of(script).run()).startswith("False False")
        put(operators="")


def link_to(**parts):
    return link_token(LessonSequence.parse(steps=(LessonLink.parse(**parts),)))


def test_pages_open_by_a_lesson_link_alone_where_the_operator_wants_it(put, at):
    put(pages_without_lesson="lessons,glossary", data_sets="cinema-small")
    at(BOB)
    assert not drawn("kit/navigation.py").sidebar.selectbox
    link = link_to(
        page="accountant",
        query={"dataset": "cinema-small"},
        locked=("dataset",),
        title="The lesson",
    )
    assert "The lesson" in words(drawn("kit/navigation.py", **{"class": link}))


ACCOUNT = behind_sidebar("accountant/page.py")
EDITED = (
    "from pages.kit import sidebar\nimport streamlit as st\n"
    "st.session_state['sidebar.dataset'] = 'cinema'\nsidebar.draw()"
)


@pytest.mark.parametrize("way", ["an address", "a lesson", "the session's state"])
def test_a_data_set_that_is_not_allowed_comes_in_no_way(way, put, at):
    put(data_sets="cinema-small,lowrank-5k")
    at(BOB)
    if way == "an address":
        app = drawn(ACCOUNT, dataset="cinema")
        assert app.warning
    elif way == "a lesson":
        link = link_to(
            page="accountant",
            query={"dataset": "cinema"},
            locked=("dataset",),
        )
        app = drawn("kit/navigation.py", **{"class": link})
    else:
        app = drawn(EDITED)
    box = app.sidebar.selectbox(key="sidebar.dataset")
    assert box.value == "cinema-small"
    assert len(box.options) == 2


@pytest.mark.parametrize(
    "address", ["memory://bucket/own", "file:///etc", "sqlite:///a.db"]
)
def test_no_page_opens_an_address(address, monkeypatch):
    addresses = []
    for reader in (
        "partitions.read_address",
        "partitions.stamp",
        "readers.databases.read",
    ):
        monkeypatch.setattr(f"dpmf_datasets.{reader}", addresses.append)
    assert drawn(ACCOUNT, dataset=address).warning
    assert not addresses


def test_downloads_are_not_offered_where_they_are_the_operators(put, at):
    at(BOB)
    assert "data.download" not in {
        selectbox.key for selectbox in drawn("data/page.py").selectbox
    }
    at(TEACHER)
    assert "data.download" in {
        selectbox.key for selectbox in drawn("data/page.py").selectbox
    }
