"""Completion codes: what was finished, signed by the server that saw it, without a name.

A code is short enough to be copied by hand. Each is drawn anew, so that a code that is handed in
twice is seen.
"""

import base64
import binascii
import hashlib
import hmac
import secrets
import struct
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from dpmf_core.serving import signing

FIRST_DAY = date(2026, 1, 1)
LAYOUT = struct.Struct(">B4sHBB3s")  # version, what, day, right, asked, drawn anew
VERSION, SIGNATURE, GROUP = 1, 8, 8
PURPOSE = "completion"


@dataclass(frozen=True)
class Completion:
    """what: which lesson or sequence, by its mark. right, n_questions: predictions, how many
    were right and how many there were. nonce: of this code alone.
    """

    what: bytes
    day: date
    right: int
    n_questions: int
    nonce: bytes


def mark(what: str) -> bytes:
    """Four bytes that stand for a lesson or a sequence."""
    return hashlib.sha256(what.encode()).digest()[:4]


def code(what: str, right: int, n_questions: int) -> str:
    """A code, in groups of letters, that says that this was finished today."""
    day = (datetime.now(UTC).date() - FIRST_DAY).days
    message = LAYOUT.pack(VERSION, mark(what), day, right, n_questions, secrets.token_bytes(3))
    whole = message + signing.signature(PURPOSE, message, SIGNATURE)
    letters = base64.b32encode(whole).decode().rstrip("=")
    return "-".join(letters[at : at + GROUP] for at in range(0, len(letters), GROUP))


def read(text: str) -> Completion:
    """What a code says; spaces, hyphens and case do not matter. Raises Forged where this server
    did not make it.
    """
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
