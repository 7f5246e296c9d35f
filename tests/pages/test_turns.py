"""Turns: who draws first, and that nobody waits for ever."""

from threading import Event

import pytest

from pages.server import turns
from pages.server.turns import ANSWER, BELOW, Turns


def nothing() -> None:
    """Always wanted."""


class EndOfPage(Exception):
    """As Streamlit ends a thread whose page is not wanted any more."""


def end() -> None:
    raise EndOfPage


def test_answers_go_before_what_stands_below_and_each_in_the_order_of_coming() -> None:
    line = Turns(at_once=1)
    line.take(ANSWER, nothing)
    coming = [(urgency, n, Event()) for n, urgency in enumerate((BELOW, ANSWER, BELOW, ANSWER))]
    line._waiting = sorted(coming, key=lambda place: place[:2])
    called = []
    while line._waiting:
        line.give_back()
        called += [n for _, n, turn in coming if turn.is_set() and n not in called]
    assert called == [1, 3, 0, 2]


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
