"""PrivateRecommender and PlainRecommender among scikit-learn's own tools."""

import math
import pickle
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import estimator_checks_generator

from dpmf import (
    PlainRecommender,
    PrivateNMF,
    PrivateRecommender,
    RatingFolds,
    account,
    fit,
    load,
    privacy_price,
)
from dpmf_core.algorithms import REGISTRY, PrivateAlgorithm
from dpmf_core.base.errors import BadInput, HoldsPrivateRatings
from dpmf_core.data.ratings import Ratings
from dpmf_core.privacy.accounts import LEDGER, PROCESS_KEY, Account
from tests.support.gaussian import epsilon_of, mu_of

BOUNDS = (0.5, 5)
RATINGS = load("cinema-small").top_items(60)
assert isinstance(RATINGS, Ratings)
FRAME = pd.DataFrame(
    {"user": RATINGS.users, "item": RATINGS.items, "rating": RATINGS.values}
)
X = FRAME[["user", "item"]]
Y = FRAME["rating"]


def private(**parameters):
    return PrivateRecommender(
        **{"epsilon": 5.0, "bounds": BOUNDS, "public": True, **parameters}
    )


# whose X is a table of features, or sparse; a recommender's X is pairs of users and items
OF_FEATURES = {
    "dict_unchanged", "dont_overwrite_parameters", "estimator_sparse_array",
    "estimator_sparse_matrix", "estimator_sparse_tag", "estimators_dtypes", "estimators_pickle",
    "f_contiguous_array_estimator", "fit2d_1feature", "fit2d_1sample", "fit_score_takes_y",
    "methods_sample_order_invariance", "methods_subset_invariance", "pipeline_consistency",
    "positive_only_tag_during_fit", "regressor_data_not_an_array", "regressors_int",
    "regressors_no_decision_function", "regressors_train",
}  # fmt: skip
WIDE = (-1e3, 1e3)
ESTIMATORS = (
    PrivateRecommender("private-bias", epsilon=50.0, bounds=WIDE, public=True),
    PlainRecommender("bias", bounds=WIDE, public=True),
)
CHECKS = [
    pytest.param(*pair, id=f"{type(pair[0]).__name__}-{pair[1].func.__name__}")
    for estimator in ESTIMATORS
    for pair in estimator_checks_generator(estimator)
    if pair[1].func.__name__.removeprefix("check_") not in OF_FEATURES
]


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learns_checks_of_what_is_not_about_features(estimator, check):
    check(estimator)


def test_an_estimator_learns_what_its_algorithm_learns():
    """The model is that of the algorithm on these ratings; predictions are those of its users."""
    ours = PlainRecommender("bias", bounds=BOUNDS, public=True).fit(X, Y)
    model = ours.model_
    personal = model.personal(RATINGS)
    expected = model.predict(personal, RATINGS.users, RATINGS.items)
    assert_allclose(ours.predict(X), expected, rtol=1e-6)
    assert ours.score(X, Y) == pytest.approx(r2_score(Y, expected))
    assert ours.score(FRAME) == ours.score(X, Y)


@pytest.mark.parametrize(
    "method",
    [name for name, algorithm in REGISTRY.items() if algorithm.task == "ratings"],
)
def test_every_method_for_ratings_predicts_and_recommends(method):
    kind = REGISTRY[method]
    is_small = (FRAME.user < 300) & (FRAME.item < 25)
    small = FRAME[is_small]
    if "steps" in kind.model_fields:
        quick = {"steps": 3}
    else:
        quick = {}
    if issubclass(kind, PrivateAlgorithm):
        make = PrivateRecommender
    else:
        make = PlainRecommender
    if make is PrivateRecommender:
        promise = {"epsilon": 5.0, "delta": 1e-5}
    else:
        promise = {}
    model = make(
        method, bounds=BOUNDS, public=True, random_state=0, **quick, **promise
    ).fit(small)
    predictions = model.predict(small)
    assert predictions.shape == (len(small),)
    assert np.isfinite(predictions).all()
    one = model.users_[3]
    other = model.users_[4]
    pairs = [["nobody", 3], [one, "no film"], ["nobody", "no film"]]
    strangers = model.predict(pairs)
    assert (strangers >= BOUNDS[0]).all()
    assert (strangers <= BOUNDS[1]).all()
    lists = model.recommend([one, other], k=4)
    own = small[small.user == one]
    own_list = lists[lists.user == one]
    assert not set(own_list.item) & set(own.item)
    assert len(model.recommend(k=4, own=own)) == len(own_list)


