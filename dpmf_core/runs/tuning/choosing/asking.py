"""From a question to its finding, for every caller: it says how runs are computed."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any, TypeVar

from dpmf_core.base.errors import BadInput
from dpmf_core.data import PartitionedRatings
from dpmf_core.data.ratings import Ratings
from dpmf_core.privacy import default_delta
from dpmf_core.privacy.accounts import Account
from dpmf_core.runs.commands import PROGRAM
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.measurements import Point
from dpmf_core.runs.record import provenance
from dpmf_core.runs.tuning.choosing.answer import find
from dpmf_core.runs.tuning.choosing.finding import Finding
from dpmf_core.runs.tuning.choosing.private_finding import PrivateFinding, world_runs
from dpmf_core.runs.tuning.choosing.public_finding import PublicFinding
from dpmf_core.runs.tuning.choosing.question import (
    LARGEST_SPEND,
    Question,
    QuestionRuns,
)
from dpmf_core.runs.tuning.choosing.unpaid_range import DeclaredShape, UnpaidRange

AnyFinding = TypeVar("AnyFinding", bound=Finding)
Compute = Callable[[Sequence[Point]], Draws]  # the table of these runs, all finished

# ---- questions -----------------------------------------------------------------------------------


def question_of(data_id: str, n_users: int, options: dict[str, Any]) -> Question:
    """A question, with the usual delta if none is given. Raises BadInput."""
    options = dict(options)
    if options.get("delta") is None:
        options["delta"] = default_delta(n_users)
    if options.get("group", 1) != 1:
        options["protect"] = "group"
    return Question.parse(data={"id": data_id}, **options)


def finding_of(
    data_id: str,
    asked: Ratings | PartitionedRatings | DeclaredShape,
    options: dict[str, Any],
    compute: Compute,
    *,
    title: str = "data of a declared shape",
    path: str = "",
    assumptions: tuple[str, ...] = (),
    program: tuple[str, ...] = PROGRAM,
) -> Finding:
    """The answer on public data, on which methods are tried, or the prediction for a shape.

    Parameters
    ----------
    data_id
        The id of the data.
    asked
        Public data, or the declared shape of private data.
    options
        The fields of `Question` except the data.
    compute
        Computes the table of runs.
    title, path, assumptions, program
        See `Finding`.

    Raises
    ------
    BadInput
        If the question cannot be asked about these data. On private data that is anything but the
        largest epsilon.
    """
    if not isinstance(asked, DeclaredShape):
        question = question_of(data_id, asked.n_users, options)
        runs = QuestionRuns(question, asked.shape)
        _, answer = find(runs, compute)
        assert answer is not None  # every run has finished
        return PublicFinding(
            question=question,
            title=title,
            path=path,
            assumptions=assumptions,
            program=program,
            runs=runs,
            answer=answer,
        )
    if options.get("spend") is None or options.get("keep") or options.get("reach"):
        raise BadInput(
            "On private data give the largest epsilon, spend (--spend), and neither keep nor reach:"
            " what sharing is worth there, and the error, are not known before a release."
        )
    question = question_of(asked.id, asked.n_users, options)
    return PrivateFinding(
        question=question,
        title=title,
        path=path,
        assumptions=assumptions,
        program=program,
        expected=_range_of(question, compute),
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
    return {
        "question": finding.question.model_dump(mode="json"),
        "headline": finding.headline,
        "measured_on": finding.source,
        "summary": finding.summary,
        "sentences": finding.sentences,
        "algorithm": finding.algorithm or None,
        "epsilon": finding.epsilon or None,
        **finding.details,
        "cost": finding.cost,
        "total": finding.decision and asdict(finding.decision.total),
        "train": finding.train,
        **provenance(),
    }
