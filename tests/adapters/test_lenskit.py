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


def trained(**given: Any) -> Any:
    from lenskit.data import from_interactions_df
    from lenskit.pipeline import topn_pipeline

    from dpmf_core.adapters.lenskit import DPScorer

    options = {"epsilon": 5.0, "delta": 1e-5, "bounds": (0.5, 5), "public": True} | given
    pipe = topn_pipeline(DPScorer(**options), n=10, predicts_ratings=True)
    pipe.train(from_interactions_df(FRAME), _seeded())
    return pipe


def _seeded() -> Any:
    from lenskit.training import TrainingOptions

    return TrainingOptions(rng=3)


def test_its_list_is_that_of_the_estimator(lk: Any) -> None:
    pipe = trained()
    made = pipe.node("scorer").component.recommender
    assert isinstance(made, PrivateRecommender) and made.epsilon_ == pytest.approx(5.0)
    for user in (11, 99):
        found = lk.recommend(pipe, user)
        assert found.ids().tolist() == made.recommend([user]).item.tolist()
    again = lk.recommend(pickle.loads(pickle.dumps(pipe)), 11)
    assert again.ids().tolist() == lk.recommend(pipe, 11).ids().tolist()


def test_ratings_in_the_query_take_the_place_of_those_that_trained(lk: Any) -> None:
    from lenskit.data import ItemList, RecQuery

    pipe = trained()
    own = FRAME[FRAME.user_id == 11]
    brought = ItemList(item_ids=own.item_id.to_numpy(), rating=own.rating.to_numpy())
    visitor = RecQuery(user_id=5_000_000, history_items=brought)
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

    held = np.random.default_rng(0).random(len(FRAME)) < 0.1
    known = FRAME.user_id.isin(FRAME[~held].user_id)
    test = ItemListCollection.from_df(FRAME[held & known], key=UserIDKey)
    scorer = DPScorer(epsilon=20.0, delta=1e-5, bounds=(0.5, 5), public=True)
    pipe = predict_pipeline(scorer, fallback=False)
    pipe.train(from_interactions_df(FRAME[~held]), _seeded())
    analysis = RunAnalysis()
    analysis.add_metric(RMSE())
    analysis.add_metric(MAE())
    found = analysis.measure(predict(pipe, test, n_jobs=1), test).list_metrics()["RMSE"]
    values = FRAME[held & known].rating
    assert found.mean() < 0.9 * values.std()


def test_training_enters_the_account(lk: Any, tmp_path: Path) -> None:
    ledger = tmp_path / "own.ledger"
    trained(public=False, epsilon=1.0, ledger=str(ledger))
    assert Account(ledger).total.epsilon == pytest.approx(1.0, rel=1e-6)
    trained(public=False, method="als", ledger=str(ledger))
    assert Account(ledger).total.n_uncovered == 1


def test_without_lenskit_the_module_says_what_it_needs() -> None:
    block = "import sys; sys.modules['lenskit'] = None; import dpmf_core.adapters.lenskit"
    done = subprocess.run(
        [sys.executable, "-c", block], capture_output=True, text=True, check=False
    )
    assert done.returncode and "pip install 'lenskit>=2025'" in done.stderr
