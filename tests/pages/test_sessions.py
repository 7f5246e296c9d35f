"""Who has gone: what nobody waits for is called off, without a page that is drawn again."""

import threading
from dataclasses import dataclass, field

import pytest

from pages.server.background_work import Runs
from pages.server.sessions import GONE, PAGE_WORK, UPLOADS, Departures, Sessions


@dataclass
class Job:
    state: str = "running"

    def cancel(self) -> None:
        self.state = "cancelled"


@dataclass
class Server:
    """Sessions that come and go, and a clock."""

    now: float = 0.0
    here: set[str] = field(default_factory=set)

    def sessions(self) -> Sessions:
        return Sessions(self.here.__contains__, clock=lambda: self.now)


def runs(*states: str) -> Runs:
    return Runs([Job(state) for state in states])


@pytest.mark.parametrize(("asked", "patience"), [(False, PAGE_WORK), (True, GONE)])
def test_what_a_session_left_is_called_off_after_its_time_and_not_before(
    asked: bool, patience: float
) -> None:
    server = Server(here={"student"})
    sessions, work = server.sessions(), runs("done", "running", "waiting")
    sessions.hold("student", "explore", work, asked)
    server.now = 1000.0
    sessions.look()
    assert work.open == 2  # she is there
    server.here.clear()
    sessions.look()
    server.now += patience - 1
    sessions.look()
    assert work.open == 2 and not work.called_off
    server.now += 1
    sessions.look()
    assert [job.state for job in work.jobs] == [
        "done",
        "cancelled",
        "cancelled",
    ] and work.called_off
    assert sessions.going("student") == {}


def test_a_short_disconnect_is_no_leaving() -> None:
    server = Server(here={"student"})
    sessions, work = server.sessions(), runs("running")
    sessions.hold("student", "explore", work, False)
    for _ in range(10):
        server.here ^= {"student"}
        server.now += PAGE_WORK - 1
        sessions.look()
    assert work.open == 1


def test_what_two_sessions_look_at_goes_on_until_both_have_gone() -> None:
    server = Server(here={"one", "other"})
    sessions, search = server.sessions(), runs("running")
    for name in ("one", "other"):
        sessions.hold(name, "tune", search, True)
    server.here.discard("one")
    sessions.look()
    server.now += GONE
    sessions.look()
    assert search.open == 1 and set(sessions.going("other")) == {"tune"}
    sessions.let_go("other", "tune")
    assert search.open == 0


def test_what_goes_on_is_moved_on_and_what_ended_is_forgotten() -> None:
    server = Server(here={"student"})
    sessions, work = server.sessions(), runs("running")
    moved: list[int] = []
    work.advance = lambda: moved.append(1)  # type: ignore[method-assign]
    sessions.hold("student", "tune", work, True)
    sessions.look()
    work.jobs[0].state = "done"  # type: ignore[misc]
    sessions.look()
    assert moved == [1] and sessions.going("student") == {} and not work.called_off


def test_what_was_sent_goes_before_the_session_and_both_go_once() -> None:
    server, sent = Server(here={"student"}), ["student"]
    sessions = Sessions(server.here.__contains__, lambda: sent, lambda: server.now)
    session = sessions.find("student")
    server.here.clear()
    assert sessions.look() == Departures([], [])
    server.now = UPLOADS
    assert sessions.look() == Departures([session], [])  # type: ignore[list-item]
    sent.clear()
    assert sessions.look() == Departures([], [])
    server.now = GONE
    assert sessions.look() == Departures([], [session])  # type: ignore[list-item]
    assert sessions.look() == Departures([], []) and sessions.find("student") is None


def test_files_of_a_session_that_never_drew_a_page_go_too() -> None:
    server = Server()
    sessions = Sessions(server.here.__contains__, lambda: ["student"], lambda: server.now)
    sessions.look()
    server.now = UPLOADS
    assert [it.id for it in sessions.look().uploads] == ["student"]


def test_what_a_button_asked_for_is_asked_for_to_the_end_on_another_page() -> None:
    server = Server(here={"student"})
    sessions, late = server.sessions(), [Job("waiting")]
    work = Runs([Job("running")], lambda: late)
    sessions.hold("student", "trade-off", work, True)
    sessions.look()
    assert work.open == 1, "the rest waits for the first"
    work.jobs[0].state = "done"
    assert work.busy
    sessions.look()
    assert work.jobs[-1] is late[0] and work.open == 1
    late[0].state = "done"
    assert not work.busy
    stopped = Runs([Job("running")], lambda: late)
    stopped.cancel()
    stopped.advance()
    assert len(stopped.jobs) == 1 and not stopped.busy
    # the button cancels runs one by one; the page that is drawn next lists what is still wanted
    cancelled = Runs([Job("cancelled")], lambda: late)
    cancelled.advance()
    assert len(cancelled.jobs) == 1 and not cancelled.busy
    held_twice, kept = Job("running"), Job("running")
    Runs([held_twice, kept]).end(but=[kept])
    assert (held_twice.state, kept.state) == ("cancelled", "running")


def test_a_page_that_asks_for_the_rest_itself_waits_for_who_is_asking_for_it() -> None:
    asking, go_on = threading.Event(), threading.Event()
    asked: list[str] = []

    def rest() -> list[Job]:
        asking.set()
        go_on.wait(10)
        asked.append("behind")
        return []

    work = Runs([], rest)
    behind = threading.Thread(target=work.advance)
    behind.start()
    asking.wait(10)
    page = threading.Thread(target=lambda: (work.leave_rest(), asked.append("page")))
    page.start()
    go_on.set()
    behind.join(10)
    page.join(10)
    assert asked == ["behind", "page"]
    left = Runs([], rest)
    left.leave_rest()
    left.advance()
    assert asked == ["behind", "page"] and not left.busy
