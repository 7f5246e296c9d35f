"""Small public data sets that travel with a run to workers elsewhere that lack them."""

from collections.abc import Iterable
from typing import Any

from dpmf_core.data import AnyData, PartitionedRatings, Ratings, Samples
from dpmf_core.data.samples import is_sparse
from dpmf_core.engine.verification import Refusal
from dpmf_core.runs import data_access

MOST_BYTES = 500e6


class Lending:
    """Which workers lack which data sets, and the sets that were sent to a scheduler, each once."""

    def __init__(self) -> None:
        self._lacking: dict[str, dict[str, Refusal]] = {}  # data set, worker
        self._sent: dict[tuple[str, str], Any] = {}  # data set and fingerprint: Dask's future

    def lacks(self, refusal: Refusal) -> None:
        """A worker has not the data set, or another one."""
        self._lacking.setdefault(refusal.lacks, {})[refusal.worker] = refusal

    def forget(self) -> None:
        """Of a scheduler that has gone."""
        self._lacking.clear()
        self._sent.clear()

    def lent(self, client: Any, data_id: str) -> tuple[Any, dict[str, Refusal], str]:
        """The data set on the workers, if some lack it and it may travel; else which lack it, and
        the sentence why it stays.
        """
        lacking = self._lacking.get(data_id, {})
        if not lacking:
            return None, {}, ""
        data = data_access.open_raw(data_id)
        if why := _why_not(data_id, data):
            return None, lacking, why
        key = data_id, data.fingerprint
        if key not in self._sent or self._sent[key].status != "finished":  # its worker was lost
            self._sent[key] = client.scatter(data, hash=False)
        return self._sent[key], {}, ""


def _why_not(data_id: str, data: AnyData) -> str:
    """Why a data set stays on this machine; empty where it may travel."""
    if not data.public:
        return f"{data_id} is private, and so is not sent to them."
    if isinstance(data, PartitionedRatings):
        return f"{data_id} is kept in parts, which are not sent to them."
    if (size := sum(array.nbytes for array in _arrays(data))) > MOST_BYTES:
        return (
            f"{data_id} takes {size / 1e6:,.0f} MB, and at most {MOST_BYTES / 1e6:,.0f} MB are sent"
            " to them."
        )
    return ""


def _arrays(data: Ratings | Samples) -> Iterable[Any]:
    if isinstance(data, Ratings):
        columns = (data.users, data.items, data.values, data.order)
        return (column for column in columns if column is not None)
    return (data.X.data, data.X.indices, data.X.indptr) if is_sparse(data.X) else (data.X,)
