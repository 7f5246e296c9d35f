"""Uploaded files are read in turn: small ones soon, one a person, and none for a closed page."""

import threading

import pytest

from dpmf_core.base.errors import BadInput
from pages.server.reading_turns import TRIAL, ReadingTurns
from pages.server.sessions import PAGE_WORK, Sessions

WAIT = 30


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


class Reading:
    """A reading in a thread, which goes on step by step."""

    def __init__(self, turns, asker):
        self.turn = turns.join(asker)
        self.starts = threading.Semaphore(0)
        self.checks = threading.Semaphore(0)
        self.checked = threading.Semaphore(0)
        self.waits = threading.Event()
        self.counts = []
        self.is_over = False
        self.error = None
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        try:
            self.turn.run(self._act, self._watch)
        except BadInput as error:
            self.error = error

    def _watch(self, ahead):
        self.counts.append(ahead)
        if ahead:
            self.waits.set()

    def _act(self, check):
        self.starts.release()
        while True:
            assert self.checks.acquire(timeout=WAIT)
            if self.is_over:
                return
            try:
                check()
            finally:
                self.checked.release()

    def started(self):
        return self.starts.acquire(timeout=WAIT)

    def check(self):
        """Let it look once whether it must end."""
        self.checks.release()
        assert self.checked.acquire(timeout=WAIT)

    def finish(self):
        self.is_over = True
        self.checks.release()
        self.thread.join(WAIT)
        assert not self.thread.is_alive()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def turns(clock):
    return ReadingTurns(clock)


def test_a_page_that_waits_is_told_how_many_are_ahead(turns):
    first = Reading(turns, "ada")
    assert first.started()
    second = Reading(turns, "bob")
    assert second.waits.wait(WAIT)
    assert second.counts[-1] == 1
    third = Reading(turns, "cem")
    assert third.waits.wait(WAIT)
    assert third.counts[-1] == 2
    first.finish()
    assert second.started()
    second.finish()
    assert third.started()
    third.finish()


def test_a_long_reading_makes_room_and_goes_on(turns, clock):
    long = Reading(turns, "ada")
    assert long.started()
    clock.now += TRIAL
    long.check()
    assert long.turn.place == "quick"  # while nobody waits
    short = Reading(turns, "bob")
    assert short.waits.wait(WAIT)
    long.check()
    assert long.turn.place == "long"
    assert short.started()
    short.finish()
    long.finish()


def test_a_second_long_reading_starts_anew_after_the_first(turns, clock):
    first = Reading(turns, "ada")
    assert first.started()
    second = Reading(turns, "bob")
    assert second.waits.wait(WAIT)
    clock.now += TRIAL
    first.check()
    assert second.started()
    short = Reading(turns, "cem")
    assert short.waits.wait(WAIT)
    second.check()  # still within its time
    assert second.turn.place == "quick"
    clock.now += TRIAL
    second.check()
    assert short.started()
    assert second.turn.place is None
    short.finish()
    first.finish()
    assert second.started()
    assert second.turn.place == "long"
    second.finish()


def test_a_person_reads_one_file_at_a_time(turns, clock):
    first = Reading(turns, "ada")
    assert first.started()
    again = Reading(turns, "ada")
    assert again.waits.wait(WAIT)
    clock.now += TRIAL
    first.check()
    assert first.turn.place == "quick"  # nobody waits whom it keeps from reading
    other = Reading(turns, "bob")
    assert other.waits.wait(WAIT)
    first.check()
    assert first.turn.place == "long"
    assert other.started()
    other.finish()
    assert again.turn.place is None
    first.finish()
    assert again.started()
    again.finish()


def test_many_files_of_one_person_wait_behind_one_of_another(turns):
    first = Reading(turns, "ada")
    assert first.started()
    more = [Reading(turns, "ada") for _ in range(3)]
    assert all(reading.waits.wait(WAIT) for reading in more)
    other = Reading(turns, "bob")
    assert other.waits.wait(WAIT)
    first.finish()
    assert other.started()
    assert all(reading.turn.place is None for reading in more)
    other.finish()
    for reading in more:
        reading.turn.cancel()
        reading.checks.release()
        reading.thread.join(WAIT)


def test_cancelling_ends_a_wait_and_a_reading(turns):
    first = Reading(turns, "ada")
    assert first.started()
    second = Reading(turns, "bob")
    assert second.waits.wait(WAIT)
    for reading in (second, first):
        reading.turn.cancel()
        reading.checks.release()
        reading.thread.join(WAIT)
        assert "cancelled" in str(reading.error)
        assert not reading.turn.busy


def test_a_closed_page_cancels_its_reading(turns, clock):
    sessions = Sessions(lambda ident: False, clock=clock)
    reading = Reading(turns, "ada")
    assert reading.started()
    sessions.hold("tab", "data.reading", reading.turn, by_button=False)
    sessions.look()
    assert not reading.turn.is_cancelled
    clock.now += PAGE_WORK
    sessions.look()
    assert reading.turn.is_cancelled
    reading.checks.release()
    reading.thread.join(WAIT)
    assert reading.error is not None