def test_a_visitor_with_the_same_ratings_gets_the_same_list():
    """Her side follows from her own ratings and the released model alone."""
    model = private(random_state=0).fit(FRAME)
    own = FRAME[FRAME.user == 11].assign(user="a visitor")
    user = model.recommend([11])
    visitor = model.recommend(own=own)
    assert visitor.item.tolist() == user.item.tolist()
    assert_allclose(visitor.rating, user.rating, rtol=1e-5)
    copy = pickle.loads(pickle.dumps(model))
    without_people = copy.forget_people()
    assert len(without_people.users_) == 0
    assert without_people.run_._training.data is None
    item = without_people.recommend(own=own).item
    assert item.tolist() == user.item.tolist()
    with pytest.raises(BadInput, match="recommend\\(own=frame\\)"):
        without_people.recommend([11])
    pairs = own[["user", "item"]]
    assert_allclose(
        without_people.predict(pairs, own=own),
        model.predict(pairs.assign(user=11)),
        rtol=1e-5,
    )


def test_declared_items_need_not_be_rated_and_are_no_assumption():
    few = FRAME[FRAME.item < 20]
    by_file = private(public=False, delta=1e-5).fit(few)
    by_items = private(public=False, delta=1e-5, items=range(25)).fit(few)
    assert by_items.model_.item_offsets.shape == (25,)
    # the same ratings have the same account
    assert by_file.account_ == by_items.account_
    with pytest.raises(BadInput, match="one of the 10 of items"):
        private(items=range(10)).fit(few)


def test_one_fit_costs_the_epsilon_asked_for_and_enters_the_account(tmp_path):
    ledger = str(tmp_path / "own.ledger")
    estimator = private(epsilon=1.0, delta=1e-6, public=False, ledger=ledger)
    model = estimator.fit(X, Y)
    assert model.epsilon_ == pytest.approx(1.0, rel=1e-6)
    assert model.delta_ == 1e-6
    assert model.guarantee_.status == "CONDITIONAL"
    account = model.account_
    assert account.total.epsilon == pytest.approx(1.0, rel=1e-6)
    assert account.lines[0].title == "Spectral"
    assert private().fit(X, Y).account_ is None
    plain = PlainRecommender(bounds=BOUNDS, ledger=ledger).fit(X, Y)
    assert plain.epsilon_ is None
    assert account.total.n_uncovered == 1


@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize(
    "make_state",
    [
        lambda: 3,
        lambda: np.random.RandomState(3),
        lambda: np.random.default_rng(3),
    ],
)
def test_a_seed_repeats_a_fit_only_on_public_ratings(make_state, public):
    one = private(public=public, delta=1e-5, random_state=make_state()).fit(X, Y)
    other = private(public=public, delta=1e-5, random_state=make_state()).fit(X, Y)
    offsets = one.model_.item_offsets
    other_offsets = other.model_.item_offsets
    assert np.array_equal(offsets, other_offsets) is public
    assert one.noise_is_reproducible_ is public


def test_a_grid_search_costs_the_announced_price_of_all_its_fits(
    tmp_path,
):
    """Two candidates on three folds and one more fit: seven releases, of mu each."""
    ledger = str(tmp_path / "search.ledger")
    estimator = private(
        epsilon=1.0, delta=1e-6, public=False, ledger=ledger, items=range(60)
    )
    search = GridSearchCV(
        estimator,
        {"parameters": [{"rank": 2}, {"rank": 4}]},
        cv=RatingFolds(3),
        scoring="neg_root_mean_squared_error",
    )
    before = privacy_price(search, X, Y)
    assert not Account(Path(ledger)).entries
    search.fit(X, Y)
    account = search.best_estimator_.account_
    assert sum(line.times for line in account.lines) == 7
    assert account.total.epsilon == pytest.approx(before.epsilon, rel=1e-9)
    # each fit of mu has noise 1 / mu on one release of sensitivity 1
    alone = private(epsilon=1.0, delta=1e-6).charge_of(X, Y)
    mu = math.sqrt(
        sum(count / leaf.noise_multiplier**2 for leaf, count in alone.ledger)
    )
    expected = epsilon_of([1 / mu] * 7, 1e-6)
    assert before.epsilon == pytest.approx(expected, rel=1e-6)
    assert before.epsilon > 2.5


