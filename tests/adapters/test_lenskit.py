"""A private scorer within LensKit's own pipelines, evaluated by LensKit."""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpmf_core import PrivateRecommender, load
from dpmf_core.data.ratings import Ratings
from dpmf_core.privacy.accounts import Account

RATINGS = load("cinema-small").top_items(60)
assert isinstance(RATINGS, Ratings)
FRAME = pd.DataFrame({"user_id": RATINGS.users, "item_id": RATINGS.items, "rating": RATINGS.values})


@pytest.fixture(scope="module")
def lk() -> Any:
    return pytest.importorskip("lenskit", reason="LensKit is not installed: pip install lenskit")


def pipeline(**parameters: Any) -> Any:
    from lenskit.data import from_interactions_df
    from lenskit.pipeline import topn_pipeline

    from dpmf_core.adapters.lenskit import DPScorer

    options = {"epsilon": 5.0, "delta": 1e-5, "bounds": (0.5, 5), "public": True} | parameters
    pipe = topn_pipeline(DPScorer(**options), n=10, predicts_ratings=True)
    pipe.train(from_interactions_df(FRAME), _training_options())
    return pipe


def _training_options() -> Any:
    from lenskit.training import TrainingOptions

    return TrainingOptions(rng=3)


def test_its_list_is_that_of_the_estimator(lk: Any) -> None:
    pipe = pipeline()
    recommender = pipe.node("scorer").component.recommender
    assert isinstance(recommender, PrivateRecommender) and recommender.epsilon_ == pytest.approx(
        5.0
    )
    for user in (11, 99):
        item_list = lk.recommend(pipe, user)
        assert item_list.ids().tolist() == recommender.recommend([user]).item.tolist()
    again = lk.recommend(pickle.loads(pickle.dumps(pipe)), 11)
    assert again.ids().tolist() == lk.recommend(pipe, 11).ids().tolist()


def test_ratings_in_the_query_take_the_place_of_those_that_trained(lk: Any) -> None:
    from lenskit.data import ItemList, RecQuery

    pipe = pipeline()
    own = FRAME[FRAME.user_id == 11]
    own_ratings = ItemList(item_ids=own.item_id.to_numpy(), rating=own.rating.to_numpy())
    visitor = RecQuery(user_id=5_000_000, history_items=own_ratings)
    assert lk.recommend(pipe, visitor).ids().tolist() == lk.recommend(pipe, 11).ids().tolist()
    scorer = pipe.node("scorer").component
    more = ItemList(item_ids=[*own.item_id, 999], rating=[*own.rating, 3.0])
    scores = scorer(RecQuery(user_id=1, history_items=more), ItemList(item_ids=[3, 999])).scores()
    assert np.isfinite(scores[0]) and np.isnan(scores[1])


def test_lenskit_measures_it_above_chance(lk: Any) -> None:
    from lenskit.batch import predict
    from lenskit.data import ItemListCollection, UserIDKey, from_interactions_df
    from lenskit.metrics import MAE, RMSE, RunAnalysis
    from lenskit.pipeline import predict_pipeline

    from dpmf_core.adapters.lenskit import DPScorer

    is_test = np.random.default_rng(0).random(len(FRAME)) < 0.1
    is_trained = FRAME.user_id.isin(FRAME[~is_test].user_id)
    test = ItemListCollection.from_df(FRAME[is_test & is_trained], key=UserIDKey)
    scorer = DPScorer(epsilon=20.0, delta=1e-5, bounds=(0.5, 5), public=True)
    pipe = predict_pipeline(scorer, fallback=False)
    pipe.train(from_interactions_df(FRAME[~is_test]), _training_options())
    analysis = RunAnalysis()
    analysis.add_metric(RMSE())
    analysis.add_metric(MAE())
    errors = analysis.measure(predict(pipe, test, n_jobs=1), test).list_metrics()["RMSE"]
    values = FRAME[is_test & is_trained].rating
    assert errors.mean() < 0.9 * values.std()


def test_training_enters_the_account(lk: Any, tmp_path: Path) -> None:
    ledger = tmp_path / "own.ledger"
    pipeline(public=False, epsilon=1.0, ledger=str(ledger))
    assert Account(ledger).total.epsilon == pytest.approx(1.0, rel=1e-6)
    pipeline(public=False, method="als", ledger=str(ledger))
    assert Account(ledger).total.n_uncovered == 1


def test_without_lenskit_the_module_says_what_it_needs() -> None:
    block = "import sys; sys.modules['lenskit'] = None; import dpmf_core.adapters.lenskit"
    process = subprocess.run(
        [sys.executable, "-c", block], capture_output=True, text=True, check=False
    )
    assert process.returncode and "pip install 'lenskit>=2025'" in process.stderr
