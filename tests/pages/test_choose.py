"""The Choose page: three questions, one answer."""

import json
import os
import re
import shlex
import subprocess
import sys

import pytest

from dpmf_core.algorithms import REGISTRY
from dpmf_core.jobs.engine import engine
from dpmf_core.privacy.certainty import bound_text
from dpmf_core.privacy.formatting import epsilon_text
from dpmf_core.runs.planning import account_of
from dpmf_core.runs.tuning.choosing import question, wording
from dpmf_datasets import session_files
from pages.kit.base import data_sets
from tests.pages.driving import ROOT, app_of, brought, run_until, words
from tests.support.messy_table import messy_table

SCRIPT = (
    "import runpy\nfrom pages.kit.running import runs\nwith runs.following():\n"
    f"    runpy.run_path({str(ROOT / 'pages/choose/page.py')!r})\n"
)


SMALL = "cinema?users=200&items=40&density=0.3&bounds=1,5"


@pytest.fixture(autouse=True)
def few_runs(monkeypatch):
    """Three values of epsilon."""
    monkeypatch.setattr(question, "GRID", (2.0, 5.0, 10.0))


def opened(entry=None, **address):
    """The page at an address, in a session that brought a data set."""
    app = app_of(SCRIPT, {} if entry is None else brought(entry), **address)
    app.run()
    assert not app.exception, [error.value for error in app.exception]
    return app


def link_of(app):
    """The parameters of a page's address."""
    return {
        name: value[0] if isinstance(value, list) else value
        for name, value in app.query_params.items()
    }


def at_step(app, step):
    """Another step of the same session."""
    app.query_params["step"] = step
    return app.run()


def answered(app):
    app.button(key="choose.go").click()
    return run_until(app, lambda: app.title[0].value.startswith(wording.STARTS))


