"""What the models of all algorithms have in common, and their bits."""

import numpy as np

from dpmf_core.algorithms.parameters import UNCLIPPED
from dpmf_core.data.ratings import Ratings


def as_bits(parts):
    """Arrays and other values, by name, so that equality is that of their bits."""
    return {
        name: value.tobytes() if isinstance(value, np.ndarray) else value
        for name, value in parts.items()
    }


def assert_model_sound(model, data):
    """Assert that a fitted model has the right shapes, and predicts finite values."""
    if isinstance(data, Ratings):
        assert_recommender_sound(model, data)
    else:
        assert_components_sound(model, data)


def assert_recommender_sound(model, data):
    """A source's equations as printed may diverge, and predict values out of range."""
    assert model.item_offsets.shape == (data.n_items,)
    assert model.item_factors.shape[0] == data.n_items
    if model.bounds == UNCLIPPED:
        return
    assert model.bounds == data.bounds
    personal = model.personal(data)
    assert personal.offsets.shape == (data.n_users,)
    assert personal.factors.shape == (data.n_users, model.item_sides.shape[1])
    users, items = np.divmod(np.arange(data.n_users * data.n_items), data.n_items)
    predictions = model.predict(personal, users, items)
    assert predictions.shape == users.shape
    assert ((predictions >= data.bounds[0]) & (predictions <= data.bounds[1])).all()
    assert np.isfinite(model.scores(personal, np.arange(data.n_users))).all()


def assert_components_sound(model, data):
    assert model.basis.shape[1] == data.shape.n_features
    assert (model.basis >= 0).all()
    assert (np.linalg.norm(model.basis, axis=1) <= 1 + 1e-5).all()
    own = model.personal(data)
    assert own.coefficients.shape == (len(data), len(model.basis))
    assert (own.coefficients >= 0).all()
    assert np.isfinite(own.coefficients).all()
    assert own.outliers is None or (
        own.outliers.shape == data.X.shape and np.isfinite(own.outliers).all()
    )
