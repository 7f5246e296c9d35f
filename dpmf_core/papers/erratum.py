"""Errata: a source's statement, what holds instead, and the figures of both as recorded."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from dpmf_core.evaluation.audit.membership_inference import AuditSpec


class ErratumStatus(StrEnum):
    """How certain a correction is, and its kind. Only the first kind is called an error."""

    ERROR = "error with proof"
    AMBIGUOUS = "ambiguous"
    LOOSE = "loose"
    CONCEDED = "conceded by the authors"


class Reading(NamedTuple):
    """A named figure as text."""

    name: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Erratum:
    """One correction of a source.

    Attributes
    ----------
    place
        The place in the paper.
    statement
        The paper's statement in our words.
    holds
        The statement that is true instead.
    section
        The heading of the derivation in docs/PRIVACY.md, "Corrections of the sources".
    settings
        The assumptions of the computations.
    readings
        The source's figure, the figure that holds, and others. Tests compute them.
    quote
        The paper's words, copied exactly.
    attack
        The audit that measured the second figure, if one did.
    """

    id: str
    title: str
    place: str
    status: ErratumStatus
    statement: str
    holds: str
    section: str
    settings: str
    readings: tuple[Reading, ...]
    quote: str = ""
    attack: AuditSpec | None = None

    @property
    def figures(self) -> tuple[str, str]:
        """The source's figure and the one that holds."""
        stated, holding, *_ = self.readings
        return stated.text, holding.text
