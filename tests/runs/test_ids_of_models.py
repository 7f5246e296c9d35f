"""A model knows the ids of users and items, whatever type they have where it is fitted or asked."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from dpmf import PlainRecommender, PrivateRecommender, fit, load_model
from dpmf_core.base.errors import BadInput, RowsChanged
from dpmf_core.data.frames import ratings_of, with_item_table
from dpmf_core.data.ids import canonical_texts
from dpmf_core.runs.recommendations import places

BOUNDS = (0.5, 5.0)
USERS = 60
ITEMS = 40
EACH = 10


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(5)
    items = [rng.permutation(ITEMS)[:EACH] for _ in range(USERS)]
    columns = {
        "user": np.repeat(np.arange(USERS), EACH),
        "item": np.concatenate(items),
        "rating": rng.integers(1, 11, USERS * EACH) / 2,
    }
    return pd.DataFrame(columns)


IDS = {
    "int": lambda ids: ids,
    "float": lambda ids: ids.astype(float),
    "float32": lambda ids: ids.astype("float32"),
    "nullable": lambda ids: ids.astype("Int64"),
    "text": lambda ids: ids.astype(str),
    "text of floats": lambda ids: ids.astype(float).astype(str),
    "objects": lambda ids: ids.astype(object),
    "category": lambda ids: ids.astype("category"),
}


def with_ids(frame, to_type):
    return frame.assign(user=to_type(frame["user"]), item=to_type(frame["item"]))


def texts(ids):
    """Ids of any type as they are compared."""
    return canonical_texts(ids).tolist()


def own_ratings(to_type, first, second):
    """Ratings of 5 and 1 for two items, with ids of a type."""
    ids = to_type(pd.Series([first, second]))
    return dict(zip(ids, (5.0, 1.0), strict=True))


@pytest.fixture(scope="module")
def models(frame):
    """The same ratings fitted with ids of each type."""
    model = PlainRecommender(
        "als",
        rank=2,
        bounds=BOUNDS,
        public=True,
        random_state=0,
    )
    fitted = {}
    for name, to_type in IDS.items():
        fitted[name] = clone(model).fit(with_ids(frame, to_type))
    return fitted


@pytest.mark.parametrize("asked_as", IDS)
@pytest.mark.parametrize("fitted_as", IDS)
def test_a_model_knows_its_users_and_items_by_ids_of_all_types(
    frame, models, fitted_as, asked_as
):
    reference = models["int"]
    model = models[fitted_as]
    to_type = IDS[asked_as]
    asked = with_ids(frame, to_type)
    assert model.score(asked) == reference.score(frame)
    assert_array_equal(model.predict(asked), reference.predict(frame))

    expected = reference.recommend([3, 4], k=5)
    lists = model.recommend(to_type(pd.Series([3, 4])), k=5)
    assert texts(lists["user"]) == texts(expected["user"])
    assert texts(lists["item"]) == texts(expected["item"])

    expected = reference.recommend(own={3: 5.0, 5: 1.0}, k=4)
    items = model.recommend(own=own_ratings(to_type, 3, 5), k=4)["item"]
    assert texts(items) == texts(expected["item"])

    (item,) = to_type(pd.Series([3]))
    similar = model.similar_items(item, k=3)["item"]
    expected = reference.similar_items(3, k=3)
    assert list(map(float, similar)) == expected["item"].tolist()
    assert list(map(float, model.users_)) == list(range(USERS))


@pytest.mark.parametrize("asked_as", IDS)
def test_a_saved_model_and_a_fit_know_ids_of_all_types(frame, asked_as, tmp_path):
    to_type = IDS[asked_as]
    model = fit(
        with_ids(frame, IDS["float"]),
        "bias",
        bounds=BOUNDS,
        split=None,
    )
    same = fit(frame, "bias", bounds=BOUNDS, split=None)
    loaded = load_model(model.save(tmp_path / "model"))
    assert loaded.item_ids.tolist() == list(map(str, range(ITEMS)))
    expected = same.recommend(own={3: 5.0, 5: 1.0}, k=4)["item"].tolist()
    for known in (model, loaded):
        items = known.recommend(own=own_ratings(to_type, 3, 5), k=4)["item"]
        assert list(map(int, items)) == expected
    pairs = with_ids(frame, to_type)
    assert_array_equal(model.predict(pairs), same.predict(frame))


def test_a_model_of_an_earlier_version_with_two_texts_of_an_id_still_finds_ids():
    known = pd.Index(["1", "1.0", "2"])
    asked = pd.Series([1.0, 2, 3])
    assert places(known, asked).tolist() == [0, 2, -1]


@pytest.mark.parametrize("table_as", IDS)
@pytest.mark.parametrize("frame_as", ["int", "float", "text"])
def test_an_item_table_has_ids_of_all_types(frame, frame_as, table_as):
    ids = pd.Series(range(ITEMS))
    table = pd.DataFrame({"item": IDS[table_as](ids), "year": 1990 + ids % 7})
    ratings = ratings_of(with_ids(frame, IDS[frame_as]), BOUNDS)
    features = with_item_table(ratings, table).item_features
    plain = with_item_table(ratings_of(frame, BOUNDS), table.assign(item=ids))
    assert_array_equal(features.values, plain.item_features.values)


def test_an_estimator_warns_of_rows_that_it_leaves_out_or_changes(frame):
    broken = pd.DataFrame(
        {
            "user": [99, 98],
            "item": [1, None],
            "rating": [0, 3],
        }
    )
    odd = pd.concat([frame, broken])
    model = PlainRecommender(
        "bias",
        bounds=BOUNDS,
        public=True,
    )
    with pytest.warns(RowsChanged, match="load"):
        assert len(model.fit(odd).users_) == USERS
    declared = PlainRecommender(
        "bias",
        bounds=BOUNDS,
        public=True,
        outside="clamp",
    )
    with pytest.warns(RowsChanged, match="set to the nearest bound"):
        assert len(declared.fit(odd).users_) == USERS + 1
    with pytest.warns(RowsChanged, match="declared as not rated"):
        model.set_params(missing=0).fit(odd)
    refusing = PrivateRecommender(
        bounds=BOUNDS,
        public=True,
        outside="refuse",
    )
    with pytest.raises(BadInput, match="outside the declared bounds"):
        refusing.fit(odd)
