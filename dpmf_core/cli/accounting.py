"""`account`: the cost of a composition, or the noise for a budget. It reads no data."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpmf_core.base.documents import to_json
from dpmf_core.base.errors import BadInput, checked
from dpmf_core.cli import output
from dpmf_core.cli.arguments import GroupedCommand, field_option, own_param_option, pairs
from dpmf_core.cli.completion import algorithm_ids
from dpmf_core.cli.tables import json_option
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
from dpmf_core.privacy.exchange import EVENT, dp_event_epsilon, dp_event_to_json, read_ledger
from dpmf_core.privacy.formatting import delta_text, epsilon_text
from dpmf_core.runs.privacy_record import PrivacyRecord

if TYPE_CHECKING:
    from dpmf_core.data.ratings import Shape

KINDS: dict[str, type[Gaussian] | type[Laplace]] = {"gaussian": Gaussian, "laplace": Laplace}
BY_HAND = Guarantee(
    Status.CONDITIONAL, assumptions=("every release is listed", "every sensitivity is as stated")
)
MOST = 10**9  # releases; for more, rules would differ by rounding only
# the limits of what is composed numerically within seconds: releases, and the sum of count / Z
LAPLACE_MOST, LAPLACE_SUM = 10**6, 1000.0


@click.command(cls=GroupedCommand)
@click.option(
    "--release",
    "releases",
    multiple=True,
    metavar="KIND:Z:COUNT",
    help="gaussian or laplace, noise over sensitivity, how often; repeatable.",
)
@click.option(
    "--from",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    help=(
        "Account a JSON file: rows under 'ledger' (from any --json here), or an event of"
        " dp_accounting under 'dp_event'."
    ),
)
@click.option(
    "--delta",
    type=float,
    help=(
        "Slack of the bound P <= e^epsilon P' + delta; with --algorithm 1/(10 n), rounded down,"
        " by default."
    ),
)
@click.option(
    "--epsilon",
    type=float,
    help=(
        "Find the noise for this budget instead; with --release, the Z then only give the"
        " proportions."
    ),
)
@click.option(
    "--algorithm",
    metavar="ID",
    shell_complete=algorithm_ids,
    help="Account the plan of this algorithm at --epsilon.",
)
@own_param_option
@click.option("--n-users", type=int, help="With --algorithm: the public number of users.")
@click.option("--n-items", type=int, help="With --algorithm: the public number of items.")
@click.option(
    "--bounds",
    default="1,5",
    show_default=True,
    metavar="LOW,HIGH",
    help="With --algorithm: the declared rating bounds.",
)
@click.option(
    "--group-size",
    type=click.IntRange(1, 10**6),
    help="Also print the epsilon of so many units together, e.g. a person's images.",
)
@field_option("relation", Budget.model_fields["relation"])
@field_option("calibration", Budget.model_fields["calibration"])
@json_option
def account(**options: Any) -> None:
    if options["file"] is not None:
        event = read_ledger(options["file"])
        if not isinstance(event, Event):
            click.echo(_of_another_kind(event, options))
            return
        cost = _of_event(event, options)
    elif options["algorithm"]:
        cost = _plan(options)
    elif options["epsilon"] is not None:
        cost = _noise_for(options)
    else:
        cost = _cost_of_releases(options)
    group = _group(cost, options["group_size"], Relation(options["relation"]))
    click.echo(to_json(_json(cost, group)) if options["as_json"] else _words(cost, group))


@dataclass(frozen=True)
class _Cost:
    """The cost of a composition. facts: further facts for JSON; first: the line above it."""

    privacy: PrivacyRecord
    event: Event
    facts: dict[str, Any] = field(default_factory=dict)
    first: str = ""


def _group(cost: _Cost, size: int | None, relation: Relation) -> dict[str, Any] | None:
    """The cost for `size` units together."""
    privacy = cost.privacy
    if not size or privacy.epsilon.exact is None or privacy.delta is None:
        return None
    try:
        return {"size": size, "epsilon": group_epsilon(cost.event, privacy.delta, relation, size)}
    except UnsupportedEvent as why:
        raise BadInput(f"{why} Leave out --group-size.") from None


def _json(cost: _Cost, group: dict[str, Any] | None) -> dict[str, Any]:
    try:
        event = dp_event_to_json(cost.privacy.dp_event)
    except UnsupportedEvent:  # dp_accounting has no such event
        event = None
    figures = {**cost.facts, **cost.privacy.model_dump(mode="json"), EVENT: event}
    return figures if group is None else figures | {"group": group}


def _words(cost: _Cost, group: dict[str, Any] | None) -> str:
    record, more = cost.privacy, []
    if group is not None and record.delta is not None:
        more = [
            f"a group of {group['size']:,} {record.guarantee.unit}s: epsilon ="
            f" {epsilon_text(group['epsilon'])} (delta = {delta_text(record.delta)}, {record.rule})"
        ]
    return cost.first + output.privacy(record, *more)


def _budget(options: dict[str, Any], epsilon: float, delta: float | None) -> Budget:
    if delta is None:
        raise BadInput("An epsilon holds at a delta only: add --delta, e.g. --delta 1e-6.")
    rules = {name: options[name] for name in ("relation", "calibration")}
    return checked(Budget, "the budget", {"epsilon": epsilon, "delta": delta, **rules})


def _of_another_kind(event: Any, options: dict[str, Any]) -> str:
    """The cost of an event that only dp_accounting knows, such as sampled releases."""
    delta = _budget(options, 1.0, options["delta"]).delta
    if options["group_size"]:
        raise BadInput(
            "Groups are accounted for Gaussian and Laplace noise. Leave out --group-size."
        )
    try:
        epsilon = dp_event_epsilon(event, delta)
    except UnsupportedEvent as why:
        raise BadInput(str(why)) from None
    if options["as_json"]:
        return to_json({"epsilon": epsilon, "delta": delta, EVENT: dp_event_to_json(event)})
    return (
        f"epsilon = {epsilon_text(epsilon)} (delta = {delta_text(delta)}), by the accountants of"
        " dp_accounting, provided that the event lists every release"
    )


def _cost_of_releases(options: dict[str, Any]) -> _Cost:
    if not options["releases"]:
        raise BadInput(
            "Give the releases: --release gaussian:Z:COUNT (repeatable), or --epsilon to find the"
            " noise, or --algorithm."
        )
    return _of_event(sequence(*(_release(text) for text in options["releases"])), options)


def _of_event(event: Event, options: dict[str, Any]) -> _Cost:
    """The cost of the listed releases, at the given delta."""
    _within_reach(event)
    budget = _budget(options, 1.0, options["delta"])
    return _Cost(PrivacyRecord.of(normal_form(event), event, budget, BY_HAND), event)


def _within_reach(event: Event) -> None:
    """Raise BadInput if Laplace releases are too many, or their noise too small, to compose."""
    parts = [
        (count, count / leaf.noise_multiplier)
        for leaf, count in normal_form(event)
        if isinstance(leaf, Laplace)
    ]
    if (
        sum(count for count, _ in parts) > LAPLACE_MOST
        or sum(loss for _, loss in parts) > LAPLACE_SUM
    ):
        raise BadInput(
            f"Laplace releases are composed numerically: at most {LAPLACE_MOST:,} of them, with"
            f" COUNT / Z at most {LAPLACE_SUM:,.0f} in all (which is their epsilon at delta 0)."
            " Raise Z or lower COUNT."
        )


def _release(text: str, factor: float = 1.0) -> Event:
    """KIND:Z:COUNT as an event."""
    kind, _, rest = text.partition(":")
    z, _, count = rest.partition(":")
    try:
        if kind not in KINDS or not 0 < int(count) <= MOST or not 1e-9 <= float(z) <= 1e9:
            raise ValueError(text)
    except ValueError:
        raise BadInput(
            f"--release takes KIND:Z:COUNT with KIND one of {', '.join(KINDS)}, Z (noise over"
            f" sensitivity) in [1e-9, 1e9] and a whole COUNT in [1, {MOST:,}], e.g."
            f" gaussian:4.2:10. Got {text!r}."
        ) from None
    return Repeat(KINDS[kind](factor * float(z), "release"), int(count))


def _noise_for(options: dict[str, Any]) -> _Cost:
    """The noise multiplier at which the releases cost epsilon.

    For several releases it is the factor on their given Z.
    """
    budget = _budget(options, options["epsilon"], options["delta"])
    releases = options["releases"] or ["gaussian:1:1"]
    total = sum(count for _, count in normal_form(sequence(*(_release(text) for text in releases))))

    def plan(level: float) -> Event:
        return sequence(*(_release(text, level) for text in releases))

    level = calibrate(plan, budget)
    event = plan(level)
    _within_reach(event)
    return _Cost(
        PrivacyRecord.of(normal_form(event), event, budget, BY_HAND),
        event,
        {"noise_multiplier": level, "count": total},
        f"noise multiplier {level:.6g} for {total:,} releases\n",
    )


def _plan(options: dict[str, Any]) -> _Cost:
    """The cost of an algorithm's plan on a declared public shape."""
    from dpmf_core import algorithms  # not needed for a composition
    from dpmf_core.runs.planning import prepare_for_shape
    from dpmf_core.runs.specification import RunSpec, with_delta
    from dpmf_core.runs.sweep import typed_parameters

    kind, shape = algorithms.find(options["algorithm"]), _shape(options)
    names = ("epsilon", "delta", "relation", "calibration")
    choices = with_delta({name: options[name] for name in names}, [kind.id], shape.n_users)
    parameters = typed_parameters(kind, pairs(options["params"], "--param"))
    spec = RunSpec.of(**choices, dataset="-", algorithm=kind.id, parameters=parameters)
    ready = prepare_for_shape(spec, shape)
    facts = {
        "algorithm": kind.id,
        "parameters": ready.algorithm.model_dump(mode="json"),
        "level": ready.level,
    }
    privacy = PrivacyRecord.of(normal_form(ready.plan), ready.plan, spec.budget, ready.guarantee)
    return _Cost(privacy, ready.plan, facts)


def _shape(options: dict[str, Any]) -> "Shape":
    from dpmf_core.data.ratings import Shape

    users, items = options["n_users"], options["n_items"]
    if users is None or items is None or not (users >= 1 and items >= 1):
        raise BadInput(
            "A plan needs the public shape of the data: --n-users N --n-items M, both at least 1,"
            " and --bounds LOW,HIGH."
        )
    try:
        low, high = (float(part) for part in options["bounds"].split(","))
    except ValueError:
        raise BadInput(
            "--bounds takes two numbers with a comma between them, e.g. 1,5. Got"
            f" {options['bounds']!r}."
        ) from None
    if not -1e6 <= low < high <= 1e6:
        raise BadInput(
            "--bounds takes the lowest and the highest rating, in this order. Got"
            f" {options['bounds']!r}."
        )
    return Shape(users, items, (low, high))
