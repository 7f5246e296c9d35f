"""Who has gone: what nobody waits for is called off, without a page that is drawn again."""

from dataclasses import dataclass, field

import pytest

from pages.kit.presence import ASKED, UNASKED, Presence, Runs


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

    def presence(self) -> Presence:
        return Presence(self.here.__contains__, lambda: self.now)


def runs(*states: str) -> Runs:
    return Runs([Job(state) for state in states])


@pytest.mark.parametrize(("asked", "patience"), [(False, UNASKED), (True, ASKED)])
def test_what_a_session_left_is_called_off_after_its_time_and_not_before(asked: bool, patience: float) -> None:
    server = Server(here={"student"})
    presence, work = server.presence(), runs("done", "running", "waiting")
    presence.hold("student", "explore", work, asked)
    server.now = 1000.0
    presence.look()
    assert work.open == 2  # she is there
    server.here.clear()
    server.now += patience - 1
    presence.look()
    assert work.open == 2 and not work.called_off
    server.now += 1
    presence.look()
    assert [job.state for job in work.jobs] == ["done", "cancelled", "cancelled"] and work.called_off
    assert presence.going("student") == {}


def test_a_short_disconnect_is_no_leaving() -> None:
    server = Server(here={"student"})
    presence, work = server.presence(), runs("running")
    presence.hold("student", "explore", work, False)
    for _ in range(10):
        server.here ^= {"student"}
        server.now += UNASKED - 1
        presence.look()
    assert work.open == 1


def test_what_two_sessions_look_at_goes_on_until_both_have_gone() -> None:
    server = Server(here={"one", "other"})
    presence, search = server.presence(), runs("running")
    for name in ("one", "other"):
        presence.hold(name, "tune", search, True)
    server.here.discard("one")
    server.now += ASKED
    presence.look()
    assert search.open == 1 and set(presence.going("other")) == {"tune"}
    presence.let_go("other", "tune")
    assert search.open == 0


def test_what_goes_on_is_moved_on_and_what_ended_is_forgotten() -> None:
    server = Server(here={"student"})
    presence, work = server.presence(), runs("running")
    moved: list[int] = []
    work.advance = lambda: moved.append(1)  # type: ignore[method-assign]
    presence.hold("student", "tune", work, True)
    presence.look()
    work.jobs[0].state = "done"  # type: ignore[misc]
    presence.look()
    assert moved == [1] and presence.going("student") == {} and not work.called_off
