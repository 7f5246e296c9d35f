"""Answers and steps of classes, and publications with noise, in one SQLite file without names.

Each session has a seat. The seat of a login follows from the login and the server's key, so one
person has one seat. Other seats are drawn, at most 60 a minute for a class. In a full class, a seat
without an answer makes room. A class that its teacher has opened and that has an answer stays. On a
full server the others make room: first classes that no teacher has opened, then opened ones without
an answer, the one used longest ago first. An opened class without an answer is forgotten after a
day, or when its room code ends. Learners without a teacher share one list, in which the seat used
longest ago makes room.
"""

import contextlib
import hashlib
import ipaddress
import json
import re
import secrets
import sqlite3
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import data_folder
from dpmf_core.base.requesters import asker
from dpmf_core.base.settings import settings
from dpmf_core.base.sqlite_files import layout, open_file
from dpmf_core.teaching.signing import signature

FILE = "classes.sqlite"
# seconds to wait for another process; then a page says so and can send again
PATIENCE = 5.0
SEAT = re.compile(r"[A-Za-z0-9_-]{16}")
CLASS = re.compile(r"[A-Za-z0-9_-]{8,32}")
MOST_SEATS = 500  # of one class
NO_CLASS = "without-class"  # of learners without a teacher who gathers their answers
SEATS_PER_MINUTE = 60  # of one class, without a login
LONGEST = 2_000  # letters of an answer
MOST_ANSWERS = 200  # of one session
DAY = 86_400.0  # seconds
MOST_OPENED = 20  # classes that one person may newly open within a day
MOST_OPENED_AT_ADDRESS = 60  # that all persons at one network address may
Answers = dict[str, str]  # by step

# 1: who opened a class, and when; before, only that it was opened. 2: room codes
SCHEMA = 2
TABLES = """
CREATE TABLE IF NOT EXISTS seats (
    class TEXT NOT NULL, seat TEXT NOT NULL,
    answers TEXT NOT NULL,      -- JSON: text by step
    has_answer INTEGER NOT NULL,  -- 0: it has only opened pages
    created REAL NOT NULL, changed REAL NOT NULL,
    PRIMARY KEY (class, seat)
);
CREATE TABLE IF NOT EXISTS opened (
    class TEXT PRIMARY KEY NOT NULL,
    owner TEXT NOT NULL,        -- who opened it first, or ''
    address TEXT NOT NULL,      -- a keyed digest of that person's network address, or ''
    first_opened REAL NOT NULL, last_opened REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS published (
    class TEXT NOT NULL, step TEXT NOT NULL, epsilon REAL NOT NULL, n_answers INTEGER NOT NULL,
    counts TEXT NOT NULL,       -- JSON: with noise
    UNIQUE (class, step, epsilon, n_answers)
);
CREATE TABLE IF NOT EXISTS rooms (
    class TEXT PRIMARY KEY NOT NULL,
    code TEXT UNIQUE NOT NULL,
    link TEXT NOT NULL,         -- the signed token of the class's link
    ends REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS wrong_codes (
    owner TEXT NOT NULL, address TEXT NOT NULL,  -- as in `opened`
    entered REAL NOT NULL
);
"""
ALL_OF_A_CLASS = ("seats", "published", "opened", "rooms")  # tables


@contextlib.contextmanager
def database() -> Iterator[sqlite3.Connection]:
    """Open the records within one write transaction. Raises BadInput if they cannot be opened."""
    with open_file(data_folder() / FILE, prepare, _refusal, PATIENCE) as db:
        yield db


def _refusal(reason: str) -> str:
    return (
        f"This server cannot open the answers of its classes now ({reason}). Try again in a minute."
        f" If that does not help, ask the operator to free some space or to repair {FILE}."
    )


def prepare(db: sqlite3.Connection) -> None:
    """Create missing tables."""
    if layout(db, Path(FILE), SCHEMA) == SCHEMA:
        return
    for table in TABLES.split(";"):
        db.execute(table)
    db.execute(f"PRAGMA user_version = {SCHEMA}")


