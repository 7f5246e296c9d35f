"""A stored run of private data enters every account under which it is shown, once."""

import numpy as np
import pandas as pd
import pytest

import dpmf
from dpmf_core.base.errors import BadInput
from dpmf_core.cli import EXIT_BAD_INPUT, EXIT_OK, main
from dpmf_core.jobs.engine import Engine
from dpmf_core.privacy import accounts
from dpmf_core.privacy.accounts import Account
from dpmf_core.runs import execution
from dpmf_core.runs.planning import account_of
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store
from dpmf_core.runs.tuning.private_selection import PrivateSelection
from dpmf_core.runs.tuning.search_space import TuneSpec
from tests.support.engines import WAIT
from tests.support.gaussian import epsilon_of, mu_of

BUDGET = {"epsilon": 1.0, "delta": 1e-5}
BIAS = "private-bias"


@pytest.fixture
def path(tmp_path, monkeypatch):
    """The address of a private file; runs and accounts are in folders of this test."""
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "home"))
    monkeypatch.delenv("DPMF_CATALOGUE", raising=False)
    monkeypatch.delenv(accounts.LEDGER)
    rng = np.random.default_rng(3)
    rows = [
        (f"u{u}", f"i{i}", rng.integers(1, 6)) for u in range(40) for i in range(12)
    ]
    pd.DataFrame(rows, columns=["user", "item", "rating"]).to_csv(tmp_path / "mine.csv")
    return f"{tmp_path / 'mine.csv'}?bounds=1,5&users=40&items=12"


@pytest.fixture
def fitted(path):
    """The model of a run that is stored, and charged to the account of the file."""
    return dpmf.fit(path, BIAS, **BUDGET)


def total(account):
    return account.total.epsilon


def test_a_stored_run_enters_a_ledger_that_is_named_later_once(path, fitted, tmp_path):
    ledger = tmp_path / "later.ledger"
    for _ in range(2):
        assert dpmf.fit(path, BIAS, **BUDGET, ledger=ledger).record.cached
        dpmf.sweep(
            path,
            [BIAS],
            epsilons=[1.0],
            delta=1e-5,
            ledger=ledger,
        )
    for account in (dpmf.account(path, ledger), dpmf.account(path)):
        (entry,) = account.entries
        assert entry.state == "finished"
        assert total(account) == pytest.approx(1.0, rel=1e-6)


def test_the_budget_of_a_ledger_refuses_a_stored_run(path, fitted, tmp_path):
    ledger = dpmf.account(path, tmp_path / "small.ledger")
    ledger.set_budget(0.5, 1e-6)
    with pytest.raises(BadInput, match="budget"):
        dpmf.fit(path, BIAS, **BUDGET, ledger=ledger.file)
    with pytest.raises(BadInput, match="budget"):
        dpmf.sweep(
            path,
            [BIAS],
            epsilons=[1.0],
            delta=1e-5,
            ledger=ledger.file,
        )
    assert ledger.entries == ()


def test_a_stored_run_enters_an_account_again_that_was_removed(path, fitted):
    account = dpmf.account(path)
    account.forget()
    assert total(account) == 0.0
    dpmf.fit(path, BIAS, **BUDGET)
    dpmf.fit(path, BIAS, **BUDGET)
    assert len(account.entries) == 1
    assert total(account) == pytest.approx(1.0, rel=1e-6)


def test_another_draw_of_the_same_run_does_not_stand_for_the_stored_one(
    path, fitted, tmp_path
):
    """Both have one key, but each has noise of its own."""
    ledger = tmp_path / "two.ledger"
    dpmf.fit(path, BIAS, **BUDGET, keep=False, ledger=ledger)
    dpmf.fit(path, BIAS, **BUDGET, ledger=ledger)
    each = 1 / mu_of(1.0, 1e-5)
    expected = epsilon_of([each, each], 1e-5)
    assert total(dpmf.account(path, ledger)) == pytest.approx(expected, rel=1e-5)


