"""Answers of classes are kept within bounds, and nobody pushes out those of others."""

import contextlib
import sqlite3

import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import data_folder
from dpmf_core.base.requesters import Asker, asking
from dpmf_core.privacy import account_files
from dpmf_core.teaching import class_records
from dpmf_core.teaching.class_records import answers_of, class_answers, new_seat, record

ANSWER = {"0.opened": "", "0.answer": "noise"}
OPENED = {"0.opened": ""}


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
    assert len(class_records.classes()) == 1


@pytest.mark.parametrize("name", ["../x", "*", "", "class-one.x", "' OR 1=1 --"])
def test_a_name_that_was_not_drawn_has_no_answers(name):
    record("class-one", new_seat(), ANSWER)
    assert class_answers(name) == []
    assert answers_of("class-one", name) is None
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


DAY = 24 * 60 * 60
ADA = Asker.of_session("ada's secret")
BOB = Asker.of_session("bob's secret")


@pytest.fixture
def now(monkeypatch):
    """now[0]: the time, in seconds."""
    moment = [1_000_000.0]
    monkeypatch.setattr("dpmf_core.teaching.class_records.time.time", lambda: moment[0])
    return moment


def open_by(who, class_id, address=""):
    with asking(who):
        class_records.open_class(class_id, address)


def ids():
    return [one.id for one in class_records.classes()]


def test_links_of_strangers_do_not_push_out_a_class_that_its_teacher_opened(now):
    seat = new_seat()
    record("of-a-teacher", seat, ANSWER)
    open_by(ADA, "of-a-teacher")
    for number in range(5):
        record(f"of-a-stranger-{number}", new_seat(), ANSWER)
    now[0] += 400 * DAY
    assert answers_of("of-a-teacher", seat) == ANSWER
    assert len(ids()) == 2

    open_by(BOB, "of-a-stranger-4")
    with pytest.raises(BadInput):
        record("one-too-many", new_seat(), ANSWER)
    record("of-a-teacher", new_seat(), ANSWER)  # a class that is there goes on


def test_classes_that_were_opened_and_have_no_answer_refuse_nobody(now):
    """One visitor opens as many as the server keeps, without students and with silent ones."""
    for number in range(4):
        open_by(BOB, f"of-a-stranger-{number}")
    for number in range(2):
        record(f"of-a-stranger-{number}", new_seat(), OPENED)
    seats = [new_seat(), new_seat()]
    for number, seat in enumerate(seats):
        record(f"of-a-teacher-{number}", seat, ANSWER)
        open_by(ADA, f"of-a-teacher-{number}")
    assert answers_of("of-a-teacher-0", seats[0]) == ANSWER
    assert answers_of("of-a-teacher-1", seats[1]) == ANSWER


def test_classes_that_nobody_opened_make_room_first_and_the_oldest_of_each_kind(
    configure, now
):
    configure(most_lessons=4)
    for name, answers, opened in (
        ("opened-silent-1", OPENED, True),
        ("opened-silent-2", OPENED, True),
        ("stranger-1", ANSWER, False),
        ("stranger-2", ANSWER, False),
    ):
        now[0] += 1
        record(name, new_seat(), answers)
        if opened:
            open_by(ADA, name)
    for number, gone in enumerate(
        ("stranger-1", "stranger-2", "opened-silent-1", "opened-silent-2"), start=1
    ):
        assert class_answers(gone)
        record(f"new-class-{number}", new_seat(), ANSWER)
        open_by(ADA, f"new-class-{number}")
        assert not class_answers(gone)


def test_an_opened_class_without_an_answer_is_forgotten_a_day_after_its_last_use(now):
    for name in ("never-used", "looked-at", "silent-seat", "has-answer"):
        open_by(ADA, name)
    record("has-answer", new_seat(), ANSWER)
    now[0] += DAY / 2
    open_by(ADA, "looked-at")
    record("silent-seat", new_seat(), OPENED)
    assert set(ids()) == {"never-used", "looked-at", "silent-seat", "has-answer"}
    now[0] += DAY / 2 + 1
    assert set(ids()) == {"looked-at", "silent-seat", "has-answer"}
    now[0] += DAY / 2
    assert ids() == ["has-answer"]
    assert not class_answers("silent-seat")


def test_one_person_opens_so_many_new_classes_within_a_day(now):
    for number in range(class_records.MOST_OPENED):
        open_by(ADA, f"of-ada-{number:02}")
    with pytest.raises(BadInput):
        open_by(ADA, "of-ada-too-many")
    open_by(ADA, "of-ada-00")  # opened before
    open_by(BOB, "of-bob-00")
    open_by(BOB, "of-ada-01")  # a second device of the teacher's
    now[0] += DAY + 1
    open_by(ADA, "of-ada-too-many")


def test_making_room_gives_nobody_further_classes_to_open(now):
    for number in range(class_records.MOST_OPENED):
        open_by(ADA, f"of-ada-{number:02}")
        record(f"of-ada-{number:02}", new_seat(), OPENED)
    with pytest.raises(BadInput):
        open_by(ADA, "of-ada-too-many")


