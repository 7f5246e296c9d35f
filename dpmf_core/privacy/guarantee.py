"""What may be claimed about a run, and how the claim is worded."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from dpmf_core.base.documents import html_table


class Status(StrEnum):
    """How far a guarantee is proved."""

    PROVEN = "PROVEN"
    CONDITIONAL = "CONDITIONAL"
    UNPROVEN = "UNPROVEN"
    NONE = "NONE"

    @property
    def has_epsilon(self) -> bool:
        """Whether an epsilon may be shown: only with a proof, whole or conditional."""
        return self in (Status.PROVEN, Status.CONDITIONAL)


# the unit if it is public who rated what: a neighbour has another value in one rating
VALUE = "value of a rating"
# the unit if the owner of each document or image is known: a person with all their rows
PERSON = "person"


def neighbours(unit: str, relation: str) -> str:
    """How a neighbouring data set differs, as printed.

    The relation is a `Relation` or its text in a record.
    """
    if unit == VALUE:
        return "another value"
    if relation == "add-remove":
        return "add/remove"
    return "replace-one"


def noise_words(mechanisms: Iterable[str], reproducible: bool) -> str:
    """The kind and the source of a run's noise; empty if nothing was released.

    Parameters
    ----------
    mechanisms : iterable of str
        Those in the run's ledger.
    reproducible : bool
    """
    kinds = list(dict.fromkeys(mechanisms))
    if not kinds:
        return ""
    first, *others = dict.fromkeys(NOISES.get(kind, kind) for kind in kinds)
    text = " and ".join(
        (first, *(clause[:1].lower() + clause[1:] for clause in others))
    )
    if reproducible:
        text += (
            ", drawn from a seed: the noise is reproducible, "
            "so use it for study, not for release."
        )
    else:
        text += (
            ", from AES-128 in counter mode with a key from the operating system; the key is never"
            " stored, so the noise cannot be reproduced."
        )
    if kinds == [DISCRETE]:
        return text
    return f"{text} {REAL_NUMBERS}"


DISCRETE = "discrete Gaussian"
# the limit of a proof if noise is drawn in floating point
REAL_NUMBERS = (
    "The proof assumes real numbers, which floating-point noise approximates; discrete noise is"
    " exact and 0.1% larger."
)
GAUSSIAN = "Floating-point Gaussian noise"
NOISES = {  # by mechanism
    "Gaussian": GAUSSIAN,
    "Laplace": "Floating-point Laplace noise",
    "posterior sample": "A floating-point posterior sample",
    "thresholded Gaussian": GAUSSIAN,
    "padded Gaussian count": GAUSSIAN,
    DISCRETE: "Exact discrete Gaussian noise on a grid",
}


@dataclass(frozen=True)
class Guarantee:
    """What is proved about a run.

    Attributes
    ----------
    status
        How far it is proved.
    unit : str
        Whose data one neighbouring step adds or removes.
    assumptions
        What a CONDITIONAL guarantee rests on.
    taken_as_public
        Facts that the proof treats as known.
    claim : str
        The source's own words, printed in quotation marks if UNPROVEN.
    reason : str
        Why the status is UNPROVEN or NONE.
    """

    status: Status
    unit: str = "user"
    assumptions: tuple[str, ...] = ()
    taken_as_public: tuple[str, ...] = ()
    claim: str = ""
    reason: str = ""

    def assuming(self, *assumptions: str) -> "Guarantee":
        """The guarantee under further assumptions; PROVEN becomes CONDITIONAL."""
        if not assumptions or self.status is Status.NONE:
            return self
        if self.status is Status.PROVEN:
            status = Status.CONDITIONAL
        else:
            status = self.status
        return replace(
            self,
            status=status,
            assumptions=tuple(dict.fromkeys((*self.assumptions, *assumptions))),
        )

    def of(self, unit: str) -> "Guarantee":
        """The guarantee for another unit. If units are people, their number is public."""
        facts = ("the number of people",) if unit == PERSON else ()
        return replace(self, unit=unit, taken_as_public=(*facts, *self.taken_as_public))

    def __repr__(self) -> str:
        return f"<Guarantee: {self.status}. {self.words}>"

    def __str__(self) -> str:
        return f"{self.status}: {self.words}"

    def _repr_html_(self) -> str:
        if self.taken_as_public:
            facts = " and ".join(self.taken_as_public)
        else:
            facts = "nothing"
        rows = [(str(self.status), self.words), ("taken as public", facts)]
        return html_table(["", ""], rows)

    @property
    def has_epsilon(self) -> bool:
        return self.status.has_epsilon

    @property
    def words(self) -> str:
        if self.unit == PERSON:
            unit = "person (all their rows)"
        else:
            unit = self.unit
        if self.status is Status.PROVEN:
            return f"Every release is in the ledger and every sensitivity is proved for one {unit}."
        if self.status is Status.CONDITIONAL:
            return f"Proved for one {unit}, provided that {' and '.join(self.assumptions)}."
        if self.status is Status.UNPROVEN:
            reason = f": {self.reason}" if self.reason else ""
            return f'No proof is known{reason}. The source says: "{self.claim}".'
        if self.reason:
            return f"No privacy: {self.reason}. {NO_LIMIT}"
        return NOT_LIMITED


NO_LIMIT = "Nothing limits what the result reveals about one person."
NOT_LIMITED = "Not private: the result may reveal anything about one person."
NOT_PRIVATE = Guarantee(Status.NONE)
WITHOUT_NOISE = Guarantee(Status.NONE, reason="the same method without noise")
