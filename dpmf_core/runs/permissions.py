"""Changes to what people share: stored runs and the catalogue.

Each function first checks that the requester is allowed to make the change.
"""

from collections.abc import Callable

from dpmf_core.base import limits
from dpmf_core.base.requesters import asker, must_delete, must_note, must_operate
from dpmf_core.data.catalogue import catalogue
from dpmf_core.runs.store import Store


def annotate(store: Store, key: str, note: str, tags: str) -> None:
    """`Store.annotate`. Raises BadInput if the run has another owner."""
    must_note(asker(), store.owner(key))
    store.annotate(key, note, tags)


def delete(store: Store, keys: list[str]) -> None:
    """Delete all of these runs, or none. Raises BadInput if one may not be deleted."""
    for key in keys:
        must_delete(asker(), store.owner(key))
    for key in keys:
        store.delete(key)


def pin(store: Store, key: str, pinned: bool) -> None:
    """Set whether a run is kept when older ones are deleted. Raises BadInput."""
    must_operate(asker(), "Pinning")
    store.pin(key, pinned)


def download(data_id: str, progress: Callable[[int, int], None]) -> None:
    """Download a published data set to this server, its licence accepted. Raises BadInput."""
    limits.download(data_id)
    catalogue().fetch(data_id, accept_licence=True, progress=progress)
