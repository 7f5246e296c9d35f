"""A saved model recommends as the run does, and holds nothing about people."""

import io
import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml
from numpy.testing import assert_allclose

import dpmf
from dpmf import fit, load_model
from dpmf_core.base.errors import BadInput
from dpmf_core.data.frames import with_item_table
from dpmf_core.data.ratings import Ratings
from dpmf_core.evaluation.metrics import top_items
from dpmf_core.runs.publishing.privacy_statement import ABOUT, WARNING
from dpmf_core.runs.publishing.saving import save
from dpmf_core.runs.record import Run
from dpmf_core.testing.rating_worlds import low_rank
from tests.support.algebra import relative

FILES = {"MODEL_CARD.md", "model.json", "model.npz", "privacy.html", "privacy.yaml"}
# every local step, with and without its options
MODELS = [
    ("private-bias", {"epsilon": 3.0}),
    ("spectral", {"epsilon": 3.0}),
    (
        "spectral",
        {
            "epsilon": 30.0,
            "release": "covariance",
            "attention_share": 0.3,
        },
    ),
    ("spectral", {"epsilon": 3.0, "implicit": True}),
    ("dpals", {"epsilon": 3.0, "rank": 3}),
    (
        "dpals",
        {
            "epsilon": 3.0,
            "rank": 3,
            "unobserved_weight": 0.1,
        },
    ),
    ("dpfw", {"epsilon": 9.0, "user_step": "steps"}),
    ("dpfw", {"epsilon": 9.0, "user_step": "ridge"}),
    ("private-svd", {"epsilon": 9.0}),
    ("private-pgd", {"epsilon": 9.0}),
    ("sgd-mf", {}),
    ("als", {"rank": 3}),
    ("bmf", {"rank": 3, "steps": 8, "draws": 3}),
    (
        "bmf",
        {
            "rank": 3,
            "steps": 8,
            "draws": 3,
            "attention": 0,
        },
    ),
    ("fw", {}),
    ("pgd", {}),
    ("user-mean", {}),
]


def private(n_users=211):
    """Ratings that are not public, whose items have ids of their own."""
    data_set = low_rank(n_users=n_users)
    return replace(
        data_set,
        public=False,
        labels=tuple(f"film-{j}" for j in range(data_set.n_items)),
    )


def mine_of(ids):
    return {ids[j]: 1.0 + (3 * j) % 5 for j in (5, 1, 9, 14, 3)}


def predicted_by(run, mine, ids):
    """The predicted ratings of all items (n_items,) and the list of ten, by the run's own model."""
    model = run.model
    if hasattr(model, "user_factors"):  # of the people who trained it
        nobody = np.zeros((0, 0))
        model = replace(
            model,
            user_factors=nobody,
            user_offsets=nobody,
        )
    one = Ratings.of(
        [0] * len(mine),
        [ids.index(item) for item in mine],
        list(mine.values()),
        n_users=1,
        n_items=len(ids),
        bounds=tuple(model.bounds),
    )
    own = model.personal(one)
    user = np.zeros(len(ids), int)
    ratings = model.predict(own, user, np.arange(len(ids)))
    (best,) = top_items(model, own, one, np.array([0]), 10)
    return ratings, best


@pytest.mark.parametrize(("algorithm", "options"), MODELS, ids=str)
def test_a_saved_model_predicts_and_recommends_as_the_run_does(
    tmp_path, algorithm, options
):
    run = fit(private(), algorithm, **options)
    folder = run.save(tmp_path / "model")
    loaded = load_model(folder)
    assert {path.name for path in folder.iterdir()} == FILES
    assert loaded.epsilon == run.epsilon
    assert loaded.guarantee == run.guarantee
    ids = tuple(loaded.item_ids)
    for mine in (mine_of(ids), {}):
        ratings, best = predicted_by(run, mine, ids)
        places = best[best >= 0]
        table = loaded.recommend(own=mine)
        assert table["item"].tolist() == [ids[place] for place in places]
        assert_allclose(table["rating"], ratings[places], atol=2e-5)
        pairs = [("me", item) for item in ids]
        assert_allclose(loaded.predict(pairs, own=mine), ratings, atol=2e-5)


def statement_of(folder):
    return yaml.safe_load((folder / "privacy.yaml").read_text("utf-8"))


def page_of(folder):
    return (folder / "privacy.html").read_text("utf-8")


def test_without_a_proof_no_epsilon_is_stated(tmp_path):
    folder = save(fit("cinema-small", "als", keep=False), tmp_path / "model")
    statement = statement_of(folder)
    assert statement["warning"] == WARNING
    parameters = statement["privacy_loss"]["privacy_parameters"]
    assert set(parameters.values()) == {None}
    assert not re.search(r"(ε|epsilon) ?= ?\d", page_of(folder))


def test_a_run_whose_model_cannot_be_saved_is_refused(tmp_path):
    finished_run = fit("cinema-small", "sketch", keep=False)
    with pytest.raises(BadInput):
        save(finished_run, tmp_path / "no")


