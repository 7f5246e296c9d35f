"""The limits of requests on this server. The operator and the command line have none."""

from typing import Any

from dpmf_core.base.errors import BadInput
from dpmf_core.base.requesters import asker
from dpmf_core.base.settings import WHOSE, settings


def check(work: Any, own: bool) -> None:
    """Check work before it starts.

    Work of a limited size has `limit` (the name of the setting), `size`, and `size_words` (what is
    counted, in the plural).

    Parameters
    ----------
    work
    own : bool
        Whether its data are a file of the session's.

    Raises
    ------
    BadInput
        On a data set or a size that is not allowed here.
    """
    data = getattr(work, "data", None)
    if data is not None and not own:
        data_set(data.id)
    if hasattr(work, "limit"):
        at_most(work.limit, work.size, work.size_words)


def data_set(data_id: str) -> None:
    """Raise BadInput if no runs are allowed on a data set of the catalogue."""
    if not allowed_here(data_id):
        raise BadInput(
            f"This server does not allow runs on '{data_id}'. {WHOSE} Choose one of"
            f" {', '.join(settings().data_sets or ())}, or upload your own file."
        )


def allowed_here(data_id: str) -> bool:
    """Whether runs are allowed on a data set of the catalogue, so that a page may list it."""
    data_sets = settings().data_sets
    # without a simulated set's declared shape
    names = {
        data_id,
        data_id.partition("?")[0],
    }
    return data_sets is None or bool(names & set(data_sets)) or asker().operator


def at_most(name: str, size: float, unit: str) -> None:
    """Raise BadInput if a size exceeds the setting of this name."""
    most: int | None = getattr(settings(), name)
    if most is not None and size > most and not asker().operator:
        raise BadInput(
            f"At most {most:,} {unit} at a time on this server; got {size:,.6g}. The operator of"
            " this server set this limit. Choose fewer, or ask the operator."
        )
