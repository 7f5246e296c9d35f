"""The step Export: training on all ratings, the model that is taken away, and the command."""

import io
import json
import os
import shlex
import subprocess
import sys
import zipfile

import pytest

from dpmf_core.privacy import default_delta
from dpmf_core.runs.planning import account_of
from dpmf_datasets import session_files
from pages.kit.privacy import purchases
from tests.pages.driving import ROOT, app_of, brought, forget, run_until, words
from tests.support.messy_table import messy_table

SCRIPT = (
    "import runpy\nfrom pages.kit.running import runs\nwith runs.following():\n"
    f"    runpy.run_path({str(ROOT / 'pages/choose/page.py')!r})\n"
)
METHOD = "private-bias"
PARAMETERS = {"prior_deviation": 0.5, "local_columns": False}
# as Tune sends here: a method, its parameters and an epsilon
TUNED = {
    "step": "take",
    "export": "tuned",
    "algorithm": METHOD,
    "epsilon": "2",
    **{f"p.{name}": str(value) for name, value in PARAMETERS.items()},
}
LOADED = """
import json, sys
import dpmf
model = dpmf.load_model(sys.argv[1])
mine = {model.item_ids[0]: 5.0, model.item_ids[1]: 1.0}
best = model.recommend(own=mine, k=3)
record = model.record
print(json.dumps({
    "items": best["item"].tolist(), "epsilon": model.epsilon, "metrics": record.metrics,
    "curves": list(record.curves), "spec": record.spec.model_dump(mode="json"),
}))
"""


@pytest.fixture
def mine():
    table = messy_table(people=200, items=30)
    columns = {
        "user": "client_ref",
        "item": "programme",
        "rating": "stars",
        "time": "watched_on",
    }
    facts = {"outside": "leave-out", **columns, "dates": "dmy", "bounds": "0.5,5"}
    upload = session_files.read(table.content, "visits.csv", facts)
    yield table, upload.entry
    forget(upload)


def opened(entry=None, state=None, **address):
    own = {} if entry is None else brought(entry)
    app = app_of(SCRIPT, own | (state or {}), **address).run()
    assert not app.exception, [error.value for error in app.exception]
    return app


def link_of(app):
    """The parameters of a page's address."""
    return {
        name: value[0] if isinstance(value, list) else value
        for name, value in app.query_params.items()
    }


def trained(app):
    app.button(key="export.train").click()
    return run_until(app, lambda: app.get("download_button"))


def elsewhere(code, folder, data_folder):
    """What code prints about a model in an interpreter that has another data folder."""
    environment = {**os.environ, "DPMF_DATA": str(data_folder), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code, "model"],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout)


def test_the_model_of_private_data_is_bought_taken_away_and_loads_elsewhere(
    mine, tmp_path
):
    table, entry = mine
    app = opened(entry, **TUNED)
    account = account_of(entry.id)
    assert app.button(key="export.train").label.endswith("total ε 0.00 → 2.00")
    assert "another release from your data" in words(app)
    assert not account.entries
    assert not app.get("download_button")
    trained(app)
    (charged,) = account.entries
    assert account.total.epsilon == pytest.approx(2.0, abs=1e-6)
    assert account.n_raw_errors == 0
    assert not charged.charge.holds_out
    # 1/(10 n) for 200 people
    assert "ε = 2.00 in total (δ = 5e-4, per user, add/remove, exact)" in words(app)
    assert "errors are computed on raw data" not in words(app)
    content = zipfile.ZipFile(io.BytesIO(app.session_state["export.packed"][1]))
    files = {name: content.read(name) for name in content.namelist()}
    assert {
        "model/model.npz",
        "model/model.json",
        "model/MODEL_CARD.md",
    } <= files.keys()
    assert {"model/privacy.yaml", "model/privacy.html"} <= files.keys()
    people = {secret.encode() for secret in table.secrets if secret.startswith("kd-")}
    assert len(people) > 100
    assert not {
        secret for secret in people for file in files.values() if secret in file
    }
    assert not [name for name, file in files.items() if entry.id.encode() in file]
    assert b"visits.csv" in files["model/MODEL_CARD.md"]
    content.extractall(tmp_path / "empty")
    loaded = elsewhere(LOADED, tmp_path / "empty", tmp_path / "other")
    assert len(set(loaded["items"])) == 3
    assert loaded["epsilon"] == pytest.approx(2.0, abs=1e-6)
    assert loaded["metrics"] == {}
    assert loaded["curves"] == []
    spec = loaded["spec"]
    assert spec["split"]["kind"] == "none"
    assert spec["parameters"] == PARAMETERS
    assert spec["budget"]["delta"] == default_delta(entry.n_users)


