"""Answers and steps of classes, and publications with noise, in one SQLite file without names.

Each session has a seat. The seat of a login follows from the login and the server's key, so one
person has one seat. Other seats are drawn, at most 60 a minute for a class. In a full class, a seat
without an answer makes room. On a full server, the lesson used longest ago makes room, of those
that no teacher has looked at. Learners without a teacher share one list, in which the seat used
longest ago makes room.
"""

import contextlib
import json
import re
import secrets
import sqlite3
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import create_folder, data_folder
from dpmf_core.base.settings import settings
from dpmf_core.teaching.signing import signature

SEAT = re.compile(r"[A-Za-z0-9_-]{16}")
CLASS = re.compile(r"[A-Za-z0-9_-]{8,32}")
MOST_SEATS = 500  # of one class
NO_CLASS = "without-class"  # of learners whose answers no teacher gathers
SEATS_PER_MINUTE = 60  # of one class, without a login
LONGEST = 2_000  # letters of an answer
MOST_ANSWERS = 200  # of one session
Answers = dict[str, str]  # by step

TABLES = """
CREATE TABLE IF NOT EXISTS seats (
    class TEXT NOT NULL, seat TEXT NOT NULL,
    answers TEXT NOT NULL,      -- JSON: text by step
    has_answer INTEGER NOT NULL,  -- 0: it has only opened pages
    created REAL NOT NULL, changed REAL NOT NULL,
    PRIMARY KEY (class, seat)
);
CREATE TABLE IF NOT EXISTS pinned (class TEXT PRIMARY KEY NOT NULL);
CREATE TABLE IF NOT EXISTS published (
    class TEXT NOT NULL, step TEXT NOT NULL, epsilon REAL NOT NULL, n_answers INTEGER NOT NULL,
    counts TEXT NOT NULL,       -- JSON: with noise
    UNIQUE (class, step, epsilon, n_answers)
);
"""


@contextlib.contextmanager
def _database() -> Iterator[sqlite3.Connection]:
    """Open the records within one write transaction."""
    file = create_folder(data_folder()) / "classes.sqlite"
    with contextlib.closing(sqlite3.connect(file, isolation_level=None, timeout=30)) as db:
        db.execute("BEGIN IMMEDIATE")
        try:
            for table in TABLES.split(";"):
                db.execute(table)
            yield db
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")


def new_seat() -> str:
    """Return a seat for a session without a login."""
    return secrets.token_urlsafe(12)


def seat_of_login(class_id: str, owner: str) -> str:
    """Return the seat of a login in a class; it does not reveal the login."""
    return urlsafe_b64encode(signature("seat", f"{class_id} {owner}".encode(), 12)).decode()


def record(class_id: str, seat: str, answers: Mapping[str, str], by_login: bool = False) -> None:
    """Keep what one session has reached and answered.

    Parameters
    ----------
    answers
        Text by step, "" for a step without an answer; at most 200 steps of 2,000 letters are kept.
    by_login
        Whether the seat is that of a login.

    Raises
    ------
    BadInput
        If the class or the server is full, or if many seats have just been taken.
    """
    _must_be_drawn(class_id, seat)
    short = {step[:40]: text[:LONGEST] for step, text in list(answers.items())[:MOST_ANSWERS]}
    values = (json.dumps(short), any(short.values()), time.time(), class_id, seat)
    with _database() as db:
        update = (
            "UPDATE seats SET answers = ?, has_answer = ?, changed = ? WHERE class = ? AND seat = ?"
        )
        if db.execute(update, values).rowcount:
            return
        _make_room(db, class_id, values[2], by_login)
        insert = "INSERT INTO seats (answers, has_answer, changed, class, seat, created)"
        db.execute(f"{insert} VALUES (?, ?, ?, ?, ?, ?)", (*values, values[2]))


def _must_be_drawn(class_id: str, seat: str) -> None:
    if not CLASS.fullmatch(class_id) or not SEAT.fullmatch(seat):
        raise ValueError("a class and a seat must have names drawn by this server")


def _make_room(db: sqlite3.Connection, class_id: str, now: float, by_login: bool) -> None:
    """Make room for one more seat; raise BadInput if there is none."""
    if class_id != NO_CLASS:
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
    if not db.execute(f"DELETE FROM seats WHERE rowid = ({oldest})", (class_id,)).rowcount:
        raise BadInput(
            f"{MOST_SEATS} sessions have already answered in this lesson, so no more answers are"
            " kept."
        )


