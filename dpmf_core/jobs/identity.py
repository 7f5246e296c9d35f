"""Which work is the same work: by what is asked for, and by the bytes of the data."""

from typing import Any

from dpmf_core.data.catalogue import catalogue, is_own
from dpmf_core.jobs.workers import Work
from dpmf_core.runs.specification import RunSpec


def stamp_of(work: Work) -> Any:
    """Of the bytes of the data that are asked for; '' where there are none. Raises BadInput."""
    data = getattr(work, "data", None)
    return catalogue().stamp(data.id) if data is not None else ""


def identity(work: Work, stamp: Any) -> str:
    """Equal work on equal bytes has equal identities. stamp: of the bytes."""
    if isinstance(work, RunSpec):
        return f"{stamp} {work.canonical().model_dump_json()}"
    return f"{type(work).__name__} {stamp} {work.model_dump_json()}"


def is_own_data(work: Work) -> bool:
    """Whether a run is on a file that somebody brought to the page: the shared store never
    holds it.
    """
    return isinstance(work, RunSpec) and is_own(work.data.id)
