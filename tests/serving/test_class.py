"""Thirty sessions under one lesson link, without a browser: the teacher sees what they did."""

import asyncio
from pathlib import Path

import pytest

from benchmarks.student import Student
from dpmf_core.serving import class_records, completion
from dpmf_core.serving.lesson_links import TEACHER, LessonLink, LessonSequence, link_token
from dpmf_core.serving.settings import settings
from dpmf_core.teaching.lessons import LESSONS
from tests.browser.conftest import Server

pytestmark = pytest.mark.slow
SESSIONS, PREDICT, ANSWER, GO_ON, FINISH = 30, 26, 20, 15, 10
SECRET = "a key that nobody guesses, of this test"
SEQUENCE = LessonSequence.parse(
    steps=(
        LessonLink.parse(page="lessons", query={"lesson": "neighbours"}),
        LessonLink.parse(page="glossary", question="Which word was new?"),
    ),
    title="Thirty",
    gathers=True,
)


async def take_part(base: str, query: str, number: int) -> str:
    """One session, as far as its number says; its code, '' where it did not finish."""
    async with Student(base, query, "lessons") as student:
        await student.first_drawing()
        if number >= PREDICT:
            return ""
        answers = LESSONS["neighbours"].parts[0].answers
        await student.set("learn.predict.neighbours.neighbours", answers[number % 2])
        await student.press("FormSubmitter:learn.neighbours.neighbours-Show what happens")
        if number >= ANSWER:
            return ""
        await student.set("learn.words.neighbours", f"Answer {number:02}")
        await student.press("FormSubmitter:learn.neighbours.own-Send")
        if number >= GO_ON:
            return ""
        await student.press("lesson.next")
        await student.until_widget("lesson.finish")
        if number >= FINISH:
            return ""
        await student.set("lesson.text.on1", f"Word {number:02}")
        await student.press("FormSubmitter:lesson.answering-Send")
        await student.press("lesson.finish")
        assert not student.messages
        return student.code()


async def whole_class(base: str, query: str) -> list[str]:
    return list(await asyncio.gather(*(take_part(base, query, it) for it in range(SESSIONS))))


async def seen_by_the_teacher(base: str, query: str) -> list[str]:
    async with Student(base, query, "lessons") as teacher:
        await teacher.first_drawing()
        return teacher.texts()


def test_a_class_of_thirty_is_seen_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    monkeypatch.setenv("DPMF_LESSON_KEY", SECRET)
    settings.cache_clear()
    server = Server(tmp_path)
    server.start()
    try:
        codes = asyncio.run(whole_class(server.url, f"class={link_token(SEQUENCE)}"))
        texts = asyncio.run(
            seen_by_the_teacher(server.url, f"teach={link_token(SEQUENCE, TEACHER)}")
        )
        class_answers = class_records.class_answers(SEQUENCE.id)
        completions = [completion.read(code) for code in codes if code]
    finally:
        server.kill()
        settings.cache_clear()
    assert "Traceback" not in server.log.read_text()
    assert len(class_answers) == SESSIONS and len(set(completions)) == FINISH
    assert {it.what for it in completions} == {completion.mark(SEQUENCE.id)}
    assert sum(it.right for it in completions) == FINISH / 2
    counts = {
        step: sum(step in answers for answers in class_answers)
        for step in ("0.opened", "0.neighbours", "0.answer", "1.opened", "1.answer", "1.finished")
    }
    assert list(counts.values()) == [SESSIONS, PREDICT, ANSWER, GO_ON, FINISH, FINISH]
    all_text = "\n".join(texts)
    assert [f"Answer {it:02}" in all_text for it in range(SESSIONS)] == [
        it < ANSWER for it in range(SESSIONS)
    ]
    assert all_text.index("Answer 03") < all_text.index("Answer 04") and "Word 09" in all_text
