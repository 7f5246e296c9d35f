"""The Topics and Faces pages, driven as a person would, without a browser."""

import base64
import io
import statistics
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy.optimize import linear_sum_assignment
from streamlit.testing.v1 import AppTest

from dpmf_core.engine.executor import engine
from dpmf_core.runs.comparison import DRAWS
from dpmf_core.runs.inspection import samples_of
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.spending import account_of
from dpmf_core.serving.lesson_links import LessonLink
from dpmf_datasets import session_files
from pages.kit import epsilon_grid
from tests.pages.driving import (
    behind_sidebar,
    component,
    engine_run,
    settled,
    widget_of,
    words,
)


@pytest.fixture(autouse=True)
def short_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two points of the grid, so that filling it takes no time."""
    monkeypatch.setattr(epsilon_grid, "EPSILONS", (0.2, 2.0))


def story(app: AppTest) -> dict[str, Any]:
    return component(app, "matched_parts")


def point(app: AppTest, epsilon: float) -> dict[str, Any]:
    (match,) = [it for it in story(app)["points"] if it["epsilon"] == epsilon]
    return match


def title(app: AppTest) -> str:
    """What the first view says at the epsilon that is chosen."""
    return str(point(app, story(app)["epsilon"])["title"])


def partners(private: Run, plain: Run) -> list[tuple[int, float]]:
    """For each part without privacy its private partner, and their cosine."""
    one, other = (
        it / np.linalg.norm(it, axis=1, keepdims=True)
        for it in (private.arrays["basis"].astype(float), plain.arrays["basis"].astype(float))
    )
    cosines = other @ one.T
    _, columns = linear_sum_assignment(-cosines)
    return [(int(column), float(cosines[row, column])) for row, column in enumerate(columns)]


def heaviest(run: Run, part: int) -> list[str]:
    """Ten words of a topic, heaviest first."""
    weights, vocabulary = run.arrays["basis"][part], samples_of(run).vocabulary
    assert vocabulary is not None
    order = sorted(range(len(weights)), key=lambda j: -weights[j])
    return [vocabulary[j] for j in order[:10] if weights[j] > 0]


def link(name: str, **parameters: str) -> AppTest:
    app = AppTest.from_string(behind_sidebar(f"{name}/page.py"), default_timeout=120)
    for key, value in parameters.items():
        app.query_params[key] = value
    return app


def page(name: str, **parameters: str) -> AppTest:
    return settled(link(name, **parameters))


def run_spec(
    data: str, algorithm: str, epsilon: float, seed: int = 0, **parameters: object
) -> RunSpec:
    preparation = {"weighting": "tfidf"} if data == "news" else {}
    budget = {"epsilon": epsilon, "delta": 2e-5} if epsilon else None
    return RunSpec.parse(
        data={"id": data, **preparation},
        algorithm=algorithm,
        parameters=parameters,
        budget=budget,
        seed=seed,
    )


def test_topics_say_what_the_runs_say() -> None:
    app = page("topics", eps="2")
    private, plain = (
        [engine_run(run_spec("news", name, epsilon, seed, n_components=8)) for seed in range(DRAWS)]
        for name, epsilon in (("oneshot-nmf", 2), ("nmf", 0))
    )
    each = [
        (one["trivial_objective"] - one["objective"])
        / (one["trivial_objective"] - other["objective"])
        for one, other in zip(
            (it.record.metrics for it in private),
            (it.record.metrics for it in plain),
            strict=True,
        )
    ]
    here = point(app, 2.0)
    assert here["title"].startswith(
        f"At ε = 2, One-shot NMF keeps {statistics.median(each):.0%} of the gain over guessing ("
    )
    order = partners(private[0], plain[0])
    assert story(app)["plain"] == [heaviest(plain[0], part) for part in range(8)]
    assert here["parts"] == [heaviest(private[0], part) for part, _ in order]
    assert here["alike"] == pytest.approx([cosine for _, cosine in order])
    stay = [len(set(a) & set(b)) for a, b in zip(here["parts"], story(app)["plain"], strict=True)]
    assert f"ten heaviest words {statistics.mean(stay):.1f} stay" in here["sentence"]
    shares = [
        2 * statistics.median(run.record.metrics[name] for run in runs)
        for runs, name in (
            (private, "objective"),
            (plain, "objective"),
            (plain, "trivial_objective"),
        )
    ]
    assert (
        f"{shares[0]:.0%} with privacy, {shares[1]:.0%} without (NMF), {shares[2]:.0%} by the"
        " average" in here["sentence"]
    )
    assert "ε = 2.00 (δ = 2e-5, per document, add/remove, exact)" in words(app)
    assert "CONDITIONAL" in words(app) and "the IDF weights are public" in words(app)


def test_the_grid_fills_and_each_point_has_the_words_of_its_own_run() -> None:
    app = page("topics", eps="0.32")
    assert [it["epsilon"] for it in story(app)["points"]] == [0.2, 0.32, 2.0]
    assert not story(app)["pending"]
    plain = engine_run(run_spec("news", "nmf", 0, n_components=8))
    private = engine_run(run_spec("news", "oneshot-nmf", 0.2, n_components=8))
    order = partners(private, plain)
    assert point(app, 0.2)["parts"] == [heaviest(private, part) for part, _ in order]
    assert point(app, 0.2)["parts"] != point(app, 2.0)["parts"]
    text = story(app)["words"]["near"]
    assert "nothing was measured: this is the nearest measured point" in text


@pytest.fixture
def nothing_comes(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From its call on no run is there, and none is computed."""

    def begin() -> None:
        monkeypatch.setattr(epsilon_grid, "run_summaries", lambda specs: [None for _ in specs])
        monkeypatch.setattr("pages.kit.run_progress.request", lambda page, specs, **more: {})

    return begin


