"""Whose task is next, and how much a session may ask for, as plain logic."""

import math

from hypothesis import given
from hypothesis import strategies as st

from dpmf_core.jobs.job import Task
from dpmf_core.jobs.machine import Limits
from dpmf_core.jobs.queue import IDLE, LONG, Queue


def add(queue, name, asker, cost=1.0, priority=0, number=0):
    task = Task(name, None, number=number, cost=cost)
    queue.enter(task, asker, priority)
    queue.wait(task)
    return task


def names(queue):
    """What starts, in order, if each task ends before the next starts."""
    started = []
    while (task := queue.next()) is not None:
        queue.end(task)
        started.append(task.identity)
    return started


def test_sessions_take_turns_and_one_that_asks_for_much_waits_for_itself():
    queue = Queue(1, Limits(session_seconds=math.inf))
    for number in range(4096):
        add(queue, f"sweep {number}", "hostile", number=number)
    students = [
        add(queue, f"student {place}", f"s{place}", number=9000 + place)
        for place in range(29)
    ]
    places = [queue.ahead(task) for task in students]
    assert places == list(range(1, 30))
    identities = {task.identity for task in students}
    assert identities <= set(names(queue)[:30])


def test_an_estimate_counts_only_the_work_that_runs_before():
    queue = Queue(2, Limits(session_seconds=math.inf))
    for session in range(80):
        add(queue, f"of {session}", f"s{session}", cost=10.0)
    own = [add(queue, f"own {place}", "late", cost=4.0) for place in range(2)]
    started = queue.next()
    assert started.cost == 10.0
    assert queue.seconds_until(own[:1]) == (80 * 10 + 4) / 2
    assert queue.seconds_until(own) == (80 * 10 + 2 * 4) / 2
    assert queue.seconds_until([started]) == 10 / 2


def test_a_task_of_two_sessions_runs_once_at_the_earlier_turn():
    queue = Queue(1, Limits())
    add(queue, "long before", "a")
    shared = add(queue, "shared", "a", number=1)
    queue.enter(shared, "b", 0)
    assert names(queue) == ["long before", "shared"]
    again = add(queue, "again", "a")
    queue.enter(again, "b", 0)
    queue.leave(again, "a")
    assert queue.tasks() == [again]
    assert names(queue) == ["again"]


def test_idle_work_goes_last_and_leaves_a_worker_free():
    queue = Queue(2, Limits())
    idle = [
        add(queue, f"idle {place}", "", priority=IDLE, number=place)
        for place in range(2)
    ]
    assert queue.n_waiting == 0
    assert queue.next() is idle[0]
    assert queue.next() is None
    wanted = add(queue, "wanted", "a", number=2)
    assert queue.ahead(wanted) == 0
    assert queue.ahead(idle[1]) == 1
    assert queue.next() is wanted
    queue.end(idle[0])
    assert queue.next() is None
    queue.enter(idle[1], "b", 0)  # somebody wants it now
    assert queue.next() is idle[1]


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 5)), max_size=40))
def test_the_forecast_is_what_happens_and_nobody_starves(requests):
    queue = Queue(1, Limits())
    for number, (asker, cost) in enumerate(requests):
        add(queue, str(number), asker, cost=float(cost), number=number)
    forecast = queue.tasks()
    places = [queue.ahead(task) for task in forecast]
    assert places == list(range(len(requests)))
    waited = {}
    for task in forecast:
        assert queue.next() is task
        queue.end(task)
        askers = {next(iter(task.askers)) for task in queue.tasks()}
        for asker in askers - {task.turn_of}:
            waited[asker] = waited.get(asker, 0) + 1
            assert waited[asker] <= 3
        waited.pop(task.turn_of, None)


def test_long_runs_never_have_all_workers():
    queue = Queue(2, Limits())
    first = add(queue, "1", "a", LONG + 1)
    second = add(queue, "2", "b", LONG + 1)
    assert queue.next() == first
    assert queue.next() is None
    quick = add(queue, "quick", "c")
    assert queue.next() is quick
    queue.end(first)
    assert queue.next() is second
    alone = Queue(1, Limits())
    assert alone.next() is add(alone, "only", "a", LONG + 1) or alone.next() is not None


def test_a_session_has_at_most_so_many_runs_at_once():
    queue = Queue(3, Limits(session_runs=1))
    first = add(queue, "1", "a")
    second = add(queue, "2", "a", number=1)
    other = add(queue, "3", "b")
    assert queue.next() == first
    assert queue.next() == other
    assert queue.next() is None
    queue.end(first)
    assert queue.next() is second


def test_a_session_with_too_much_waiting_work_is_refused():
    queue = Queue(2, Limits(session_seconds=100.0))
    big = add(queue, "big", "a", 90.0)
    assert queue.refusal("a", 20.0) is not None
    assert queue.refusal("b", 20.0) is None
    assert queue.refusal("", 1e9) is None
    queue.enter(big, "b", 0)
    queue.leave(big, "a")  # now b owes it
    assert queue.refusal("a", 20.0) is None
    assert queue.refusal("b", 20.0) is not None
    queue.close(big)
    assert queue.refusal("b", 20.0) is None
