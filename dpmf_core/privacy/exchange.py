"""Convert ledgers to and from events of `dp_accounting`, and both to and from JSON.

Noise multipliers are relative to what one step between neighbours moves. So an event made under
replace-one is accounted like any other, by the default relation of `dp_accounting`.
"""

import contextlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpmf_core.base.errors import BadInput
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.privacy.events import (
    NOTHING,
    Event,
    Ledger,
    Repeat,
    Sequence,
    event_of_rows,
    normal_form,
)
from dpmf_core.privacy.mechanisms import (
    Gaussian,
    Laplace,
    Mechanism,
    Relation,
    UnsupportedEvent,
)

if TYPE_CHECKING:  # it takes a second to load, and most runs do not need it
    from dp_accounting.dp_event import DpEvent

ANOTHERS = "another tool's release"
ROUNDING_OF_JSON = 1e-9  # relative
# keys of the JSON
EVENT = "dp_event"
KIND = "kind"


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
    if parts:
        return kinds.ComposedDpEvent(parts)
    return kinds.NoOpDpEvent()


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


def from_dp_event(event: "DpEvent") -> Event:
    """Convert an event of `dp_accounting`: composed Gaussian and Laplace noise.

    Raises
    ------
    UnsupportedEvent
        On other kinds and on releases without noise. `dp_event_epsilon` accounts those.
    """
    from dp_accounting import dp_event as kinds

    if isinstance(event, kinds.NoOpDpEvent):
        return NOTHING
    if getattr(event, "noise_multiplier", 1) == 0:
        raise UnsupportedEvent(
            f"A {type(event).__name__} without noise has no finite epsilon. Remove it from the"
            " event."
        )
    if isinstance(event, kinds.GaussianDpEvent):
        return Gaussian(float(event.noise_multiplier), ANOTHERS, replace_one_factor=1.0)
    if isinstance(event, kinds.LaplaceDpEvent):
        return Laplace(float(event.noise_multiplier), ANOTHERS, replace_one_factor=1.0)
    if isinstance(event, kinds.SelfComposedDpEvent):
        return Repeat(from_dp_event(event.event), int(event.count))
    if isinstance(event, kinds.ComposedDpEvent):
        return Sequence(tuple(from_dp_event(part) for part in event.events))
    raise UnsupportedEvent(
        f"A {type(event).__name__} is not a Gaussian or Laplace release. Account it with"
        " dp_event_epsilon(event, delta)."
    )


def dp_event_epsilon(
    event: "DpEvent", delta: float, relation: Relation = Relation.ADD_REMOVE
) -> float:
    """The epsilon of any event of `dp_accounting`, exact where this package has its kinds.

    Parameters
    ----------
    event
        Its noise multipliers are relative to what one step between neighbours moves.
    delta : float
        From 0 to 1; at 0 the result is the pure epsilon.
    relation
        Which data sets are neighbours. Sampling without replacement needs "replace-one".

    Returns
    -------
    float
        Exact for Gaussian and Laplace noise; for other events the smaller result of the PLD and RDP
        accountants of `dp_accounting`.

    Raises
    ------
    UnsupportedEvent
        If neither accountant covers the event under this relation.
    """
    with contextlib.suppress(UnsupportedEvent):
        return exactly(from_dp_event(event), delta)
    from dp_accounting import NeighboringRelation
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    theirs = NeighboringRelation.ADD_OR_REMOVE_ONE
    if relation == Relation.REPLACE_ONE:
        theirs = NeighboringRelation.REPLACE_ONE
    accountants = [
        kind(neighboring_relation=theirs) for kind in (PLDAccountant, RdpAccountant)
    ]
    epsilons = [
        _epsilon_by(accountant, event, delta)
        for accountant in accountants
        if accountant.supports(event)
    ]
    if not epsilons:
        raise UnsupportedEvent(
            f"No accountant covers this event under {relation}: {event!r}. Sampling without"
            " replacement needs the relation replace-one."
        )
    return min(epsilons)


def _epsilon_by(accountant: Any, event: "DpEvent", delta: float) -> float:
    try:
        return float(accountant.compose(event).get_epsilon(delta))
    except ZeroDivisionError:  # the RDP accountant, on Laplace noise of scale 0
        return math.inf


# ---- JSON ----------------------------------------------------------------------------------------


def dp_event_to_json(event: "DpEvent") -> dict[str, Any]:
    """An event of `dp_accounting` as JSON: its kind, and its fields by name."""
    import attr

    fields = attr.asdict(event, recurse=False)
    kind = {KIND: type(event).__name__}
    return kind | {name: _to_json(value) for name, value in fields.items()}