def test_what_is_being_computed_leaves_the_old_result_greyed_with_its_epsilon(
    nothing_comes: Callable[[], None],
) -> None:
    app = page("topics", eps="2")
    before = story(app)
    nothing_comes()
    widget_of(app.number_input, "sidebar.documents.eps").set_value(0.9).run()
    assert not app.exception
    now = story(app)
    assert now["stale"] and now["points"] == before["points"]
    assert "This is still One-shot NMF at ε = 2 on News" in now["words"]["stale"]
    assert not app.title  # no question takes its place


def test_the_first_view_before_any_result_is_no_question(
    nothing_comes: Callable[[], None],
) -> None:
    nothing_comes()
    app = link("topics", eps="2").run()
    assert app.title[0].value == "Topics at ε = 2, with privacy and without"


def test_word_shares_and_an_invented_vocabulary_assume_nothing() -> None:
    app = link("topics").run()
    app.selectbox(key="topics.weights").set_value("tf").run()
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
    assert title(app).startswith("With nothing proved, DP-NMF")
    assert [it["epsilon"] for it in story(app)["points"]] == [story(app)["epsilon"]]


@pytest.mark.slow
def test_a_figure_of_the_source_is_made_again() -> None:
    app = page("topics")
    app.selectbox(key="topics.figure").set_value("saha-fig3")
    settled(app)
    assert "Saha & Imtiaz 2022, Fig. 3." in words(app)
    assert "nothing is proved" in words(app)


def test_faces_show_parts_side_by_side_and_one_image_rebuilt() -> None:
    app = page("faces", data="digits", eps="5")
    assert "of the gain over guessing" in title(app)
    assert "PROVEN" in words(app) and "per image" in words(app)
    plain = engine_run(run_spec("digits", "nmf", 0, n_components=16))
    pictures = [
        np.asarray(Image.open(io.BytesIO(base64.b64decode(it)))) for it in story(app)["plain"]
    ]
    assert len(pictures) == 16 and {it.shape for it in pictures} == {(8, 8)}
    for picture, part in zip(pictures, plain.arrays["basis"], strict=True):
        assert abs(picture.ravel() - 255 * part / part.max()).max() < 1.01
    assert len(point(app, 5.0)["parts"]) == 16 and story(app)["across"] in (4, 8)
    app.number_input(key="faces.image.digits").set_value(1797)
    settled(app)
    assert not app.error


@pytest.fixture
def mine() -> Iterator[Any]:
    """Documents that a visitor brought."""
    subjects = ("apple pear plum quince", "goal match team coach", "rain snow wind cloud")
    lines = [f"{subjects[n % 3]} {subjects[n % 3].split()[n % 4]}" for n in range(240)]
    upload = session_files.samples("\n".join(lines).encode(), "notes.txt", {})
    yield upload
    account = account_of(upload.entry.id)
    assert account is not None
    account.forget()
    engine().forget(upload.entry.id)
    session_files.remove(upload.entry)


