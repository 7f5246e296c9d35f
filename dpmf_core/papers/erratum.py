"""Errata: a source's statement, what holds instead, and a computation of both."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from dpmf_core.evaluation.audit.canaries import rounded
from dpmf_core.evaluation.audit.membership_inference import Audit, AuditSpec
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.privacy.mechanisms import Relation


class Status(StrEnum):
    """How certain a correction is, and its kind. Only the first kind is called an error."""

    ERROR = "error with proof"
    AMBIGUOUS = "ambiguous"
    LOOSE = "loose"
    CONCEDED = "conceded by the authors"


@dataclass(frozen=True)
class Reading:
    """A named figure. form: its format, with one field for the value."""

    name: str
    value: float
    form: str = "ε = {:.2f}"

    @property
    def text(self) -> str:
        return self.form.format(self.value)


@dataclass(frozen=True)
class Comparison:
    """The source's figure, the figure that holds, and other computed figures."""

    before: Reading
    after: Reading
    more: tuple[Reading, ...] = ()

    @property
    def texts(self) -> tuple[str, str]:
        """Both figures as text."""
        return self.before.text, self.after.text

    @property
    def readings(self) -> tuple[Reading, ...]:
        return (self.before, self.after, *self.more)


@dataclass(frozen=True)
class Attack:
    """A comparison that an audit measures, in many seconds. before: the source's figure."""

    spec: AuditSpec
    before: Reading

    def read(self, audit: Audit) -> Comparison:
        """Return what a finished audit shows; its bounds are never rounded up."""
        bounds = {
            "an attack shows at least": audit.lower,
            "the most that this number of runs could show": audit.most,
        }
        measured, possible = (
            Reading(name, rounded(bound), "ε ≥ {:.2f}") for name, bound in bounds.items()
        )
        return Comparison(self.before, measured, (possible,))


Means = Callable[[], Comparison] | Attack


@dataclass(frozen=True)
class Erratum:
    """One correction of a source.

    place: where in the paper. quote: its words, copied exactly. statement: the same in our words.
    holds: what is true instead. section: the heading of its derivation in docs/PRIVACY.md,
    "Corrections of the sources". means: computes both figures, or the audit that measures them.
    settings: assumptions of both computations. stored_figures: both figures as text if computing
    them takes long; tests compute them again.
    """

    id: str
    title: str
    place: str
    status: Status
    statement: str
    holds: str
    section: str
    means: Means
    settings: str
    stored_figures: tuple[str, ...] = ()
    quote: str = ""

    @functools.cached_property
    def figures(self) -> tuple[str, ...]:
        """Both figures as text, without waiting."""
        return self.stored_figures or self.compare().texts

    def compare(self) -> Comparison:
        """Compute both figures; an audit takes seconds."""
        if isinstance(self.means, Attack):
            return self.means.read(self.means.spec.measure())
        return self.means()


def nominal(epsilon: float) -> Reading:
    """Return a reading of the epsilon for which the source sets its noise."""
    return Reading("as stated", epsilon, f"ε = {budget_text(epsilon)}")


EXACT = {
    Relation.ADD_REMOVE: "exact, a unit added or removed",
    Relation.REPLACE_ONE: "exact, a unit replaced",
}