def _make_room_for_lesson(db: sqlite3.Connection, class_id: str) -> None:
    others = (
        "SELECT class FROM seats WHERE class NOT IN (?1, ?2)"
        " UNION SELECT class FROM pinned WHERE class <> ?1"
    )
    (count,) = db.execute(f"SELECT COUNT(*) FROM ({others})", (class_id, NO_CLASS)).fetchone()
    excess = count + 1 - settings().most_lessons
    oldest = (
        "SELECT class FROM seats WHERE class NOT IN (?, ?)"
        " AND class NOT IN (SELECT class FROM pinned) GROUP BY class ORDER BY MAX(changed) LIMIT ?"
    )
    gone = db.execute(oldest, (class_id, NO_CLASS, max(0, excess))).fetchall()
    if len(gone) < excess:
        raise BadInput(
            f"This server keeps the answers of {settings().most_lessons} lessons, and teachers have"
            " pinned all of them. Ask the operator to raise the setting most_lessons."
        )
    db.executemany("DELETE FROM seats WHERE class = ?", gone)
    db.executemany("DELETE FROM published WHERE class = ?", gone)  # of answers that are gone


def pin(class_id: str) -> None:
    """Protect a lesson from removal, because its teacher has looked at it."""
    if not CLASS.fullmatch(class_id):
        raise ValueError("a class must have a name drawn by this server")
    with _database() as db:
        db.execute("INSERT OR IGNORE INTO pinned VALUES (?)", (class_id,))


def answers_of(class_id: str, seat: str) -> Answers | None:
    """Return what a session has reached and answered; None for an unknown seat."""
    with _database() as db:
        query = "SELECT answers FROM seats WHERE class = ? AND seat = ?"
        row = db.execute(query, (class_id, seat)).fetchone()
    return json.loads(row[0]) if row else None


def class_answers(class_id: str) -> list[Answers]:
    """Return the answers of each session of a class, in an order that reveals nothing."""
    with _database() as db:
        query = "SELECT answers FROM seats WHERE class = ? ORDER BY seat"
        return [json.loads(text) for (text,) in db.execute(query, (class_id,))]


def count() -> int:
    """Return the number of classes with answers."""
    with _database() as db:
        query = "SELECT COUNT(DISTINCT class) FROM seats WHERE class <> ?"
        return int(db.execute(query, (NO_CLASS,)).fetchone()[0])


# ---- what is published with noise ----------------------------------------------------------------


@dataclass(frozen=True)
class Publication:
    """counts: with noise, one for each choice. n_answers: how many answers there were."""

    epsilon: float
    n_answers: int
    counts: tuple[int, ...]


def publish(
    class_id: str, step: str, epsilon: float, draw: Callable[[Sequence[str]], Sequence[int]]
) -> None:
    """Keep noisy counts of the answers to a step, once for each epsilon and number of answers.

    Whether counts are drawn anew depends on the number of answers alone: an answer that a student
    has changed counts in later publications, because drawing anew would reveal the change. draw:
    makes the counts; it is called with nobody else publishing, and not where they are there.
    """
    with _database() as db:
        rows = db.execute("SELECT answers FROM seats WHERE class = ?", (class_id,))
        texts = [it[step] for (text,) in rows if step in (it := json.loads(text))]
        key = (class_id, step, epsilon, len(texts))
        query = "SELECT 1 FROM published WHERE (class, step, epsilon, n_answers) = (?, ?, ?, ?)"
        if db.execute(query, key).fetchone() is None:
            counts = json.dumps(list(draw(texts)))
            db.execute("INSERT INTO published VALUES (?, ?, ?, ?, ?)", (*key, counts))


def publications(class_id: str, step: str) -> list[Publication]:
    """Return the publications of the answers to a step, oldest first."""
    query = (
        "SELECT epsilon, n_answers, counts FROM published WHERE class = ? AND step = ?"
        " ORDER BY rowid"
    )
    with _database() as db:
        rows = db.execute(query, (class_id, step)).fetchall()
    return [Publication(epsilon, n, tuple(json.loads(counts))) for epsilon, n, counts in rows]
