"""Small data sets that travel to workers elsewhere that lack them, once: private ones over TLS
alone, sealed, and for as long as they are wanted.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

from dpmf_core.data import AnyData, PartitionedRatings, Ratings, Samples
from dpmf_core.data.samples import is_sparse
from dpmf_core.engine.scheduler_security import Scheduler
from dpmf_core.engine.sealing import fresh_key, sealed
from dpmf_core.engine.verification import Refusal
from dpmf_core.runs import data_access

MOST_BYTES = 500e6


@dataclass(frozen=True)
class Loan:
    """A data set that was sent to a scheduler. data: Dask's future of it; key: with which it is
    sealed, empty where it is public.
    """

    data: Any
    key: bytes = field(default=b"", repr=False)  # a key is in no message


class Lending:
    """Which workers lack which data sets, and the sets that were sent to a scheduler, each once.

    scheduler: to that scheduler; None where workers have what is here.
    """

    def __init__(self, scheduler: Scheduler | None) -> None:
        self._scheduler = scheduler
        self._lacking: dict[str, dict[str, Refusal]] = {}  # data set, worker
        self._loans: dict[tuple[str, str], Loan] = {}  # data set and fingerprint

    def lacks(self, refusal: Refusal) -> None:
        """A worker has not the data set, or another one."""
        self._lacking.setdefault(refusal.lacks, {})[refusal.worker] = refusal

    def forget(self) -> None:
        """Of a scheduler that has gone."""
        self._lacking.clear()
        self._loans.clear()

    def recall(self, data_ids: Collection[str]) -> None:
        """Workers keep no private data set but those that are wanted."""
        for key, loan in list(self._loans.items()):
            if loan.key and key[0] not in data_ids:
                self._loans.pop(key, None)

    def lent(self, client: Any, data_id: str) -> tuple[Loan | None, dict[str, Refusal], str]:
        """The data set on the workers, if some lack it and it may travel; else which lack it, and
        the sentence why it stays.
        """
        lacking = self._lacking.get(data_id, {})
        if not lacking or self._scheduler is None:
            return None, {}, ""
        data = data_access.open_raw(data_id)
        if why := _why_not(self._scheduler, data_id, data):
            return None, lacking, why
        name = data_id, data.fingerprint
        loan = self._loans.get(name)
        if loan is None or loan.data.status != "finished":  # its worker was lost
            key = b"" if data.public else fresh_key()
            what = sealed(data, key) if key else data
            loan = self._loans[name] = Loan(client.scatter(what, hash=False), key)
        return loan, {}, ""


def _why_not(scheduler: Scheduler, data_id: str, data: AnyData) -> str:
    """Why a data set stays on this machine; empty where it may travel."""
    if isinstance(data, PartitionedRatings):
        return f"{data_id} is kept in parts, which are not sent to them."
    if not data.public and not scheduler.is_encrypted:
        return (
            f"{data_id} is private, and is sent over TLS alone: take a scheduler at"
            " tls://host:port."
        )
    if (size := sum(array.nbytes for array in _arrays(data))) > MOST_BYTES:
        return (
            f"{data_id} takes {size / 1e6:,.0f} MB, and at most {MOST_BYTES / 1e6:,.0f} MB are sent"
            " to them."
        )
    return ""


def _arrays(data: Ratings | Samples) -> Iterator[Any]:
    if isinstance(data, Ratings):
        tables: tuple[Any, ...] = (data.users, data.items, data.values, data.order, data.user_keys)
    else:
        texts = () if data.texts is None else (data.texts.ids, data.texts.starts)
        tables = (data.X, data.clean, data.parts, data.people, *texts)
    for table in tables:
        if table is not None:
            yield from (table.data, table.indices, table.indptr) if is_sparse(table) else (table,)
