"""Turns: who draws first, and that nobody waits for ever."""

import threading
import time
from collections.abc import Callable

import pytest

from pages.server import turns
from pages.server.turns import ANSWER, BELOW, Turns


def nothing() -> None:
    """Always wanted."""


class EndOfPage(Exception):
    """As Streamlit ends a thread whose page is not wanted any more."""


def end() -> None:
    raise EndOfPage


def start(doing: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=doing, daemon=True)
    thread.start()
    return thread


def in_line(line: Turns, urgency: int, name: str, order: list[str]) -> threading.Thread:
    """A thread that waits in line, enters its name when its turn comes, and gives it back."""

    def wait() -> None:
        line.take(urgency, nothing)
        order.append(name)
        line.give_back()

    before = len(line._waiting)
    thread = start(wait)
    until = time.monotonic() + 5
    while len(line._waiting) == before and time.monotonic() < until:
        time.sleep(0.001)
    assert len(line._waiting) == before + 1
    return thread


def test_answers_go_before_what_stands_below_and_each_in_the_order_of_coming() -> None:
    line, order = Turns(at_once=1), list[str]()
    line.take(ANSWER, nothing)
    threads = [
        in_line(line, urgency, name, order)
        for urgency, name in (
            (BELOW, "below 1"),
            (ANSWER, "answer 1"),
            (BELOW, "below 2"),
            (ANSWER, "answer 2"),
        )
    ]
    assert order == []
    line.give_back()
    for thread in threads:
        thread.join(5)
    assert order == ["answer 1", "answer 2", "below 1", "below 2"]


def test_so_many_at_once_and_no_more() -> None:
    line, order = Turns(at_once=2), list[str]()
    line.take(ANSWER, nothing)
    line.take(ANSWER, nothing)
    third = in_line(line, ANSWER, "third", order)
    assert order == []
    line.give_back()
    third.join(5)
    assert order == ["third"]


def test_a_turn_that_is_held_for_long_keeps_nobody_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "PATIENCE", {ANSWER: 0.05, BELOW: 0.05})
    monkeypatch.setattr(turns, "LOOK", 0.01)
    line = Turns(at_once=1)
    line.take(ANSWER, nothing)
    line.take(ANSWER, nothing)  # goes ahead without one
    line.give_back()
    assert line._free == 0
    line.give_back()
    assert line._free == 1


def test_who_is_not_wanted_any_more_leaves_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "LOOK", 0.01)
    line = Turns(at_once=1)
    line.take(ANSWER, nothing)
    with pytest.raises(EndOfPage):
        line.take(ANSWER, end)
    assert line._waiting == []
    line.give_back()
    line.take(ANSWER, end)  # free: nobody waits, so nobody looks
    assert line._free == 0


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> Turns:
    """The line of this process, in which one page is drawn at a time."""
    own_line = Turns(at_once=1)
    monkeypatch.setattr(turns, "_turns", own_line)
    return own_line


def test_others_are_drawn_while_a_page_waits(line: Turns) -> None:
    with turns.drawing():
        assert line._free == 0
        with turns.waiting(then=BELOW):
            assert line._free == 1
        assert line._free == 0
    assert line._free == 1


@pytest.mark.parametrize("waits", [False, True])
def test_a_page_that_fails_gives_its_turn_back(line: Turns, waits: bool) -> None:

    def fail() -> None:
        with turns.drawing():
            if not waits:
                raise EndOfPage
            with turns.waiting():
                raise EndOfPage

    with pytest.raises(EndOfPage):
        fail()
    assert line._free == 1


def test_waiting_outside_a_page_takes_no_turn(line: Turns) -> None:
    with turns.waiting():
        assert line._free == 1
    assert line._free == 1


def test_an_answer_passes_between_two_parts_of_what_stands_below(line: Turns) -> None:
    order = list[str]()
    with turns.drawing():
        with turns.waiting(then=BELOW):
            pass
        other = in_line(line, ANSWER, "answer", order)
        order.append("first part")
        turns.let_answers_pass()
        order.append("second part")
    other.join(5)
    assert order == ["first part", "answer", "second part"]
