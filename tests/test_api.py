"""`fit`, `sweep` and `load` from Python."""

import inspect
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

import dpmf
from dpmf import (
    PlainRecommender,
    PrivateRecommender,
    account,
    fit,
    load,
    load_model,
    sweep,
)
from dpmf_core.algorithms import REGISTRY
from dpmf_core.base.errors import BadInput
from dpmf_core.privacy.accounts import LEDGER
from dpmf_core.runs.specification import PARAMETERS, RunSpec
from dpmf_core.testing.rating_worlds import low_rank

pytestmark = pytest.mark.usefixtures("data_folder")


@pytest.mark.parametrize(
    ("function", "others"), [(fit, set()), (sweep, {"algorithm", "epsilon", "seed"})]
)
def test_the_signature_shows_every_parameter_of_a_run(function, others):
    shown = inspect.signature(function).parameters
    assert set(PARAMETERS) - {"dataset"} - others <= set(shown)
    assert shown["test_fraction"].default == 0.1


NAMES = {
    "BadInput",
    "account",
    "algorithms",
    "audit",
    "check",
    "choose",
    "fit",
    "load",
    "load_model",
    "plot",
    "privacy",
    "privacy_price",
    "sweep",
    "tune",
    "PlainNMF",
    "PlainRecommender",
    "PrivateNMF",
    "PrivateRecommender",
    "RatingFolds",
    "Audit",
    "Choice",
    "DataCheck",
    "Method",
    "Swept",
    "TrainedModel",
    "Tuning",
    "Contract",
    "Curator",
    "PrivateAlgorithm",
    "Statistic",
}


def test_the_package_offers_what_it_lists_and_nothing_else():
    assert set(dpmf.__all__) == NAMES
    assert dir(dpmf) == sorted([*NAMES, "__version__"])
    names = [name for names in dpmf.PLACES.values() for name in names]
    assert sorted([*names, "privacy"]) == dpmf.__all__
    assert all(getattr(dpmf, name) is not None for name in names)
    with pytest.raises(AttributeError):
        _ = dpmf.fitt


def test_a_model_offers_only_what_the_reference_explains():
    model = fit("cinema-small", "bias")
    public = {name for name in dir(model) if not name.startswith("_")}
    explained = {
        "record",
        "arrays",
        "items",
        "key",
        "spec",
        "title",
        "name",
        "summary",
        "model",
        "epsilon",
        "guarantee",
        "recommender",
        "item_ids",
        "user_ids",
        "held_out",
        "predict",
        "recommend",
        "similar_items",
        "save",
        "export",
        "without_people",
        "without_raw_figures",
    }
    assert public == explained


BOUNDS = low_rank().bounds


def own_frame():
    """Ratings whose users and items have ids of their own."""
    frame = frame_of(low_rank(n_users=60))
    return frame.assign(
        user=frame["user"].map("u{:03}".format), item=frame["item"] + 100
    )


def test_a_fit_is_a_model_that_estimators_give_too():
    """The same run on the same ratings, with all of them: predictions and lists are the same."""
    frame = own_frame()
    choices = {"epsilon": 5.0, "delta": 1e-5}
    run = fit(
        load(frame, bounds=BOUNDS, public=True), "dpals", rank=2, split=None, **choices
    )
    estimator = PrivateRecommender(
        "dpals", rank=2, bounds=BOUNDS, public=True, **choices
    )
    estimator.set_params(random_state=np.random.RandomState(0)).fit(frame)
    assert run.epsilon == estimator.epsilon_
    assert run.epsilon == pytest.approx(5.0)
    assert run.guarantee == estimator.guarantee_
    model = fit(frame, "bias", bounds=BOUNDS, split=None)
    same = PlainRecommender("bias", bounds=BOUNDS).fit(frame)
    assert_array_equal(model.predict(frame), same.predict(frame))
    pd.testing.assert_frame_equal(model.recommend(["u007"]), same.recommend(["u007"]))
    assert set(model.recommend(["u007"])["item"]) <= set(frame["item"])


def test_without_a_split_all_ratings_train_and_no_metric_is_computed():
    """The item means of all ratings, which a split would change."""
    frame = own_frame()
    model = fit(frame, "global-mean", bounds=BOUNDS, split=None)
    expected = frame["rating"].mean()
    assert model.model.centre == pytest.approx(expected, abs=1e-6)
    assert model.record.metrics == {}
    assert model.record.curves == ()
    metrics = fit("cinema-small", "bias", split=None).record.metrics
    assert metrics == {}


