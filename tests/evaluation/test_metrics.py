"""Metrics against brute force on cases small enough to check by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from dpmf_core.algorithms import Personal, Recommender
from dpmf_core.algorithms.components import Components, Own
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples
from dpmf_core.data.splits import Split, SplitSpec, split
from dpmf_core.evaluation.blocks import SplitBlock
from dpmf_core.evaluation.evaluations import RatingsFacts
from dpmf_core.evaluation.judges import by_split
from dpmf_core.evaluation.metrics import (
    ErrorsByUser,
    ErrorSums,
    divergence,
    list_sums,
    rare_items,
    relevant,
    rmse,
    top_items,
)
from dpmf_core.evaluation.part_metrics import f1, outlier_cells, precision, recall
from tests.support.dense import rated

BOUNDS = (1.0, 5.0)


def ratings(*triples, n_users=3, n_items=5):
    if triples:
        users, items, values = zip(*triples, strict=True)
    else:
        users = items = values = ()
    return Ratings.of(
        users,
        items,
        values,
        n_users=n_users,
        n_items=n_items,
        bounds=BOUNDS,
        public=True,
    )


def by_offset(*offsets):
    """A model that ranks items by a fixed offset."""
    return Recommender(
        BOUNDS,
        3.0,
        np.array(offsets, np.float32),
        np.zeros((len(offsets), 0), np.float32),
    )


def lists_of(model, history, test, personal=None, k=2):
    """Of everybody who likes something in `test`."""
    liked = test.only(relevant(test))
    users = np.unique(liked.users)
    rare = rare_items(history.item_counts)
    personal = personal or model.personal(history)
    return list_sums(model, personal, history, liked, users, rare, k)


of = ErrorSums.of


def test_errors_by_user_by_hand():
    """User 1 of three has no rating."""
    data = ratings((0, 0, 3), (0, 4, 4), (2, 1, 2))
    errors = np.array([1.0, -2.0, 0.5])
    by_user = ErrorsByUser.of(data, errors)
    assert by_user.counts.tolist() == [2, 0, 1]
    assert by_user.total.tolist() == [
        -1,
        0,
        0.5,
    ]
    assert by_user.absolute.tolist() == [3, 0, 0.5]
    assert by_user.squares.tolist() == [
        5,
        0,
        0.25,
    ]
    assert by_user.among() == of(errors)
    last_two = np.array([False, True, True])
    assert by_user.among(last_two) == of(np.array([0.5]))


def test_training_error_in_stars_and_in_rows_of_norm_1_by_hand():
    """Users rate (3, 4) and (2,): norms 5 and 2."""
    train = ratings((0, 0, 3), (0, 1, 4), (1, 2, 2))
    split = Split(train, train, ratings(), ratings((1, 0, 5)), "by hand")
    nothing, _ = by_split("table", split).figures(
        Components(np.zeros((1, 5), np.float32))
    )
    stars = math.sqrt((9 + 16 + 4) / 3)
    assert nothing["training_rmse"] == pytest.approx(stars)
    unit_rows = math.sqrt((1 + 1) / 3)
    assert nothing["unit_row_rmse"] == pytest.approx(unit_rows)
    # always 3 stars
    three_stars = by_offset(0, 0, 0, 0, 0)
    constant, _ = by_split("ratings", split).figures(three_stars)
    stars = math.sqrt(2 / 3)
    assert constant["training_rmse"] == pytest.approx(stars)
    unit_rows = math.sqrt((1 / 25 + 1 / 4) / 3)
    assert constant["unit_row_rmse"] == pytest.approx(unit_rows)


def test_people_count_alike_and_no_more_than_half_the_range_by_hand():
    """Squares of user 0: 1 and 4; of user 2: 9, which counts as 4; of user 3: not a number."""
    data = ratings((0, 0, 3), (0, 4, 4), (2, 1, 2), (3, 2, 1), n_users=4)
    errors = np.array([1.0, -2.0, 3.0, np.nan])
    by_user = ErrorsByUser.of(data, errors)
    assert by_user.over_people(4.0).tolist() == [2.5 + 4 + 4, 3]


def root_over_people(users, errors, half_range):
    """By a loop over people."""
    means = []
    for user in np.unique(users):
        own_errors = errors[users == user]
        means.append(np.mean(own_errors**2.0))
    capped = np.minimum(means, half_range**2)
    return math.sqrt(np.mean(capped))


@pytest.mark.parametrize(
    ("share", "mood"), [(0.05, 0.2), (0.7, 1.2)], ids=["few ratings a person", "many"]
)
def test_the_error_of_a_person_and_that_without_a_model_by_a_loop(share, mood):
    random = np.random.default_rng(5)
    n_users = 60
    n_items = 40
    is_rated = random.random((n_users, n_items)) < share
    moods = random.normal(0, mood, (n_users, 1))
    deviations = random.normal(0, 1, (n_users, n_items))
    values = np.rint(3 + moods + deviations).clip(1, 5)
    data = rated(is_rated, values, BOUNDS)
    parts = split(data, SplitSpec(test_fraction=0.4), 1)
    history = parts.history
    test = parts.test
    offsets = random.normal(1.5, 2.0, n_items).astype(np.float32)
    figures, _ = by_split("ratings", parts).figures(by_offset(*offsets))
    predictions = np.clip(3 + offsets[test.items], 1, 5)
    errors = predictions - test.values
    error = root_over_people(test.users, errors, 2.0)
    means = {
        user: history.values[history.users == user].mean()
        for user in set(history.users)
    }
    own = np.array([means.get(user, 3.0) for user in test.users])
    floors = [
        root_over_people(test.users, guess - test.values, 2.0)
        for guess in (own, np.mean(list(means.values())))
    ]
    assert figures["person_rmse"] == pytest.approx(error, rel=1e-6)
    floor = min(floors)
    assert figures["trivial_person_rmse"] == pytest.approx(floor, rel=1e-6)
    is_first_larger = floors[0] > floors[1]
    assert is_first_larger == (share < 0.1)


def test_relevant_is_the_upper_quarter_of_the_range():
    rated_items = ratings((0, 0, 3.9), (0, 1, 4.0), (0, 2, 5.0))
    assert relevant(rated_items).tolist() == [False, True, True]


def test_everybodys_order_gives_the_lists_that_sorting_gives():
    """For users who rated nothing, most popular items, or nearly all; with ties and a NaN."""
    random = np.random.default_rng(2)
    n = 40
    m = 300
    k = 5
    offsets = (random.integers(0, 60, m) / 60).astype(np.float32)
    offsets[17] = np.nan
    exponents = np.where(np.isnan(offsets), 1, 1 - offsets)
    share = np.linspace(0, 1, n)[:, None] ** exponents
    is_rated = random.random((n, m)) < share
    is_rated[-2:] = True
    is_rated[-2, [3, 17]] = False
    history = rated(is_rated, 3.0, BOUNDS)
    model = by_offset(*offsets)
    users_to_list = random.permutation(n)[:30]
    users_to_list = np.unique([*users_to_list, n - 2, n - 1])
    personal = model.personal(history)
    lists = top_items(model, personal, history, users_to_list, k)

    def rank(item):
        return np.isnan(offsets[item]), -offsets[item], item

    for user, items_of_user in zip(users_to_list, lists.tolist(), strict=True):
        unseen = [item for item in range(m) if not is_rated[user, item]]
        best = sorted(unseen, key=rank)[:k]
        padding = [-1] * (k - len(best))
        assert items_of_user == best + padding
    shape = top_items(
        model, model.personal(history), history, users_to_list[:0], k
    ).shape
    assert shape == (0, k)


def test_ranking_by_hand():
    """User 0 wants items 2 and 0, user 1 wants item 4; lists of two are (2, 3) and (1, 2)."""
    model = by_offset(0.1, 0.5, 0.4, 0.3, 0.2)
    history = ratings((0, 1, 3), (1, 3, 3))
    test = ratings((0, 2, 5), (0, 0, 4), (0, 3, 1), (1, 4, 5), (2, 0, 1))
    lists = lists_of(model, history, test)
    ideal = 1 + 1 / math.log2(3)
    expected = (1 / 2 + 0) / 2
    assert lists.mean("recall") == pytest.approx(expected)
    expected = (1 / ideal + 0) / 2
    assert lists.mean("ndcg") == pytest.approx(expected)
    assert lists.coverage == pytest.approx(3 / 5)


def test_ranking_equals_brute_force_on_random_data():
    random = np.random.default_rng(0)
    n = 40
    m = 30
    k = 7
    grid = random.random((n, m))

    values = random.integers(1, 6, (n, m))
    history = rated(grid < 0.2, values, BOUNDS)
    test = rated(grid > 0.8, values, BOUNDS)
    b = random.normal(size=m).astype("f4")
    V = random.normal(size=(m, 3)).astype("f4")
    U = random.normal(size=(n, 3)).astype("f4")
    recalls = []
    gains = []
    for user in range(n):
        mine = test.users == user
        seen = set(history.items[history.users == user])
        is_wanted = mine & (test.values >= 4)
        wanted = set(test.items[is_wanted].tolist())
        if wanted:
            scores = {}
            for item in range(m):
                if item not in seen:
                    scores[item] = float(b[item] + U[user] @ V[item])
            best = sorted(scores, key=lambda item: -scores[item])[:k]
            weights = 1 / np.log2(np.arange(k) + 2)
            hits = np.array([item in wanted for item in best])
            most_hits = min(k, len(wanted))
            recalls.append(hits.sum() / most_hits)
            ideal = weights[: len(wanted)].sum()
            gains.append(hits @ weights / ideal)
    personal = Personal(np.zeros(n, np.float32), U)
    model = Recommender(BOUNDS, 3.0, b, V)
    lists = lists_of(model, history, test, personal, k)
    assert lists.mean("recall") == pytest.approx(np.mean(recalls))
    assert lists.mean("ndcg") == pytest.approx(np.mean(gains))


def test_users_whose_lists_are_ranked_are_drawn_at_random(monkeypatch):
    """A draw depends on (seed, user) alone, not on who else is there."""
    liked = [(user, 0, 5.0) for user in range(0, 4000, 2)]
    liked_ratings = ratings(*liked, n_users=4000)

    def drawn(test, seed, most=500):
        monkeypatch.setattr("dpmf_core.evaluation.metrics.MAX_RANKED_USERS", most)
        parts = Split(test, test, test, test, "by hand")
        block = SplitBlock(np.arange(test.n_users), parts)
        return RatingsFacts.of(block, seed).ranked.ids

    sample = drawn(liked_ratings, 7)
    assert len(sample) == 500
    assert np.array_equal(sample, np.unique(sample))
    assert (sample % 2 == 0).all()
    assert 190 < (sample < 2000).sum() < 310  # 250 expected, deviation 9.7
    assert np.array_equal(drawn(liked_ratings, 7), sample)
    other_sample = drawn(liked_ratings, 8)
    assert len(set(other_sample) & set(sample)) < 200  # 125 expected
    without = liked_ratings.only(liked_ratings.users != sample[3])
    assert set(drawn(without, 7)) >= set(sample) - {sample[3]}
    everybody = drawn(liked_ratings, 7, 5000)
    assert np.array_equal(everybody, np.unique(liked_ratings.users))


def test_nobody_with_a_liked_item_gives_no_ranking():
    model = by_offset(0.1, 0.2, 0.3, 0.4, 0.5)
    history = ratings((0, 1, 3))
    disliked = ratings((0, 0, 1))
    lists = lists_of(model, history, disliked)
    assert lists.mean("recall") is None
    assert lists.mean("rare_recall") is None
    assert lists.coverage is None


def test_buckets_cover_every_test_rating_once():
    random = np.random.default_rng(1)
    values = random.integers(1, 6, (30, 20))
    where = random.random((30, 20)) < 0.5
    everything = rated(where, values, BOUNDS)
    odd = np.arange(len(everything)) % 2 == 1
    history = everything.only(~odd)
    test = everything.only(odd)
    model = by_offset(*random.normal(0, 1, 20))
    personal = model.personal(history)
    predictions = model.predict(personal, test.users, test.items)
    sizes = {
        "activity": np.bincount(history.users, minlength=30)[test.users],
        "popularity": np.bincount(history.items, minlength=20)[test.items],
    }
    nobody = test.only(test.users < 0)
    split = Split(history, history, nobody, test, "by hand")
    _, figures_by_group = by_split("ratings", split).figures(model)
    for name, rows in figures_by_group.items():
        assert sum(row["ratings"] for row in rows) == len(test)
        shares = np.linspace(0, 1, 5)
        edges = np.unique(np.quantile(sizes[name], shares))
        starts = [row["from"] for row in rows]
        assert [*starts, rows[-1]["to"]] == edges.tolist()
        for row in rows:
            is_below = (sizes[name] < row["to"]) | (row["to"] == edges[-1])
            inside = (sizes[name] >= row["from"]) & is_below
            assert row["ratings"] == inside.sum()
            assert row["rmse"] == pytest.approx(
                rmse(predictions[inside], test.values[inside])
            )


def test_the_divergence_is_that_of_two_normals():
    """Against numerical integration of p log(p / q)."""
    from scipy.integrate import quad
    from scipy.stats import norm

    rng = np.random.default_rng(3)
    train = rng.normal(0.1, 0.8, 500)
    test = rng.normal(-0.2, 1.1, 300)
    p = norm(train.mean(), train.std())
    q = norm(test.mean(), test.std())

    def density(x):
        return p.pdf(x) * (p.logpdf(x) - q.logpdf(x))

    integral, _ = quad(density, -10, 10)
    assert divergence(of(train), of(test)) == pytest.approx(integral, rel=1e-6)
    assert divergence(of(train), of(train)) == pytest.approx(0, abs=1e-12)
    constants = (np.ones(4), np.full(300, 0.1), np.full(70_001, -1 / 3))
    for constant in constants:
        assert np.isnan(divergence(of(train), of(constant)))


def test_outliers_that_were_planted_are_found_again():
    clean = np.full((2, 4), 0.5, np.float32)
    samples = Samples.of(clean, public=True)
    planted = np.float32([[0, 0.5, 0, 0], [0, 0, 0.5, 0]])
    dirty = replace(samples, X=clean + planted, clean=clean)
    outliers = np.float32([[0, 0.4, 0.1, 0], [0, 0, 0, 0.1]])
    found = Own(np.zeros((2, 1)), outliers)
    cells = outlier_cells(dirty, found)
    assert cells.tolist() == [1, 2, 3]
    assert outlier_cells(samples, found) is None
    assert precision(cells) == 1 / 3
    assert recall(cells) == 1 / 2
    assert f1(cells) == pytest.approx(0.4)