@pytest.mark.parametrize(
    "addresses",
    [
        ["192.0.2.1"],
        # one network of 64 bits
        [
            "2001:db8:0:1::1",
            "2001:db8:0:1:ffff::2",
            "2001:db8:0:1::",
        ],
        ["unknown"],
    ],
)
def test_all_persons_at_one_address_open_so_many(now, addresses):
    for number in range(class_records.MOST_OPENED_AT_ADDRESS):
        address = addresses[number % len(addresses)]
        open_by(Asker.of_session(str(number)), f"class-{number:02}", address)
    with pytest.raises(BadInput):
        open_by(ADA, "class-too-many", addresses[0])
    open_by(ADA, "class-elsewhere", "2001:db8:0:2::1")
    open_by(BOB, "class-at-loopback", "")
    content = (data_folder() / "classes.sqlite").read_bytes()
    assert not any(address.encode() in content for address in addresses)


@pytest.mark.parametrize(
    "who", [Asker("login:0", operator=True), Asker.of_session("x", alone=True)]
)
def test_an_operator_and_one_person_at_a_machine_open_any_number(now, who):
    for number in range(class_records.MOST_OPENED + 1):
        open_by(who, f"class-{number:02}")
    assert len(ids()) == class_records.MOST_OPENED + 1


def test_operators_see_owner_answers_and_last_change_and_clear_a_class(now):
    open_by(ADA, "of-ada-01")
    now[0] += 10
    for answers in (ANSWER, OPENED):
        record("of-ada-01", new_seat(), answers)
    now[0] += 10
    record("of-nobody", new_seat(), OPENED)
    record(class_records.NO_CLASS, new_seat(), ANSWER)
    first, second = class_records.classes()
    assert first.id == "of-nobody"
    assert first.owner == ""
    assert first.n_answers == 0
    assert not first.is_opened
    assert second.id == "of-ada-01"
    assert second.owner == ADA.owner
    assert second.n_answers == 1
    assert second.is_opened
    assert second.changed == now[0] - 10
    assert "of-ada" not in second.name
    assert second.name != first.name

    class_records.clear(["of-ada-01"])
    assert ids() == ["of-nobody"]
    assert not class_answers("of-ada-01")


# ---- faults of the file --------------------------------------------------------------------------


def full(monkeypatch):
    """SQLite finds the disk full with the next page that it needs."""
    prepare = class_records.prepare

    def prepare_on_a_full_disk(db):
        prepare(db)
        (pages,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {pages}")

    monkeypatch.setattr(class_records, "prepare", prepare_on_a_full_disk)


def damaged(monkeypatch):
    file = data_folder() / class_records.FILE
    file.write_bytes(b"no database, and long enough to be looked at " * 40)


def locked(monkeypatch):
    """A backup or another process holds the file."""
    monkeypatch.setattr(class_records, "PATIENCE", 0.0)
    db = sqlite3.connect(data_folder() / class_records.FILE, isolation_level=None)
    db.execute("BEGIN EXCLUSIVE")
    # closed at its end
    monkeypatch.setattr(class_records, "lock of the test", db, raising=False)


@pytest.mark.parametrize("fault", [full, damaged, locked])
def test_a_fault_of_the_file_is_a_sentence_without_a_path(fault, monkeypatch):
    seat = new_seat()
    record("class-one", seat, ANSWER)
    fault(monkeypatch)
    large = {f"{place}.answer": "x" * 2_000 for place in range(100)}
    with pytest.raises(BadInput, match=class_records.FILE) as raised:
        record("class-one", seat, large)
    assert str(data_folder()) not in str(raised.value)


@pytest.mark.parametrize("fault", [damaged, locked])
@pytest.mark.parametrize(
    "call",
    [
        lambda: answers_of("class-one", new_seat()),
        lambda: class_answers("class-one"),
        lambda: class_records.publications("class-one", "0.answer"),
        class_records.classes,
        lambda: class_records.clear(["class-one"]),
    ],
)
def test_every_other_call_on_a_faulty_file_is_bad_input(call, fault, monkeypatch):
    record("class-one", new_seat(), ANSWER)
    fault(monkeypatch)
    with pytest.raises(BadInput):
        call()


def test_a_page_waits_for_the_file_no_longer_than_for_accounts():
    assert class_records.PATIENCE <= account_files.PATIENCE == 30.0


def test_an_error_in_the_middle_leaves_the_file_as_it_was():
    record("class-one", new_seat(), {"0.answer": "0"})

    def fail(texts):
        raise BadInput("no room")

    with pytest.raises(BadInput, match="no room"):
        class_records.publish("class-one", "0.answer", 1.0, fail)
    assert not class_records.publications("class-one", "0.answer")


def test_a_newer_layout_is_left_alone():
    with contextlib.closing(sqlite3.connect(data_folder() / class_records.FILE)) as db:
        db.execute("PRAGMA user_version = 9")
    with pytest.raises(BadInput, match="newer version"):
        class_records.classes()
