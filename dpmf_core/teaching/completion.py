"""Completion codes: what was finished, signed by the server that saw it, without a name.

A code is short enough to be copied by hand. It follows from who finished what and when: a reload
shows the same code, and a code that is handed in twice is seen.
"""

import base64
import binascii
import hashlib
import hmac
import struct
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from dpmf_core.teaching import signing

FIRST_DAY = date(2026, 1, 1)
LAYOUT = struct.Struct(">B4sHBB3s")  # version, what, day, right, asked, nonce
VERSION, SIGNATURE, GROUP = 1, 8, 8
PURPOSE = "completion"


@dataclass(frozen=True)
class Completion:
    """The content of a code.

    what: the mark of the lesson or sequence. right, n_questions: correct predictions and all
    predictions. nonce: of the seat that finished it.
    """

    what: bytes
    day: date
    right: int
    n_questions: int
    nonce: bytes


def mark(what: str) -> bytes:
    """Return four bytes that identify a lesson or a sequence."""
    return hashlib.sha256(what.encode()).digest()[:4]


def today() -> str:
    """Return the day in the form that `code` takes."""
    return datetime.now(UTC).date().isoformat()


def code(what: str, right: int, n_questions: int, seat: str, day: str) -> str:
    """Return a code, in groups of letters.

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
    """Return the content of a code, ignoring spaces, hyphens and case; raise ForgedToken."""
    letters = "".join(text.split()).replace("-", "").upper()
    try:
        whole = base64.b32decode(letters + "=" * (-len(letters) % 8))
    except (binascii.Error, ValueError):
        raise signing.ForgedToken from None
    message, signature = whole[:-SIGNATURE], whole[-SIGNATURE:]
    if len(message) != LAYOUT.size or not hmac.compare_digest(
        signature, signing.signature(PURPOSE, message, SIGNATURE)
    ):
        raise signing.ForgedToken
    _, what, day, right, n_questions, nonce = LAYOUT.unpack(message)
    return Completion(what, FIRST_DAY + timedelta(day), right, n_questions, nonce)
