"""The record of a privacy loss: releases, cost and guarantee. It needs no algorithm and no data."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field

from dpmf_core.base.frozen import Frozen
from dpmf_core.base.plain_tables import table
from dpmf_core.privacy import (
    VALUE,
    Budget,
    Calibration,
    Event,
    Guarantee,
    Laplace,
    Ledger,
    PosteriorSample,
    Relation,
    Status,
    neighbours,
)
from dpmf_core.privacy.accounting import rule_of
from dpmf_core.privacy.events import event_of_rows, ledger_rows
from dpmf_core.privacy.formatting import epsilon_in_full, epsilon_text
from dpmf_core.privacy.mechanisms import title_of
from dpmf_core.privacy.rules import RULE_TITLES, every_epsilon

NotNegative = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
Word = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z ]{0,39}$")]
# the relation if the unit is the value of a rating
AnotherValue = Literal["another-value"]


Highlight = Callable[[str], str]
LEDGER_HEAD = ("released", "noise", "sensitivity", "noise multiplier", "count")
# noise with a finite epsilon at delta 0
PURE = (
    Laplace.mechanism,
    PosteriorSample.mechanism,
)
NO_FINITE_EPSILON = (
    "No finite ε holds at this δ: a release may fail more often. Give a larger δ."
)


def in_words(text: str) -> str:
    """The text with the names of epsilon and delta in place of their letters."""
    return text.replace("ε", "epsilon").replace("δ", "delta")


class GuaranteeRecord(Frozen):
    """A complete guarantee, and its wording when shown.

    Older records hold the words without assumptions, claim and reason.
    """

    status: Status
    words: str
    unit: Word = "user"
    taken_as_public: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    claim: str = ""
    reason: str = ""

    @classmethod
    def of(cls, guarantee: Guarantee) -> Self:
        return cls(**asdict(guarantee), words=guarantee.words)

    def __str__(self) -> str:
        return f"{self.status}: {self.words}"

    @property
    def has_epsilon(self) -> bool:
        return self.status.has_epsilon


class ReleaseRecord(Frozen):
    """A row of the ledger. Fields that only some mechanisms have keep their own names."""

    model_config = ConfigDict(extra="allow")

    mechanism: str
    statistic: str
    sensitivity: NotNegative
    noise_multiplier: NotNegative
    count: Count

    @classmethod
    def of_ledger(cls, ledger: Ledger) -> tuple[Self, ...]:
        """The rows of a ledger."""
        return tuple(map(cls.model_validate, ledger_rows(ledger)))

    @property
    def title(self) -> str:
        """The release, as printed."""
        return title_of(self.statistic, (self.model_extra or {}).get("groups", 1))

    @property
    def cells(self) -> list[str]:
        """A row of the ledger in a table."""
        noise = f"{self.noise_multiplier:.4g}"
        return [
            self.statistic,
            self.mechanism,
            f"{self.sensitivity:.4g}",
            noise,
            str(self.count),
        ]


class EpsilonRecord(Frozen):
    """Epsilon by every rule; None if a rule does not apply or nothing is proved."""

    exact: NotNegative | None = None
    rdp_source: NotNegative | None = None
    rdp_tight: NotNegative | None = None
    advanced: NotNegative | None = None
    naive: NotNegative | None = None


class PrivacyRecord(Frozen):
    """What was released and what it costs.

    Attributes
    ----------
    delta
        None without a budget.
    """

    epsilon: EpsilonRecord = EpsilonRecord()
    rule: str = "exact"
    delta: Annotated[float, Field(ge=0, lt=1)] | None = None
    relation: Relation | AnotherValue = Relation.ADD_REMOVE
    calibration: Calibration | None = None
    guarantee: GuaranteeRecord
    ledger: tuple[ReleaseRecord, ...] = ()

    @classmethod
    def of(
        cls, ledger: Ledger, event: Event, budget: Budget | None, guarantee: Guarantee
    ) -> Self:
        """The record of releases.

        Parameters
        ----------
        ledger
            The releases.
        event
            The plan. Its epsilons are computed.
        budget
            The budget of the run, if it has one. It sets delta and the relation.
        guarantee
            The guarantee, which says whether an epsilon holds.

        Returns
        -------
        PrivacyRecord
            The record, with an epsilon for every rule.
        """
        relation = Relation.ADD_REMOVE
        if budget:
            relation = budget.relation
        delta = budget.delta if budget else None
        rows = every_epsilon(event, 1e-9 if delta is None else delta, relation)
        has_epsilon = guarantee.has_epsilon
        return cls(
            epsilon=EpsilonRecord(
                **{row.rule: row.epsilon if has_epsilon else None for row in rows}
            ),
            rule=rule_of(event, relation),
            delta=delta,
            relation="another-value" if guarantee.unit == VALUE else relation,
            calibration=budget.calibration if budget else None,
            guarantee=GuaranteeRecord.of(guarantee),
            ledger=ReleaseRecord.of_ledger(ledger),
        )

    def __str__(self) -> str:
        return self.privacy_text()

    def privacy_text(self, *more: str, mark: Highlight = str) -> str:
        """Epsilon in full, further lines, every rule's figure, the ledger, the guarantee.

        Parameters
        ----------
        *more
            The further lines.
        mark
            Highlights the status of the guarantee.
        """
        parts = [in_words(self.loss), *more]
        if rules := self.rules:
            parts.append("by every rule: " + "; ".join(map(" ".join, rules)))
        if self.ledger:
            parts.append(table(LEDGER_HEAD, [release.cells for release in self.ledger]))
        if not (self.guarantee.has_epsilon and self.epsilon.exact is None):
            parts.append(f"{mark(self.guarantee.status)}: {self.guarantee.words}")
        # without a guarantee if nothing is proved at this delta
        return "\n".join(parts)

    def __repr__(self) -> str:
        releases = sum(row.count for row in self.ledger)
        return f"<{type(self).__name__}: {self.loss}, {releases:,} releases>"

    @property
    def loss(self) -> str:
        """The total loss in full, or the reason why there is none."""
        epsilon = self.epsilon.exact
        if epsilon is None and self.guarantee.has_epsilon:
            if self.delta:
                return NO_FINITE_EPSILON
            return self._no_pure_epsilon
        if epsilon is None:
            return f"{self.guarantee.status}: no ε"
        if self.delta is None:
            return "ε = 0 (nothing is released)"
        return epsilon_in_full(
            epsilon, self.delta, self.guarantee.unit, self.relation, self.rule
        )

    @property
    def _no_pure_epsilon(self) -> str:
        noises = dict.fromkeys(row.mechanism for row in self.ledger)
        impure = [name for name in noises if name not in PURE]
        noise = " and ".join(f"{name} noise" for name in impure)
        return (
            f"{noise} has no pure ε: at δ = 0 no finite ε holds. "
            "Give a δ below 1/n, such as 1e-6."
        )

    @property
    def by_rule(self) -> dict[str, float | None]:
        """Epsilon by the title of each rule of accounting; None if a rule does not apply."""
        titles = RULE_TITLES | {"exact": self.rule}
        return {title: getattr(self.epsilon, rule) for rule, title in titles.items()}

    @property
    def rules(self) -> list[tuple[str, str]]:
        """`by_rule` as printed; empty if nothing is released or nothing is proved."""
        if self.epsilon.exact is None or not self.ledger:
            return []
        return [
            (title, "not valid here" if epsilon is None else epsilon_text(epsilon))
            for title, epsilon in self.by_rule.items()
        ]

    @property
    def event(self) -> Event:
        """The event that the ledger describes. Raises ValueError on an unknown mechanism."""
        return event_of_rows([row.model_dump() for row in self.ledger])

    @property
    def dp_event(self) -> Any:
        """The ledger as an event of `dp_accounting`. Its accountants find the same epsilon.

        Raises UnsupportedEvent on releases that may fail (item sets and row counts).
        """
        from dpmf_core.privacy.exchange import to_dp_event

        relation = Relation.ADD_REMOVE
        if isinstance(self.relation, Relation):
            relation = self.relation
        return to_dp_event(self.event, relation)

    @property
    def neighbours(self) -> str:
        """How a neighbouring data set differs, as printed."""
        return neighbours(self.guarantee.unit, self.relation)