def test_the_price_of_folds_of_searches_and_of_pipelines():
    one = private(epsilon=1.0, delta=1e-6, public=False)
    line = make_pipeline(FunctionTransformer(lambda rows: rows), one)
    single = privacy_price(one, X, Y)
    folds = privacy_price(one, X, Y, cv=RatingFolds(4))
    assert single.epsilon == pytest.approx(1.0, rel=1e-6)
    assert privacy_price(line, X, Y).epsilon == single.epsilon
    search = GridSearchCV(one, {"epsilon": [1.0]}, cv=RatingFolds(4), refit=False)
    price = privacy_price(search, X, Y)
    assert price.epsilon == pytest.approx(folds.epsilon)
    with pytest.raises(BadInput, match="Got PlainRecommender"):
        privacy_price(PlainRecommender(bounds=BOUNDS), X, Y)


@pytest.fixture
def own_folder(monkeypatch, data_folder):
    """Accounts lie in an empty data folder, and no ledger is named."""
    monkeypatch.delenv(LEDGER)


def composed(epsilons, delta):
    """Epsilon of Gaussian releases together, each of its epsilon at this delta."""
    multipliers = [1 / mu_of(epsilon, delta) for epsilon in epsilons]
    return epsilon_of(multipliers, delta)


def own(epsilon=1.0, **parameters):
    return private(epsilon=epsilon, delta=1e-6, public=False, **parameters)


FEW = FRAME[FRAME.user < 200]


@pytest.mark.usefixtures("own_folder")
@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_grid_search_shows_what_all_its_fits_compose_to(jobs):
    """Folds of one frame are the same people, in whichever process they are fitted."""
    grid = {"parameters": [{"rank": 2}, {"rank": 3}]}
    folds = KFold(3, shuffle=True, random_state=0)
    search = GridSearchCV(own(), grid, cv=folds, n_jobs=jobs)
    shown = search.fit(FEW).best_estimator_.account_
    assert sum(line.times for line in shown.lines) == 7
    expected = composed([1.0] * 7, 1e-6)
    assert shown.total.epsilon == pytest.approx(expected, rel=1e-6)
    assert account(FEW, bounds=BOUNDS).total == shown.total


@pytest.mark.usefixtures("own_folder")
def test_all_fits_of_a_process_compose_unless_a_ledger_is_named(tmp_path):
    line = make_pipeline(FunctionTransformer(lambda rows: rows), own(2.0))
    pairs = FEW[["user", "item"]]
    cross_val_score(line, pairs, FEW["rating"], cv=4)
    last = clone(own(0.5)).fit(FEW.iloc[::2])
    parts = PrivateNMF(2, epsilon=1.0, delta=1e-6).fit(
        np.random.default_rng(0).random((40, 12))
    )
    fit(FEW.iloc[::3], "private-bias", epsilon=1.5, delta=1e-6, bounds=BOUNDS)
    expected = composed([2.0] * 4 + [0.5, 1.0, 1.5], 1e-6)
    assert last.account_.total.epsilon == pytest.approx(expected, rel=1e-6)
    assert parts.account_.total == last.account_.total
    estimator = own(ledger=str(tmp_path / "own.ledger"))
    elsewhere = estimator.fit(FEW)
    assert elsewhere.account_.total.epsilon == pytest.approx(1.0, rel=1e-6)


@pytest.mark.usefixtures("own_folder")
def test_another_process_goes_on_with_what_was_drawn_before(monkeypatch):
    monkeypatch.setenv(PROCESS_KEY, "one process")
    own(1.0).fit(FEW)
    before = own(2.0).fit(FEW.iloc[::2])
    monkeypatch.setenv(PROCESS_KEY, "another process")
    alone = own(0.5).fit(FEW.iloc[::3])
    assert alone.account_.total.epsilon == pytest.approx(0.5, rel=1e-6)
    both = own(0.5).fit(FEW)
    expected = composed([1.0, 2.0, 0.5, 0.5], 1e-6)
    for fitted in (both, alone, before):
        assert fitted.account_.total.epsilon == pytest.approx(expected, rel=1e-6)
    both.account_.forget()
    assert before.account_.total.delta is None


