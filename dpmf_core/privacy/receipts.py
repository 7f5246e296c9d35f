"""Data that have an account, and the receipt that a finished work keeps of its charge."""

from dataclasses import dataclass
from typing import Protocol, Self


class Private(Protocol):
    """Data that may have an account.

    Attributes
    ----------
    public : bool
    account : str
        The fingerprint of their source, before anything was left out.
    row_digest : str
        What its rows say, in whatever form and order they came; '' if unknown.
    """

    @property
    def public(self) -> bool: ...

    @property
    def account(self) -> str: ...

    @property
    def row_digest(self) -> str: ...


@dataclass(frozen=True)
class Receipt:
    """Which account a finished work was charged to, and the random name of its entry there.

    Wherever the results are shown again, the account in force must hold an entry of this name.

    Attributes
    ----------
    account, row_digest : str
        Those of the data, also if the entry is in a named ledger.
    entry : str
        The random name.
    """

    account: str
    entry: str
    row_digest: str = ""

    @classmethod
    def of(cls, data: Private, entry: str) -> Self:
        """The receipt of an entry for work on these data."""
        return cls(data.account, entry, data.row_digest)

    @property
    def public(self) -> bool:
        """Always False, because public data have no account."""
        return False