def _to_json(value: Any) -> Any:
    from dp_accounting.dp_event import DpEvent

    if isinstance(value, DpEvent):
        return dp_event_to_json(value)
    if isinstance(value, list | tuple):
        return [_to_json(part) for part in value]
    return value


def dp_event_from_json(content: Mapping[str, Any]) -> "DpEvent":
    """Read an event from the JSON of `dp_event_to_json`.

    Raises
    ------
    BadInput
        If the kind of an event is unknown, or an event cannot be made of its fields.
    """
    from dp_accounting import dp_event as kinds

    kinds_by_name = {kind.__name__: kind for kind in kinds.DpEvent.__subclasses__()}
    kind = kinds_by_name.get(str(content.get(KIND)))
    if kind is None:
        raise BadInput(
            f"The '{KIND}' of an event is one of {', '.join(sorted(kinds_by_name))}. Got"
            f" {str(content.get(KIND))[:60]!r}."
        )
    fields = {
        name: _from_json(value) for name, value in content.items() if name != KIND
    }
    try:
        return kind(**fields)
    except (TypeError, ValueError) as error:
        raise BadInput(
            f"A {kind.__name__} cannot be made of {sorted(fields)}: {error}."
        ) from None


def _from_json(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dp_event_from_json(value)
    if isinstance(value, list):
        return [_from_json(part) for part in value]
    return value


def read_ledger(path: Path) -> "Event | DpEvent":
    """Read from a JSON file what was released.

    The file holds ledger rows under "ledger", as `fit --json` and `account --json` write them, or
    an event of `dp_accounting` under "dp_event".

    Raises
    ------
    BadInput
        On anything else, and on a joint factor that no proof covers.
    """
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(
            f"{path.name} cannot be read as JSON: {error}. Give a JSON file."
        ) from None
    if isinstance(content, dict) and isinstance(content.get("ledger"), list):
        try:
            event = event_of_rows(content["ledger"])
            require_joint_factors(normal_form(event))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise BadInput(
                f"The ledger in {path.name} cannot be read: {error}"
            ) from None
        return event
    if isinstance(content, dict) and isinstance(content.get(EVENT), dict):
        try:
            event = dp_event_from_json(content[EVENT])
            # then its kinds exist only there
            with contextlib.suppress(UnsupportedEvent):
                return from_dp_event(event)
            return event
        except (ValueError, TypeError) as error:
            raise BadInput(
                f"The event in {path.name} cannot be read: {error}"
            ) from None
    raise BadInput(
        f"{path.name} holds no ledger. A ledger is a JSON object with rows under 'ledger', as"
        " `account --json` writes them, or with an event of dp_accounting under 'dp_event'."
    )


def require_joint_factors(ledger: Ledger) -> None:
    """Raise ValueError unless Lemma 8 proves every joint factor of a ledger.

    A release with a joint factor needs a companion release of its own. The companion must be of the
    same kind, on the same groups, and have small enough noise. The factor then covers the release:
    docs/PRIVACY.md, "Lemmas", 8.
    """
    for name in {leaf.companion for leaf, _ in ledger if leaf.companion}:
        claims = [entry for entry in ledger if entry[0].companion == name]
        for leaf, _ in sorted(claims, key=lambda entry: _most_noise(entry[0])):
            most = _most_noise(leaf)
            needed = sum(count for claim, count in claims if _most_noise(claim) <= most)
            if needed > sum(
                count for other, count in ledger if _is_companion(other, leaf)
            ):
                raise ValueError(
                    f"the joint factor {leaf.joint_factor:g} of {leaf.statistic!r} is not proved"
                    f" next to these releases of {name!r}. It needs as many of them, of noise"
                    f" multiplier {most:.6g} at most and replace-one factor sqrt(2). Leave"
                    " companion and joint_factor out."
                )


def _most_noise(leaf: Mechanism) -> float:
    """The largest noise multiplier that companions of a joint factor may have."""
    gain = leaf.joint_factor**2 / 2 - 1
    if gain < 0:
        return 0.0
    if gain >= 1:
        return math.inf
    ratio = 4 * gain if gain <= 0.5 else 1 / (1 - gain)
    return leaf.noise_multiplier * math.sqrt(ratio) * (1 + ROUNDING_OF_JSON)


def _is_companion(other: Mechanism, leaf: Mechanism) -> bool:
    """Whether a leaf's joint factor holds next to this release."""
    return (
        type(other) is type(leaf)
        and other.statistic == leaf.companion
        and other.groups == leaf.groups
        and other.replace_one_factor >= math.sqrt(2) * (1 - ROUNDING_OF_JSON)
        and other.noise_multiplier <= _most_noise(leaf)
    )
