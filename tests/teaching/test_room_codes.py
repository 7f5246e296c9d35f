"""Room codes open a class for a day, are drawn at random, and can hardly be guessed."""

import contextlib
import itertools
import sqlite3

import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import data_folder
from dpmf_core.base.requesters import Asker, asking
from dpmf_core.teaching import class_records, room_codes
from dpmf_core.teaching.room_codes import link_of

HOUR = 60 * 60
ADA = Asker.of_session("ada's secret")


@pytest.fixture(autouse=True)
def now(configure, monkeypatch):
    """now[0]: the time, in seconds."""
    configure(lesson_key="a key that nobody guesses, of this test")
    moment = [1_000_000.0]
    monkeypatch.setattr("dpmf_core.teaching.class_records.time.time", lambda: moment[0])
    return moment


def room_of(class_id, link="a link"):
    class_records.open_class(class_id)
    return room_codes.room_of(class_id, link)


def enter(code, who=ADA, address=""):
    with asking(who):
        return link_of(code, address)


def wrong_codes():
    """Codes that no class has: those of the tests end otherwise."""
    for letters in itertools.product("ABCDEF", repeat=4):
        yield f"{''.join(letters)}ZZ"


def guess(count, address="", who=None):
    """Enter so many wrong codes, each in another session unless it is said whose."""
    for number, code in enumerate(itertools.islice(wrong_codes(), count)):
        with pytest.raises(BadInput, match="No class has"):
            enter(code, who or Asker.of_session(f"session {address} {number}"), address)


def test_a_code_has_six_letters_of_which_none_looks_like_another():
    # who may open so many
    with asking(Asker.of_login("a provider", "1", operator=True)):
        codes = [room_of(f"class-{number:03}").code for number in range(60)]
    assert len(set(codes)) == 60
    assert {len(code) for code in codes} == {6}
    used = set("".join(codes))  # of 360 letters each is missing with probability 1e-8
    assert used == set("ABCDEFGHJKMNPRSTWXYZ")
    assert not used & set("ILOQUV01258")


@pytest.mark.parametrize(
    "write", [str, str.lower, room_codes.in_halves, "-".join, "  {} ".format]
)
def test_a_code_opens_the_link_of_its_class_however_it_is_written(write):
    one = room_of("class-one", "link one")
    other = room_of("class-two", "link two")
    assert enter(write(one.code)) == "link one"
    assert enter(write(other.code)) == "link two"


def test_the_class_view_finds_the_same_code_and_renews_its_link(now):
    room = room_of("class-one", "link one")
    now[0] += HOUR
    assert room_of("class-one", "link two") == room
    assert enter(room.code) == "link two"


def test_a_code_ends_after_a_day_and_says_what_to_do(now):
    room = room_of("class-one")
    now[0] += 24 * HOUR - 1
    assert enter(room.code) == "a link"
    assert room.seconds_left == 1
    now[0] += 1
    with pytest.raises(BadInput, match=r"ended\. Ask your teacher for a new code"):
        enter(room.code)
    assert room.seconds_left == 0
    # a new one only on request
    assert room_codes.room_of("class-one", "a link") == room


def test_the_operator_sets_for_how_long(configure, now):
    configure(lesson_key="a key that nobody guesses, of this test", room_code_hours=2)
    room = room_of("class-one")
    now[0] += 2 * HOUR - 1
    assert enter(room.code) == "a link"
    now[0] += 1
    with pytest.raises(BadInput):
        enter(room.code)


def test_a_new_code_ends_the_former_and_does_not_follow_from_the_link():
    former = room_of("class-one")
    current = room_codes.new_room("class-one", "a link")
    assert former.code != current.code
    assert enter(current.code) == "a link"
    with pytest.raises(BadInput):
        enter(former.code)


def test_a_code_can_be_ended_and_stays_ended(now):
    room = room_of("class-one")
    room_codes.end_room("class-one")
    with pytest.raises(BadInput):
        enter(room.code)
    assert room_of("class-one").ends == now[0]
    now[0] += HOUR
    room_codes.end_room("class-one")
    assert room_of("class-one").ends == now[0] - HOUR


def test_a_code_of_another_class_is_drawn_again(monkeypatch):
    letters = iter("ABCDEFABCDEFABCDEG")
    monkeypatch.setattr(room_codes.secrets, "choice", lambda _: next(letters))
    assert room_of("class-one").code == "ABCDEF"
    assert room_of("class-two").code == "ABCDEG"


