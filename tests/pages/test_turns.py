"""Turns: who draws first, and that nobody waits for ever."""

import threading

import pytest

from pages.kit.base import drawing
from pages.kit.base.drawing import ANSWER, BELOW, Turns
from tests.support.engines import WAIT


class EndOfPage(Exception):
    """As Streamlit ends a thread whose page is not wanted any more."""


def nothing():
    """Always wanted."""


def waiting_for(line, place):
    """Looks until so many wait."""
    there = threading.Event()

    def look():
        if len(line.line) >= place:
            there.set()

    look.there = there
    return look


def test_answers_go_before_what_stands_below_and_each_in_the_order_of_coming(
    monkeypatch,
):
    monkeypatch.setattr(drawing, "LOOK", 0.001)
    monkeypatch.setattr(drawing, "PATIENCE", {ANSWER: 60.0, BELOW: 60.0})
    line = Turns()
    drawn = list[int]()
    threads = list[threading.Thread]()
    line.take(ANSWER, nothing)

    def draw(urgency, number, look):
        line.take(urgency, look)
        drawn.append(number)
        line.give_back()

    for number, urgency in enumerate((BELOW, ANSWER, BELOW, ANSWER)):
        look = waiting_for(line, number + 1)
        threads.append(threading.Thread(target=draw, args=(urgency, number, look)))
        threads[-1].start()
        assert look.there.wait(WAIT)
    line.give_back()
    for thread in threads:
        thread.join(WAIT)
    assert drawn == [1, 3, 0, 2]
    assert line.holders == 0


@pytest.fixture
def line(monkeypatch):
    """The line of this process."""
    own_line = Turns()
    monkeypatch.setattr(drawing, "turns", own_line)
    return own_line


def test_others_are_drawn_while_a_page_waits(line):
    with drawing.in_turn():
        assert line.holders == 1
        with drawing.waiting(then=BELOW):
            assert line.holders == 0
        assert line.holders == 1
    assert line.holders == 0
    with drawing.waiting():  # outside a page
        assert line.holders == 0


@pytest.mark.parametrize("waits", [False, True])
def test_a_page_that_fails_gives_its_turn_back(line, waits):

    def fail():
        with drawing.in_turn():
            if not waits:
                raise EndOfPage
            with drawing.waiting():
                raise EndOfPage

    with pytest.raises(EndOfPage):
        fail()
    assert line.holders == 0
