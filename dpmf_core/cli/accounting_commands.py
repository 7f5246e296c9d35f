"""`account`: the cost of a composition, or the noise for a budget. It reads no data."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
from pydantic import Field

from dpmf_core.base.errors import BadInput, checked
from dpmf_core.cli import output
from dpmf_core.cli.run_options import Choices
from dpmf_core.cli.shared_options import (
    Options,
    field_option,
    numbers,
    pairs,
    with_options,
)
from dpmf_core.privacy import (
    Budget,
    Event,
    Gaussian,
    Guarantee,
    Laplace,
    Relation,
    Repeat,
    Status,
    UnsupportedEvent,
    calibrate,
    normal_form,
    sequence,
)
from dpmf_core.privacy.accounting import group_epsilon
from dpmf_core.privacy.exchange import (
    EVENT,
    dp_event_epsilon,
    dp_event_to_json,
    read_ledger,
)
from dpmf_core.privacy.formatting import delta_text, epsilon_text
from dpmf_core.runs.privacy_record import PrivacyRecord

if TYPE_CHECKING:
    from dpmf_core.data.ratings import Shape

KINDS: dict[str, type[Gaussian] | type[Laplace]] = {
    "gaussian": Gaussian,
    "laplace": Laplace,
}
BY_HAND = Guarantee(
    Status.CONDITIONAL,
    assumptions=("every release is listed", "every sensitivity is as stated"),
)
MOST_IN_GROUP = 10**6  # units
MOST = 10**9  # releases; for more, rules would differ by rounding only
# the limits of what is composed numerically within seconds: releases, and the sum of count / Z
LAPLACE_MOST = 10**6
LAPLACE_SUM = 1000.0


class AccountOptions(Options):
    """What is accounted."""

    release: Annotated[tuple[str, ...], "KIND:Z:COUNT"] = ()
    """gaussian or laplace, noise over sensitivity, how often."""
    file: Path | None = Field(None, alias="from")
    """A JSON file: rows under 'ledger' (any --json here), or dp_accounting's 'dp_event'."""
    delta: float | None = None
    """With --algorithm 1/(10 n), rounded down, by default."""
    epsilon: float | None = None
    """Find the noise for this budget; each Z of --release then only gives a proportion."""
    algorithm: Annotated[str | None, "ID"] = None
    """Account the plan of this algorithm at --epsilon, on data of the shape below."""
    param: Annotated[tuple[str, ...], "NAME=VALUE"] = ()
    """A parameter of the algorithm."""
    n_users: int | None = None
    """The public number of users."""
    n_items: int | None = None
    """The public number of items."""
    bounds: Annotated[str, "LOW,HIGH"] = "1,5"
    """Bounds of ratings."""
    group_size: int | None = None
    """Also print the epsilon of so many units together, e.g. a person's images."""


@click.command()
@with_options(AccountOptions)
@field_option("relation", Budget.model_fields["relation"])
@field_option("calibration", Budget.model_fields["calibration"])
@output.json_option
def account(as_json: bool, **options: Any) -> None:
    event = None
    if options["file"] is not None:
        event = read_ledger(options["file"])
    if event is not None and not isinstance(event, Event):
        output.show(as_json, *_of_another_kind(event, options))
        return
    if event is not None:
        cost = _of_event(event, options)
    elif options["algorithm"]:
        cost = _plan(options)
    elif options["epsilon"] is not None:
        cost = _noise_for(options)
    elif options["release"]:
        cost = _of_event(_composition(options["release"]), options)
    else:
        raise BadInput(
            "Give the releases: --release gaussian:Z:COUNT (repeatable), or --epsilon to find the"
            " noise, or --algorithm."
        )
    _show(as_json, cost, options)


@dataclass(frozen=True)
class _Cost:
    """The cost of a composition.

    Attributes
    ----------
    facts
        Further facts for JSON.
    first
        The line above the cost.
    """

    privacy: PrivacyRecord
    event: Event
    facts: Choices = field(default_factory=dict)
    first: str = ""


def _show(as_json: bool, cost: _Cost, options: Choices) -> None:
    record = cost.privacy
    size = options["group_size"]
    more = []
    try:
        event = dp_event_to_json(record.dp_event)
    except UnsupportedEvent:  # dp_accounting has no such event
        event = None
    figures = {**cost.facts, **record.model_dump(mode="json"), EVENT: event}
    if size is not None and not 1 <= size <= MOST_IN_GROUP:
        raise BadInput(
            f"--group-size is a number from 1 to {MOST_IN_GROUP:,}. Got {size}."
        )
    if size and record.epsilon.exact is not None and record.delta is not None:
        try:
            epsilon = group_epsilon(
                cost.event, record.delta, Relation(options["relation"]), size
            )
        except UnsupportedEvent as why:
            raise BadInput(f"{why} Leave out --group-size.") from None
        figures["group"] = {"size": size, "epsilon": epsilon}
        more = [
            f"a group of {size:,} {record.guarantee.unit}s: epsilon = {epsilon_text(epsilon)}"
            f" (delta = {delta_text(record.delta)}, {record.rule})"
        ]
    output.show(as_json, figures, cost.first + output.privacy(record, *more))


