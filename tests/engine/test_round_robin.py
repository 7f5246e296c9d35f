"""Fairness as plain logic: whose run is next, what a session may ask for, which data set is
opened.
"""

import threading
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dpmf_core.engine.data_loading import AT_ONCE, Openers
from dpmf_core.engine.jobs import Task
from dpmf_core.engine.quotas import Limits
from dpmf_core.engine.round_robin import Turns
from dpmf_core.engine.run_queue import GRACE, IDLE, LONG, Lanes

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


def test_what_is_removed_or_not_allowed_is_passed_over() -> None:
    turns: Turns[str] = Turns()
    turns.add("a", "one", (0,))
    turns.add("b", "one", (1,))
    turns.add("c", "other", (0,))
    turns.remove("a")
    turns.remove("never there")
    assert turns.take(lambda _, asker: asker == "other") == ("c", "other")
    assert turns.take(lambda _, asker: asker == "other") is None
    assert all_of(turns) == ["b"]


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


def test_there_are_as_many_as_workers_and_visible_and_cheap_go_first() -> None:
    lanes = Lanes(2, LIMITS)
    later, dear, cheap = (
        line_up(lanes, "later", "a", 0.1, -5),
        line_up(lanes, "dear", "a", 5.0),
        line_up(lanes, "cheap", "a", 1.0),
    )
    assert [lanes.next(), lanes.next(), lanes.next()] == [cheap, dear, None]
    assert (later.in_line, lanes.waiting, lanes.ahead(later)) == (True, 1, 0)
    assert lanes.land(cheap) and not lanes.land(cheap)
    assert lanes.next() is later


def test_what_waits_behind_everything_goes_last_and_leaves_a_worker_free() -> None:
    lanes = Lanes(2, LIMITS)
    idle = [line_up(lanes, f"idle {place}", "a", priority=IDLE, number=place) for place in range(3)]
    visitors = [line_up(lanes, "theirs", "b"), line_up(lanes, "hers", "a")]
    assert (lanes.waiting, lanes.ahead(idle[1])) == (2, 3)
    assert [lanes.next(), lanes.next(), lanes.next()] == [*visitors, None]
    lanes.land(visitors[0])
    assert lanes.next() is None  # the worker that is left stays free
    lanes.land(visitors[1])
    assert [lanes.next(), lanes.next()] == [idle[0], None]
    quick = line_up(lanes, "quick", "c")
    assert lanes.next() is quick
    alone = Lanes(1, LIMITS)
    only = line_up(alone, "only", "a", priority=IDLE)
    assert alone.next() is only


def test_what_somebody_comes_to_look_at_waits_with_the_others() -> None:
    lanes = Lanes(2, LIMITS)
    first, urgent = (
        line_up(lanes, "first", "a", priority=IDLE),
        line_up(lanes, "wanted", "a", priority=IDLE, number=1),
    )
    lanes.enter(urgent, "a", 0)
    assert lanes.waiting == 1 and lanes.ahead(first) == 1
    assert lanes.next() is urgent and lanes.waiting == 0
    lanes.land(urgent)
    assert lanes.next() is first


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


def test_work_without_a_session_has_no_limits() -> None:
    lanes = Lanes(2, LIMITS)
    mine = [line_up(lanes, str(place), "", 1e6, number=place) for place in range(2)]
    assert lanes.refusal("", 1e9) is None
    assert [lanes.next(), lanes.next()] == mine
    for it in mine:
        it.began = 0.0
    assert lanes.late(1e9) == []


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


def test_who_stays_answers_for_the_cost_of_what_two_wanted() -> None:
    lanes = Lanes(2, LIMITS)
    shared = line_up(lanes, "shared", "a", 90.0)
    lanes.enter(shared, "b", 0)
    lanes.quit(shared, "a")
    assert lanes.refusal("a", 20.0) is None and lanes.refusal("b", 20.0) is not None
    assert lanes.next() is shared and shared.turn_of == "b"


def test_what_ends_while_it_waits_is_never_handed_out() -> None:
    lanes = Lanes(1, LIMITS)
    gone, stays = line_up(lanes, "gone", "a"), line_up(lanes, "stays", "a", number=1)
    lanes.close(gone)
    assert lanes.next() is stays and lanes.waiting == 0


def test_a_run_whose_time_is_long_over_is_found() -> None:
    lanes = Lanes(2, LIMITS)
    slow = line_up(lanes, "slow", "a")
    lanes.next()
    assert lanes.late(1e6) == []  # no worker has begun
    slow.began = 100.0
    assert lanes.late(100.0 + LIMITS.run_seconds + GRACE) == []
    assert lanes.late(101.0 + LIMITS.run_seconds + GRACE) == [slow]


# ---- opening -------------------------------------------------------------------------------------


def test_a_slow_data_set_holds_up_nobody_else() -> None:
    """One session asks for many data sets that take for ever to open; another's is opened at
    once, and what two wait for is opened once.
    """
    gate, sources = threading.Event(), []

    def open_(source: str) -> str:
        sources.append(source)
        if source.startswith("slow"):
            assert gate.wait(30)
        if source == "bad":
            raise OSError("no such file")
        return source.upper()

    openers, results, came = Openers(open_), [], threading.Event()

    def then(it: Any) -> None:
        results.append(it)
        came.set()

    for place in range(2 * AT_ONCE):
        openers.ask(f"slow {place}", "hostile", lambda _: None)
    openers.ask("small", "student", then)
    assert came.wait(30) and results == ["SMALL"]
    assert sources.count("slow 0") == 1 and "slow 1" not in sources  # one at a time
    came.clear()
    openers.ask("bad", "student", then)
    assert came.wait(30) and isinstance(results[-1], OSError)
    again: list[Any] = []
    for _ in range(2):
        openers.ask("slow 0", "student", again.append)
    assert sources.count("slow 0") == 1
    gate.set()
    openers.close()
    assert again == ["SLOW 0", "SLOW 0"]
