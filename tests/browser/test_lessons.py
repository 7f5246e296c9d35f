"""The course, a teacher's links and her view of the class, in a real browser."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from dpmf_core.serving import completion
from dpmf_core.teaching.course import Lesson
from dpmf_core.teaching.lessons import LESSONS
from tests.browser.conftest import Server, choose

pytestmark = pytest.mark.browser
Visit = Callable[..., Any]
SMALL = "data=cinema-small"


@pytest.fixture(autouse=True)
def key_of_the_server(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes and links are checked here as there."""
    monkeypatch.setenv("DPMF_DATA", str(server.data))


def at_rest(page: Any) -> None:
    page.wait_for_selector("h1")
    page.get_by_role("button", name="Cancel").first.wait_for(state="detached")
    page.wait_for_selector("[data-test-script-state=notRunning]")
    assert page.get_by_test_id("stException").count() == 0


def walk(page: Any, taught: Lesson) -> None:
    """Through a lesson by its text alone: each prediction, the last one right, then an answer."""
    for part in taught.parts:
        page.get_by_role("radiogroup", name=part.question).get_by_text(
            part.answers[part.right], exact=True
        ).click()
        page.get_by_role("button", name="Show what happens").click()
        page.get_by_text(part.because.replace("**", "")[:60]).wait_for()
    page.get_by_label(taught.own_words).fill("Because nobody can tell.")
    page.get_by_label(taught.own_words).press("Tab")
    page.get_by_role("button", name="Send", exact=True).click()
    page.get_by_text(taught.model[:60]).wait_for()


def test_the_course_is_walked_through_by_its_text_alone(visit: Visit) -> None:
    """On a phone, from the first lesson to the last code."""
    size = {"width": 390, "height": 844}
    page = visit("/lessons", viewport=size)
    lessons = list(LESSONS.values())
    for place, taught in enumerate(lessons):
        page.wait_for_selector(f"h1:has-text('{taught.title}')")
        walk(page, taught)
        page.wait_for_selector("[data-test-script-state=notRunning]")
        assert page.get_by_test_id("stException").count() == 0
        code = completion.read(page.get_by_test_id("stCode").inner_text())
        assert code.what == completion.mark(taught.id)
        assert code.right == code.n_questions == len(taught.parts)
        assert page.evaluate("document.documentElement.scrollWidth") <= 391
        if place + 1 < len(lessons):
            page.get_by_role("button", name=lessons[place + 1].title).click()
    assert page.outside == []


def link_in(page: Any, name: str) -> str:
    """The path of a link that was made."""
    text = page.locator(".link code", has_text=f"?{name}=").first.inner_text().strip()
    return "/" + text.split("/", 3)[3]


def test_a_lesson_link_shows_what_it_should_and_editing_it_unlocks_nothing(visit: Visit) -> None:
    teacher = visit(f"/explore?{SMALL}&eps=1&algo=private-bias")
    at_rest(teacher)
    teacher.get_by_role("button", name="Make a lesson link").click()
    teacher.get_by_label("Title").fill("Small ε")
    teacher.get_by_label("Title").press("Tab")
    teacher.get_by_text("as I choose").click()
    for box, control in {"Locked": "ε", "Hidden": "δ"}.items():
        choose(teacher, box, control)
        teacher.keyboard.press("Escape")
    teacher.get_by_role("button", name="Make it").click()
    link = link_in(teacher, "class").split("?")[1]

    # as it is, with other values in it, and on the wrong page
    for path in (
        f"/explore?{link}",
        f"/explore?{link}&eps=10&data=cinema&algo=dpals",
        f"/glossary?{link}",
    ):
        student = visit(path)
        student.wait_for_selector("h1:has-text('At ε = 1, Private biases')")
        at_rest(student)
        student.get_by_text("Small ε").wait_for()
        expect(student.get_by_label("ε, exactly")).to_be_disabled()
        expect(student.get_by_label("ε, exactly")).to_have_value("1")
        expect(student.get_by_role("spinbutton", name="δ")).to_have_count(0)
        expect(student.get_by_role("link", name="Glossary")).to_have_count(0)

    wrong = visit("/explore?class=nothing-like-it&" + SMALL)
    at_rest(wrong)
    wrong.get_by_text("This server did not make this lesson link").wait_for()
