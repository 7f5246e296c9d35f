"""What a model gives from Python: held-out ratings, sentences, and why an account is gone."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import dpmf
from dpmf_core.base.errors import BadInput, HoldsPrivateRatings
from dpmf_core.runs.commands import fit_keywords
from dpmf_core.runs.specification import RunSpec
from dpmf_core.testing.rating_worlds import low_rank

pytestmark = pytest.mark.usefixtures("data_folder")
WORLD = low_rank(n_users=200)
FRAME = pd.DataFrame(
    {"user": WORLD.users, "item": WORLD.items + 100, "rating": WORLD.values}
).assign(user=lambda frame: frame["user"].map("u{:03}".format))
PRIVATE = {"epsilon": 5.0, "delta": 1e-5, "bounds": WORLD.bounds}


@pytest.mark.parametrize(
    "split",
    [
        "random",
        "per-user",
        "users",
        {"kind": "users", "fold_in": 0.5},
        "time",
        "window",
    ],
)
def test_a_metric_of_ones_own_sees_the_ratings_that_judge_a_run(split):
    """The root mean square of errors is the record's RMSE."""
    model = dpmf.fit("cinema-small", "spectral", epsilon=5.0, split=split, keep=False)
    held_out = model.held_out()
    errors = held_out["rating"] - held_out["prediction"]
    expected = model.record.metrics["rmse"]
    assert np.sqrt((errors**2).mean()) == pytest.approx(expected, rel=1e-6)
    expected = model.record.metrics["mae"]
    assert errors.abs().mean() == pytest.approx(expected, rel=1e-6)
    assert len(held_out) == model.record.metrics["test_ratings"]


def test_held_out_ratings_of_a_frame_have_its_ids_and_a_warning():
    model = dpmf.fit(FRAME, "spectral", **PRIVATE)
    with pytest.warns(HoldsPrivateRatings, match="no epsilon"):
        held_out = model.held_out()
    both = held_out.merge(FRAME, on=["user", "item"], suffixes=("", "_of_frame"))
    assert len(both) == len(held_out) > 100
    assert_allclose(both["rating"], both["rating_of_frame"])
    pairs = held_out[["user", "item"]]
    assert_allclose(held_out["prediction"], model.predict(pairs), rtol=1e-6)


def test_without_held_out_ratings_it_says_so(tmp_path):
    model = dpmf.fit("cinema-small", "spectral", epsilon=5.0, split=None, keep=False)
    with pytest.raises(BadInput, match="split is none"):
        model.held_out()
    with pytest.raises(BadInput, match="does not know the ratings"):
        dpmf.load_model(model.save(tmp_path / "model")).held_out()
    with pytest.raises(BadInput, match="samples"):
        dpmf.fit("digits", "nmf", iterations=1, keep=False).held_out()


def test_a_record_an_account_and_a_guarantee_print_as_sentences():
    model = dpmf.fit(FRAME, "private-bias", **PRIVATE)
    text = str(model.record)
    assert "epsilon = 5.00 (delta = 1e-5, per user, add/remove, exact)" in text
    assert "RMSE" not in text
    assert "Errors are left out" in text
    assert str(model.guarantee).startswith(
        "CONDITIONAL: Proved for one user, provided that "
    )
    account = str(dpmf.account(FRAME, bounds=WORLD.bounds))
    assert account.startswith(
        "Drawn from these data so far: epsilon = 5.00 (delta = 1e-5, "
    )
    assert "Private biases" in account
    assert "An account covers data with the same rows" in account
    assert "held-out RMSE 0." in str(
        dpmf.fit("cinema-small", "bias", keep=False).record
    )


def test_an_account_that_was_dropped_says_why():
    model = dpmf.PrivateRecommender("private-bias", **PRIVATE).fit(FRAME)
    assert model.account_ is not None
    with pytest.raises(AttributeError, match=r"forget_people\(\) drops it"):
        _ = model.forget_people().account_
    assert not hasattr(model, "account_")
    with pytest.raises(AttributeError, match="no attribute 'account_'"):
        _ = dpmf.PrivateRecommender().account_


@pytest.mark.parametrize(
    "choices",
    [
        {"algorithm": "als", "rank": 3, "seed": 5},
        {
            "algorithm": "dpals",
            "epsilon": 2.0,
            "delta": 1e-6,
            "relation": "replace-one",
        },
        {
            "algorithm": "dpals",
            "epsilon": 2.0,
            "delta": 1e-6,
            "noise": "discrete",
            "top_items": 50,
        },
        {"algorithm": "dpals", "noise": "none", "split": "users", "fold_in": 0.5},
        {"algorithm": "bias", "split": None},
        {
            "algorithm": "bias",
            "split": {"judged": "validation", "validation_fraction": 0.2},
        },
    ],
)
def test_an_exported_script_names_every_choice(choices):
    spec = RunSpec.of(dataset="cinema-small", **choices)
    again = RunSpec.of(
        dataset="cinema-small", algorithm=spec.algorithm, **fit_keywords(spec)
    )
    assert again == spec