@pytest.mark.slow
def test_an_answer_survives_a_reload_and_is_taken_away(tmp_path):
    """A reload is a new session at the same address; the command runs in another folder."""
    app = opened(dataset=SMALL)
    app.segmented_control(key="choose.wish").set_value("keep").run()
    app.number_input(key="choose.keep").set_value(30).run()
    title = answered(app).title[0].value
    (method,) = {
        kind
        for kind in REGISTRY.values()
        if re.search(rf"(Use|:) {re.escape(kind.title)}(,| at) ", title)
    }
    whole = [
        name for name, field in method.model_fields.items() if field.annotation is int
    ]
    tuned = {f"p.{name}": "2" for name in whole[:1]}  # as Tune writes it
    reloaded = opened(**{**app.query_params, **tuned})
    assert reloaded.title[0].value == title
    assert reloaded.number_input(key="choose.keep").value == 30
    taken = at_step(reloaded, "take")
    assert not taken.radio  # the form is not repeated
    program, *command = shlex.split(taken.code[0].value)
    assert program == "dpmf"
    done = subprocess.run(
        [sys.executable, "-m", "dpmf", *command, "--json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
        text=True,
    )
    record = json.loads(done.stdout)
    budget = record["spec"]["budget"]
    parameters = record["spec"]["parameters"]
    assert parameters == {name.removeprefix("p."): 2 for name in tuned}
    assert tuned.items() <= dict(taken.query_params).items()
    assert f"ε = {budget['epsilon']:g}:" in title
    assert f"at ε = {budget['epsilon']:g} on" in taken.title[0].value
    assert record["spec"]["data"]["id"] == SMALL
    labels = {button.proto.label for button in taken.get("download_button")}
    assert {"Page to print", "Notebook"} <= labels


@pytest.mark.slow
def test_asking_keeps_what_was_tuned_and_both_can_be_exported():
    app = opened(dataset=SMALL, wish="keep", keep="30")
    answered(app)
    data_id, method = app.session_state["choose.method"]
    assert data_id == SMALL
    parameters = {"private-bias": ("local_columns", False), "spectral": ("rank", 3)}
    tuned = next(name for name in parameters if name != method)
    name, value = parameters[tuned]
    app.session_state["export.tuned"] = (SMALL, tuned)
    app.session_state[f"explore.{tuned}.{name}"] = value
    answered(app)
    taken = at_step(app, "take")
    (which,) = taken.radio
    assert which.value == "tuned"
    assert len(which.options) == 2
    command = taken.code[0].value
    assert f"--algorithm {tuned} " in command
    assert f"--param {name}={value}" in command
    assert REGISTRY[tuned].title in taken.title[0].value
    assert opened(**link_of(taken)).code[0].value == command  # as after a reload
    which.set_value("answer").run()
    assert f"--algorithm {method} " in taken.code[0].value
    assert "--param" not in taken.code[0].value
    assert REGISTRY[method].title in taken.title[0].value
    again = opened(**link_of(taken))
    assert again.title[0].value == taken.title[0].value
    assert again.code[0].value == taken.code[0].value


@pytest.mark.slow
def test_close_methods_get_more_draws_before_the_answer_is_shown():
    app = opened(dataset=SMALL)
    app.button(key="choose.go").click()
    titles = []

    def has_ended():
        titles.append(app.title[0].value)
        return titles[-1].startswith(wording.STARTS)

    run_until(app, has_ended)
    waiting = list(dict.fromkeys(titles))[:-1]
    for title in waiting:
        assert title.startswith(("Trying", "More draws of "))
    numbers = next(
        table.value for table in app.dataframe if "note" in table.value.columns
    )
    (answer,) = [row for _, row in numbers.iterrows() if row["note"] == "the answer"]
    assert answer["draws"] in question.MORE
    app.segmented_control(key="choose.scale").set_value("metric").run()
    assert app.title[0].value == titles[-1]
    assert not app.exception


def test_a_link_asks_its_question_and_what_it_cannot_say_is_told():
    app = opened(
        dataset="cinema-small",
        protect="group",
        group="5",
        wish="win",
    )
    assert app.number_input(key="choose.group").value == 5
    assert app.segmented_control(key="choose.wish").value == "spend"
    assert "wish" in app.warning[0].value
    assert "protect" in app.query_params
    assert at_step(app, "take").title[0].value.startswith("There is no answer")


def test_an_address_names_the_synthetic_data_of_a_file_and_opens_them(mine):
    _, entry = mine
    name = opened(entry).query_params["dataset"]
    assert name.startswith(f"cinema?users={entry.n_users}&items={entry.n_items}&")
    other = opened(dataset=name)
    assert not other.warning
    assert f"{entry.n_users:,} people" in words(other)
    assert opened(
        dataset="cinema?users=1000000&items=100&density=0.9&bounds=1,5"
    ).warning


def test_an_address_of_a_file_that_is_gone_exports_no_other_answer(mine):
    _, entry = mine
    address = dict(opened(entry).query_params)
    assert not opened(entry, **address).warning  # the session has it
    link = link_of(opened(entry))
    gone = opened(**link, draws="few")
    assert gone.warning
    assert gone.query_params["file"]
    taken = at_step(gone, "take")
    assert taken.warning
    assert not taken.code
    assert not taken.get("download_button")


@pytest.fixture
def mine():
    table = messy_table()
    columns = {
        "user": "client_ref",
        "item": "programme",
        "rating": "stars",
        "time": "watched_on",
    }
    facts = {"bounds": "0.5,5", **columns, "dates": "dmy"}
    upload = session_files.read(table.content, "visits.csv", facts)
    account = account_of(upload.entry.id)
    assert account is not None
    account.forget()  # that of the same file in another test
    yield table, upload.entry
    session_files.remove(upload.entry)


def in_a_range(app, entry):
    """The page with the range for 9 ratings a person."""
    app.number_input(key=data_sets.each_key(entry)).set_value(9).run()
    app.button(key="choose.go").click()
    return run_until(
        app, lambda: app.title[0].value.startswith("With Spectral at ε = ")
    )


def test_on_private_data_only_an_epsilon_is_asked_for(mine):
    _, entry = mine
    app = opened(entry, wish="keep")
    for control in app.segmented_control:
        assert control.key != "choose.wish"
    assert "about how many ratings a person gives" in app.info[0].value
    (whom,) = app.radio
    assert len(whom.options) == 2
    assert "No method here is proved for a single rating" in words(app)


@pytest.mark.slow
def test_private_rows_are_not_touched(mine):
    table, entry = mine
    app = opened(entry)
    assert "simulated worlds of the same shape" in words(app)
    # before they are declared
    for button in app.button:
        assert button.key != "choose.go"
    assert "about how many ratings a person gives" in app.info[0].value
    in_a_range(app, entry)
    inquiry = app.session_state["choose.asked"]
    assert inquiry.question.data.id == (
        f"worlds?users={entry.n_users}&items={entry.n_items}&each=9&bounds=0.5,5"
    )
    said = words(app)
    assert "nothing public tells which" in said
    assert "no confidence interval" in said
    assert "95%" not in said.replace("95% of the added noise", "")
    account = account_of(entry.id)
    assert not account.entries
    command = at_step(app, "take").code[0].value
    assert "visits.csv?" in command
    assert "user=client_ref" in command
    assert "dates=dmy" in command
    assert not {secret for secret in table.secrets if secret in words(app)}


@pytest.mark.slow
def test_a_choice_on_private_data_is_bought_and_in_the_account(mine):
    table, entry = mine
    app = opened(entry)
    app.session_state["sidebar.epsilon"] = 10.0
    app.run()
    in_a_range(app, entry)
    account = account_of(entry.id)
    assert not account.entries
    price = re.search(
        r"total ε 0\.00 → (\d+\.\d\d)", app.button(key="choose.own").label
    )
    app.button(key="choose.own").click().run()
    # not while it runs, nor after
    for button in app.button:
        assert button.key != "choose.own"
    run_until(app, lambda: app.success)
    assert account.n_raw_errors == 0  # those of its trials stay inside it
    assert 0 <= float(price[1]) - account.total.epsilon < 0.01
    assert len(account.entries) == 1
    text = app.success[0].value
    assert f"ε = {price[1]}" in text
    assert "It chose" in text
    together = account.total.epsilon + 10.0
    total = f"ε = {epsilon_text(together)} in total"
    assert app.title[0].value.startswith((f"{total}: with ", f"{total}: use "))
    taken = words(at_step(app, "take"))
    assert f"{total} (δ = " in taken
    assert f"drawn before {price[1]}, planned 10.00" in taken
    assert "can become almost certain that a given person took part" in taken
    assert f"{bound_text(10.0)} sure" not in taken  # that of the training alone
    assert not {secret for secret in table.secrets if secret in words(app)}


@pytest.mark.slow
def test_an_answer_is_measured_doubled_and_in_the_account(mine):
    table, entry = mine
    app = opened(entry)
    app.session_state["sidebar.epsilon"] = 2.0
    app.run()
    in_a_range(app, entry)
    account = account_of(entry.id)
    totals = [0.0]
    for epsilon in (2, 4):
        label = _measure_label(app)
        price = re.search(r"total ε (\d+\.\d\d) → (\d+\.\d\d)", label)
        assert price[1] == epsilon_text(totals[-1])
        app.button(key="choose.measure").click().run()
        _run_until_double(app, 2 * epsilon)
        totals.append(account.total.epsilon)
        assert price[2] == epsilon_text(totals[-1])
        total = f"ε = {epsilon_text(totals[-1])} in total: with "
        assert app.title[0].value.startswith(total)
    assert app.session_state["sidebar.epsilon"] == 4.0
    assert app.query_params["epsilon"] == "4"
    assert "nothing public tells which" not in words(app)
    (first, _) = app.session_state["choose.measured"][entry.id]
    run = engine().submit(first.work.spec).result(0)  # nothing is drawn again
    assert run.record.fall is not None
    assert account.total.epsilon == totals[-1]
    stored = {row["dataset"] for row in engine().store.rows()}
    assert stored and entry.id not in stored  # runs on an upload stay in memory
    assert not {secret for secret in table.secrets if secret in words(app)}


def _measure_label(app):
    """What the button of the next measured training says; '' while one runs."""
    return next((one.label for one in app.button if one.key == "choose.measure"), "")


def _run_until_double(app, epsilon):
    """The page, once it offers to double epsilon to this one."""
    run_until(app, lambda: f"Double ε to {epsilon}:" in _measure_label(app))
