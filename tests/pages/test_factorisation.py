"""The Topics and Faces pages, driven as a person would, without a browser."""

import statistics
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from streamlit.testing.v1 import AppTest

from dpmf_core.jobs.engine import engine
from dpmf_core.runs.comparison import DRAWS
from dpmf_core.runs.inspection import samples_of
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.spending import account_of
from dpmf_datasets import session_files
from tests.pages.driving import (
    app_of,
    behind_sidebar,
    brought,
    component,
    engine_run,
    settled,
    widget_of,
    words,
)

pytestmark = pytest.mark.usefixtures("short_grid")


def story(app: AppTest) -> dict[str, Any]:
    return component(app, "matched_parts")


def point(app: AppTest, epsilon: float) -> dict[str, Any]:
    (match,) = [it for it in story(app)["points"] if it["epsilon"] == epsilon]
    return match


def partners(private: Run, plain: Run) -> list[tuple[int, float]]:
    """For each component without privacy its private partner, and their cosine."""
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
    order = sorted(range(len(weights)), key=lambda j: -weights[j])
    return [vocabulary[j] for j in order[:10] if weights[j] > 0]


def page(name: str, **parameters: str) -> AppTest:
    return settled(app_of(behind_sidebar(f"{name}/page.py"), **parameters))


def runs_of(algorithm: str, epsilon: float) -> list[Run]:
    """The draws of a method with eight topics on the news."""
    budget = {"epsilon": epsilon, "delta": 2e-5} if epsilon else None
    return [
        engine_run(
            RunSpec.parse(
                data={"id": "news", "weighting": "tfidf"},
                algorithm=algorithm,
                parameters={"n_components": 8},
                budget=budget,
                seed=seed,
            )
        )
        for seed in range(DRAWS)
    ]


@pytest.mark.slow
def test_topics_say_what_the_runs_say() -> None:
    app = page("topics", eps="2")
    private, plain = runs_of("oneshot-nmf", 2), runs_of("nmf", 0)

    def medians(runs: list[Run], name: str) -> float:
        return statistics.median(run.record.metrics[name] for run in runs)

    each = [
        (one.record.metrics["trivial_objective"] - one.record.metrics["objective"])
        / (one.record.metrics["trivial_objective"] - other.record.metrics["objective"])
        for one, other in zip(private, plain, strict=True)
    ]
    here = point(app, 2.0)
    assert f"{statistics.median(each):.0%}" in here["title"]
    order = partners(private[0], plain[0])
    assert story(app)["plain"] == [heaviest(plain[0], part) for part in range(8)]
    assert here["parts"] == [heaviest(private[0], part) for part, _ in order]
    assert here["alike"] == pytest.approx([cosine for _, cosine in order])
    stay = [len(set(a) & set(b)) for a, b in zip(here["parts"], story(app)["plain"], strict=True)]
    assert f"{statistics.mean(stay):.1f}" in here["sentence"]
    errors = (medians(private, "objective"), medians(plain, "objective"))
    for error in (*errors, medians(plain, "trivial_objective")):
        assert f"{2 * error:.0%}" in here["sentence"]
    assert "2.00" in words(app)
    assert "CONDITIONAL" in words(app)


def test_a_start_from_private_data_has_no_epsilon() -> None:
    app = page("topics", algo="dp-nmf", **{"p.start": "nndsvd", "p.steps": "2"})
    assert "UNPROVEN" in words(app)
    assert "per document" not in words(app)
    assert [it["epsilon"] for it in story(app)["points"]] == [story(app)["epsilon"]]


@pytest.fixture
def mine() -> Iterator[Any]:
    """Documents that a visitor brought."""
    subjects = ("apple pear plum quince", "goal match team coach", "rain snow wind cloud")
    lines = [f"{subjects[n % 3]} {subjects[n % 3].split()[n % 4]}" for n in range(240)]
    upload = session_files.samples("\n".join(lines).encode(), "notes.txt", {})
    yield upload
    account = account_of(upload.entry.id)
    account.forget()
    engine().forget(upload.entry.id)
    session_files.remove(upload.entry)


def test_on_private_documents_only_what_was_bought_is_shown(mine: Any) -> None:
    chosen = {"sidebar.documents.most_words": None, "sidebar.documents.delta": 1e-5}
    state = brought(mine.entry, "documents") | chosen
    app = app_of(behind_sidebar("topics/page.py"), state)
    settled(app)
    widget_of(app.number_input, "sidebar.epsilon").set_value(3.0)
    settled(app)
    account = account_of(mine.entry.id)
    assert not account.entries
    for label in ("This run", "Without privacy"):
        next(it for it in app.button if it.label.startswith(label)).click()
        settled(app)
    assert [it["epsilon"] for it in story(app)["points"]] == [3.0]
    assert "3.00" in point(app, 3.0)["sentence"]
    entry_count = len(account.entries)
    widget_of(app.number_input, "sidebar.epsilon").set_value(2.0)
    settled(app)
    assert [it["epsilon"] for it in story(app)["points"]] == [3.0]  # nothing was bought at 2
    assert len(account.entries) == entry_count and story(app)["words"]["pending"] == ""