def test_a_class_that_no_teacher_has_opened_has_no_code():
    class_records.record(
        "of-a-stranger", class_records.new_seat(), {"0.answer": "noise"}
    )
    with pytest.raises(BadInput, match="class view"):
        room_codes.room_of("of-a-stranger", "a link")


# ---- guessing ------------------------------------------------------------------------------------


def test_a_person_enters_five_wrong_codes_a_minute_and_then_no_right_one_either(now):
    room = room_of("class-one")
    guess(5, who=ADA)
    for code in (room.code, "ABCDEF"):
        with pytest.raises(BadInput, match="5 wrong room codes"):
            enter(code)
    assert enter(room.code, Asker.of_session("bob's secret")) == "a link"
    now[0] += 61
    assert enter(room.code) == "a link"
    guess(5, who=ADA)


@pytest.mark.parametrize(
    "addresses", [["192.0.2.1"], ["2001:db8:0:1::1", "2001:db8:0:1:ffff::2"], [""]]
)
def test_an_address_enters_ten_wrong_codes_a_minute_in_all_its_sessions(now, addresses):
    """All addresses of one IPv6 network are one, and so are all unknown ones."""
    room = room_of("class-one")
    guess(5, addresses[0])
    guess(5, addresses[-1])
    with pytest.raises(
        BadInput, match="10 wrong room codes were entered from your network"
    ):
        enter(room.code, Asker.of_session("fresh"), addresses[0])
    assert enter(room.code, Asker.of_session("fresh"), "192.0.2.2") == "a link"
    content = (data_folder() / class_records.FILE).read_bytes()
    for address in addresses:
        if address:
            assert address.encode() not in content
    now[0] += 61
    assert enter(room.code, Asker.of_session("fresh"), addresses[0]) == "a link"


def test_a_refused_code_does_not_lengthen_the_wait(now):
    room = room_of("class-one")
    guess(5, who=ADA)
    now[0] += 30
    with pytest.raises(BadInput, match="5 wrong"):
        enter("ABCDEF")
    now[0] += 31
    assert enter(room.code) == "a link"


def test_an_ended_code_counts_as_a_wrong_one():
    room = room_of("class-one")
    room_codes.end_room("class-one")
    for _ in range(5):
        with pytest.raises(BadInput, match="has ended"):
            enter(room.code)
    with pytest.raises(BadInput, match="5 wrong"):
        enter(room.code)


@pytest.mark.parametrize(
    "text", ["", "ABCDE", "ABCDEFG", "ABCDE0", "ABCDEI", "ÄBCDEF", "' OR 1"]
)
def test_an_impossible_code_is_refused_and_not_counted(text):
    room = room_of("class-one")
    for _ in range(12):
        with pytest.raises(BadInput, match="has 6 letters"):
            enter(text)
    assert enter(room.code) == "a link"


def test_wrong_codes_are_forgotten_after_a_minute(now):
    guess(3)
    now[0] += 61
    guess(1)
    with contextlib.closing(sqlite3.connect(data_folder() / class_records.FILE)) as db:
        assert db.execute("SELECT COUNT(*) FROM wrong_codes").fetchone() == (1,)


# ---- with the class ------------------------------------------------------------------------------


def test_operators_see_the_codes_that_open_a_class_now(now):
    open_room = room_of("class-one")
    room_of("class-two")
    room_codes.end_room("class-two")
    codes = {one.id: one.room_code for one in class_records.classes()}
    assert codes == {"class-one": open_room.code, "class-two": ""}


def test_a_code_goes_with_its_class():
    room = room_of("class-one")
    class_records.clear(["class-one"])
    with pytest.raises(BadInput, match="No class"):
        enter(room.code)


def test_a_class_without_an_answer_stays_while_its_code_opens_it(configure, now):
    configure(lesson_key="a key that nobody guesses, of this test", room_code_hours=48)
    room = room_of("class-one")
    now[0] += 48 * HOUR - 1
    assert len(class_records.classes()) == 1
    assert enter(room.code) == "a link"
    now[0] += 1
    assert not class_records.classes()


def test_a_file_of_an_earlier_version_gets_room_codes():
    seat = class_records.new_seat()
    class_records.record("class-one", seat, {"0.answer": "noise"})
    class_records.open_class("class-one")
    with (
        contextlib.closing(sqlite3.connect(data_folder() / class_records.FILE)) as db,
        db,
    ):
        db.execute("DROP TABLE rooms")
        db.execute("DROP TABLE wrong_codes")
        db.execute("PRAGMA user_version = 1")
    assert enter(room_of("class-one").code) == "a link"
    assert class_records.answers_of("class-one", seat) == {"0.answer": "noise"}