def test_a_run_of_an_earlier_version_is_charged_where_it_is_shown(
    path, fitted, tmp_path
):
    """It has no receipt, so nothing tells which entry of an account is its own."""
    store = Store()
    (key,) = store.run_keys()
    run = store.get(key)
    earlier = run.record.model_copy(update={"receipt": None})
    store.put(type(run)(earlier, dict(run.arrays)))
    ledger = tmp_path / "later.ledger"
    for _ in range(2):
        dpmf.fit(path, BIAS, **BUDGET, ledger=ledger)
    assert total(dpmf.account(path, ledger)) == pytest.approx(1.0, rel=1e-6)


FIT = ("fit", "--algorithm", BIAS, "--epsilon", "1", "--delta", "1e-5")
SWEEP = ("sweep", "--algorithms", BIAS, "--epsilons", "1", "--delta", "1e-5")


@pytest.mark.parametrize("words", [FIT, SWEEP])
def test_commands_charge_a_stored_run_to_the_ledger_of_the_call(
    words, path, fitted, tmp_path
):
    ledger = Account(tmp_path / "later.ledger")
    command = [*words, "--dataset", path, "--ledger", str(ledger.file)]
    assert main(command) == EXIT_OK
    assert main(command) == EXIT_OK
    assert len(ledger.entries) == 1
    ledger.forget()
    ledger.set_budget(0.5, 1e-6)
    assert main(command) == EXIT_BAD_INPUT
    assert ledger.entries == ()


@pytest.mark.parametrize(
    "words", ["runs show {}", "runs export {} --json", "runs report {}"]
)
def test_commands_that_show_a_run_charge_it(words, path, fitted, tmp_path, monkeypatch):
    ledger = Account(tmp_path / "later.ledger")
    monkeypatch.setenv(accounts.LEDGER, str(ledger.file))
    assert main(words.format(fitted.record.key).split()) == EXIT_OK
    assert len(ledger.entries) == 1
    ledger.forget()
    ledger.set_budget(0.5, 1e-6)
    assert main(words.format(fitted.record.key).split()) == EXIT_BAD_INPUT


def spec_of(path):
    return RunSpec.of(dataset=path, algorithm=BIAS, **BUDGET)


@pytest.fixture
def engine(path):
    store = Store()
    engine = Engine(store, workers=1)
    yield engine
    engine.close()
    store.close()


def test_a_page_charges_the_stored_run_that_it_shows(path, engine):
    """Through each of the ways by which a page finds stored runs."""
    spec = spec_of(path)
    engine.submit(spec).result(WAIT)
    account = account_of(path)
    known = engine.known_runs
    shows = (
        known.find,
        known.whole,
        lambda run: known.find_all([run])[0],
        lambda run: engine.submit(run).result(WAIT),
    )
    for show in shows:
        account.forget()
        assert show(spec) is not None
        assert len(account.entries) == 1
        show(spec)
        assert len(account.entries) == 1


def test_a_page_shows_no_stored_run_that_a_budget_refuses(path, engine):
    spec = spec_of(path)
    engine.submit(spec).result(WAIT)
    account = account_of(path)
    account.forget()
    account.set_budget(0.5, 1e-6)
    known = engine.known_runs
    assert known.find(spec) is None
    assert known.whole(spec) is None
    assert known.find_all([spec]) == [None]
    with pytest.raises(BadInput, match="budget"):
        engine.submit(spec).result(WAIT)
    assert account.entries == ()


def test_a_selection_in_memory_is_charged_again_after_its_account_was_removed(
    path, engine
):
    search = TuneSpec.parse(
        data={"id": path},
        algorithm=BIAS,
        search={"prior_deviation": (0.1, 1.0)},
        budget={"epsilon": 1.0, "delta": 1e-6},
    )
    selection = PrivateSelection.parse(searches=(search,), trials=3.0)
    first = engine.submit(selection).result(WAIT)
    account = account_of(path)
    account.forget()
    assert engine.submit(selection).result(WAIT) is first
    assert total(account) == pytest.approx(selection.epsilon)
    assert len(account.entries) == 1


def test_public_runs_have_no_receipt_and_open_no_account(path, tmp_path):
    spec = RunSpec.of(dataset="cinema-small", algorithm=BIAS, **BUDGET)
    assert execution.run(spec).record.receipt is None
    assert not (tmp_path / "home" / "accounts.sqlite").exists()


def test_a_receipt_stays_on_the_machine(path, fitted):
    assert fitted.record.receipt is not None
    assert fitted.record.exported().receipt is None
    assert "receipt" not in fitted.record.export()
