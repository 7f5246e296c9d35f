"""The account of private data: charged before the first draw, settled to what was drawn."""

import contextlib
import gzip
import hashlib
import json
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dpmf
from dpmf_core import algorithms
from dpmf_core.algorithms import REGISTRY, PrivateAlgorithm
from dpmf_core.base.errors import BadInput, Cancelled
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples
from dpmf_core.privacy import (
    Gaussian,
    Noise,
    Status,
    account_files,
    accounts,
    normal_form,
    sequence,
)
from dpmf_core.privacy.accounts import Account, account_of
from dpmf_core.privacy.odometer import Charge
from dpmf_core.runs import data_access, execution
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.tuning.private_selection import PrivateSelection
from dpmf_core.runs.tuning.search_space import TuneSpec
from dpmf_core.testing.rating_worlds import world
from dpmf_datasets import session_files
from tests.support.engines import QUICK, WAIT
from tests.support.gaussian import epsilon_of

ROOT = Path(__file__).parents[2]
PLAN = sequence(Gaussian(2.0, "a", 1.0), Gaussian(3.0, "b", 1.0))
CHARGE = Charge("two releases", normal_form(PLAN), Status.PROVEN, delta=1e-5)

ROWS = [(f"p{u}", f"t{i}", 1.0 + (u * i) % 5) for u in range(30) for i in range(12)]
FRAME = pd.DataFrame(ROWS, columns=["user", "item", "rating"])


@pytest.fixture(autouse=True)
def no_ledger(two_sets, monkeypatch):
    monkeypatch.delenv(accounts.LEDGER)


def spec(**parts):
    parts = {**QUICK, "data": {"id": "own"}, **parts}
    return RunSpec.parse(**parts)


def private():
    return replace(world(), public=False)


def account():
    return account_of(data_access.open_data(spec().data))


def test_the_whole_plan_is_charged_before_the_first_draw(tmp_path):
    own_account = Account(tmp_path / "a.ledger")
    with own_account.reserve(CHARGE) as paid:
        states = [entry.state for entry in own_account.entries]
        assert states == ["running"]
        assert own_account.entries[0].charge == CHARGE
        paid.noise(PLAN).vector("a", np.zeros(3), sensitivity=1.0)
    (entry,) = own_account.entries
    assert entry.charge.ledger == ((Gaussian(2.0, "a", 1.0), 1),)
    assert own_account.entries[0].state == "finished"


@pytest.mark.parametrize(
    ("error", "state"),
    [
        (Cancelled, "cancelled"),
        (KeyboardInterrupt, "cancelled"),
        (RuntimeError, "failed"),
    ],
)
def test_a_run_that_stops_costs_what_it_drew(tmp_path, error, state):
    own_account = Account(tmp_path / "a.ledger")
    with pytest.raises(error), own_account.reserve(CHARGE) as paid:
        paid.noise(PLAN).vector("a", np.zeros(3), sensitivity=1.0)
        raise error
    (entry,) = own_account.entries
    assert entry.state == state
    assert entry.charge.ledger == ((Gaussian(2.0, "a", 1.0), 1),)


def test_a_run_that_fails_before_it_draws_costs_nothing(tmp_path):
    own_account = Account(tmp_path / "a.ledger")
    with pytest.raises(BadInput), own_account.reserve(CHARGE):
        raise BadInput("no")
    assert own_account.entries == ()
    assert own_account.total.epsilon == 0.0