def new_seat() -> str:
    """A seat for a session without a login."""
    return secrets.token_urlsafe(12)


def seat_of_login(class_id: str, owner: str) -> str:
    """The seat of a login in a class; it does not reveal the login."""
    return urlsafe_b64encode(
        signature("seat", f"{class_id} {owner}".encode(), 12)
    ).decode()


def record(
    class_id: str, seat: str, answers: Mapping[str, str], by_login: bool = False
) -> None:
    """Keep what one session has reached and answered.

    Parameters
    ----------
    answers
        Text by step, "" for a step without an answer; at most 200 steps of 2,000 letters are kept.
    by_login
        Whether the seat belongs to a login.

    Raises
    ------
    BadInput
        If the class or the server is full, if many seats have just been taken, or if the records
        cannot be written.
    """
    if not CLASS.fullmatch(class_id) or not SEAT.fullmatch(seat):
        raise ValueError("a class and a seat must have names drawn by this server")
    short = {
        step[:40]: text[:LONGEST] for step, text in list(answers.items())[:MOST_ANSWERS]
    }
    values = (json.dumps(short), any(short.values()), time.time(), class_id, seat)
    with database() as db:
        update = (
            "UPDATE seats SET answers = ?, has_answer = ?, changed = ? "
            "WHERE class = ? AND seat = ?"
        )
        if db.execute(update, values).rowcount:
            return
        _make_room(db, class_id, values[2], by_login)
        insert = (
            "INSERT INTO seats (answers, has_answer, changed, class, seat, created)"
        )
        db.execute(f"{insert} VALUES (?, ?, ?, ?, ?, ?)", (*values, values[2]))


def _make_room(
    db: sqlite3.Connection, class_id: str, now: float, by_login: bool
) -> None:
    """Make room for one more seat. Raises BadInput if there is none."""
    if class_id != NO_CLASS:
        _forget_empty_classes(db, now)
        _make_room_for_lesson(db, class_id)
    count = "SELECT COUNT(*) FROM seats WHERE class = ?"
    (recent,) = db.execute(f"{count} AND created > ?", (class_id, now - 60)).fetchone()
    if recent >= SEATS_PER_MINUTE and not by_login:
        raise BadInput(
            f"{recent} sessions opened this lesson within the last minute. Wait a minute: your"
            " answers are kept from your next step on."
        )
    if db.execute(count, (class_id,)).fetchone()[0] < MOST_SEATS:
        return
    spare = "" if class_id == NO_CLASS else "AND NOT has_answer"
    oldest = f"SELECT rowid FROM seats WHERE class = ? {spare} ORDER BY has_answer, changed LIMIT 1"
    if not db.execute(
        f"DELETE FROM seats WHERE rowid = ({oldest})", (class_id,)
    ).rowcount:
        raise BadInput(
            f"{MOST_SEATS} sessions have already answered in this lesson, so no more answers are"
            " kept."
        )


def _make_room_for_lesson(db: sqlite3.Connection, class_id: str) -> None:
    """Make room for the seats of one more class. Raises BadInput if all others stay."""
    others = "SELECT COUNT(DISTINCT class) FROM seats WHERE class NOT IN (?, ?)"
    (n_others,) = db.execute(others, (class_id, NO_CLASS)).fetchone()
    n_excess = max(0, n_others + 1 - settings().most_lessons)
    oldest = (
        "SELECT class FROM seats LEFT JOIN opened USING (class) WHERE class NOT IN (?, ?)"
        " GROUP BY class HAVING owner IS NULL OR NOT MAX(has_answer)"
        " ORDER BY owner IS NOT NULL, MAX(changed) LIMIT ?"
    )
    rows = db.execute(oldest, (class_id, NO_CLASS, n_excess)).fetchall()
    if len(rows) < n_excess:
        raise BadInput(
            f"This server keeps the answers of {settings().most_lessons} classes. Their teachers"
            " have opened all of them, and each has an answer. Ask the operator to clear some on"
            " the Operator page, or to raise the setting most_lessons."
        )
    # who opened them stays known, so that making room does not raise anybody's limit
    _delete(db, [name for (name,) in rows], ("seats", "published"))