def test_a_model_of_a_data_set_knows_its_users_by_number(tmp_path):
    model = fit("cinema-small", "spectral", epsilon=5)
    lists = model.recommend([3, 4], k=5)
    assert lists["user"].tolist() == [3] * 5 + [4] * 5
    assert model.user_ids.equals(pd.RangeIndex(load("cinema-small").n_users))
    again = load_model(model.save(tmp_path / "films"))
    assert isinstance(again, type(model))
    assert again.epsilon == model.epsilon
    with pytest.raises(BadInput):
        again.recommend([3])
    with pytest.raises(BadInput):
        fit("digits", "nmf", steps=1).recommend()


def test_a_run_has_one_name_for_each_parameter_and_takes_mappings_of_them():
    common = {"dataset": "cinema", "algorithm": "dpals", "epsilon": 1.0, "delta": 1e-6}
    flat = RunSpec.of(**common, rank=3, split="users", fold_in=0.5, min_df="2")
    nested = RunSpec.of(
        **common,
        parameters={"rank": 3},
        split={"kind": "users", "fold_in": 0.5},
        data={"min_df": 2},
    )
    assert flat == nested
    assert flat.split.fold_in == 0.5
    assert flat.data.min_df == 2
    assert flat.parameters == {"rank": 3}
    # what stands in `parameters` is the algorithm's, whatever else has its name
    parameters = RunSpec.of(**common, parameters={"noise": "own"}).parameters
    assert parameters == {"noise": "own"}
    for kind in REGISTRY.values():
        assert not set(kind.model_fields) & set(PARAMETERS)


def frame_of(ratings):
    columns = {"user": ratings.users, "item": ratings.items, "rating": ratings.values}
    return pd.DataFrame(columns)


def test_a_private_frame_has_one_account_however_it_is_brought(monkeypatch):
    monkeypatch.delenv(LEDGER)  # the account is then found by the data's fingerprint
    ratings = low_rank(n_users=200)
    frame = frame_of(ratings)
    bounds = ratings.bounds
    matrix = csr_array(
        (frame["rating"], (frame["user"], frame["item"])), shape=(200, 17)
    )
    fit(frame, "private-bias", epsilon=1.0, delta=1e-6, bounds=bounds)
    sweep(matrix, ["private-bias"], epsilons=[1.0], delta=1e-6, bounds=bounds)
    in_other_order = frame.sample(frac=1, random_state=1)
    frame_account = account(in_other_order, bounds=bounds)
    assert [line.times for line in frame_account.lines] == [2]
    assert frame_account.lines == account(replace(ratings, public=False)).lines
    # a part of it holds the same people's ratings
    lines = account(frame.iloc[1:], bounds=bounds).lines
    assert lines == frame_account.lines
    frame_account.set_budget(1.5, 1e-6)
    with pytest.raises(BadInput, match=r"budget"):
        fit(frame, "private-bias", epsilon=1.0, delta=1e-6, bounds=bounds)


FRAME = pd.DataFrame({"user": [0, 1], "item": [0, 0], "rating": [1, 2]})


@pytest.mark.parametrize(
    "call",
    [
        lambda: load("ratings.csv?bounds=1,5", bounds=(1, 5)),
        lambda: fit("cinema-small", "dpals"),
        lambda: fit("cinema-small", "dpals", eps=1),
        lambda: fit("cinema-small", "dpals", epsilon=1, rnak=3),
        lambda: fit("cinema-small", "dpals", epsilon=1, ranks={"rank": 2}),
        lambda: fit("cinema-small", "dpals", epsilon=1, bounds=(1, 5)),
        lambda: fit(FRAME, "dpals", epsilon=1),
        lambda: fit([(1, 2, 3)], "dpals", epsilon=1),
        lambda: sweep("cinema-small", ["dpals"]),
        lambda: sweep("cinema-small", ["dplas"], epsilons=[1]),
        lambda: sweep("cinema-small", "als", grid={"rank": 2}),
        lambda: sweep(csr_array(np.eye(3)), ["dpals"], epsilons=[1]),
    ],
)
def test_wrong_arguments_are_refused(call):
    with pytest.raises(BadInput):
        call()


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_a_table_is_read_from_standard_input(name, tmp_path):
    """The same ratings as from a file, and nothing of it stays."""
    file = tmp_path / "ratings.csv"
    own_frame().to_csv(file, index=False)
    code = (
        "import sys, dpmf\n"
        f"ratings = dpmf.load({name!r}, bounds={BOUNDS})\n"
        f"model = dpmf.fit({name!r}, 'bias', bounds={BOUNDS}, split=None)\n"
        "print(ratings.row_digest, len(model.item_ids))"
    )
    process = subprocess.run(
        [sys.executable, "-c", code],
        stdin=file.open("rb"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    expected = load(file, bounds=BOUNDS)
    assert process.stdout.split() == [expected.row_digest, str(expected.n_items)]
    assert list(Path(os.environ["DPMF_DATA"]).rglob("standard-input*")) == []
