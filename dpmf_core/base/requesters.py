"""Who makes a request, and what they may do to what is shared.

A page names its visitor; the command line is the operator. Otherwise the requester is a stranger:
limits apply, and nothing of other owners may be changed.
"""

import contextlib
import hashlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass

from dpmf_core.base.errors import BadInput


@dataclass(frozen=True)
class Asker:
    """A requester. owner: as stored, '' if unnamed. operator: runs this server.

    alone: the only person at a machine of their own.
    """

    owner: str = ""
    operator: bool = False
    alone: bool = False

    @classmethod
    def of_session(cls, token: str, alone: bool = False) -> "Asker":
        """The holder of a session's secret token.

        The owner's name is its digest, which can be shown and gives no rights.
        """
        return cls(f"session:{_digest(token)}", alone=alone)

    @classmethod
    def of_login(cls, issuer: str, subject: str, operator: bool) -> "Asker":
        """A person whom a login provider has identified."""
        return cls(f"login:{_digest(f'{issuer} {subject}')}", operator=operator)

    def owns(self, owner: str) -> bool:
        return bool(owner) and owner == self.owner


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()[:16]


STRANGER = Asker()
OPERATOR = Asker(operator=True)  # the command line, and the server's own socket
_now: ContextVar[Asker] = ContextVar("asker", default=STRANGER)


def asker() -> Asker:
    """The current requester."""
    return _now.get()


def owner_now() -> str:
    """The owner that new results get."""
    return asker().owner


@contextlib.contextmanager
def asking(who: Asker) -> Iterator[None]:
    """Make `who` the requester inside the block."""
    before = _now.set(who)
    try:
        yield
    finally:
        _now.reset(before)


def may_note(who: Asker, owner: str) -> bool:
    """Whether they may write notes and tags on a run of this owner."""
    return who.alone or who.operator or who.owns(owner)


def may_delete(who: Asker, owner: str) -> bool:
    return who.alone or who.operator or (_deletes() == "owner" and who.owns(owner))


def _deletes() -> str:
    """Who may delete stored runs, by this server's settings."""
    from dpmf_core.base.settings import settings  # most commands need none

    return settings().deletes


def must_note(who: Asker, owner: str) -> None:
    """Raise BadInput if they may not write notes."""
    if not may_note(who, owner):
        raise BadInput(
            "Only the person who started a run can edit its notes and tags, and someone else"
            " started this one. You can read and compare it."
        )


def must_delete(who: Asker, owner: str) -> None:
    """Raise BadInput if they may not delete."""
    if may_delete(who, owner):
        return
    if _deletes() == "operator":
        raise _for_the_operator("Stored runs are deleted by")
    raise BadInput(
        "Only the person who started a run can delete it, and someone else started this one. You"
        " can read and compare it."
    )


def must_operate(who: Asker, what: str) -> None:
    """Raise BadInput, which names the request, for everyone except the operator."""
    if not who.operator:
        raise _for_the_operator(f"{what} is for")


def _for_the_operator(what: str) -> BadInput:
    from dpmf_core.base.settings import WHOSE

    return BadInput(f"{what} the operator of this server only. {WHOSE}")