KILLED_SCRIPT = """
import numpy as np, os, signal, sys
from pathlib import Path
from dpmf_core.privacy.accounts import Account
from tests.privacy.test_accounts import CHARGE, PLAN
with Account(Path(sys.argv[1])).reserve(CHARGE) as paid:
    paid.noise(PLAN).vector("a", np.zeros(3), sensitivity=1.0)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_leaves_its_whole_plan_charged(tmp_path):
    file = tmp_path / "a.ledger"
    command = [sys.executable, "-c", KILLED_SCRIPT, str(file)]
    process = subprocess.run(command, cwd=ROOT, check=False)
    assert process.returncode == -signal.SIGKILL
    (entry,) = Account(file).entries
    assert entry.state == "running"
    assert entry.charge == CHARGE


def _charge_often(file, times):
    for _ in range(times):
        with Account(Path(file)).reserve(CHARGE) as paid:
            paid.noise(PLAN).vector("a", np.zeros(1), sensitivity=1.0)


@pytest.mark.slow
def test_several_processes_share_an_account(tmp_path):
    file = tmp_path / "a.ledger"
    context = multiprocessing.get_context("spawn")
    workers = []
    for _ in range(2):
        worker = context.Process(target=_charge_often, args=(str(file), 10))
        workers.append(worker)
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(WAIT)
    entries = Account(file).entries
    assert len(entries) == 20
    assert {entry.state for entry in entries} == {"finished"}


def test_a_budget_counts_what_is_still_running(tmp_path):
    """Check and entry are one transaction, so two runs cannot enter side by side."""
    file = tmp_path / "a.ledger"
    Account(file).set_budget(2.0, 1e-5)
    # of the 1.9938 that epsilon 2 needs; two of them make 1.77
    one = Charge("one", ((Gaussian(2.5), 1),), Status.PROVEN, delta=1e-5)
    with (
        Account(file).reserve(one),
        pytest.raises(BadInput),
        Account(file).reserve(one),
    ):
        raise AssertionError("it was let in")
    with Account(file).reserve(one):  # the first drew nothing
        pass


def test_every_filter_of_the_same_data_enters_the_same_account():
    filters = (
        {},
        {"top_items": 10},
        {"min_user_count": 5},
        {"most_per_user": 9},
    )
    for more in (*filters, {"min_item_count": 3}):
        execution.run(spec(data={"id": "own", **more}))
    assert len(account().entries) == 5
    file = account_files.accounts_file()
    rows = _rows(file, "SELECT DISTINCT account FROM entries")
    data = data_access.open_data(spec().data)
    assert rows == [(data.account,)]


def _rows(file, query):
    with sqlite3.connect(file) as db:
        return db.execute(query).fetchall()


def test_a_named_ledger_is_an_account(tmp_path):
    mine = private()
    file = tmp_path / "my.ledger"
    dpmf.fit(mine, "private-bias", epsilon=1.0, delta=1e-5, ledger=file)
    dpmf.sweep(mine, ["private-bias", "als"], epsilons=[2.0], delta=1e-5, ledger=file)
    own_account = dpmf.account(mine, file)
    assert len(own_account.entries) == 3
    assert own_account.total.n_uncovered == 1
    assert own_account.total.epsilon == pytest.approx(
        epsilon_of([3.7306, 1.9938], 1e-5), abs=1e-3
    )
    assert not (tmp_path / account_files.FILE).exists()
    own_account.set_budget(2.5, 1e-5)
    with pytest.raises(BadInput):
        dpmf.fit(mine, "private-bias", epsilon=2.0, delta=1e-5, ledger=file)
    assert len(own_account.entries) == 3


def test_public_data_have_no_account(tmp_path):
    execution.run(spec(data={"id": "small"}))
    assert not (tmp_path / account_files.FILE).exists()
    with pytest.raises(BadInput):
        dpmf.account("small")


@pytest.fixture
def drawn_leaves(monkeypatch):
    """The leaf of every release that was opened, as it is opened."""
    log = []
    open_release = Noise._open

    def record(self, leaf, size):
        log.append(leaf)
        return open_release(self, leaf, size)

    monkeypatch.setattr(Noise, "_open", record)
    return log


PRIVATE = [kind for kind in REGISTRY.values() if issubclass(kind, PrivateAlgorithm)]


@pytest.mark.parametrize(
    "name", [kind.id for kind in PRIVATE if kind.task == "ratings"]
)
def test_every_algorithm_draws_from_the_account(name, drawn_leaves):
    """What was drawn is what the account says, release by release."""
    known_fields = algorithms.find(name).model_fields
    small = {
        field: 2 for field in ("steps", "rank", "iterations") if field in known_fields
    }
    data = {"id": "own", "top_items": 12}
    execution.run(spec(algorithm=name, parameters=small, data=data))
    entry = account().entries[0]
    charged = dict(entry.charge.ledger)
    noise = {
        leaf: n for leaf, n in charged.items() if leaf.mechanism != "posterior sample"
    }
    assert Counter(drawn_leaves) == noise
    assert charged


def private_selection():
    search = TuneSpec.parse(
        data={"id": "own"},
        algorithm="private-bias",
        search={"prior_deviation": (0.1, 1.0)},
        budget={"epsilon": 1.0, "delta": 1e-6},
    )
    return PrivateSelection.parse(searches=(search,), trials=3.0)


def test_a_private_selection_is_charged_its_price_and_not_its_trials(drawn_leaves):
    selection = private_selection()
    selection.measure()
    (entry,) = account().entries
    assert entry.charge.price is not None
    assert entry.charge.ledger == ()
    price, replaced = entry.charge.price
    assert account().total.epsilon == price
    assert selection.epsilon == price
    assert price < replaced
    assert len(drawn_leaves) % 3 == 0  # two sums and a score each


def test_a_selection_is_refused_under_a_budget_before_it_draws(drawn_leaves):
    account().set_budget(1.3, 1e-6)
    with pytest.raises(BadInput, match="as one Gaussian release"):
        private_selection().measure()
    assert not drawn_leaves
    assert account().entries == ()


def test_the_file_is_its_users_alone_and_holds_no_data(tmp_path):
    os.umask(0o022)
    execution.run(spec())
    file = tmp_path / account_files.FILE
    assert file.stat().st_mode & 0o777 == 0o600
    (charge,) = _rows(file, "SELECT charge FROM entries")[0]
    facts = "title ledger status unit delta relation price release holds_out"
    assert set(json.loads(charge)) == set(facts.split())


def test_a_run_on_all_ratings_shows_no_errors():
    execution.run(spec(split={"kind": "none"}))
    assert len(account().entries) == 1
    assert account().n_raw_errors == 0
    execution.run(spec())
    assert len(account().entries) == 2
    assert account().n_raw_errors == 1


def test_a_file_that_cannot_be_written_stops_the_run(tmp_path):
    (tmp_path / account_files.FILE).write_text(
        "no database, and long enough to be looked at " * 40
    )
    with pytest.raises(BadInput, match=account_files.FILE):
        execution.run(spec())


def test_a_newer_layout_is_left_alone(tmp_path):
    with sqlite3.connect(tmp_path / "a.ledger") as db:
        db.execute("PRAGMA user_version = 9")
    with pytest.raises(BadInput, match="newer version"):
        _ = Account(tmp_path / "a.ledger").entries


@pytest.mark.parametrize("layout", [1, 2, 3])
def test_an_account_of_an_earlier_layout_is_refused(tmp_path, layout):
    file = tmp_path / account_files.FILE
    with Account(file, "one").reserve(CHARGE) as permit:
        permit.noise(PLAN).vector("a", np.zeros(3), sensitivity=1.0)
    with contextlib.closing(sqlite3.connect(file)) as db, db:
        db.execute(f"PRAGMA user_version = {layout}")
    with pytest.raises(
        BadInput, match=r"earlier version.*would be too low.*Move the file away"
    ):
        _ = Account(file, "one").total
    with pytest.raises(BadInput, match="nothing is drawn"):
        execution.run(spec())


def test_an_account_that_an_earlier_version_left_in_the_cache_is_refused(
    tmp_path, monkeypatch
):
    monkeypatch.delenv("DPMF_DATA")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with Account(tmp_path / "cache/dpmf" / account_files.FILE, "one").reserve(CHARGE):
        pass
    with pytest.raises(BadInput, match="would be too low"):
        account()


def test_accounts_of_uploads_go_with_them(tmp_path):
    for key, lasting in (("gone", False), ("there", False), ("path", True)):
        with Account(tmp_path / account_files.FILE, key, lasting).reserve(CHARGE):
            pass
    accounts.sweep(lambda: {"there"})
    entry_counts = {
        key: len(Account(tmp_path / account_files.FILE, key).entries)
        for key in ("gone", "there", "path")
    }
    assert entry_counts == {"gone": 0, "there": 1, "path": 1}
    content = (tmp_path / account_files.FILE).read_bytes()
    assert b"gone" not in content


def test_sessions_that_bring_one_file_have_accounts_of_their_own():
    content = FRAME.to_csv(index=False).encode()

    def brought_by(owner):
        facts = {"bounds": "1,5"}
        return account_of(
            session_files.read(content, "mine.csv", facts, owner=owner).data
        )

    alice = brought_by("session:alice")
    bob = brought_by("session:bob")
    alice.set_budget(3.0, 1e-5)
    bob.set_budget(0.5, 1e-5)
    alice.enter(CHARGE)
    assert alice.budget.epsilon == 3.0
    assert not bob.entries
    assert brought_by("session:alice") == alice  # also when she brings it again
    with pytest.raises(BadInput):
        bob.enter(CHARGE)
    assert accounts.shared_files() == []

    for own_account in (alice, bob):
        own_account.set_budget(None)
    bob.enter(CHARGE)
    (shared,) = accounts.shared_files()
    assert shared.fingerprint == hashlib.sha256(content).hexdigest()
    assert shared.n_accounts == 2
    assert shared.total == alice.after([CHARGE])


def test_a_budget_is_checked_and_taken_away(tmp_path):
    own_account = Account(tmp_path / "a.ledger")
    with pytest.raises(BadInput):
        own_account.set_budget(-1.0, 1e-5)
    own_account.set_budget(3.0, 1e-5)
    assert own_account.budget.epsilon == 3.0
    own_account.set_budget(None)
    assert own_account.budget is None
    much = Charge("much", ((Gaussian(0.1), 1),), Status.PROVEN, delta=1e-5)
    with own_account.reserve(much) as paid:
        paid.noise(sequence(Gaussian(0.1))).vector(
            "statistic", np.zeros(2), sensitivity=1.0
        )
    with pytest.raises(BadInput):
        own_account.set_budget(3.0, 1e-5)


def test_the_same_bytes_are_one_account_however_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setenv("DPMF_CATALOGUE", "dpmf_datasets")
    table = (
        "Member,Product,Points\n"
        + "\n".join(
            f"p{u},t{i},{1 + (u * i) % 5}" for u in range(30) for i in range(12)
        )
        + "\n"
    ).encode()
    columns = {"user": "Member", "item": "Product", "rating": "Points"}
    first = session_files.read(table, "a.csv", {"bounds": "1,5", **columns})
    packed = gzip.compress(table)
    second = session_files.read(packed, "b.csv.gz", {"bounds": "0,6", **columns})
    (tmp_path / "c.csv").write_bytes(
        table.replace(b"Member,Product,Points", b"user,item,rating")
    )
    keys = {dpmf.account(upload.entry.id).key for upload in (first, second)}
    assert len(keys) == 1
    assert keys <= session_files.origins()
    # other bytes
    assert dpmf.account(f"{tmp_path / 'c.csv'}?bounds=1,5").key not in keys
    session_files.remove(first.entry)
    assert keys <= session_files.origins()
    session_files.remove(second.entry)
    assert not session_files.origins()


def test_what_is_declared_of_the_same_values_opens_no_other_account():
    """Another image size, other bounds or people are the same data."""
    X = np.random.default_rng(0).random((20, 16))
    of_people = Samples.of(X).of_people(np.arange(20) % 5)
    declared = (Samples.of(X, image=(4, 4)), of_people)
    ways = (Samples.of(X), Samples.of(X).assuming("x"), *declared)
    assert len({way.account for way in ways}) == 1
    data = Ratings.of([0, 1], [0, 1], [1, 2], n_users=2, n_items=2, bounds=(1, 5))
    assert (
        replace(data, n_users=5).account
        == replace(data, bounds=(0, 6)).account
        == data.account
        != data.only(np.array([True, False])).fingerprint
    )
