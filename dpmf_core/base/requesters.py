"""Who makes a request.

A page names its visitor; the command line is the operator. Otherwise the requester is a stranger:
limits apply, and nothing of other owners may be changed.
"""

import contextlib
import hashlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class Asker:
    """A requester.

    Attributes
    ----------
    owner : str
        As stored; '' if unnamed.
    operator : bool
        Whether the requester runs this server.
    alone : bool
        Whether the requester is the only person at a machine of their own.
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