def test_on_private_documents_only_what_was_bought_is_shown(mine: Any) -> None:
    app = AppTest.from_string(behind_sidebar("topics/page.py"), default_timeout=120)
    app.session_state["data.own"] = {mine.entry.id: mine.entry}
    for name, value in (("data", mine.entry.id), ("eps", 3.0), ("top", None), ("delta", 1e-5)):
        app.session_state[f"sidebar.documents.{name}"] = value
    settled(app)
    account = account_of(mine.entry.id)
    assert account is not None and not account.entries
    assert app.title[0].value == "Topics at ε = 3, with privacy and without"

    def press(text: str) -> None:
        next(it for it in app.button if it.label.startswith(text)).click()
        settled(app)

    press("This run")
    press("Without privacy")
    assert [it["epsilon"] for it in story(app)["points"]] == [3.0]
    assert "Bought: 1 draw, with an ε of its own of 3.00" in point(app, 3.0)["sentence"]
    entry_count = len(account.entries)
    widget_of(app.number_input, "sidebar.documents.eps").set_value(2.0)
    settled(app)
    assert [it["epsilon"] for it in story(app)["points"]] == [3.0]  # nothing was bought at 2
    assert len(account.entries) == entry_count and story(app)["words"]["pending"] == ""
    assert "nothing was trained on your data" in story(app)["words"]["near"]


@pytest.mark.slow
def test_planted_outliers_are_told_and_set_apart() -> None:
    app = page("faces", data="digits", algo="dp-nmf", **{"p.outliers": "True"})
    app.toggle(key="faces.outliers").set_value(True)
    settled(app)
    assert "Planted outliers, found again" in words(app)
    assert "without (Robust NMF)" in point(app, story(app)["epsilon"])["sentence"]


def test_more_parts_than_pixels_is_a_sentence() -> None:
    app = page("faces", data="digits", **{"p.n_components": "65"})
    assert "must be at most the number of features, 64. Got 65" in words(app)
    assert "Your settings are kept" in words(app)


def test_the_card_says_what_a_person_with_many_images_has() -> None:
    """epsilon 1 at delta 1e-5 is mu = 1 / 3.7306; 64 images of one person have 64 mu, which is
    epsilon 219.
    """
    app = link("faces", eps="1", delta="1e-5").run()  # the card needs no run
    assert "This ε is for one image." in words(app)
    assert "with 10 of them it is **ε = 14.4" in words(app)
    app.number_input(key="card.each.image.10").set_value(64).run()
    assert "with 64 of them it is **ε = 219.4" in words(
        app
    ) and "per person, add/remove, exact" in words(app)
    assert app.query_params["each"] in ("64", ["64"])
    app.number_input(key="card.each.image.10").set_value(1).run()
    assert "with 1 of them it is **ε = 1.00" in words(app)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("64", "with 64 of them it is **ε = 219.4"),
        ("0", "with 10 of them"),
        ("9" * 5000, "with 10 of them"),
        ("x", "with 10 of them"),
    ],
)
def test_a_link_says_how_many_images_a_person_has(text: str, sentence: str) -> None:
    app = link("faces", eps="1", delta="1e-5", each=text)
    warnings = [it.value for it in app.run().warning]
    assert any("'each' in the link must be a whole number" in it for it in warnings) is (
        text != "64"
    )
    assert sentence in words(app)


@pytest.mark.parametrize(
    ("name", "data", "label"),
    [("topics", "news", "Hash words into buckets"), ("faces", "digits", "Plant outliers")],
)
def test_what_makes_rows_is_locked_with_the_parameters(name: str, data: str, label: str) -> None:
    def labels(*locked: str) -> set[str]:
        app = AppTest.from_string(behind_sidebar(f"{name}/page.py"), default_timeout=60)
        link = LessonLink.parse(page=name, query={"data": data}, locked=locked)
        app.query_params["data"] = data
        app.session_state["lesson.link"] = link
        app.run()
        assert not app.exception
        return {it.label for it in (*app.number_input, *app.toggle, *app.slider)}

    assert label in labels()
    assert label not in labels("parameters")
