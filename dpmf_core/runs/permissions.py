"""Who may change what people share: stored runs and the catalogue.

Each change first checks that the requester is allowed to make it.
"""

from collections.abc import Callable

from dpmf_core.base.errors import BadInput
from dpmf_core.base.requesters import asker
from dpmf_core.base.settings import WHOSE, settings
from dpmf_core.data.catalogue import catalogue
from dpmf_core.runs.store import Store


def may_note(owner: str) -> bool:
    """Whether the requester may write notes and tags on a run of this owner."""
    who = asker()
    return who.alone or who.operator or who.owns(owner)


def may_delete(owner: str) -> bool:
    """Whether the requester may delete a run of this owner."""
    who = asker()
    return (
        who.alone or who.operator or (settings().deletes == "owner" and who.owns(owner))
    )


def annotate(store: Store, key: str, note: str, tags: str) -> None:
    """`Store.annotate`. Raises BadInput if the run has another owner."""
    if not may_note(store.owner(key)):
        raise _of_someone_else("edit its notes and tags")
    store.annotate(key, note, tags)


def delete(store: Store, keys: list[str]) -> None:
    """Delete all of these runs, or none. Raises BadInput if one may not be deleted."""
    if not all(may_delete(store.owner(key)) for key in keys):
        if settings().deletes == "operator":
            raise _for_the_operator("Stored runs are deleted by")
        raise _of_someone_else("delete it")
    for key in keys:
        store.delete(key)


def pin(store: Store, key: str, pinned: bool) -> None:
    """Set whether a run is kept when older ones are deleted. Raises BadInput."""
    if not asker().operator:
        raise _for_the_operator("Pinning is for")
    store.pin(key, pinned)


def download(data_id: str, progress: Callable[[int, int], None]) -> None:
    """Download a published data set to this server, its licence accepted. Raises BadInput."""
    if settings().downloads == "operator" and not asker().operator:
        raise _for_the_operator(f"Downloading a data set such as {data_id} is for")
    catalogue().fetch(data_id, accept_licence=True, progress=progress)


def _of_someone_else(what: str) -> BadInput:
    return BadInput(
        f"Only the person who started a run can {what}, and someone else started this one. You can"
        " read and compare it."
    )


def _for_the_operator(what: str) -> BadInput:
    return BadInput(f"{what} the operator of this server only. {WHOSE}")
