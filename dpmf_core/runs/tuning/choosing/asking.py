"""From a question to its finding, for every caller: it says how runs are computed."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, TypeVar

from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy import default_delta
from dpmf_core.privacy.accounts import Account
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.measurements import Measured, Point
from dpmf_core.runs.record import provenance
from dpmf_core.runs.tuning.choosing.answer import find
from dpmf_core.runs.tuning.choosing.declared_shape import DeclaredShape
from dpmf_core.runs.tuning.choosing.declared_worlds import UnpaidRange
from dpmf_core.runs.tuning.choosing.finding import Finding
from dpmf_core.runs.tuning.choosing.private_finding import PrivateFinding, world_runs
from dpmf_core.runs.tuning.choosing.public_finding import PublicFinding
from dpmf_core.runs.tuning.choosing.question import (
    LARGEST_SPEND,
    Question,
    QuestionRuns,
)

AnyFinding = TypeVar("AnyFinding", bound=Finding)
Compute = Callable[[Sequence[Point]], Draws]  # the table of these runs, all finished

# ---- questions -----------------------------------------------------------------------------------


def question_of(data_id: str, n_users: int, options: dict[str, Any]) -> Question:
    """A question, with the usual delta if none is given. Raises BadInput."""
    parts = dict(options)
    if parts.get("delta") is None:
        parts["delta"] = default_delta(n_users)
    if parts.get("group", 1) != 1:
        parts["protect"] = "group"
    return Question.parse(data={"id": data_id}, **parts)


def public_finding(
    data_id: str, shape: Shape, options: dict[str, Any], compute: Compute, **facts: Any
) -> PublicFinding:
    """The answer on public data, on which methods are tried.

    Parameters
    ----------
    data_id
        The id of the data.
    shape
        The shape of the data.
    options
        The fields of `Question` except the data.
    compute
        Computes the table of runs.
    **facts
        Further fields of the finding.

    Returns
    -------
    PublicFinding
        The answer and the runs behind it.

    Raises
    ------
    BadInput
        If the question cannot be asked about these data.
    """
    question = question_of(data_id, shape.n_users, options)
    runs = QuestionRuns(question, shape)
    _, answer = find(runs, compute)
    assert answer is not None  # every run has finished
    return PublicFinding(question=question, runs=runs, answer=answer, **facts)


def private_finding(
    declared: DeclaredShape, options: dict[str, Any], compute: Compute, **facts: Any
) -> PrivateFinding:
    """The prediction for private data of a declared shape.

    Parameters
    ----------
    declared
        The declared shape.
    options
        The fields of `Question` except the data.
    compute
        Computes the table of runs.
    **facts
        Further fields of the finding.

    Returns
    -------
    PrivateFinding
        The recommended method and its range over the worlds.

    Raises
    ------
    BadInput
        If anything but the largest epsilon is asked for.
    """
    if options.get("spend") is None or options.get("keep") or options.get("reach"):
        raise BadInput(
            "On private data give the largest epsilon, spend (--spend), and neither keep nor reach:"
            " what sharing is worth there, and the error, are not known before a release."
        )
    question = question_of(declared.id, declared.n_users, options)
    return PrivateFinding(
        question=question, expected=_range_of(question, compute), **facts
    )


def with_spend(
    finding: PrivateFinding, epsilon: float, compute: Compute
) -> PrivateFinding:
    """The finding with another epsilon to spend. Raises BadInput above the largest."""
    if epsilon > LARGEST_SPEND:
        raise BadInput(f"The largest epsilon is {LARGEST_SPEND:g}. Got {epsilon:g}.")
    question = finding.question.model_copy(update={"spend": epsilon})
    return replace(finding, question=question, expected=_range_of(question, compute))


def _range_of(question: Question, compute: Compute) -> UnpaidRange:
    runs = world_runs(question)
    expected = UnpaidRange.of(runs, compute(runs.points))
    assert expected is not None  # every run has finished
    return expected


def with_account(finding: AnyFinding, account: Account | None) -> AnyFinding:
    """The finding with what was drawn from its data so far."""
    if account is None:
        return finding
    earlier = tuple(entry.charge for entry in account.entries)
    return replace(finding, earlier=earlier, budget=account.budget)


# ---- as JSON -------------------------------------------------------------------------------------


def export(finding: Finding) -> dict[str, Any]:
    """The finding as JSON, as it may leave the machine."""
    special = dict[str, Any]()
    if isinstance(finding, PublicFinding):
        special = _measured_part(finding)
    elif isinstance(finding, PrivateFinding):
        special = _expected_part(finding)
    return {
        "question": finding.question.model_dump(mode="json"),
        "headline": finding.headline,
        "measured_on": finding.source,
        "summary": finding.summary,
        "sentences": finding.sentences,
        "algorithm": finding.algorithm or None,
        "epsilon": finding.epsilon or None,
        **special,
        "cost": finding.cost,
        "total": finding.decision and asdict(finding.decision.total),
        "train": finding.train,
        **provenance(),
    }


def _measured_part(finding: PublicFinding) -> dict[str, Any]:
    result = finding.answer
    judgement = finding.answer.judgement

    def exported(one: Measured | None) -> dict[str, Any] | None:
        if one is None:
            return None
        return result.export(one)

    return {
        "best": exported(result.best),
        "is_undecided": result.is_undecided,
        "no_difference": [one.algorithm for one in result.rivals],
        "front": [exported(one) for one in judgement.front],
        "methods": [exported(one) for one in judgement.ranked],
        "without_noise": [
            exported(one) for one in judgement.measured if one.without_noise
        ],
        "best_known": exported(judgement.best_known),
        "floor": exported(judgement.floor),
        "refused": finding.runs.refusals,
    }


def _expected_part(finding: PrivateFinding) -> dict[str, Any]:
    selection = finding.selection
    return {
        "range": finding.expected.export(),
        "selected": None if selection is None else selection.export(),
        "contradiction": finding.contradiction or None,
        "measured": [step.export() for step in finding.steps],
    }
