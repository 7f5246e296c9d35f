"""Data with the same rows have one account, in whatever form they come."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import dpmf
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples, of_ratings
from dpmf_core.privacy import Gaussian, Status, accounts
from dpmf_core.privacy.accounts import PROCESS_KEY, Account, account_of
from dpmf_core.privacy.odometer import Charge
from dpmf_core.runs import execution, planning
from dpmf_core.runs.filters import filtered
from dpmf_core.runs.specification import DataSpec, RunSpec
from dpmf_datasets import session_files
from tests.support.gaussian import epsilon_of, mu_of

BIAS = "private-bias"
BUDGET = {"epsilon": 1.0, "delta": 1e-5}
DELTA = 1e-5
EACH = 1 / mu_of(1.0, DELTA)  # the noise multiplier at epsilon 1
TWICE = epsilon_of([EACH, EACH], DELTA)
LEDGER_OF_CHARGE = ((Gaussian(EACH, "a", 1.0), 1),)
CHARGE = Charge("one release", LEDGER_OF_CHARGE, Status.PROVEN, delta=DELTA)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "home"))
    monkeypatch.delenv("DPMF_CATALOGUE", raising=False)
    monkeypatch.delenv(accounts.LEDGER)
    monkeypatch.setenv(PROCESS_KEY, "a process of its own")


@pytest.fixture
def frame():
    rng = np.random.default_rng(3)
    rows = []
    for u in range(40):
        for i in range(u % 9):
            stars = int(rng.integers(1, 6))
            rows.append((u + 1, f"film {i}", stars))
    return pd.DataFrame(rows, columns=["user", "item", "rating"])


@pytest.fixture
def path(frame, tmp_path):
    frame.to_csv(tmp_path / "mine.csv", index=False)
    return f"{tmp_path / 'mine.csv'}?bounds=1,5"


def shown(*owned):
    return [account.total.epsilon for account in owned]


@pytest.mark.parametrize("first", ["file", "frame"])
def test_a_file_and_a_frame_of_the_same_rows_have_one_account(first, path, frame):
    as_frame = frame.astype({"user": float})
    as_frame = as_frame.rename(columns={"rating": "stars"})
    columns = {"rating": "stars"}

    def fit_file():
        dpmf.fit(path, BIAS, **BUDGET)

    def fit_frame():
        dpmf.fit(as_frame, BIAS, **BUDGET, bounds=(1, 5), columns=columns)

    if first == "file":
        order = [fit_file, fit_frame]
    else:
        order = [fit_frame, fit_file]
    for fit in order:
        fit()
    of_file = dpmf.account(path)
    of_frame = dpmf.account(as_frame, bounds=(1, 5), columns=columns)
    assert shown(of_file, of_frame) == pytest.approx([TWICE, TWICE], rel=1e-5)


def test_a_frame_shows_what_was_drawn_from_its_file_before_it_draws(path, frame):
    dpmf.fit(path, BIAS, **BUDGET)
    account = dpmf.account(frame, bounds=(1, 5))
    assert shown(account) == pytest.approx([1.0], rel=1e-6)
    account.set_budget(1.2, DELTA)
    with pytest.raises(dpmf.BadInput, match="budget"):
        dpmf.fit(frame, BIAS, **BUDGET, bounds=(1, 5))
    with pytest.raises(dpmf.BadInput, match="budget"):
        dpmf.fit(path, BIAS, epsilon=0.9, delta=DELTA)


def test_shuffled_rows_in_another_file_join_too(path, frame, tmp_path):
    other = tmp_path / "shuffled.tsv"
    mixed = frame.sample(frac=1, random_state=0)
    mixed[["rating", "item", "user"]].to_csv(other, sep="\t", index=False)
    for address in (path, f"{other}?bounds=1,5"):
        dpmf.fit(address, BIAS, **BUDGET)
    assert shown(dpmf.account(path)) == pytest.approx([TWICE], rel=1e-5)


def test_other_rows_have_another_account(path, frame):
    dpmf.fit(path, BIAS, **BUDGET)
    changed = frame.copy()
    stars = changed.loc[0, "rating"]
    changed.loc[0, "rating"] = 1 + stars % 5
    for other in (frame.iloc[1:], changed):
        assert shown(dpmf.account(other, bounds=(1, 5))) == [0.0]


def test_derived_ratings_join_with_what_they_were_made_from(path, frame):
    """Also if the whole ratings were never used."""
    whole = dpmf.load(frame, bounds=(1, 5))
    dpmf.fit(whole.top_items(4), BIAS, **BUDGET)
    dpmf.fit(path, BIAS, **BUDGET)
    assert shown(dpmf.account(path)) == pytest.approx([TWICE], rel=1e-5)


def test_an_account_that_was_removed_joins_again_when_a_stored_run_is_shown(
    path, frame
):
    dpmf.fit(path, BIAS, **BUDGET)
    dpmf.account(path).forget()
    dpmf.fit(path, BIAS, **BUDGET)
    account = dpmf.account(frame, bounds=(1, 5))
    assert shown(account) == pytest.approx([1.0], rel=1e-6)


def test_what_is_made_of_ratings_keeps_their_digest(frame):
    whole = dpmf.load(frame, bounds=(1, 5))
    spec = DataSpec(id="mine", top_items=5, min_user_count=3, most_per_user=4)
    parts = [
        whole.only(whole.values > 2),
        whole.keeping(np.array([2, 0])),
        whole.positives(3.0),
        filtered(whole, spec),
        of_ratings(whole),
        of_ratings(whole).rows([0, 1]),
        of_ratings(whole).features(np.array([1, 0])),
    ]
    row_digests = {part.row_digest for part in parts}
    assert row_digests == {whole.row_digest}


def test_a_matrix_has_the_digest_of_a_frame_with_its_numbers():
    values = np.array([[1.0, 0, 4], [0, 2, 5]])
    matrix = dpmf.load(csr_array(values), bounds=(1, 5))
    users, items = np.nonzero(values)
    triples = dpmf.load((users, items, values[users, items]), bounds=(1, 5))
    assert matrix.row_digest == triples.row_digest


def test_the_order_of_samples_does_not_matter_and_their_values_do():
    X = np.random.default_rng(0).random((20, 16))
    row_digest = Samples.of(X).row_digest
    assert row_digest == Samples.of(X[::-1].copy()).row_digest
    swapped = X.copy()
    swapped[0, :2] = swapped[0, 1::-1]
    moved = X.copy()
    moved[[0, 1], 0] = moved[[1, 0], 0]
    for other in (swapped, moved):
        assert Samples.of(X).row_digest != Samples.of(other).row_digest


def test_the_digest_tells_single_rows_apart():
    def ratings(*rows):
        users, items, values = zip(*rows, strict=True)
        shape = {"n_users": 3, "n_items": 3, "bounds": (1.0, 5.0)}
        values = np.array(values, float)
        return Ratings.of(users, items, values, **shape).row_digest

    first = ratings((0, 1, 3), (2, 0, 4))
    others = [
        ratings((0, 1, 3), (2, 0, 5)),
        ratings((0, 1, 4), (2, 0, 3)),
        ratings((1, 0, 3), (2, 0, 4)),
        ratings((0, 0, 3), (2, 1, 4)),
        ratings((0, 1, 3)),
    ]
    assert len({first, *others}) == 6


# ---- on a server ---------------------------------------------------------------------------------


def upload(frame, name, owner):
    if name.endswith("tsv"):
        separator = "\t"
    else:
        separator = ","
    content = frame.to_csv(index=False, sep=separator)
    return session_files.read(content.encode(), name, {"bounds": "1,5"}, owner=owner)


def test_two_uploads_of_the_same_rows_join_within_one_session(frame):
    mine = [upload(frame, name, "session:alice") for name in ("a.csv", "b.tsv")]
    other = upload(frame, "a.csv", "session:bob")
    for one in (*mine, other):
        account_of(one.data, lasting=False).enter(CHARGE)
    assert mine[0].data.account != mine[1].data.account
    assert planning.account_of(mine[0].entry.id) == account_of(
        mine[0].data, lasting=False
    )
    of_mine = [account_of(file.data) for file in mine]
    assert shown(*of_mine) == pytest.approx([TWICE, TWICE])
    assert shown(account_of(other.data)) == pytest.approx([1.0])


def test_the_account_of_a_removed_upload_stays_while_its_rows_are_there_in_another(
    frame,
):
    mine = [upload(frame, name, "session:alice") for name in ("a.csv", "b.tsv")]
    for one in mine:
        account_of(one.data, lasting=False).enter(CHARGE)
    left = {mine[1].data.account}
    accounts.sweep(lambda: left)
    assert shown(account_of(mine[1].data)) == pytest.approx([TWICE])
    accounts.sweep(set)
    assert shown(account_of(mine[1].data)) == [0.0]


def test_a_run_on_given_data_has_their_digest_in_its_receipt(frame):
    data = dpmf.load(frame, bounds=(1, 5))
    spec = RunSpec.of(dataset="mine", algorithm=BIAS, **BUDGET)
    run = execution.run(spec, input_data=data)
    receipt = run.record.receipt
    assert receipt.row_digest == data.row_digest


def test_accounts_reached_in_two_ways_become_one(tmp_path):
    """Two groups are joined when an account of both is charged."""
    file = tmp_path / "accounts.sqlite"
    Account(file, "a", together=("left",)).enter(CHARGE)
    Account(file, "b", together=("right",)).enter(CHARGE)
    both = shown(Account(file, "a"), Account(file, "b"))
    assert both == pytest.approx([1.0, 1.0])
    Account(file, "c", together=("right", "left")).enter(CHARGE)
    three = epsilon_of([EACH] * 3, DELTA)
    for key in ("a", "b", "c", "left", "right"):
        assert shown(Account(file, key)) == pytest.approx([three])