def test_what_others_wrote_is_text(tmp_path):
    nasty = "</script><script>alert(1)</script> | # *b*"
    others = [f"x{j}" for j in range(16)]
    data = replace(private(), labels=(nasty, *others))
    run = fit(data, "private-bias", epsilon=1.0)
    folder = save(run, tmp_path / "m", about={"name": nasty})
    assert "<script>alert" not in page_of(folder)
    assert load_model(folder).item_ids[0] == nasty
    assert statement_of(folder)["product"]["name"] == nasty


def test_public_features_and_titles_are_released(tmp_path):
    ratings = private()
    table = pd.DataFrame({"item": ratings.labels, "year": np.arange(1980.0, 1997.0)})
    data = with_item_table(ratings, table)
    run = fit(
        data,
        "spectral",
        epsilon=3.0,
        item_features="public",
    )
    arrays = np.load(save(run, tmp_path / "with") / "model.npz")
    assert arrays["item_feature_names"].tolist() == ["year"]
    years = arrays["item_features"][:, 0]
    assert_allclose(np.diff(years, 2), 0, atol=1e-6)

    folder = save(fit(data, "spectral", epsilon=3.0), tmp_path / "without")
    assert "item_features" not in np.load(folder / "model.npz")

    of_cinema = fit(
        "cinema-small",
        "private-bias",
        epsilon=1.0,
        keep=False,
    )
    titles = load_model(save(of_cinema, tmp_path / "films")).item_ids
    assert tuple(titles) == dpmf.load("cinema-small").titles


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model of private biases."""
    run = fit(private(), "private-bias", epsilon=2.0)
    return save(run, tmp_path_factory.mktemp("saved") / "model")


def damages(folder):
    """A file of a model, and what it may hold in place of its content."""
    sound = (folder / "model.npz").read_bytes()
    settings = json.loads((folder / "model.json").read_text())
    with np.load(folder / "model.npz") as file:
        arrays = {name: file[name] for name in file.files}
    short = {**arrays, "item_offsets": arrays["item_offsets"][1:]}
    yield "model.npz", sound[: len(sound) // 2]
    for content in ({"item_ids": np.array([object()], object)}, short):
        np.savez(buffer := io.BytesIO(), **content)
        yield "model.npz", buffer.getvalue()
    for change in ({"format": 2}, {"record": {}}, {"bounds": [5, 1]}):
        yield "model.json", json.dumps(settings | change).encode()


def test_damaged_models_are_refused(folder, tmp_path):
    with pytest.raises(BadInput):
        load_model(tmp_path)
    for place, (name, content) in enumerate(damages(folder)):
        copy = shutil.copytree(folder, tmp_path / str(place))
        (copy / name).write_bytes(content)
        with pytest.raises(BadInput):
            load_model(copy)


def test_the_statement_says_what_the_run_cost_and_how_its_noise_was_drawn(tmp_path):
    about = {name: f"our {name}" for name in ABOUT}
    run = fit(
        private(),
        "private-svd",
        epsilon=2.5,
        delta=1e-6,
        noise="discrete",
    )
    folder = save(run, tmp_path / "model", about=about)
    statement = statement_of(folder)
    flavor = statement["dp_flavor"]
    loss = flavor["bound_on_output_distance"]
    assert loss == statement["privacy_loss"]["privacy_parameters"]
    assert loss["epsilon"] == pytest.approx(2.5)
    assert loss["delta"] == 1e-6
    assert statement["product"]["intended_use"] == "our intended_use"
    (row,) = statement["implementation"]["mechanisms"]
    assert row["noise"] == "discrete Gaussian"
    assert row["count"] == 1
    guarantee = run.record.guarantee
    unprotected = [*guarantee.taken_as_public, *guarantee.assumptions]
    assert flavor["unprotected_quantities"] == unprotected


def test_similar_items_are_those_of_the_nearest_direction(folder, tmp_path):
    run = fit(private(), "als", rank=3)
    saved = run.save(tmp_path / "model")
    V = relative(run.model.item_factors.astype(float))
    cosines = V @ V[4]
    nearest = np.argsort(-cosines, kind="stable")
    order = [item for item in nearest if item != 4][:5]
    for model in (run, load_model(saved)):
        near = model.similar_items("film-4", 5)
        assert near["item"].tolist() == [f"film-{item}" for item in order]
        assert_allclose(near["cosine"], cosines[order], atol=1e-6)
    with pytest.raises(BadInput):  # it has no factors
        load_model(folder).similar_items("film-4")


def test_a_folder_is_never_written_over(tmp_path):
    run = fit(private(), "private-bias", epsilon=2.0)
    (tmp_path / "mine").mkdir()
    assert save(run, tmp_path / "mine") == tmp_path / "mine"  # it was empty
    for place in ("mine", "mine/model.json", "no/way"):
        with pytest.raises(BadInput):
            save(run, tmp_path / place)
    with pytest.raises(BadInput, match="'intended_use'"):
        save(run, tmp_path / "new", about={"intended": "x"})
    with pytest.raises(BadInput):
        save(Run(run.record), tmp_path / "new")  # it came as a file
    assert {path.name for path in tmp_path.iterdir()} == {"mine"}
