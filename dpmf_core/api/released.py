"""What people give as an event, a relation or a delta, for `dpmf.privacy`."""

from typing import TYPE_CHECKING, Any, Union

from dpmf_core.base.errors import BadInput
from dpmf_core.privacy import exchange
from dpmf_core.privacy.events import Event, Ledger, Repeat, Sequence, event_of
from dpmf_core.privacy.mechanisms import Mechanism, Relation
from dpmf_core.runs.record import Run

if TYPE_CHECKING:  # it takes a second to load
    from dp_accounting.dp_event import DpEvent

Released = Union[Event, Ledger, Run, "DpEvent"]


def as_event(released: Released) -> Event:
    """What was released, as an event.

    Raises BadInput on anything else, and on what has no proven epsilon.
    """
    if isinstance(released, Mechanism | Repeat | Sequence):
        return released
    if isinstance(released, Run):
        return _event_of_run(released)
    if is_of_dp_accounting(released):
        return exchange.from_dp_event(released)
    is_ledger = isinstance(released, tuple | list) and all(
        isinstance(row, tuple) and len(row) == 2 and isinstance(row[0], Mechanism)
        for row in released
    )
    if is_ledger and not released:
        raise BadInput(
            "This ledger is empty: no noise was drawn, which is so for methods without privacy too."
            " If nothing was released, account compose()."
        )
    if is_ledger:
        return event_of(released)
    raise BadInput(
        "An event is a mechanism such as Gaussian(4.0), what compose returned, a ledger, a model"
        f" that fit returned, or an event of dp_accounting. Got {type(released).__name__}."
    )


def _event_of_run(run: Run) -> Event:
    """The releases of a run. Raises BadInput if they have no proven epsilon."""
    guarantee = run.record.guarantee
    if not guarantee.has_epsilon:
        raise BadInput(f"{run.title} has no epsilon. {guarantee}")
    return run.record.event


def is_of_dp_accounting(released: Any) -> bool:
    return type(released).__module__.startswith("dp_accounting")


def relation_of(name: str) -> Relation:
    try:
        return Relation(name)
    except ValueError:
        raise BadInput(
            f"relation must be add-remove or replace-one. Got {name!r}."
        ) from None


def require_delta(delta: float) -> None:
    if not 0 <= delta < 1:
        raise BadInput(f"delta must be a number from 0 to below 1. Got {delta!r}.")
