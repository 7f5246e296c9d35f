"""Room codes: six letters that open a class, for a day unless the operator says otherwise.

A code is drawn at random, never derived from the class's link, and stored next to the class. It
opens what that link opens. Wrong codes are limited for each person and for each network address;
visitors whose address is unknown count as one address.
"""

import secrets
import sqlite3
import time
from dataclasses import dataclass

from dpmf_core.base.errors import BadInput
from dpmf_core.base.requesters import asker
from dpmf_core.base.settings import settings
from dpmf_core.teaching.class_records import database, digest_of_address

ALPHABET = "ABCDEFGHJKMNPRSTWXYZ"  # without I, L, O, Q, U and V, which look like others
LENGTH = 6
HOUR = 3_600.0  # seconds
MINUTE = 60.0  # within which wrong codes are counted
MOST_WRONG = 5  # of one person within a minute
MOST_WRONG_AT_ADDRESS = 10  # of all persons at one network address
ASK = "Look at the code again, or ask your teacher for the link of the class."


@dataclass(frozen=True)
class Room:
    """A room code.

    Attributes
    ----------
    ends
        The time at which it stops opening its class, in seconds since 1970.
    """

    code: str
    ends: float

    @property
    def seconds_left(self) -> float:
        """Seconds for which the code opens its class; 0 if it has ended."""
        return max(0.0, self.ends - time.time())


def in_halves(code: str) -> str:
    """A code as people read it: ABC DEF."""
    return f"{code[: LENGTH // 2]} {code[LENGTH // 2 :]}"


def room_of(class_id: str, link: str) -> Room:
    """The code of a class, which may have ended; the first call draws it.

    Parameters
    ----------
    class_id
        Of a class that its teacher has opened.
    link
        The token of the link that the code opens from now on.

    Raises
    ------
    BadInput
        If no teacher has opened the class, or if the records cannot be written.
    """
    with database() as db:
        update = "UPDATE rooms SET link = ? WHERE class = ? RETURNING code, ends"
        row = db.execute(update, (link, class_id)).fetchone()
        if row:
            return Room(*row)
        return _new_room(db, class_id, link)


def new_room(class_id: str, link: str) -> Room:
    """Give a class another code; the former one ends. Raises BadInput as `room_of`."""
    with database() as db:
        db.execute("DELETE FROM rooms WHERE class = ?", (class_id,))
        return _new_room(db, class_id, link)


def _new_room(db: sqlite3.Connection, class_id: str, link: str) -> Room:
    room = Room(_draw_code(db), time.time() + settings().room_code_hours * HOUR)
    # without the teacher's entry nothing would limit the codes, or delete them
    insert = "INSERT INTO rooms SELECT class, ?, ?, ? FROM opened WHERE class = ?"
    if not db.execute(insert, (room.code, link, room.ends, class_id)).rowcount:
        raise BadInput("This class has no room code yet. Open its class view again.")
    return room


def _draw_code(db: sqlite3.Connection) -> str:
    """A code that no class has or had last."""
    while True:
        code = "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
        if db.execute("SELECT 1 FROM rooms WHERE code = ?", (code,)).fetchone() is None:
            return code


def end_room(class_id: str) -> None:
    """End the code of a class. Students who entered by it stay. Raises BadInput."""
    now = time.time()
    with database() as db:
        update = "UPDATE rooms SET ends = ? WHERE class = ? AND ends > ?"
        db.execute(update, (now, class_id, now))


def link_of(text: str, address: str = "") -> str:
    """The token of the link that a room code opens.

    Parameters
    ----------
    text
        The code as typed: in capitals or not, with blanks and dashes or without.
    address
        The requester's network address; '' if unknown.

    Raises
    ------
    BadInput
        If no class has this code now, or after many wrong codes of this person or address within
        a minute; then the code is not looked at.
    """
    code = "".join(letter for letter in text if letter.isalnum()).upper()
    if len(code) != LENGTH or not set(code) <= set(ALPHABET):
        # no class can have it, so it tells a guesser nothing and is not counted
        raise BadInput(
            f"A room code has {LENGTH} letters, and none of them is I, L, O, Q, U or V. Got"
            f" '{text[:20]}'. {ASK}"
        )
    now = time.time()
    with database() as db:
        _must_be_few(db, now, asker().owner, digest_of_address(address))
        row = db.execute(
            "SELECT link, ends FROM rooms WHERE code = ?", (code,)
        ).fetchone()
        if row is not None and row[1] > now:
            return str(row[0])
        entry = (asker().owner, digest_of_address(address), now)
        db.execute("INSERT INTO wrong_codes VALUES (?, ?, ?)", entry)
    # after the block, which an error would leave without the entry
    if row is not None:
        raise BadInput(
            f"The room code {in_halves(code)} has ended. Ask your teacher for a new code, or for"
            " the link of the class."
        )
    raise BadInput(f"No class has the room code {in_halves(code)}. {ASK}")


def _must_be_few(db: sqlite3.Connection, now: float, owner: str, source: str) -> None:
    """Raise BadInput if a person or an address has entered many wrong codes within a minute."""
    # a clock that was set back must not refuse for longer
    db.execute(
        "DELETE FROM wrong_codes WHERE entered <= ? OR entered > ?", (now - MINUTE, now)
    )
    count = "SELECT COUNT(*) FROM wrong_codes WHERE"
    (by_owner,) = db.execute(f"{count} owner = ?", (owner,)).fetchone()
    (at_address,) = db.execute(f"{count} address = ?", (source,)).fetchone()
    what_to_do = (
        "Wait a minute and enter the code again, or ask your teacher for the link."
    )
    if by_owner >= MOST_WRONG:
        raise BadInput(
            f"You entered {by_owner} wrong room codes within a minute. {what_to_do}"
        )
    if at_address >= MOST_WRONG_AT_ADDRESS:
        raise BadInput(
            f"{at_address} wrong room codes were entered from your network address within a"
            f" minute. {what_to_do}"
        )