def _delete(
    db: sqlite3.Connection, class_ids: Sequence[str], tables: Sequence[str]
) -> None:
    for table in tables:
        statement = (
            f"DELETE FROM {table} WHERE class IN (SELECT value FROM json_each(?))"
        )
        db.execute(statement, (json.dumps(class_ids),))


# ---- classes that teachers open ------------------------------------------------------------------


@dataclass(frozen=True)
class GatheredClass:
    """A class as operators see it.

    Attributes
    ----------
    id
        The id in its links.
    owner
        The person who opened it first; '' if unknown.
    n_answers
        The number of sessions that have answered.
    changed
        The time of its last use, in seconds since 1970.
    is_opened
        Whether a teacher has opened it.
    room_code
        The code that opens it now; '' for none.
    """

    id: str
    owner: str
    n_answers: int
    changed: float
    is_opened: bool
    room_code: str

    @property
    def name(self) -> str:
        """A short digest of the id, which opens nothing."""
        return hashlib.sha256(self.id.encode()).hexdigest()[:12]


def open_class(class_id: str, address: str = "") -> None:
    """Note that the current requester has opened a class as its teacher.

    Parameters
    ----------
    address
        The requester's network address; '' if unknown.

    Raises
    ------
    BadInput
        If this person, or persons at this address, have opened many other classes within a day.
    """
    if not CLASS.fullmatch(class_id):
        raise ValueError("a class must have a name drawn by this server")
    now = time.time()
    with database() as db:
        _forget_empty_classes(db, now)
        update = "UPDATE opened SET last_opened = ? WHERE class = ?"
        if db.execute(update, (now, class_id)).rowcount:
            return
        person = asker()
        source = digest_of_address(address)
        if not (person.operator or person.alone):
            _must_be_few(db, now, person.owner, source)
        row = (class_id, person.owner, source, now, now)
        db.execute("INSERT INTO opened VALUES (?, ?, ?, ?, ?)", row)


def _must_be_few(db: sqlite3.Connection, now: float, owner: str, source: str) -> None:
    """Raise BadInput if a person, or persons at one address, have opened many classes."""
    count = "SELECT COUNT(*) FROM opened WHERE first_opened > ? AND"
    (by_owner,) = db.execute(f"{count} owner = ?", (now - DAY, owner)).fetchone()
    (at_address,) = db.execute(f"{count} address = ?", (now - DAY, source)).fetchone()
    what_to_do = "Open one of them again, or open this class tomorrow."
    if by_owner >= MOST_OPENED:
        raise BadInput(
            f"You have opened {by_owner} classes within a day, as many as one person may."
            f" {what_to_do}"
        )
    if source and at_address >= MOST_OPENED_AT_ADDRESS:
        raise BadInput(
            f"{at_address} classes were opened within a day from your network address, as many as"
            f" one address may open. {what_to_do}"
        )


def digest_of_address(address: str) -> str:
    """A digest that only this server can make; '' without an address.

    A person may have all IPv6 addresses that begin with the same 64 bits.
    """
    if not address:
        return ""
    with contextlib.suppress(ValueError):
        if ipaddress.ip_address(address).version == 6:
            address = str(ipaddress.ip_network((address, 64), strict=False))
    return signature("address", address.encode(), 12).hex()


def _forget_empty_classes(db: sqlite3.Connection, now: float) -> None:
    """Forget opened classes without an answer or an open room that were not used within a day."""
    query = (
        "SELECT class FROM opened LEFT JOIN seats USING (class) LEFT JOIN rooms USING (class)"
        " GROUP BY class HAVING NOT IFNULL(MAX(has_answer), 0)"
        " AND MAX(last_opened, IFNULL(MAX(changed), 0)) < ? AND IFNULL(ends, 0) <= ?"
    )
    rows = db.execute(query, (now - DAY, now)).fetchall()
    _delete(db, [name for (name,) in rows], ALL_OF_A_CLASS)


