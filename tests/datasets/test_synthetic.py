"""Simulated sets: the paper's low-rank matrix, and a cinema that resembles MovieLens 1M."""

import numpy as np
import pytest

from dpmf import fit
from dpmf_core.base.errors import BadInput
from dpmf_datasets import catalogue, entry_of, import_, load
from dpmf_datasets.simulated.low_rank import lowrank
from tests.datasets.test_published import REAL

# Measured on the 400 most rated films of MovieLens 1M; the figures of the cinema must lie within
# the margin.
LIKE_MOVIELENS = {
    "share of the top fifth of films": (0.335, 0.05),
    "person sd": (0.335, 0.05),
    "film sd": (0.381, 0.05),
    "log activity sd": (0.92, 0.15),
    "rating sd": (1.022, 0.06),
    "three stars": (0.225, 0.1),
    "four stars": (0.376, 0.07),
    # held-out RMSE
    "global-mean": (1.021, 0.03),
    "user-mean": (0.963, 0.03),
    "bias": (0.883, 0.025),
    "als": (0.832, 0.025),
}
LADDER = ("global-mean", "user-mean", "bias", "als")


@pytest.fixture(scope="module")
def films():
    return load("cinema")


@pytest.mark.parametrize(
    "data_id",
    [
        entry.id
        for entry in catalogue()
        if (entry.holds, entry.kind) == ("ratings", "simulated")
        and entry.id not in ("lowrank-50k", "rankone", "rankone-900")
    ],
)
def test_simulated_sets_are_as_declared(data_id):
    entry = entry_of(data_id)
    data = load(data_id)
    assert data.n_users == entry.n_users
    assert data.n_items == entry.n_items
    assert data.bounds == entry.bounds
    assert data.name == data_id
    assert abs(len(data) / entry.n_ratings - 1) < 0.01
    assert data.public
    assert data.assumptions == ()
    low, high = entry.bounds
    assert low <= data.values.min()
    assert data.values.max() <= high
    pair = data.users.astype(np.int64) * data.n_items + data.items
    assert (np.diff(pair) > 0).all()


@pytest.mark.parametrize("data_id", ["cinema-small", "lowrank-5k"])
def test_a_seed_is_a_draw(data_id):
    assert (
        load(data_id).fingerprint
        == load(data_id, seed=0).fingerprint
        != load(data_id, seed=1).fingerprint
    )
    with pytest.raises(BadInput, match="Got -1"):
        load(data_id, seed=-1)


def test_lowrank_is_the_papers_matrix():
    ratings = lowrank(4_000, 300, rank=5, p=1.0, seed=3)
    assert abs(float(ratings.values.std()) - 1) < 0.01  # so the trivial RMSE is 1
    at_bounds = np.abs(ratings.values) >= 5
    assert at_bounds.mean() < 3e-4
    spectrum = np.linalg.svd(ratings.values.reshape(4_000, 300), compute_uv=False)
    # rank 5 but for the clamping, and orthonormal
    assert spectrum[5] < 0.05 * spectrum[4]
    assert spectrum[4] > 0.9 * spectrum[0]


def test_cinema_behaves_as_movielens(films):
    values = figures(films)
    wrong = {
        name: (round(values[name], 4), goal)
        for name, (goal, margin) in LIKE_MOVIELENS.items()
        if not abs(values[name] - goal) <= margin
    }
    assert not wrong
    assert (-np.diff([values[name] for name in LADDER]) > 0.025).all()


@pytest.mark.slow
@pytest.mark.skipif(not (REAL / "ml-1m").is_dir(), reason="the real ml-1m is not here")
def test_the_figures_of_movielens_are_those_of_the_real_ratings(tmp_path, monkeypatch):

    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    import_("ml-1m", REAL / "ml-1m")
    values = figures(load("ml-1m").top_items(400))
    assert all(
        abs(values[name] - goal) < 0.005 for name, (goal, _) in LIKE_MOVIELENS.items()
    ), values


def figures(ratings):
    """What is compared: skews, spreads, and held-out RMSE of four models of growing size."""
    counts = np.sort(np.bincount(ratings.items))[::-1]
    activity = np.diff(ratings.by_user)
    person, film = biases(ratings)
    stars = np.ceil(ratings.values)  # halves count with the star above
    return {
        "share of the top fifth of films": counts[: len(counts) // 5].sum()
        / len(ratings),
        "person sd": person.std(),
        "film sd": film.std(),
        "log activity sd": np.log(activity[activity > 0]).std(),
        "rating sd": float(ratings.values.std()),
        "three stars": float((stars == 3).mean()),
        "four stars": float((stars == 4).mean()),
        **{
            name: fit(ratings, name, keep=False).record.metrics["rmse"]
            for name in LADDER
        },
    }


def biases(ratings):
    residuals = ratings.values - float(ratings.values.mean())
    person = np.zeros(ratings.n_users)
    for _ in range(5):
        film = np.bincount(
            ratings.items, residuals - person[ratings.users], ratings.n_items
        )
        film /= np.bincount(ratings.items, minlength=ratings.n_items) + 10
        person = np.bincount(
            ratings.users, residuals - film[ratings.items], ratings.n_users
        )
        person /= np.diff(ratings.by_user) + 5
    return person, film
