"""Answers of classes are kept within bounds, and nobody pushes out those of others."""

import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.teaching import class_records
from dpmf_core.teaching.class_records import answers_of, class_answers, new_seat, record

ANSWER, OPENED = {"0.opened": "", "0.answer": "noise"}, {"0.opened": ""}


@pytest.fixture(autouse=True)
def two_lessons(configure, monkeypatch):
    """A server that keeps two lessons of three seats each."""
    configure(lesson_key="a key that nobody guesses, of this test", most_lessons=2)
    monkeypatch.setattr(class_records, "MOST_SEATS", 3)


def test_an_answer_is_kept_up_to_its_longest():
    seat = new_seat()
    record("class-one", seat, OPENED)
    record("class-one", seat, {"0.answer": "x" * 5_000})
    assert answers_of("class-one", seat) == {"0.answer": "x" * 2_000}
    assert class_answers("class-one") == [answers_of("class-one", seat)]
    assert class_records.count() == 1


@pytest.mark.parametrize("name", ["../x", "*", "", "class-one.x", "' OR 1=1 --"])
def test_a_name_that_was_not_drawn_has_no_answers(name):
    record("class-one", new_seat(), ANSWER)
    assert class_answers(name) == [] and answers_of("class-one", name) is None
    with pytest.raises(ValueError, match="names"):
        record("class-one", name, {})
    with pytest.raises(ValueError, match="names"):
        record(name, new_seat(), {})


def test_a_full_class_gives_up_a_seat_without_an_answer_and_no_other():
    answered = [new_seat() for _ in range(2)]
    for seat in answered:
        record("class-one", seat, ANSWER)
    for _ in range(10):
        record("class-one", new_seat(), OPENED)
    assert len(class_answers("class-one")) == class_records.MOST_SEATS
    assert all(answers_of("class-one", seat) == ANSWER for seat in answered)

    record("class-one", new_seat(), ANSWER)
    with pytest.raises(BadInput):
        record("class-one", new_seat(), ANSWER)
    record("class-one", answered[0], {**ANSWER, "1.answer": "more"})
    assert len(class_answers("class-one")) == 3


def test_seats_without_a_login_come_at_a_rate(monkeypatch):
    monkeypatch.setattr(class_records, "SEATS_PER_MINUTE", 2)
    now = [1_000.0]
    monkeypatch.setattr("dpmf_core.teaching.class_records.time.time", lambda: now[0])
    early = new_seat()
    record("class-one", early, OPENED)
    record("class-one", new_seat(), OPENED)
    with pytest.raises(BadInput):
        record("class-one", new_seat(), OPENED)
    record("class-one", early, ANSWER)  # who has a seat keeps it
    login = class_records.seat_of_login("class-one", "login:0123")
    record("class-one", login, ANSWER, by_login=True)
    now[0] += 61
    record("class-one", new_seat(), OPENED)


def test_links_of_strangers_do_not_push_out_a_lesson_that_its_teacher_looked_at():
    seat = new_seat()
    record("of-a-teacher", seat, ANSWER)
    class_records.pin("of-a-teacher")
    for number in range(5):
        record(f"of-a-stranger-{number}", new_seat(), ANSWER)
    assert answers_of("of-a-teacher", seat) == ANSWER and class_records.count() == 2

    class_records.pin("of-a-stranger-4")
    with pytest.raises(BadInput):
        record("one-too-many", new_seat(), ANSWER)
