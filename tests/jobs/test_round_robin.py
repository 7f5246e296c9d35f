"""Fairness as plain logic: whose run is next, what a session may ask for, which data set is
opened.
"""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dpmf_core.jobs.job import Task
from dpmf_core.jobs.machine import Limits
from dpmf_core.jobs.queue import LONG, Lanes
from dpmf_core.jobs.round_robin import Turns

LIMITS = Limits(run_seconds=10.0, session_runs=0, session_seconds=100.0)


def all_of(turns: Turns[str]) -> list[str]:
    items = []
    while (turn := turns.take()) is not None:
        items.append(turn[0])
    return items


def test_sessions_take_turns_and_one_who_asks_for_much_waits_for_herself() -> None:
    turns: Turns[str] = Turns()
    for place in range(4096):
        turns.add(f"sweep {place}", "hostile", (0, place))
    for student in range(29):
        turns.add(f"run of {student}", f"student {student}", (0, 9000 + student))
    assert {f"run of {student}" for student in range(29)} <= {turns.take()[0] for _ in range(30)}  # type: ignore[index]
    assert len(turns) == 4095


def test_within_a_session_the_smallest_place_goes_first() -> None:
    turns: Turns[str] = Turns()
    for item, place in (("late", (1, 0)), ("early", (0, 5)), ("cheap", (0, 1))):
        turns.add(item, "one", place)
    assert all_of(turns) == ["cheap", "early", "late"]


def test_what_two_want_is_taken_once_and_by_the_first_turn() -> None:
    turns: Turns[str] = Turns()
    turns.add("long before", "one", (0,))
    turns.add("shared", "one", (1,))
    turns.add("shared", "other", (0,))
    assert all_of(turns) == ["long before", "shared"] and len(turns) == 0


Requests = st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 5)), max_size=40)


@given(Requests, st.data())
def test_nobody_starves_and_the_forecast_is_what_happens(
    requests: list[tuple[str, int]], data: Any
) -> None:
    """Between two turns of one session every other that waits has one; `ahead` and `items` say
    the order beforehand.
    """
    turns: Turns[int] = Turns()
    for item, (asker, place) in enumerate(requests):
        turns.add(item, asker, (place, item))
    for _ in range(data.draw(st.integers(0, 5))):
        turns.take()
    order, ahead = turns.items(), {item: turns.ahead(item) for item in turns.items()}
    waiting: dict[str, int] = {}
    for place, item in enumerate(order):
        turn = turns.take()
        assert turn is not None
        assert turn == (item, requests[item][0]) and ahead[item] == place
        for other in {requests[later][0] for later in order[place + 1 :]} - {turn[1]}:
            waiting[other] = waiting.get(other, 0) + 1
            assert waiting[other] <= 4
        waiting.pop(turn[1], None)
    assert turns.take() is None


# ---- lanes ---------------------------------------------------------------------------------------


def task(name: str, cost: float = 1.0, number: int = 0) -> Task:
    return Task(name, None, number=number, cost=cost)


def line_up(
    lanes: Lanes, name: str, asker: str, cost: float = 1.0, priority: int = 0, number: int = 0
) -> Task:
    new_task = task(name, cost, number)
    lanes.enter(new_task, asker, priority)
    lanes.line_up(new_task)
    return new_task


def test_long_runs_never_have_all_workers() -> None:
    lanes = Lanes(2, LIMITS)
    first, second = line_up(lanes, "first", "a", LONG + 1), line_up(lanes, "second", "b", LONG + 1)
    assert [lanes.next(), lanes.next()] == [first, None]
    quick = line_up(lanes, "quick", "c")
    assert lanes.next() is quick
    lanes.land(first)
    assert lanes.next() is second
    alone = Lanes(1, LIMITS)
    only = line_up(alone, "only", "a", LONG + 1)
    assert alone.next() is only


def test_a_session_has_at_most_so_many_runs_at_once() -> None:
    lanes = Lanes(3, Limits(session_runs=1))
    first, second, other = (
        line_up(lanes, "1", "a"),
        line_up(lanes, "2", "a", number=1),
        line_up(lanes, "3", "b"),
    )
    assert [lanes.next(), lanes.next(), lanes.next()] == [first, other, None]
    lanes.land(first)
    assert lanes.next() is second


def test_a_session_that_asks_for_too_much_is_told_what_to_do() -> None:
    lanes = Lanes(2, LIMITS)
    big = line_up(lanes, "big", "a", 90.0)
    refusal = lanes.refusal("a", 20.0)
    assert refusal is not None
    assert all(
        words in str(refusal)
        for words in ("about 2 min of work", "You have about 2 min", "about 20 s", "ask for less")
    )
    assert lanes.refusal("b", 20.0) is None
    lanes.close(big)
    assert lanes.refusal("a", 20.0) is None


# ---- opening -------------------------------------------------------------------------------------
