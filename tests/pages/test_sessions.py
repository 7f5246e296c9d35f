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


@pytest.mark.parametrize(("by_button", "patience"), [(False, PAGE_WORK), (True, GONE)])
def test_what_a_session_left_is_called_off_after_its_time_and_not_before(
    by_button: bool, patience: float
) -> None:
    server = Server(here={"student"})
    sessions, work = server.sessions(), runs("done", "running", "waiting")
    sessions.hold("student", "explore", work, by_button)
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
    advances: list[int] = []
    work.advance = lambda: advances.append(1)  # type: ignore[method-assign]
    sessions.hold("student", "tune", work, True)
    sessions.look()
    work.jobs[0].state = "done"  # type: ignore[misc]
    sessions.look()
    assert advances == [1] and sessions.going("student") == {} and not work.called_off


def test_what_was_sent_goes_before_the_session_and_both_go_once() -> None:
    server, uploading = Server(here={"student"}), ["student"]
    sessions = Sessions(server.here.__contains__, lambda: uploading, lambda: server.now)
    session = sessions.find("student")
    server.here.clear()
    assert sessions.look() == Departures([], [])
    server.now = UPLOADS
    assert sessions.look() == Departures([session], [])  # type: ignore[list-item]
    uploading.clear()
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
    stopped_work = Runs([Job("running")], lambda: late)
    stopped_work.cancel()
    stopped_work.advance()
    assert len(stopped_work.jobs) == 1 and not stopped_work.busy
    # the button cancels runs one by one; the page that is drawn next lists what is still wanted
    cancelled_work = Runs([Job("cancelled")], lambda: late)
    cancelled_work.advance()
    assert len(cancelled_work.jobs) == 1 and not cancelled_work.busy
    extra, other = Job("running"), Job("running")
    Runs([extra, other]).end(but=[other])
    assert (extra.state, other.state) == ("cancelled", "running")


def test_a_page_that_asks_for_the_rest_itself_waits_for_who_is_asking_for_it() -> None:
    asking, go_on = threading.Event(), threading.Event()
    order: list[str] = []

    def rest() -> list[Job]:
        asking.set()
        go_on.wait(10)
        order.append("behind")
        return []

    work = Runs([], rest)
    behind = threading.Thread(target=work.advance)
    behind.start()
    asking.wait(10)
    page = threading.Thread(target=lambda: (work.leave_rest(), order.append("page")))
    page.start()
    go_on.set()
    behind.join()
    page.join()
    assert order == ["behind", "page"]
    other_work = Runs([], rest)
    other_work.leave_rest()
    other_work.advance()
    assert order == ["behind", "page"] and not other_work.busy
