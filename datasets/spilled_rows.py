"""Rows of large tables that are spilled to disk, and the ids in them."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dpmf_core.base.errors import BadInput
from dpmf_datasets.readers.cells import by_label
from dpmf_datasets.readers.cleaning import Batch

MOST_WAITING = 4_000_000  # ids in memory before repeated ones are removed


class SpilledRows:
    """Usable rows in files of a folder, batch by batch: user, item, value and order.

    Ids are dictionaries in the files, and all of them are in memory.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self.count = folder, 0
        self.users, self.items = _Ids(), _Ids()

    def add(self, batch: Batch, order: npt.NDArray[np.int64] | None) -> None:
        """Spill a batch with its times. Raises BadInput if the disk is full."""
        order = np.zeros(len(batch.values), np.int64) if order is None else order
        columns = [batch.users, batch.items, pa.array(batch.values), pa.array(order)]
        rows = pa.record_batch(columns, names=["user", "item", "value", "order"])
        self.users.add(batch.users.dictionary)
        self.items.add(batch.items.dictionary)
        try:
            with (
                pa.OSFile(str(self._file(self.count)), "wb") as sink,
                pa.ipc.new_file(sink, rows.schema) as writer,
            ):
                writer.write_batch(rows)
        except OSError as error:
            raise BadInput(
                f"The data folder has no room for the ratings ({error}). An import needs about 50"
                " bytes per rating: free some space, or set DPMF_DATA to another folder."
            ) from error
        self.count += 1

    def _file(self, at: int) -> Path:
        return self._folder / f"batch-{at}.arrow"

    def __iter__(self) -> Iterator[pa.Table]:
        for at in range(self.count):
            with pa.ipc.open_file(self._file(at)) as file:
                yield file.read_all()
            self._file(at).unlink()

    def forget(self) -> None:
        for at in range(self.count):
            self._file(at).unlink(missing_ok=True)


class _Ids:
    """The distinct ids of users or items."""

    def __init__(self) -> None:
        self._arrays: list[pa.Array] = []
        self._waiting = 0

    def add(self, ids: pa.Array) -> None:
        if len(ids):
            self._arrays.append(ids)
            self._waiting += len(ids)
        if self._waiting > MOST_WAITING:
            self._arrays, self._waiting = [self._distinct()], 0

    def _distinct(self) -> pa.Array:
        """Whole numbers if all are, else text."""
        if len({it.type for it in self._arrays}) > 1:
            self._arrays = [it.cast(pa.string()) for it in self._arrays]
        return (
            pc.unique(pa.concat_arrays(self._arrays)) if self._arrays else pa.array([], pa.string())
        )

    def labels(self) -> pa.Array:
        """All of them, in order."""
        labels = self._distinct()
        return labels.take(pa.array(by_label(labels)))


class Numbers:
    """The place of each id among all."""

    def __init__(self, labels: pa.Array) -> None:
        import pandas as pd  # most commands do not need it

        self._kind = labels.type
        self._index = pd.Index(labels.to_numpy(zero_copy_only=False))

    def of(self, ids: pa.ChunkedArray) -> npt.NDArray[np.int32]:
        """The places of ids that are dictionaries (n,)."""
        chunks = []
        for chunk in ids.chunks:
            chunk_ids = chunk.dictionary.cast(self._kind).to_numpy(zero_copy_only=False)
            numbers = self._index.get_indexer(chunk_ids).astype(np.int32)
            chunks.append(numbers[chunk.indices.to_numpy(zero_copy_only=False)])
        return np.concatenate(chunks) if chunks else np.empty(0, np.int32)
