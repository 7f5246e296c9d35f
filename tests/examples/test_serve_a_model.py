"""The example that serves a released model by HTTP."""

import importlib.util
from pathlib import Path

import pytest

from dpmf import fit, load_model

FILE = Path(__file__).parents[2] / "examples" / "serve_a_model.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    run = fit("cinema-small", "spectral", epsilon=2, seed=1, keep=False)
    return run.save(tmp_path_factory.mktemp("served") / "model")


@pytest.fixture(scope="module")
def client(folder):
    pytest.importorskip(
        "fastapi", reason="FastAPI is not installed: pip install fastapi httpx"
    )
    from fastapi.testclient import TestClient

    spec = importlib.util.spec_from_file_location("serve_a_model", FILE)
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return TestClient(module.make_app(str(folder)))


def test_answers_are_those_of_the_model(client, folder):
    model = load_model(folder)
    mine = {model.item_ids[3]: 5.0, model.item_ids[8]: 1.5}
    question = {"ratings": mine, "k": 5}
    response = client.post("/recommend", json=question)
    expected = model.recommend(own=mine, k=5)[["item", "rating"]]
    assert response.json() == expected.to_dict("records")
    item = model.item_ids[3]
    like = client.get("/similar", params={"item": item, "k": 2}).json()
    assert like == model.similar_items(item, 2).to_dict("records")
    about = client.get("/model").json()
    assert about["items"] == len(model.item_ids)
    assert about["epsilon"] == pytest.approx(2, rel=1e-5)


@pytest.mark.parametrize(
    "question",
    [
        {"ratings": {"no film": 3}},
        {"k": 0},
        {"ratings": {"ITEM": 99}},
        {"rating": {}},
    ],
)
def test_wrong_questions_are_refused(client, folder, question):
    ratings = {
        name.replace("ITEM", str(load_model(folder).item_ids[0])): value
        for name, value in question.get("ratings", {}).items()
    }
    response = client.post(
        "/recommend", json=question | ({"ratings": ratings} if ratings else {})
    )
    assert response.status_code == 422
    assert response.json()["detail"]
