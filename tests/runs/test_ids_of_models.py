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
    return pd.DataFrame(
        {
            "user": np.repeat(np.arange(USERS), EACH),
            "item": np.concatenate(
                [rng.permutation(ITEMS)[:EACH] for _ in range(USERS)]
            ),
            "rating": rng.integers(1, 11, USERS * EACH) / 2,
        }
    )


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


@pytest.fixture(scope="module")
def models(frame):
    """The same ratings fitted with ids of each type."""
    model = PlainRecommender("als", rank=2, bounds=BOUNDS, public=True, random_state=0)
    return {
        name: clone(model).fit(with_ids(frame, to_type))
        for name, to_type in IDS.items()
    }


@pytest.mark.parametrize("asked_as", IDS)
@pytest.mark.parametrize("fitted_as", IDS)
def test_a_model_knows_its_users_and_items_by_ids_of_all_types(
    frame, models, fitted_as, asked_as
):
    reference = models["int"]
    model = models[fitted_as]
    asked = with_ids(frame, IDS[asked_as])
    assert model.score(asked) == reference.score(frame)
    assert_array_equal(model.predict(asked), reference.predict(frame))
    expected = reference.recommend([3, 4], k=5)
    lists = model.recommend(IDS[asked_as](pd.Series([3, 4])), k=5)
    assert (
        canonical_texts(lists["user"]).tolist()
        == canonical_texts(expected["user"]).tolist()
    )
    assert (
        canonical_texts(lists["item"]).tolist()
        == canonical_texts(expected["item"]).tolist()
    )
    own = dict(zip(IDS[asked_as](pd.Series([3, 5])), (5.0, 1.0), strict=True))
    expected = reference.recommend(own={3: 5.0, 5: 1.0}, k=4)["item"]
    items = model.recommend(own=own, k=4)["item"]
    assert canonical_texts(items).tolist() == canonical_texts(expected).tolist()
    similar = model.similar_items(IDS[asked_as](pd.Series([3]))[0], k=3)["item"]
    assert list(map(float, similar)) == reference.similar_items(3, k=3)["item"].tolist()
    assert list(map(float, model.users_)) == list(range(USERS))


@pytest.mark.parametrize("asked_as", IDS)
def test_a_saved_model_and_a_fit_know_ids_of_all_types(frame, asked_as, tmp_path):
    to_type = IDS[asked_as]
    model = fit(with_ids(frame, IDS["float"]), "bias", bounds=BOUNDS, split=None)
    same = fit(frame, "bias", bounds=BOUNDS, split=None)
    own = dict(zip(to_type(pd.Series([3, 5])), (5.0, 1.0), strict=True))
    loaded = load_model(model.save(tmp_path / "model"))
    assert loaded.item_ids.tolist() == list(map(str, range(ITEMS)))
    expected = same.recommend(own={3: 5.0, 5: 1.0}, k=4)["item"].tolist()
    for known in (model, loaded):
        assert list(map(int, known.recommend(own=own, k=4)["item"])) == expected
    pairs = with_ids(frame, to_type)
    assert_array_equal(model.predict(pairs), same.predict(frame))


def test_a_model_of_an_earlier_version_with_two_texts_of_an_id_still_finds_ids():
    assert places(pd.Index(["1", "1.0", "2"]), pd.Series([1.0, 2, 3])).tolist() == [
        0,
        2,
        -1,
    ]


@pytest.mark.parametrize("table_as", IDS)
@pytest.mark.parametrize("frame_as", ["int", "float", "text"])
def test_an_item_table_has_ids_of_all_types(frame, frame_as, table_as):
    ids = pd.Series(range(ITEMS))
    table = pd.DataFrame({"item": IDS[table_as](ids), "year": 1990 + ids % 7})
    ratings = with_item_table(ratings_of(with_ids(frame, IDS[frame_as]), BOUNDS), table)
    expected = with_item_table(ratings_of(frame, BOUNDS), table.assign(item=ids))
    assert_array_equal(ratings.item_features.values, expected.item_features.values)


def test_an_estimator_says_what_it_leaves_out_and_takes_the_declared_facts(frame):
    odd = pd.concat(
        [frame, pd.DataFrame({"user": [99, 98], "item": [1, None], "rating": [0, 3]})]
    )
    model = PlainRecommender("bias", bounds=BOUNDS, public=True)
    with pytest.warns(RowsChanged, match="load"):
        assert len(model.fit(odd).users_) == USERS
    declared = PlainRecommender("bias", bounds=BOUNDS, public=True, outside="clamp")
    with pytest.warns(RowsChanged, match="set to the nearest bound"):
        assert len(declared.fit(odd).users_) == USERS + 1
    with pytest.warns(RowsChanged, match="declared as not rated"):
        model.set_params(missing=0).fit(odd)
    refusing = PrivateRecommender(bounds=BOUNDS, public=True, outside="refuse")
    with pytest.raises(BadInput, match="outside the declared bounds"):
        refusing.fit(odd)
