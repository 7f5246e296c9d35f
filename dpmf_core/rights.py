"""What people do to what they share: stored runs, lesson links, the catalogue. Each step asks first whether whoever asks may."""

from collections.abc import Callable

from dpmf_core import experiment, lesson_links, limits
from dpmf_core.askers import asker, must_delete, must_note, must_operate
from dpmf_core.store import Store


def annotate(store: Store, key: str, note: str, tags: str) -> None:
    """As `Store.annotate`. Raises BadInput where the run is somebody else's."""
    must_note(asker(), store.owner(key))
    store.annotate(key, note, tags)


def delete(store: Store, keys: list[str]) -> None:
    """Forget all of these runs, or none. Raises BadInput where one may not be deleted."""
    for key in keys:
        must_delete(asker(), store.owner(key))
    for key in keys:
        store.delete(key)


def pin(store: Store, name: str, pinned: bool) -> None:
    """Keep a run (by its key) or a lesson link (by its name) when older ones go to make room, or no longer. Raises BadInput."""
    must_operate(asker(), "Pinning")
    if lesson_links.exists(name):
        lesson_links.pin(name, pinned)
    else:
        store.pin(name, pinned)


def download(data_id: str, progress: Callable[[int, int], None]) -> None:
    """Bring a published data set to this server, its licence accepted. Raises BadInput."""
    limits.download(data_id)
    experiment.catalogue().fetch(data_id, accept_licence=True, progress=progress)
