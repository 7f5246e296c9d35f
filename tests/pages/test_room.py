"""A room code opens its class from the box and from the address; operators see and end it."""

import pytest

from dpmf_core.base.requesters import Asker, asking
from dpmf_core.teaching import class_records, room_codes
from dpmf_core.teaching.lesson_links import (
    TEACHER,
    LessonLink,
    LessonSequence,
    link_token,
)
from pages.kit.base import links
from tests.pages.driving import app_of, settled, words
from tests.support import qr_codes

SEQUENCE = LessonSequence.parse(
    steps=(
        LessonLink.parse(page="lessons", query={"lesson": "neighbours"}),
        LessonLink.parse(page="glossary", question="Which word was new?"),
    ),
    title="Five",
    gathers=True,
)
JOIN = "FormSubmitter:room-Join"


@pytest.fixture(autouse=True)
def class_settings(configure):
    configure(lesson_key="a key that nobody guesses, of this test")


@pytest.fixture
def code():
    class_records.open_class(SEQUENCE.id)
    return room_codes.room_of(SEQUENCE.id, link_token(SEQUENCE)).code


def opened(page="kit/navigation.py", **query):
    return settled(app_of(page, **query))


def join(app, text):
    app.text_input(key="room.code").set_value(text)
    app.button(key=JOIN).click()
    return settled(app)


@pytest.mark.parametrize("page", [{}, {"view": "unknown"}])
def test_a_code_in_the_address_opens_the_first_page_of_the_class(code, page):
    app = opened(room=code.lower(), **page)
    assert app.session_state["lesson.link"] == SEQUENCE.steps[0]
    assert "room" not in app.query_params
    assert app.query_params["at"] in ("1", ["1"])
    assert len(class_records.class_answers(SEQUENCE.id)) == 1


def test_the_box_opens_the_class_after_a_wrong_code_that_says_what_to_do(code):
    app = opened(room="ABCDEF" if code != "ABCDEF" else "ABCDEG")
    assert "No class has the room code ABC DE" in words(app)
    assert "ask your teacher" in words(app)
    assert "room" not in app.query_params
    settled(app)  # drawn again, which is no further try
    assert "No class has" in words(app)
    join(app, room_codes.in_halves(code).lower())
    assert app.session_state["lesson.link"] == SEQUENCE.steps[0]
    assert "No class has" not in words(app)


def test_a_code_typed_after_other_pages_brings_none_of_their_settings(code):
    app = opened()
    app.session_state["sidebar.epsilon"] = 7.0
    join(app, code)
    assert "sidebar.epsilon" not in app.session_state
    assert app.session_state["lesson.link"] == SEQUENCE.steps[0]


def test_six_wrong_codes_are_too_many(code):
    app = opened()
    for number in range(5):
        join(app, f"ABC DE{'ABCDE'[number]}")
        assert "No class has" in words(app)
    join(app, code)
    assert "5 wrong room codes within a minute" in words(app)
    assert "lesson.link" not in app.session_state


def test_a_server_that_opens_pages_by_lesson_links_alone_takes_codes_too(
    code, configure
):
    configure(
        lesson_key="a key that nobody guesses, of this test",
        pages_without_lesson=("glossary",),
    )
    app = opened()
    assert "room code" in words(app)
    join(app, code)
    assert app.session_state["lesson.link"] == SEQUENCE.steps[0]


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8501/learn?room=ABCDEF",
        "https://dpmf.example.org/learn?room=WXYZAB",
        "https://a-rather-long-name.of-a-school.example.org/dpmf/learn?room=ABCDEF",
    ],
)
def test_a_qr_code_says_the_link(url):
    assert qr_codes.text_of(links.qr_image(url)) == url


# ---- teachers and operators ----------------------------------------------------------------------


def class_view():
    return opened("lessons/page.py", teach=link_token(SEQUENCE, TEACHER))


def open_code():
    """The code that opens the class now."""
    (one,) = class_records.classes()
    return one.room_code


def html_of(app):
    return "\n".join(element.proto.body for element in app.get("html"))


def test_the_class_view_shows_the_code_and_its_qr_code_and_replaces_and_ends_it():
    teacher = class_view()
    first = open_code()
    assert room_codes.in_halves(first) in html_of(teacher)
    assert f"room={first}" in html_of(teacher)  # what the picture says, in words
    assert f"Room code {' '.join(first)}" in html_of(teacher)
    teacher.button(key="teach.new_room").click()
    settled(teacher)
    second = open_code()
    assert second != first
    assert room_codes.in_halves(second) in html_of(teacher)
    teacher.button(key="teach.end_room").click()
    settled(teacher)
    assert open_code() == ""
    assert "has ended" in words(teacher)
    for button in teacher.button:
        assert button.key not in ("teach.screen", "teach.end_room")
    # nor does a look open it again
    assert not class_view().exception
    assert open_code() == ""


def test_the_operator_sees_a_code_and_ends_it(code, monkeypatch):
    operator = Asker.of_login("https://login.example.org", "1", operator=True)
    monkeypatch.setattr("pages.server.visitor.asker", lambda: operator)
    with asking(operator):
        app = settled(app_of("operator/page.py"))
        (one,) = class_records.classes()
        button = app.button(key=f"operator.end_room.{one.name}")
        assert button.label == f"End code {room_codes.in_halves(code)}"
        button.click()
        settled(app)
        assert open_code() == ""
        assert not app.exception
        for control in app.button:
            assert control.key != button.key
