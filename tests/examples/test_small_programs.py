"""Programs as users write them, and what each finds."""

import numpy as np
import pandas as pd
import pytest

import dpmf
from dpmf_core.algorithms import REGISTRY, Algorithm, Recommender
from dpmf_core.data.ratings import Ratings
from dpmf_core.testing.worlds import low_rank

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
    assert [line.name for line in figure.data] == ["private-bias", "bias"]
    medians = swept.summary()[swept.summary()["method"] == "private-bias"]["median"]
    np.testing.assert_allclose(figure.data[0].y, medians)
    assert figure.layout.xaxis.type == "log" and figure.layout.xaxis.title.text == "ε"
    figure.write_json(tmp_path / "sweep.json")


class Midpoint(Algorithm):
    """Predicts the middle of the bounds for everyone."""

    id, title, source = "midpoint", "Midpoint", "an example"
    words = "predicts the middle of the bounds"

    def fit(self, curator, rng):
        shape, n_items = curator.shape, curator.shape.n_items
        yield Recommender(
            shape.bounds, shape.mid_range, np.zeros(n_items), np.zeros((n_items, 0))
        )


def test_an_algorithm_of_ones_own(frame, monkeypatch):
    monkeypatch.setattr(REGISTRY, "_external", dict(REGISTRY._from_packages()))
    REGISTRY.add(Midpoint)
    model = dpmf.PlainRecommender("midpoint", bounds=BOUNDS).fit(frame)
    np.testing.assert_allclose(model.predict(frame), np.mean(BOUNDS))
    assert len(dpmf.sweep(frame, ["midpoint", "bias"], bounds=BOUNDS).frame()) == 2


def test_what_people_liked_recommends_better_than_popularity():
    """The recipe in the notes of `PrivateRecommender`: recall of held-out films."""
    data = dpmf.load("cinema-small")
    assert isinstance(data, Ratings)
    liked = pd.DataFrame({"user": data.users, "item": data.items})[data.values > 3.5]
    train, test = next(iter(dpmf.RatingFolds(10).split(liked)))
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
    sizes = held_out[held_out["user"].isin(users)].groupby("user").size().clip(upper=20)
    return float((hits.reindex(sizes.index).fillna(0) / sizes).mean())
