"""What may be claimed about a run, and in which words."""

from dataclasses import dataclass, replace
from enum import StrEnum


class Status(StrEnum):
    PROVEN = "PROVEN"
    CONDITIONAL = "CONDITIONAL"
    UNPROVEN = "UNPROVEN"
    NONE = "NONE"


VALUE = "value of a rating"  # the unit where who rated what is public: its neighbour has another value, and nothing is added or removed


def neighbours(unit: str, relation: str) -> str:
    """How a neighbouring data set differs, as it is printed. relation: a `Relation`, or as a record has it."""
    if unit == VALUE:
        return "another value"
    return "add/remove" if relation == "add-remove" else "replace-one, at most"


@dataclass(frozen=True)
class Guarantee:
    """status: what is proved. unit: whose data one neighbouring step adds or removes. assumptions: what CONDITIONAL rests on.
    taken_as_public: facts the proof treats as known. claim: the source's own words, printed in quotation marks where UNPROVEN; reason: why it is."""

    status: Status
    unit: str = "user"
    assumptions: tuple[str, ...] = ()
    taken_as_public: tuple[str, ...] = ()
    claim: str = ""
    reason: str = ""

    def given(self, *assumptions: str) -> "Guarantee":
        """The same guarantee, resting on further assumptions; PROVEN becomes CONDITIONAL, others keep their status."""
        if not assumptions or self.status is Status.NONE:
            return self
        status = Status.CONDITIONAL if self.status is Status.PROVEN else self.status
        return replace(self, status=status, assumptions=tuple(dict.fromkeys((*self.assumptions, *assumptions))))

    @property
    def has_epsilon(self) -> bool:
        """Only proofs, whole or conditional, put an epsilon on screen."""
        return self.status in (Status.PROVEN, Status.CONDITIONAL)

    @property
    def words(self) -> str:
        if self.status is Status.PROVEN:
            return f"Every release is in the ledger and every sensitivity is proved, for one {self.unit}."
        if self.status is Status.CONDITIONAL:
            return f"Proved for one {self.unit}, provided that " + " and ".join(self.assumptions) + "."
        if self.status is Status.UNPROVEN:
            because = f": {self.reason}" if self.reason else ""
            return f'No proof is known{because}. The source says: "{self.claim}".'
        return "Not private: nothing limits what the result reveals about one person."


NOT_PRIVATE = Guarantee(Status.NONE)
