"""Measured trainings on the data of a question: what each brought, what all cost, in which words.

A measurement may contradict the prediction.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpmf_core import algorithms
from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.privacy.odometer import Charge, total
from dpmf_core.runs.fall_record import FallRecord
from dpmf_core.runs.paired_errors import NoisyError
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.tuning.choosing import wording
from dpmf_core.runs.tuning.choosing.unpaid_range import Span, UnpaidRange

USUAL_EPSILON = 0.1  # of a measurement
MEASURED = "measured on these data, with noise"


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


# ---- in words ------------------------------------------------------------------------------------


def headline(
    method: str, epsilon: float, fall: NoisyError | FallRecord, unit: str
) -> str:
    """What a method was measured to bring, as a title."""
    title = algorithms.find(method).title
    where = f"{wording.WITH} {title} at ε = {budget_text(epsilon)}"
    return f"{where}, {fall_words(fall, unit)}"


def fall_words(fall: NoisyError | FallRecord, unit: str) -> str:
    """A measured change of the error and its interval, without a capital letter."""
    if fall.is_unknown:
        return "the change of the error is unknown: the noise hides it"
    # z: never minus zero; a range over worlds has two decimals
    if fall.low > 0:
        return (
            f"the error of a person falls by {fall.value:z.3f}{unit}"
            f" ({fall.low:z.3f} to {fall.high:z.3f})"
        )
    if fall.high < 0:
        return (
            f"the error of a person rises by {-fall.value:z.3f}{unit}"
            f" ({-fall.high:z.3f} to {-fall.low:z.3f})"
        )
    return (
        f"no fall of the error was found: it may fall by up to {fall.high:z.3f}{unit}"
        f" or rise by up to {-fall.low:z.3f}"
    )


def contradiction(
    expected: UnpaidRange,
    epsilon: float,
    fall: NoisyError | FallRecord,
    *,
    own_mean_only: bool,
) -> str:
    """A sentence if a measured fall is outside the range that was predicted; '' otherwise.

    Parameters
    ----------
    expected
        The predicted range.
    epsilon
        The epsilon of the training.
    fall
        The measured fall.
    own_mean_only
        Whether the fall is from each person's own mean, although a constant may be better. It may
        then be larger than the predicted fall, so that only a smaller one contradicts the
        prediction.
    """
    predicted = expected.gain(epsilon)
    is_below = fall.high < predicted.low
    is_above = fall.low > predicted.high and not own_mean_only
    if fall.is_unknown or not (is_below or is_above):
        return ""
    direction = "more"
    doubt = ""
    if is_below:
        direction = "less"
        doubt = " Differences that are cut off may explain a part of it."
    return (
        f"The measurement contradicts the prediction: on these data the method brings {direction}"
        f" than in any simulated world, where it brought {_span_words(predicted)}.{doubt}"
    )


def agreement(expected: UnpaidRange, epsilon: float) -> str:
    """What was predicted before a measurement that does not contradict it."""
    span = _span_words(expected.gain(epsilon))
    return (
        f"Before the measurement, simulated worlds of the declared shape gave {span}."
    )


def _span_words(span: Span) -> str:
    return f"{span.low:z.2f} to {span.high:z.2f}"


# ---- the table of steps --------------------------------------------------------------------------


def columns(expected: UnpaidRange) -> tuple[str, ...]:
    """The heads of `rows`."""
    label = wording.range_label(expected)
    return (
        "ε of the training",
        f"{label}: measured",
        "95%",
        "predicted",
        "ε of all steps, per person",
    )


def rows(
    expected: UnpaidRange, steps: Sequence[AnswerStep], *, is_expected: bool
) -> list[tuple[str, ...]]:
    """Every step as text, and the prediction where no step was made.

    Parameters
    ----------
    expected
        The predicted range.
    steps
        The measured steps.
    is_expected
        Whether the prediction is about the method of the steps.
    """
    predictions: dict[float, str] = {}
    if is_expected:
        predictions = {
            one: _span_words(expected.gain(one)) for one in expected.epsilons
        }
    epsilons = sorted({*predictions, *(step.epsilon for step in steps)})
    return [_row(steps, epsilon, predictions.get(epsilon, "")) for epsilon in epsilons]


def _row(
    steps: Sequence[AnswerStep], epsilon: float, predicted: str
) -> tuple[str, ...]:
    places = [place for place, step in enumerate(steps) if step.epsilon == epsilon]
    if not places:
        return budget_text(epsilon), "", "", predicted, ""
    place = places[-1]
    fall = steps[place].fall
    cost = epsilon_text(epsilon_of(steps[: place + 1]), 3)
    if fall.is_unknown:
        return budget_text(epsilon), "unknown", "", predicted, cost
    between = f"{fall.low:z.3f} to {fall.high:z.3f}"
    return budget_text(epsilon), f"{fall.value:z.3f}", between, predicted, cost


def about_rows(expected: UnpaidRange) -> str:
    """What the figures of the table are, in sentences."""
    return (
        "Measured figures were released from these data with noise; their intervals contain the"
        f" figure in 95% of draws of the noise. Predicted figures: {wording.worlds_words(expected)}"
    )


# ---- doubling ------------------------------------------------------------------------------------


def gained_words(steps: Sequence[AnswerStep], unit: str) -> str:
    """What the last doubling brought, in a sentence; '' before there was one.

    Parameters
    ----------
    steps
        The steps whose fall is known, in their order.
    """
    if len(steps) < 2:
        return ""
    before, last = steps[-2:]
    change = _difference(before.fall, last.fall)
    between = f"From ε = {budget_text(before.epsilon)} to {budget_text(last.epsilon)}"
    ends = f"{change.low:z.3f} to {change.high:z.3f}"
    if change.low <= 0 <= change.high:
        return f"{between} no difference was found: the change of the fall is {ends}{unit}."
    direction = "more" if change.low > 0 else "less"
    size = f"{abs(change.value):.3f}{unit} {direction}"
    return f"{between} the error falls by {size} ({ends}, 95%)."


def _difference(before: FallRecord, last: FallRecord) -> NoisyError:
    """How much larger the last of two falls is, if their noises are independent.

    The interval has the ends of both intervals, added as roots of squares (Zou & Donner 2008,
    "Construction of confidence limits about effect measures").
    """
    change = last.value - before.value
    below = math.hypot(last.value - last.low, before.high - before.value)
    above = math.hypot(last.high - last.value, before.value - before.low)
    return NoisyError(change, change - below, change + above)


def next_words(epsilon: float, total: str) -> str:
    """The cost of doubling an epsilon, in words. `total` is the total of everything, as printed."""
    return (
        f"Doubling to ε = {budget_text(2 * epsilon)}, trained and measured, makes the total"
        f" ε = {total}."
    )
