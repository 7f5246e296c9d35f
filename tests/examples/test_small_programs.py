"""Programs as users write them, and what each finds."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import dpmf
from dpmf_core.algorithms import REGISTRY, Algorithm, Recommender
from dpmf_core.data.ratings import Ratings
from dpmf_core.testing.rating_worlds import low_rank

WORLD = low_rank(n_users=300)
BOUNDS = WORLD.bounds


pytestmark = pytest.mark.usefixtures("data_folder")


@pytest.fixture
def frame():
    """Ratings with own ids: userId "p0", "p1", ..., movieId 100, 101, ..., rating."""
    users = [f"p{user}" for user in WORLD.users]
    return pd.DataFrame(
        {"userId": users, "movieId": WORLD.items + 100, "rating": WORLD.values}
    )


def test_sweep_and_plot(tmp_path):
    pytest.importorskip("plotly", reason="a figure needs the extra app")
    swept = dpmf.sweep("cinema-small", ["private-bias", "bias"], epsilons=[1, 5])
    figure = swept.plot()
    names = [line.name for line in figure.data]
    assert names == ["private-bias", "bias"]
    summary = swept.summary()
    medians = summary[summary["method"] == "private-bias"]["median"]
    assert_allclose(figure.data[0].y, medians)
    assert figure.layout.xaxis.type == "log"
    assert figure.layout.xaxis.title.text == "ε"
    figure.write_json(tmp_path / "sweep.json")


class Midpoint(Algorithm):
    """Predicts the middle of the bounds for everyone."""

    id = "midpoint"
    title = "Midpoint"
    source = "an example"
    words = "predicts the middle of the bounds"

    def fit(self, curator, rng):
        shape = curator.shape
        n_items = curator.shape.n_items
        yield Recommender(
            bounds=shape.bounds,
            centre=shape.mid_range,
            item_offsets=np.zeros(n_items),
            item_factors=np.zeros((n_items, 0)),
        )


def test_an_algorithm_of_ones_own(frame, monkeypatch):
    monkeypatch.setattr(REGISTRY, "_external", dict(REGISTRY._from_packages()))
    REGISTRY.add(Midpoint)
    model = dpmf.PlainRecommender("midpoint", bounds=BOUNDS).fit(frame)
    assert_allclose(model.predict(frame), np.mean(BOUNDS))
    swept = dpmf.sweep(frame, ["midpoint", "bias"], bounds=BOUNDS)
    assert len(swept.frame()) == 2


def test_what_people_liked_recommends_better_than_popularity():
    """The recipe in the notes of `PrivateRecommender`: recall of held-out films."""
    data = dpmf.load("cinema-small")
    assert isinstance(data, Ratings)
    rated = pd.DataFrame({"user": data.users, "item": data.items})
    liked = rated[data.values > 3.5]
    folds = dpmf.RatingFolds(10).split(liked)
    train, test = next(iter(folds))
    private = dpmf.PrivateRecommender(
        epsilon=5.0, bounds=(0, 1), public=True, random_state=0
    )
    popular = dpmf.PlainRecommender("popularity", bounds=(0, 1), public=True)
    recalls = [
        recall(model.fit(liked.iloc[train]), liked.iloc[test])
        for model in (private, popular)
    ]
    assert recalls[0] > recalls[1] + 0.01


def recall(model, held_out):
    """The mean share of a user's held-out items that are among their 20 best."""
    users = np.intersect1d(held_out["user"].unique(), model.users_)
    lists = model.recommend(users, k=20)
    hits = held_out.merge(lists, on=["user", "item"]).groupby("user").size()
    has_list = held_out["user"].isin(users)
    sizes = held_out[has_list].groupby("user").size().clip(upper=20)
    hits = hits.reindex(sizes.index).fillna(0)
    return float((hits / sizes).mean())