def _budget(options: Choices) -> Budget:
    """The budget in the options; epsilon is 1 if there is none, for a cost at the given delta."""
    if options["delta"] is None:
        raise BadInput(
            "An epsilon holds at a delta only: add --delta, e.g. --delta 1e-6."
        )
    names = ("epsilon", "delta", "relation", "calibration")
    parts = {name: options[name] for name in names if options[name] is not None}
    return checked(Budget, "the budget", {"epsilon": 1.0, **parts})


def _of_another_kind(event: Any, options: Choices) -> tuple[Choices, str]:
    """The cost of an event that only dp_accounting knows, such as sampled releases."""
    delta = _budget(options).delta
    if options["group_size"]:
        raise BadInput(
            "Groups are accounted for Gaussian and Laplace noise. Leave out --group-size."
        )
    try:
        epsilon = dp_event_epsilon(event, delta)
    except UnsupportedEvent as why:
        raise BadInput(str(why)) from None
    return (
        {"epsilon": epsilon, "delta": delta, EVENT: dp_event_to_json(event)},
        f"epsilon = {epsilon_text(epsilon)} (delta = {delta_text(delta)}), by the accountants of"
        " dp_accounting, provided that the event lists every release",
    )


def _of_event(event: Event, options: Choices, *more: Any) -> _Cost:
    """The cost of the listed releases, at the given delta.

    Raises BadInput if Laplace releases are too many, or their noise too small, to compose.
    """
    ledger = normal_form(event)
    parts = [
        (n, n / leaf.noise_multiplier)
        for leaf, n in ledger
        if isinstance(leaf, Laplace)
    ]
    counts, losses = (sum(part[place] for part in parts) for place in (0, 1))
    if counts > LAPLACE_MOST or losses > LAPLACE_SUM:
        raise BadInput(
            f"Laplace releases are composed numerically: at most {LAPLACE_MOST:,} of them, with"
            f" COUNT / Z at most {LAPLACE_SUM:,.0f} in all (which is their epsilon at delta 0)."
            " Raise Z or lower COUNT."
        )
    return _Cost(
        PrivacyRecord.of(ledger, event, _budget(options), BY_HAND), event, *more
    )


def _composition(releases: tuple[str, ...], factor: float = 1.0) -> Event:
    """The releases as an event, each Z times a factor."""
    return sequence(*(_release(text, factor) for text in releases))


def _release(text: str, factor: float) -> Event:
    """KIND:Z:COUNT as an event."""
    try:
        kind, z, count = text.split(":")
        if (
            kind not in KINDS
            or not 0 < int(count) <= MOST
            or not 1e-9 <= float(z) <= 1e9
        ):
            raise ValueError(text)
    except ValueError:
        raise BadInput(
            f"--release takes KIND:Z:COUNT with KIND one of {', '.join(KINDS)}, Z (noise over"
            f" sensitivity) in [1e-9, 1e9] and a whole COUNT in [1, {MOST:,}], e.g."
            f" gaussian:4.2:10. Got {text!r}."
        ) from None
    return Repeat(KINDS[kind](factor * float(z), "release"), int(count))


def _noise_for(options: Choices) -> _Cost:
    """The noise multiplier at which the releases cost epsilon.

    For several releases it is the factor on their given Z.
    """
    releases = options["release"] or ("gaussian:1:1",)
    total = sum(count for _, count in normal_form(_composition(releases)))
    level = calibrate(lambda factor: _composition(releases, factor), _budget(options))
    facts = {"noise_multiplier": level, "count": total}
    first = f"noise multiplier {level:.6g} for {total:,} releases\n"
    return _of_event(_composition(releases, level), options, facts, first)


def _plan(options: Choices) -> _Cost:
    """The cost of an algorithm's plan on a declared public shape."""
    from dpmf_core import algorithms  # not needed for a composition
    from dpmf_core.runs.planning import prepare_for_shape
    from dpmf_core.runs.specification import RunSpec, with_delta
    from dpmf_core.runs.sweep import typed_parameters

    kind = algorithms.find(options["algorithm"])
    shape = _shape(options)
    names = ("epsilon", "delta", "relation", "calibration")
    choices = with_delta(
        {name: options[name] for name in names}, [kind.id], shape.n_users
    )
    parameters = typed_parameters(kind, pairs(options["param"], "--param"))
    spec = RunSpec.of(**choices, dataset="-", algorithm=kind.id, parameters=parameters)
    ready = prepare_for_shape(spec, shape)
    facts = {
        "algorithm": kind.id,
        "parameters": ready.algorithm.model_dump(mode="json"),
        "level": ready.level,
    }
    privacy = PrivacyRecord.of(
        normal_form(ready.plan), ready.plan, spec.budget, ready.guarantee
    )
    return _Cost(privacy, ready.plan, facts)


def _shape(options: Choices) -> "Shape":
    from dpmf_core.data.ratings import Shape

    users = options["n_users"]
    items = options["n_items"]
    if users is None or items is None or min(users, items) < 1:
        raise BadInput(
            "A plan needs the public shape of the data: --n-users N --n-items M, both at least 1,"
            " and --bounds LOW,HIGH."
        )
    low, *rest = numbers(options["bounds"], "--bounds")
    if len(rest) != 1 or not -1e6 <= low < rest[0] <= 1e6:
        raise BadInput(
            "--bounds takes the lowest and the highest rating, in this order, e.g. 1,5. Got"
            f" {options['bounds']!r}."
        )
    return Shape(users, items, (low, rest[0]))
