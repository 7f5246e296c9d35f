"""What an erratum is: a source's statement, what holds, and a computation of both."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from dpmf_core.audit.canaries import rounded
from dpmf_core.audit.membership_inference import Audit, AuditSpec
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.privacy.mechanisms import Relation


class Status(StrEnum):
    """How sure a correction is, and of what kind. Only the first is called an error."""

    ERROR = "error with proof"
    AMBIGUOUS = "ambiguous"
    LOOSE = "loose"
    CONCEDED = "conceded by the authors"


def epsilon_form(digits: int) -> str:
    """How a computed epsilon is printed beside another from which it differs in these decimals."""
    return f"ε = {{:.{digits}f}}"


@dataclass(frozen=True)
class Reading:
    """A figure with its name. form: how it is printed, with one field for the value."""

    name: str
    value: float
    form: str = epsilon_form(2)

    @property
    def text(self) -> str:
        return self.form.format(self.value)


@dataclass(frozen=True)
class Comparison:
    """The figure as the source has it, the figure that holds, and what else was computed."""

    before: Reading
    after: Reading
    more: tuple[Reading, ...] = ()

    @property
    def texts(self) -> tuple[str, str]:
        """Both figures as they are printed."""
        return self.before.text, self.after.text

    @property
    def readings(self) -> tuple[Reading, ...]:
        return (self.before, self.after, *self.more)


@dataclass(frozen=True)
class Attack:
    """A comparison that an audit measures, in many seconds. read: what a finished audit says."""

    spec: AuditSpec
    read: Callable[[Audit], Comparison]


@dataclass(frozen=True)
class Erratum:
    """One correction of a source.

    place: where in the source. quote: its words there, copied exactly. statement: the same in
    our words. holds: what is so instead. section: the heading that derives it, in docs/PRIVACY.md,
    "Corrections of the sources". means: the computation of both figures, or the audit that
    measures them. settings: what both computations assume. stored_figures: both figures as printed,
    where computing them takes longer than a list may; tests compute them again.
    """

    id: str
    title: str
    source: str
    place: str
    status: Status
    statement: str
    holds: str
    section: str
    means: Callable[[], Comparison] | Attack
    settings: str
    stored_figures: tuple[str, str] | None = None
    quote: str = ""

    @functools.cached_property
    def figures(self) -> tuple[str, str]:
        """Both figures as printed, without waiting."""
        return self.stored_figures or self.compare().texts

    def compare(self) -> Comparison:
        """Both figures, computed now. An audit takes seconds."""
        if isinstance(self.means, Attack):
            return self.means.read(self.means.spec.measure())
        return self.means()


def nominal(epsilon: float) -> Reading:
    """What the source sets its noise for."""
    return Reading("as stated", epsilon, f"ε = {budget_text(epsilon)}")


def attack_shows(audit: Audit) -> Reading:
    """The bound that an audit measured, never rounded up."""
    return Reading("an attack shows at least", rounded(audit.lower), "ε ≥ {:.2f}")


def attack_could_show(audit: Audit) -> Reading:
    """What so many trainings would show if nothing were hidden."""
    return Reading("so many trainings could show at most", rounded(audit.most), "ε ≥ {:.2f}")


EXACT = {
    Relation.ADD_REMOVE: "exact, a unit added or removed",
    Relation.REPLACE_ONE: "exact, a unit replaced",
}