def test_the_command_runs_as_it_is_printed_and_does_the_run_of_the_page(mine, tmp_path):
    table, entry = mine
    app = trained(opened(entry, **TUNED))
    (tmp_path / "visits.csv").write_bytes(table.content)
    command = app.code[0].value
    assert str(ROOT) not in command
    assert entry.id not in command
    program, *arguments = shlex.split(command)
    assert program == "dpmf"
    environment = {
        **os.environ,
        "DPMF_DATA": str(tmp_path / "data"),
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [sys.executable, "-m", "dpmf", *arguments, "--json"],
        cwd=tmp_path,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    printed = json.loads(done.stdout)
    assert not printed.get("metrics")
    with zipfile.ZipFile(io.BytesIO(app.session_state["export.packed"][1])) as content:
        of_page = json.loads(content.read("model/model.json"))["record"]
    of_command = json.loads((tmp_path / "model" / "model.json").read_text())["record"]
    parts = (
        "spec",
        "parameters",
        "epsilon",
        "delta",
        "guarantee",
        "ledger",
        "shape",
        "split",
    )
    assert {name: of_page[name] for name in parts} == {
        name: of_command[name] for name in parts
    }
    loaded = elsewhere(LOADED, tmp_path, tmp_path / "data")
    assert loaded["spec"]["parameters"] == PARAMETERS


def test_the_command_names_the_items_table_that_was_added():
    rows = "".join(
        f"p{user},t{item},{1 + (user + item) % 5}\n"
        for user in range(9)
        for item in (1, 2)
    )
    facts = {"missing": "0", "bounds": "1,5"}
    content = f"user,item,rating\n{rows}".encode()
    entry = session_files.read(content, "mine.csv", facts).entry
    table = b"item,length\nt1,90\nt2,120\n"
    new_entry, _ = session_files.with_item_table(entry, table, "films.csv")
    address = session_files.command_path(new_entry.id)
    session_files.remove(new_entry)
    assert address == "mine.csv?bounds=1,5&missing=0&item_table=films.csv"


def test_public_data_train_without_a_price():
    app = opened(**TUNED, dataset="cinema-small")
    assert app.button(key="export.train").label == "Train on all ratings"
    assert app.title[0].value == "Private biases at ε = 2 on Cinema, 2,000 people"
    trained(app)
    assert "Trained on all ratings, with ε = 2.00 (δ = 5e-5, per user" in words(
        app
    ).replace("**", "")
    assert not app.get("arrow_data_frame")


def test_a_budget_refuses_the_training_beforehand(mine):
    _, entry = mine
    account_of(entry.id).set_budget(1.0, default_delta(entry.n_users))
    app = opened(entry, **TUNED)
    assert app.button(key="export.train").disabled
    assert not account_of(entry.id).entries


def test_a_training_that_the_account_holds_is_not_planned_again(mine, monkeypatch):
    """The total of the step is the account's, not one with a further training."""
    _, entry = mine
    app = trained(opened(entry, **TUNED))
    prices = []
    monkeypatch.setattr(
        purchases, "draw_button", lambda *arguments, **_: prices.append(arguments)
    )
    app.run()
    assert not prices
    assert "2.00 in total" in words(app)
    assert "2.97" not in words(app)


def test_export_without_an_answer_says_what_to_do(mine):
    app = opened(step="take", dataset="cinema-small")
    assert app.title[0].value == "There is no answer to export yet"
    assert not app.code
    assert not app.get("download_button")
    # a method that is not one of them, and the best of several, are no export
    for method in ("nonsense", ""):
        app = opened(**TUNED | {"algorithm": method, "dataset": "cinema-small"})
        assert app.title[0].value == "There is no answer to export yet"


def test_the_step_of_a_file_that_is_gone_exports_nothing(mine):
    _, entry = mine
    link = link_of(opened(entry, **TUNED))
    assert link["file"] == "own"
    assert link["export"] == "tuned"
    gone = opened(**link)
    assert gone.warning
    assert not gone.code
    for button in gone.button:
        assert button.key != "export.train"


def test_an_address_holds_what_the_export_needs():
    first = opened(**TUNED, dataset="cinema-small")
    again = opened(**link_of(first))
    assert again.code[0].value == first.code[0].value
    for name, value in PARAMETERS.items():
        assert f"--param {name}={value}" in first.code[0].value


def test_tuned_parameters_of_other_data_are_not_exported():
    state = {"export.tuned": ("cinema", METHOD)}
    app = opened(state=state, step="take", dataset="cinema-small")
    assert app.title[0].value == "There is no answer to export yet"
