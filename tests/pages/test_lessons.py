"""The lessons say what is so: every right answer follows from a computation here. The glossary is whole."""

import math
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm
from streamlit.testing.v1 import AppTest

from dpmf_core.experiment import DataSpec, RunSpec, open_ratings, run
from dpmf_core.glossary import TERMS, found
from dpmf_core.lessons import HIGH, added_up, belief, clipped, grouped, two_answers
from dpmf_core.privacy import Gaussian
from dpmf_core.privacy.accounting import delta as delta_of
from pages.kit.teaching import LESSONS

PAGES = Path(__file__).parents[2] / "pages" / "learn"


def page(lesson: str) -> AppTest:
    app = AppTest.from_file(str(PAGES / "lessons.py"), default_timeout=60)
    app.query_params["lesson"] = lesson
    app.run()
    for _ in range(200):
        assert not app.exception, [error.value for error in app.exception]
        if not any(str(button.key).endswith(".cancel") for button in app.button):
            return app
        time.sleep(0.1)
        app.run()
    raise AssertionError("the runs did not finish")


@pytest.mark.parametrize("name", list(LESSONS))
def test_every_lesson_has_its_question_answered(name: str) -> None:
    app, lesson = page(name), LESSONS[name]
    assert app.title[0].value == lesson.title
    radio = app.radio(key=f"learn.answer.{name}")
    radio.set_value((lesson.right + 1) % len(lesson.answers)).run()
    assert app.warning[0].value.startswith("Not quite.")
    app.radio(key=f"learn.answer.{name}").set_value(lesson.right).run()
    assert app.success[0].value == f"Yes. {lesson.because}"


def test_next_goes_through_all() -> None:
    app = page("neighbours")
    app.button(key="learn.next.neighbours").click().run()
    assert app.title[0].value == LESSONS["clipping"].title


def test_two_answers_are_as_far_apart_as_epsilon_allows() -> None:
    """A shift of 5 under that noise has exactly delta beyond epsilon; the curves are densities."""
    for epsilon in (0.1, 1.0, 10.0):
        answers = two_answers(epsilon)
        assert delta_of(Gaussian(answers.noise / HIGH), epsilon) == pytest.approx(1e-5, rel=1e-3)
        assert np.trapezoid(answers.without, answers.axis) == pytest.approx(1, abs=1e-3)
        overlap = np.trapezoid(np.minimum(answers.without, answers.with_you), answers.axis)
        assert overlap == pytest.approx(2 * norm.cdf(-HIGH / answers.noise / 2), abs=2e-3)
    assert 2 * norm.cdf(-HIGH / two_answers(0.1).noise / 2) > 0.9 > 0.35 > 2 * norm.cdf(-HIGH / two_answers(10).noise / 2)


def test_the_valley_of_clipping_lies_between() -> None:
    lines = clipped(open_ratings(DataSpec(id="cinema-small")), tuple(np.geomspace(0.5, 30, 25)), 1.0)
    best = min(lines, key=lambda line: line.both)
    assert 0.02 < best.people_cut < 0.5
    assert best.both < min(lines[0].both, lines[-1].both)
    assert all(line.both == pytest.approx(math.hypot(line.cut, line.noise)) for line in lines)


def test_a_hundred_steps_of_a_half_cost_about_seven() -> None:
    assert added_up(0.5, 1)[0] == pytest.approx(0.5, abs=1e-6)
    assert 6 < added_up(0.5, 100)[0] < 7.5
    assert added_up(0.5, 100)[1] == 50


def test_sixty_four_photographs_are_no_protection() -> None:
    """mu of epsilon 1 at delta 1e-5 is 1 / 3.7306; of 64 photographs 64 times that, and its delta at 219 is 1e-5."""
    found = dict(grouped(1.0, (1, 64)))
    assert found[1] == pytest.approx(1.0, abs=1e-6) and found[64] == pytest.approx(219, abs=0.5)
    mu = 64 / 3.7306
    a, b = mu / 2 - found[64] / mu, -mu / 2 - found[64] / mu
    assert norm.cdf(a) - math.exp(found[64] + norm.logcdf(b)) == pytest.approx(1e-5, rel=0.02)


def test_odds_of_one_become_e() -> None:
    assert belief(0.5, 1.0) == pytest.approx(math.e / (1 + math.e)) == pytest.approx(0.731, abs=1e-3)
    assert belief(0.5, 5.0) == pytest.approx(0.993, abs=1e-3)
    assert belief(0.3, 0.0) == pytest.approx(0.3)


def test_busy_people_lose_most_to_the_noise() -> None:
    def errors(algorithm: str, **more: object) -> list[float]:
        asked = RunSpec.parse(data={"id": "cinema-small"}, algorithm=algorithm, **more)
        return [float(it["rmse"]) for it in run(asked).record["buckets"]["activity"]]

    for epsilon in (0.5, 2.0, 10.0):
        lost = np.subtract(errors("dpals", budget={"epsilon": epsilon, "delta": 1e-5}), errors("als"))
        assert min(lost[2:]) > 1.3 * lost[0]


def test_the_glossary_is_whole() -> None:
    assert set(TERMS) >= {"sensitivity", "clipping", "delta", "composition", "joint differential privacy", "Gaussian mechanism", "neighbouring relation"}
    assert "group privacy" in TERMS
    assert all(term.words.endswith(".") and term.source for term in TERMS.values())
    assert all(term.formula for name, term in TERMS.items() if not name.startswith("PROVEN"))
    assert next(term.name for term in found("rényi")).startswith("Rényi")
    assert found("no such thing") == () and len(found("")) == len(TERMS)


def test_the_glossary_page_looks_up() -> None:
    app = AppTest.from_file(str(PAGES / "glossary.py"), default_timeout=30)
    app.query_params["term"] = "clip norm"
    app.run()
    assert not app.exception
    assert app.text_input[0].value == "clip norm"
    app.text_input[0].set_value("zzz").run()
    assert "None of the" in app.info[0].value
