"""Completion codes: what was finished, signed by the server that saw it, without a name.

A code is short enough to be copied by hand. It follows from who finished what and when: a reload
shows the same code, and a code that is handed in twice is seen.
"""

import base64
import binascii
import csv
import hashlib
import hmac
import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from dpmf_core.teaching import signing

FIRST_DAY = date(2026, 1, 1)
LAYOUT = struct.Struct(">B4sHBB3s")  # version, what, day, right, asked, nonce
VERSION = 1
SIGNATURE = 8
GROUP = 8
PURPOSE = "completion"
N_LETTERS = 32  # of a code: 20 bytes of 8 bits, in letters of 5 bits
HYPHENS = "-\u2010\u2011\u2012\u2013"  # text programs replace the first by others
WITHOUT_HYPHENS = str.maketrans("", "", HYPHENS)
# what may be a code, from the beginning of each word; they overlap, because a name may precede
CANDIDATE = re.compile(
    rf"(?<![A-Za-z0-9])(?=((?:[A-Za-z2-7][{HYPHENS}\s]*){{{N_LETTERS - 1}}}[A-Za-z2-7])"
    r"(?![A-Za-z0-9]))"
)
DELIMITERS = "\t;,"  # of cells in a line; the first that occurs separates them


@dataclass(frozen=True)
class Completion:
    """The content of a code.

    Attributes
    ----------
    what
        The mark of the lesson or sequence.
    day
        The day on which it was finished.
    right, n_questions
        The number of correct predictions and of all predictions.
    nonce
        The nonce of the seat that finished it.
    """

    what: bytes
    day: date
    right: int
    n_questions: int
    nonce: bytes


def mark(what: str) -> bytes:
    """Four bytes that identify a lesson or a sequence."""
    return hashlib.sha256(what.encode()).digest()[:4]


def today() -> str:
    """The day in the form that `code` takes."""
    return datetime.now(UTC).date().isoformat()


def code(what: str, right: int, n_questions: int, seat: str, day: str) -> str:
    """A code, in groups of letters.

    Parameters
    ----------
    what : str
        The id of the lesson or of the sequence that was finished.
    right, n_questions : int
        How many predictions were right, and how many there were.
    seat : str
        Who finished it. Only the server's key links the code to it.
    day : str
        When it was finished, as an ISO date.
    """
    days = (date.fromisoformat(day) - FIRST_DAY).days
    nonce = signing.signature("nonce", f"{what} {seat}".encode(), 3)
    message = LAYOUT.pack(VERSION, mark(what), days, right, n_questions, nonce)
    whole = message + signing.signature(PURPOSE, message, SIGNATURE)
    letters = base64.b32encode(whole).decode().rstrip("=")
    return "-".join(letters[at : at + GROUP] for at in range(0, len(letters), GROUP))


def read(text: str) -> Completion:
    """The content of a code, ignoring spaces, hyphens and case. Raises ForgedToken."""
    letters = "".join(text.split()).translate(WITHOUT_HYPHENS).upper()
    try:
        whole = base64.b32decode(letters + "=" * (-len(letters) % 8))
    except (binascii.Error, ValueError):  # ValueError: letters that are not ASCII
        raise signing.ForgedToken from None
    message = whole[:-SIGNATURE]
    signature = whole[-SIGNATURE:]
    # the version first: it is cheap, and a student's name is not a code
    if len(message) != LAYOUT.size or message[0] != VERSION:
        raise signing.ForgedToken
    if not hmac.compare_digest(
        signature, signing.signature(PURPOSE, message, SIGNATURE)
    ):
        raise signing.ForgedToken
    _, what, day, right, n_questions, nonce = LAYOUT.unpack(message)
    return Completion(what, FIRST_DAY + timedelta(day), right, n_questions, nonce)


@dataclass(frozen=True)
class HandedIn:
    """A line with a code.

    Attributes
    ----------
    code
        The code as it stands in the line; '' without one.
    content
        The content of a valid code; None if the code is not valid.
    rest
        The other cells of the line, such as a name.
    """

    code: str
    content: Completion | None
    rest: str


def find(line: str) -> HandedIn:
    """The code in a line of text or of a table, and the rest of the line."""
    delimiter = next((letter for letter in DELIMITERS if letter in line), ",")
    cells = next(csv.reader([line], delimiter=delimiter), [])
    invalid = None
    for place, cell in enumerate(cells):
        for match in CANDIDATE.finditer(cell):
            try:
                content = read(match[1])
            except signing.ForgedToken:
                invalid = place, match
                continue
            return HandedIn(match[1], content, _rest(cells, place, match))
    if invalid is None:
        return HandedIn("", None, _joined(cells))
    place, match = invalid
    return HandedIn(match[1], None, _rest(cells, place, match))


def _rest(cells: Sequence[str], place: int, match: re.Match[str]) -> str:
    """The cells without the code that one of them has."""
    cell = cells[place]
    others = f"{cell[: match.start(1)]} {cell[match.end(1) :]}"
    return _joined([*cells[:place], others, *cells[place + 1 :]])


def _joined(cells: Iterable[str]) -> str:
    words = (" ".join(cell.split()).strip(" ,;:") for cell in cells)
    return ", ".join(filter(None, words))
