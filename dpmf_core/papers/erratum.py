"""Errata: a source's statement, what holds instead, and a computation of both."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from dpmf_core.evaluation.audit.canaries import rounded
from dpmf_core.evaluation.audit.membership_inference import Audit, AuditSpec

Values = tuple[float, ...]  # the source's figure, the figure that holds, and others


class Status(StrEnum):
    """How certain a correction is, and its kind. Only the first kind is called an error."""

    ERROR = "error with proof"
    AMBIGUOUS = "ambiguous"
    LOOSE = "loose"
    CONCEDED = "conceded by the authors"


class Reading(NamedTuple):
    """A named figure."""

    name: str
    value: float
    text: str


@dataclass(frozen=True)
class Attack:
    """Figures that an audit measures, in many seconds. stated: the source's figure."""

    spec: AuditSpec
    stated: float

    def read(self, audit: Audit) -> Values:
        """Return what a finished audit shows; its bounds are never rounded up."""
        return self.stated, rounded(audit.lower), rounded(audit.most)


Means = Callable[[], Values] | Attack


@dataclass(frozen=True)
class Erratum:
    """One correction of a source.

    place: where in the paper. quote: its words, copied exactly. statement: the same in our words.
    holds: what is true instead. section: the heading of its derivation in docs/PRIVACY.md,
    "Corrections of the sources". means: computes all figures, or the audit that measures them.
    readings: name and format of each figure. settings: assumptions of the computations.
    stored_figures: the first two as text if computing them takes long; tests compute them again.
    """

    id: str
    title: str
    place: str
    status: Status
    statement: str
    holds: str
    section: str
    means: Means
    readings: Sequence[tuple[str, str]]
    settings: str
    stored_figures: Sequence[str] = ()
    quote: str = ""

    @functools.cached_property
    def figures(self) -> tuple[str, ...]:
        """The source's figure and the one that holds, as text, without waiting."""
        return tuple(self.stored_figures or (it.text for it in self.compare()[:2]))

    def compare(self) -> tuple[Reading, ...]:
        """Compute all figures; an audit takes seconds."""
        if isinstance(self.means, Attack):
            return self.read(self.means.read(self.means.spec.measure()))
        return self.read(self.means())

    def read(self, values: Values) -> tuple[Reading, ...]:
        """Return figures with their names and as text."""
        return tuple(
            Reading(name, value, form.format(value))
            for (name, form), value in zip(self.readings, values, strict=True)
        )
