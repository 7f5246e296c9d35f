"""The Topics and Faces pages, driven as a person would, without a browser."""

import statistics
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core import part_metrics
from dpmf_core.compare import DRAWS
from dpmf_core.experiment import RunSpec, run
from tests.pages.driving import behind_sidebar, settled, words

ROOT = Path(__file__).parents[2]
HOLDS = {"topics": "documents", "faces": "images"}


def page(name: str, **parameters: str) -> AppTest:
    app = AppTest.from_string(behind_sidebar(f"factorise/{name}.py", HOLDS[name]), default_timeout=120)
    for key, value in parameters.items():
        app.query_params[key] = value
    return settled(app)


def asked(data: str, algorithm: str, epsilon: float, seed: int = 0, **parameters: object) -> RunSpec:
    preparation = {"weighting": "tfidf"} if data == "news" else {}
    budget = {"epsilon": epsilon, "delta": 2e-5} if epsilon else None
    return RunSpec.parse(data={"id": data, **preparation}, algorithm=algorithm, parameters=parameters, budget=budget, seed=seed)


def test_topics_say_what_the_runs_say() -> None:
    app = page("topics", eps="2")
    private, plain = ([run(asked("news", name, epsilon, seed, n_components=8)) for seed in range(DRAWS)] for name, epsilon in (("oneshot-nmf", 2), ("nmf", 0)))
    each = [
        (one["trivial_objective"] - one["objective"]) / (one["trivial_objective"] - other["objective"])
        for one, other in zip((it.record["metrics"] for it in private), (it.record["metrics"] for it in plain), strict=True)
    ]
    assert app.title[0].value.startswith(f"At ε = 2, One-shot NMF keeps {statistics.median(each):.0%} of the gain over guessing (")
    alike = part_metrics.match(private[0].arrays["basis"], plain[0].arrays["basis"])
    assert f"a mean cosine of **{alike:.2f}**" in words(app)
    assert "**orbit** · **rocket**" in words(app)
    assert "ε = 2.00 (δ = 2e-5, per document, add/remove, exact)" in words(app)
    assert "CONDITIONAL" in words(app) and "the IDF weights are public" in words(app)


def test_word_shares_and_an_invented_vocabulary_assume_nothing() -> None:
    app = page("topics")
    app.selectbox(key="topics.weights").set_value("tf")
    settled(app)
    assert "PROVEN" in words(app)
    app.number_input(key="topics.hashed").set_value(64)
    settled(app)
    assert "PROVEN" in words(app) and "/" in words(app)


def test_the_source_s_epsilon_is_told_beside_its_total() -> None:
    app = page("topics", delta="1e-5")
    assert [metric.value for metric in app.metric] == ["6.82", "2.34", "3.85"]
    app.slider(key="topics.steps.claimed").set_value(500)
    settled(app)
    assert [metric.value for metric in app.metric] == ["18.61", "5.89", "9.99"]


def test_documents_are_shown_with_a_warning_only() -> None:
    app = page("topics")
    assert not app.warning
    app.toggle(key="topics.typical").set_value(True)
    settled(app)
    assert "Documents are private data" in words(app)


def test_a_start_from_private_data_has_no_epsilon() -> None:
    app = page("topics", algo="dp-nmf", **{"p.start": "nndsvd"})
    assert "UNPROVEN" in words(app)
    assert "the start is computed from the private samples" in words(app)
    assert "per document" not in words(app)
    assert app.title[0].value.startswith("With nothing proved")


@pytest.mark.slow
def test_a_figure_of_the_source_is_made_again() -> None:
    app = page("topics")
    app.selectbox(key="topics.figure").set_value("saha-fig3")
    settled(app)
    assert "Saha & Imtiaz 2022, Fig. 3." in words(app)
    assert "nothing is proved" in words(app)


def test_faces_show_parts_side_by_side_and_one_image_rebuilt() -> None:
    app = page("faces", data="digits", eps="5")
    assert "of the gain over guessing" in app.title[0].value
    assert "PROVEN" in words(app) and "per image" in words(app)
    app.number_input(key="faces.image.digits").set_value(1797)
    settled(app)
    assert not app.error


@pytest.mark.slow
def test_planted_outliers_are_told_and_set_apart() -> None:
    app = page("faces", data="digits", algo="dp-nmf", **{"p.outliers": "True"})
    app.toggle(key="faces.outliers").set_value(True)
    settled(app)
    assert "Planted outliers, found again" in words(app)
    assert "without (Robust NMF)" in words(app)


def test_more_parts_than_pixels_is_a_sentence() -> None:
    app = page("faces", data="digits", **{"p.n_components": "65"})
    assert "must be at most the number of features, 64. Got 65" in words(app)
    assert "Your settings are kept" in words(app)


def test_the_card_says_what_a_person_with_many_images_has() -> None:
    """epsilon 1 at delta 1e-5 is mu = 1 / 3.7306; 64 images of one person have 64 mu, which is epsilon 219."""
    app = page("faces", eps="1", delta="1e-5")
    assert "This ε is for one image." in words(app)
    assert "with 10 of them it is **ε = 14.4" in words(app)
    app.number_input(key="card.each.image.10").set_value(64)
    settled(app)
    assert "with 64 of them it is **ε = 219.4" in words(app) and "per person, add/remove, exact" in words(app)
    assert app.query_params["each"] in ("64", ["64"])
    app.number_input(key="card.each.image.10").set_value(1)
    settled(app)
    assert "with 1 of them it is **ε = 1.00" in words(app)


@pytest.mark.parametrize(
    ("text", "shown"), [("64", "with 64 of them it is **ε = 219.4"), ("0", "with 10 of them"), ("9" * 5000, "with 10 of them"), ("x", "with 10 of them")]
)
def test_a_link_says_how_many_images_a_person_has(text: str, shown: str) -> None:
    app = page("faces", eps="1", delta="1e-5", each=text)
    assert shown in words(app)
    assert any("'each' in the link must be a whole number" in it.value for it in app.warning) is (text != "64")