@pytest.mark.usefixtures("own_folder")
def test_folds_count_and_are_limited_where_the_whole_was_never_fitted():
    whole = account(FEW, bounds=BOUNDS)
    assert whole.total.epsilon == 0.0
    cross_val_score(own(1.0), FEW, cv=3)
    again = account(FEW, bounds=BOUNDS)
    expected = composed([1.0] * 3, 1e-6)
    assert whole.total.epsilon == again.total.epsilon
    assert whole.total.epsilon == pytest.approx(expected, rel=1e-6)
    enough_for_four = composed([1.0] * 4, 1e-6) + 0.01
    whole.set_budget(enough_for_four, 1e-6)
    with pytest.raises(BadInput):
        cross_val_score(own(1.0), FEW, cv=5, error_score="raise")
    assert len(whole.entries) == 4


@pytest.mark.usefixtures("own_folder")
def test_a_part_cannot_have_a_budget_below_what_was_drawn_on_the_whole():
    whole = own(1.0).fit(FEW).account_
    with pytest.raises(BadInput):
        part = account(FEW.iloc[::2], bounds=BOUNDS)
        part.set_budget(0.5, 1e-6)
    assert whole.budget is None
    assert whole.total.epsilon == pytest.approx(1.0, rel=1e-6)


def fit_without_account(_):
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(PROCESS_KEY)
        try:
            own().fit(FEW)
        except BadInput as error:
            return str(error)
    return "fitted"


@pytest.mark.slow
@pytest.mark.usefixtures("own_folder")
def test_a_worker_that_does_not_know_the_account_fits_nothing():
    with get_context("spawn").Pool(1) as pool:
        assert "ledger" in pool.map(fit_without_account, [0])[0]
    assert account(FEW, bounds=BOUNDS).total.delta is None


@pytest.mark.parametrize(
    "model",
    [own(), PlainRecommender("bias", bounds=BOUNDS)],
    ids=["private", "plain"],
)
def test_a_pickle_of_private_ratings_warns(model):
    line = make_pipeline(FunctionTransformer(), model).fit(
        FEW[["user", "item"]], FEW["rating"]
    )
    with pytest.warns(HoldsPrivateRatings):
        loaded = pickle.loads(pickle.dumps(line))[-1]
    assert len(loaded.run_._training.data) == len(FEW)
    assert not hasattr(loaded, "account_")


def test_folds_of_ratings_stay_when_a_user_leaves():
    folds = RatingFolds(4, seed=2)
    whole = np.concatenate([test for _, test in folds.split(X)])
    assert sorted(whole) == list(range(len(X)))
    remaining_rows = X[X.user != 17].reset_index()  # column index: where each row was
    places = remaining_rows["index"].to_numpy()
    for (train, test), (_, smaller) in zip(
        folds.split(X), folds.split(remaining_rows), strict=True
    ):
        others = test[X.user.to_numpy()[test] != 17]
        assert set(places[smaller]) == set(others)
        share = len(test) / len(X)
        assert abs(share - 0.25) < 0.02
        assert len(train) + len(test) == len(X)
    with pytest.raises(BadInput, match="at least 2"):
        RatingFolds(1)


@pytest.mark.parametrize(
    ("parameters", "data", "message"),
    [
        ({"bounds": None}, (X, Y), "bounds"),
        ({"epsilon": -1}, (X, Y), "epsilon"),
        ({"noise": "none"}, (X, Y), "noise"),
        ({"algorithm": "als"}, (X, Y), "not private"),
        ({"algorithm": "dp-nmf"}, (X, Y), "use PrivateNMF"),
        ({"algorithm": "spectrum"}, (X, Y), "spectral"),
        ({"parameters": {"rank": -1}}, (X, Y), "rank"),
        ({}, (X, None), "no ratings"),
        ({}, (X.to_numpy(), None), "Give y"),
        ({}, (X.to_numpy()[:, :1], Y), "array \\(n, 2\\)"),
        ({}, (X, Y[:5]), "one rating for each"),
        ({}, (X, Y + 4), "declared bounds"),
        ({}, (FRAME[["user", "rating"]], None), "item"),
        ({"items": [1, 1]}, (X, Y), "once"),
    ],
)
def test_wrong_input_is_refused(parameters, data, message):
    with pytest.raises(BadInput, match=message):
        private(**parameters).fit(*data)