def classes() -> list[GatheredClass]:
    """All classes, the one used last first."""
    query = (
        "SELECT class, IFNULL(owner, ''), IFNULL(SUM(has_answer), 0),"
        " MAX(IFNULL(last_opened, 0), IFNULL(MAX(changed), 0)) AS used, owner IS NOT NULL,"
        " CASE WHEN ends > ? THEN code ELSE '' END"
        " FROM (SELECT class FROM seats UNION SELECT class FROM opened)"
        " LEFT JOIN seats USING (class) LEFT JOIN opened USING (class)"
        " LEFT JOIN rooms USING (class)"
        " WHERE class <> ? GROUP BY class ORDER BY used DESC, class"
    )
    now = time.time()
    with database() as db:
        _forget_empty_classes(db, now)
        rows = db.execute(query, (now, NO_CLASS)).fetchall()
    return [
        GatheredClass(name, owner, n_answers, changed, bool(is_opened), room_code)
        for name, owner, n_answers, changed, is_opened, room_code in rows
    ]


def clear(class_ids: Sequence[str]) -> None:
    """Delete all that is stored of these classes; their privacy accounts stay."""
    with database() as db:
        _delete(db, class_ids, ALL_OF_A_CLASS)


# ---- answers -------------------------------------------------------------------------------------


def answers_of(class_id: str, seat: str) -> Answers | None:
    """What a session has reached and answered; None for an unknown seat."""
    with database() as db:
        query = "SELECT answers FROM seats WHERE class = ? AND seat = ?"
        row = db.execute(query, (class_id, seat)).fetchone()
    if row is None:
        return None
    answers: Answers = json.loads(row[0])
    return answers


def class_answers(class_id: str) -> list[Answers]:
    """The answers of each session of a class, in an order that reveals nothing."""
    with database() as db:
        query = "SELECT answers FROM seats WHERE class = ? ORDER BY seat"
        return [json.loads(text) for (text,) in db.execute(query, (class_id,))]


# ---- what is published with noise ----------------------------------------------------------------


@dataclass(frozen=True)
class Publication:
    """The counts of a private question, published with noise.

    Attributes
    ----------
    epsilon
        The epsilon of the counts.
    n_answers
        The number of answers.
    counts
        The noisy counts, one for each choice.
    """

    epsilon: float
    n_answers: int
    counts: tuple[int, ...]


def publish(
    class_id: str,
    step: str,
    epsilon: float,
    draw: Callable[[Sequence[str]], Sequence[int]],
) -> None:
    """Keep noisy counts of the answers to a step, once for each epsilon and number of answers.

    Only the number of answers decides whether counts are drawn anew. An answer that a student has
    changed counts in later publications, because drawing anew would reveal the change.

    Parameters
    ----------
    draw
        Makes the counts. It is called only if the counts are missing, and while no one else
        publishes.
    """
    with database() as db:
        rows = db.execute("SELECT answers FROM seats WHERE class = ?", (class_id,))
        all_answers = [json.loads(text) for (text,) in rows]
        texts = [answers[step] for answers in all_answers if step in answers]
        key = (class_id, step, epsilon, len(texts))
        query = "SELECT 1 FROM published WHERE (class, step, epsilon, n_answers) = (?, ?, ?, ?)"
        if db.execute(query, key).fetchone() is None:
            counts = json.dumps(list(draw(texts)))
            db.execute("INSERT INTO published VALUES (?, ?, ?, ?, ?)", (*key, counts))


def publications(class_id: str, step: str) -> list[Publication]:
    """The publications of the answers to a step, oldest first."""
    query = (
        "SELECT epsilon, n_answers, counts FROM published WHERE class = ? AND step = ?"
        " ORDER BY rowid"
    )
    with database() as db:
        rows = db.execute(query, (class_id, step)).fetchall()
    return [
        Publication(epsilon, n, tuple(json.loads(counts)))
        for epsilon, n, counts in rows
    ]
