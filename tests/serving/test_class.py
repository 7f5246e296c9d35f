"""A class under one lesson link: the teacher sees what the students did."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.serving import class_records, completion
from dpmf_core.serving.lesson_links import TEACHER, LessonLink, LessonSequence, link_token
from dpmf_core.serving.settings import settings
from dpmf_core.teaching.lessons import LESSONS
from tests.pages.driving import settled

PAGES = Path(__file__).parents[2] / "pages"
SEQUENCE = LessonSequence.parse(
    steps=(
        LessonLink.parse(page="lessons", query={"lesson": "neighbours"}),
        LessonLink.parse(page="glossary", question="Which word was new?"),
    ),
    title="Five",
    gathers=True,
)
PREDICT = "FormSubmitter:learn.neighbours.neighbours-Show what happens"


@pytest.fixture
def class_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    monkeypatch.setenv("DPMF_LESSON_KEY", "a key that nobody guesses, of this test")
    settings.cache_clear()
    yield
    settings.cache_clear()


def opened(page: str, **query: str) -> AppTest:
    app = AppTest.from_file(str(PAGES / page), default_timeout=60)
    for name, value in query.items():
        app.query_params[name] = value
    return settled(app)


def press(app: AppTest, key: str) -> None:
    app.button(key=key).click()
    settled(app)


def take_part(steps: int) -> str:
    """One student who takes so many of the four steps; the code, "" for an unfinished lesson."""
    app = opened("kit/navigation.py", **{"class": link_token(SEQUENCE)})
    if steps > 0:
        answers = LESSONS["neighbours"].parts[0].answers
        app.radio(key="learn.predict.neighbours.neighbours").set_value(answers[0])
        press(app, PREDICT)
    if steps > 1:
        app.text_area(key="learn.words.neighbours").set_value(f"Answer {steps}")
        press(app, "FormSubmitter:learn.neighbours.own-Send")
    if steps > 2:
        press(app, "lesson.next")
    if steps > 3:
        app.text_area(key="lesson.text.on1").set_value(f"Word {steps}")
        press(app, "FormSubmitter:lesson.answering-Send")
        press(app, "lesson.finish")
    return app.code[0].value if steps > 3 else ""


@pytest.mark.slow
@pytest.mark.usefixtures("class_settings")
def test_the_teacher_sees_how_far_each_student_came() -> None:
    codes = [take_part(steps) for steps in range(5)]
    (finished,) = (completion.read(code) for code in codes if code)
    assert finished.what == completion.mark(SEQUENCE.id)
    answers = class_records.class_answers(SEQUENCE.id)
    steps = ("0.opened", "0.neighbours", "0.answer", "1.opened", "1.answer", "1.finished")
    assert [sum(step in it for it in answers) for step in steps] == [5, 4, 3, 2, 1, 1]
    teacher = opened("lessons/page.py", teach=link_token(SEQUENCE, TEACHER))
    assert [it.value for it in teacher.metric] == ["5", "1"]
    assert sum("Answer" in it.value for it in teacher.markdown) == 3
    assert sum("Word" in it.value for it in teacher.markdown) == 1
