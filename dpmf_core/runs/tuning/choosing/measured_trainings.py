"""Measured trainings on the data of a question: what each brought, and what all of them cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpmf_core.privacy.odometer import Charge, total
from dpmf_core.runs.fall_record import FallRecord
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec

USUAL_EPSILON = 0.1  # of a measurement


@dataclass(frozen=True)
class AnswerStep:
    """One training and the measurement of what it brought.

    Attributes
    ----------
    spec
        The run.
    epsilon
        The epsilon of the training, for the people whom the question protects.
    fall
        The measured fall of the error.
    charges
        The charges of the training and of the measurement.
    """

    spec: RunSpec
    epsilon: float
    fall: FallRecord
    charges: tuple[Charge, ...]

    @classmethod
    def of(cls, run: Run, epsilon: float) -> "AnswerStep":
        """The step of a measured run on private data."""
        record = run.record
        fall = record.fall
        # a measured run on private data
        assert fall is not None and fall.price is not None
        training = Charge.of(
            record.title, record.event, record.guarantee, record.spec.budget
        )
        measurement = fall.charge(record.title, record.guarantee)
        assert measurement is not None  # it has a price
        return cls(record.spec, epsilon, fall.exported(), (training, measurement))

    def export(self) -> dict[str, Any]:
        """The step as JSON."""
        return {"epsilon": self.epsilon, "fall": self.fall.model_dump(mode="json")}


def epsilon_of(steps: Sequence[AnswerStep]) -> float:
    """The epsilon of these steps together, for one person."""
    return total([charge for step in steps for charge in step.charges]).epsilon


def missing_charges(
    earlier: Sequence[Charge], steps: Sequence[AnswerStep]
) -> list[Charge]:
    """The charges of steps that an account does not hold, such as one that was removed."""
    in_account = [(charge.title, charge.ledger) for charge in earlier]
    missing = []
    for step in steps:
        for charge in step.charges:
            name = charge.title, charge.ledger
            if name in in_account:
                in_account.remove(name)
            else:
                missing.append(charge)
    return missing
