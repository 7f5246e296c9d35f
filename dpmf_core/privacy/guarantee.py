"""What may be claimed about a run, and in which words."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum


class Status(StrEnum):
    PROVEN = "PROVEN"
    CONDITIONAL = "CONDITIONAL"
    UNPROVEN = "UNPROVEN"
    NONE = "NONE"


VALUE = "value of a rating"  # the unit where who rated what is public: its neighbour has another value, and nothing is added or removed
PERSON = "person"  # the unit where it is known whose each document or image is: all of hers together


def neighbours(unit: str, relation: str) -> str:
    """How a neighbouring data set differs, as it is printed. relation: a `Relation`, or as a record has it."""
    if unit == VALUE:
        return "another value"
    return "add/remove" if relation == "add-remove" else "replace-one, at most"


def noise_words(mechanisms: Iterable[str], reproducible: bool) -> str:
    """Which noise it was and where it came from, from the kinds of a ledger's mechanisms; empty where nothing was released."""
    words = " and ".join(dict.fromkeys(NOISES.get(kind, f"{kind} noise") for kind in mechanisms))
    if not words:
        return ""
    if reproducible:
        return f"{words[0].upper()}{words[1:]}, drawn from a seed: noise reproducible, for study, not for release."
    return f"{words[0].upper()}{words[1:]}, from AES-128 in counter mode with a key of the operating system that is stored nowhere: nobody can draw it again."


NOISES = {
    "Gaussian": "floating-point Gaussian noise", "Laplace": "floating-point Laplace noise", "posterior sample": "a floating-point posterior sample",
    "thresholded Gaussian": "floating-point Gaussian noise", "padded Gaussian count": "floating-point Gaussian noise",
    "discrete Gaussian": "exact discrete Gaussian noise on a grid",
}  # fmt: skip


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

    def of(self, unit: str) -> "Guarantee":
        """A guarantee of samples, said of what they are; of people, their number is public."""
        known = ("the number of people",) if unit == PERSON else ()
        return replace(self, unit=unit, taken_as_public=(*known, *self.taken_as_public))

    @property
    def has_epsilon(self) -> bool:
        """Only proofs, whole or conditional, put an epsilon on screen."""
        return self.status in (Status.PROVEN, Status.CONDITIONAL)

    @property
    def words(self) -> str:
        one = f"one {self.unit}" + " (all her rows)" * (self.unit == PERSON)
        if self.status is Status.PROVEN:
            return f"Every release is in the ledger and every sensitivity is proved, for {one}."
        if self.status is Status.CONDITIONAL:
            return f"Proved for {one}, provided that " + " and ".join(self.assumptions) + "."
        if self.status is Status.UNPROVEN:
            because = f": {self.reason}" if self.reason else ""
            return f'No proof is known{because}. The source says: "{self.claim}".'
        return "Not private: nothing limits what the result reveals about one person."


NOT_PRIVATE = Guarantee(Status.NONE)
