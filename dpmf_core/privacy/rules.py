"""Every rule by which an epsilon is computed: exact, Renyi, advanced composition, naive sum."""

import functools
import math
from dataclasses import dataclass
from typing import Literal

from dpmf_core.privacy.accounting import (
    Rule,
    epsilon,
    rdp_source,
    rdp_tight,
    rule_of,
    with_failures,
)
from dpmf_core.privacy.events import Event, normal_form
from dpmf_core.privacy.mechanisms import Gaussian, Relation


def _classical(
    event: Event, share: float, relation: Relation
) -> list[tuple[float, int]]:
    """Each release's epsilon by the classical Gaussian mechanism at delta_0 = share / N.

    Dwork & Roth 2014, Thm. A.1.
    """
    ledger = normal_form(event)
    releases = sum(count for leaf, count in ledger if isinstance(leaf, Gaussian))
    if releases and not share:
        raise NotValid("the classical Gaussian mechanism needs a delta above 0")
    out = []
    for leaf, count in ledger:
        z = leaf.multiplier(relation)
        if not isinstance(leaf, Gaussian):
            out.append((leaf.pure_epsilon(z), count))
            continue
        eps = math.sqrt(2 * math.log(1.25 * releases / share)) / z
        if not eps < 1:
            raise NotValid(
                "the classical Gaussian mechanism needs a per-release ε below 1;"
                f" {leaf.statistic} would have {eps:.3g}"
            )
        out.append((eps, count))
    return out


def _above_zero(rule: Rule) -> Rule:
    """The rule, which raises NotValid at delta = 0."""

    @functools.wraps(rule)
    def checked(
        event: Event, delta: float, relation: Relation = Relation.ADD_REMOVE
    ) -> float:
        if not delta:
            raise NotValid("this rule needs a delta above 0")
        return rule(event, delta, relation)

    return checked


def _advanced_composition(event: Event, delta: float, relation: Relation) -> float:
    """Dwork, Rothblum & Vadhan 2010, with delta/2 each for the releases and their composition."""
    parts = _classical(event, delta / 2, relation)
    squares = sum(count * eps * eps for eps, count in parts)
    return math.sqrt(2 * math.log(2 / delta) * squares) + sum(
        count * eps * (math.expm1(eps) if eps < 700 else math.inf)
        for eps, count in parts
    )


def _naive(event: Event, delta: float, relation: Relation) -> float:
    return sum(count * eps for eps, count in _classical(event, delta, relation))


class NotValid(ValueError):
    """A rule's condition does not hold for this ledger, so its figure would not be a bound."""


RuleName = Literal["exact", "rdp_source", "rdp_tight", "advanced", "naive"]
RULES: dict[RuleName, tuple[str, Rule]] = {
    "exact": ("exact", epsilon),
    "rdp_source": ("RDP (source) = zCDP", _above_zero(with_failures(rdp_source))),
    "rdp_tight": ("RDP (tight)", _above_zero(with_failures(rdp_tight))),
    "advanced": (
        "advanced composition",
        _above_zero(with_failures(_advanced_composition)),
    ),
    "naive": ("naive sum", with_failures(_naive)),
}
RULE_TITLES: dict[str, str] = {name: title for name, (title, _) in RULES.items()}


@dataclass(frozen=True)
class RuleEpsilon:
    """One rule's figure for a ledger; None with a `reason` if the rule is not valid."""

    rule: RuleName
    title: str
    epsilon: float | None
    reason: str = ""


@functools.lru_cache(maxsize=1024)
def every_epsilon(
    event: Event, delta: float, relation: Relation = Relation.ADD_REMOVE
) -> tuple[RuleEpsilon, ...]:
    """Every rule's epsilon of one event, the exact one first."""
    rows = []
    titles = RULE_TITLES | {"exact": rule_of(event, relation)}
    for name, (_, rule) in RULES.items():
        value: float | None = None
        reason = "no finite bound"
        try:
            value = rule(event, delta, relation)
        except NotValid as why:
            reason = why.args[0]
        if value is not None and math.isfinite(value):
            rows.append(RuleEpsilon(name, titles[name], value))
        else:
            rows.append(RuleEpsilon(name, titles[name], None, reason))
    return tuple(rows)
