"""Convert ledgers to events of `dp_accounting`, and read them from JSON.

Noise multipliers are relative to what one step between neighbours moves. So an event made under
replace-one is accounted like any other, by the default relation of `dp_accounting`.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from dpmf_core.base.errors import BadInput
from dpmf_core.privacy.events import Event, event_of_rows, normal_form
from dpmf_core.privacy.mechanisms import Gaussian, Laplace, Mechanism, Relation, UnsupportedEvent

if TYPE_CHECKING:  # it takes a second to load, and most runs do not need it
    from dp_accounting.dp_event import DpEvent


def to_dp_event(event: Event, relation: Relation = Relation.ADD_REMOVE) -> "DpEvent":
    """The event of `dp_accounting` with the same cost.

    Discrete Gaussian noise becomes the Gaussian release that costs at least as much. Raises
    UnsupportedEvent on releases that may fail and on posterior samples, for which `dp_accounting`
    has no event.
    """
    from dp_accounting import dp_event as kinds

    parts = [
        kinds.SelfComposedDpEvent(_leaf(leaf, relation), count)
        for leaf, count in normal_form(event)
    ]
    if len(parts) == 1:
        return parts[0]
    return kinds.ComposedDpEvent(parts) if parts else kinds.NoOpDpEvent()


def _leaf(leaf: Mechanism, relation: Relation) -> "DpEvent":
    from dp_accounting import dp_event as kinds

    z = leaf.multiplier(relation)
    if isinstance(leaf, Gaussian) and not leaf.failure:
        return kinds.GaussianDpEvent(z)
    if type(leaf) is Laplace:
        return kinds.LaplaceDpEvent(z)
    raise UnsupportedEvent(
        f"dp_accounting has no event for a {leaf.mechanism}, of {leaf.statistic!r}. Account the"
        " ledger here."
    )


def read_ledger(path: Path) -> Event:
    """Read the rows under "ledger" in a JSON file, as `fit --json` and `account --json` write them.

    Raises BadInput on anything else.
    """
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{path.name} cannot be read as JSON: {error}. Give a JSON file.") from None
    if isinstance(content, dict) and isinstance(content.get("ledger"), list):
        try:
            return event_of_rows(content["ledger"])
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise BadInput(f"The ledger in {path.name} cannot be read: {error}") from None
    raise BadInput(
        f"{path.name} holds no ledger. A ledger is a JSON object with rows under 'ledger', as"
        " `account --json` writes them."
    )
