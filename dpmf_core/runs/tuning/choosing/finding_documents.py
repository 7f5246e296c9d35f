"""A finding as a printable page and as a notebook, both self-contained.

They hold the question, figures from public or simulated data, declared facts and noisy releases,
and nothing else of private rows.
"""

from collections.abc import Callable

from markupsafe import Markup

from dpmf_core import algorithms
from dpmf_core.base import documents
from dpmf_core.base.documents import plain
from dpmf_core.privacy.formatting import budget_text, delta_text
from dpmf_core.runs import conclusions
from dpmf_core.runs.conclusions import Reference, share_text
from dpmf_core.runs.draws import Judgement
from dpmf_core.runs.line_charts import line_chart
from dpmf_core.runs.record import provenance
from dpmf_core.runs.tuning.choosing import wording
from dpmf_core.runs.tuning.choosing.finding import MODEL, Finding
from dpmf_core.runs.tuning.choosing.private_finding import PrivateFinding
from dpmf_core.runs.tuning.choosing.public_finding import PublicFinding


def report(finding: Finding) -> str:
    """The finding as an HTML page."""
    return documents.render(
        "choice.html",
        title=finding.name,
        finding=finding,
        chart=Markup(_chart(finding)),
        question_rows=_question_rows(finding),
        model_folder=MODEL,
        outside="left out"
        if "outside=leave-out" in finding.path
        else "set to its nearest end",
    )


def notebook(finding: Finding) -> str:
    """A notebook, as JSON, that repeats and trains the answer if the package is installed."""
    return documents.notebook(
        "choice.notebook",
        finding=finding,
        again=finding.again_keywords,
        model_folder=MODEL,
    )


def _question_rows(finding: Finding) -> list[tuple[str, object]]:
    question = finding.question
    origin = provenance()
    rows: dict[str, object] = {
        "data": finding.title + ("" if finding.public else " (private)"),
        "figures": finding.source,
        "taken as public or declared": ", ".join(finding.assumptions),
        "must protect": question.whom,
        "asked for": _wish(finding),
        "is for": "ratings" if question.goal == "ratings" else "lists of 20",
        "δ": delta_text(question.delta),
        "parameters": ", ".join(
            f"{name} {plain(value)}" for name, value in finding.parameters.items()
        ),
        "draws of split and noise": _draws_words(finding),
        "made (UTC)": origin["created"],
        "versions": ", ".join(
            f"{name} {version}" for name, version in origin["versions"].items()
        ),
    }
    return [(name, value) for name, value in rows.items() if value]


def _wish(finding: Finding) -> str:
    question = finding.question
    if question.spend is not None:
        return f"ε at most {budget_text(question.spend)}"
    if question.keep is not None and isinstance(finding, PublicFinding):
        worth = conclusions.worth_words(finding.answer.judgement)
        return f"at least {question.keep:.0%} of {worth}"
    if question.goal == "lists":
        return f"Recall@20 of at least {question.reach}"
    return f"RMSE of at most {question.reach}"


def _draws_words(finding: Finding) -> str:
    """The number of draws of each run, and of close methods."""
    if not isinstance(finding, PublicFinding):
        return "1 in each world"
    first = finding.question.draws
    place = finding.place
    if place is None or len(place.draws) <= first:
        return str(first)
    return f"{first}; {len(place.draws)} of the best methods at ε = {budget_text(finding.epsilon)}"


# ---- the chart -----------------------------------------------------------------------------------


def _chart(finding: Finding) -> str:
    if isinstance(finding, PrivateFinding):
        return _chart_of_range(finding)
    assert isinstance(finding, PublicFinding)
    return _chart_of_shares(finding)


def _chart_of_range(finding: PrivateFinding) -> str:
    """What the method brings against epsilon: the least and the most over the worlds."""
    expected = finding.expected
    title = algorithms.find(expected.method).title
    spans = {epsilon: expected.gain(epsilon) for epsilon in expected.epsilons}
    lines = {
        f"{title}, the most": [(epsilon, span.high) for epsilon, span in spans.items()],
        f"{title}, the least": [(epsilon, span.low) for epsilon, span in spans.items()],
        "no sharing": [(epsilon, 0.0) for epsilon in spans],
    }
    best: str | None = None
    measured = sorted((step.epsilon, step.fall.value) for step in finding.known_steps)
    if measured:
        best = "measured"
        lines[best] = measured
    what = wording.range_label(expected)
    return line_chart(
        lines,
        f"{what} against ε, total",
        f"{what} against epsilon. {finding.headline}",
        log=True,
        best=best,
        dashes={"no sharing": Reference.FLOOR},
        dot=measured[-1] if measured else None,
        text=expected.metric.text,
    )


def _chart_of_shares(finding: PublicFinding) -> str:
    """The share kept against epsilon, one line for each method; the recommended one stands out.

    Where sharing is worth nothing measurable it is the error.
    """
    answer = finding.answer
    judgement = answer.judgement
    of_shares = judgement.is_sharing_worth
    ends = (answer.question.epsilons[0], answer.question.epsilons[-1])
    best = answer.best
    references = conclusions.reference_lines(judgement, best, of_shares=of_shares)
    text: Callable[[float], str] = answer.metric.text
    what = answer.metric.title
    if of_shares:
        text = share_text
        what = "Share kept"
    names = _line_names(judgement)
    lines = {
        names[line.reference]: [(end, line.value) for end in ends]
        for line in references
    }
    for one in judgement.ranked:
        if of_shares:
            height = judgement.share(one)
        else:
            height = one.median
        if height is not None:
            lines.setdefault(one.label, []).append((one.epsilon or 0.0, height))
    return line_chart(
        lines,
        f"{what} against ε, total",
        f"{what} against epsilon. {finding.headline}",
        log=True,
        best=best.label if best else "",
        dashes={names[line.reference]: line.reference for line in references},
        dot=lines[best.label][answer.question.epsilons.index(finding.epsilon)]
        if best
        else None,
        text=text,
    )


def _line_names(judgement: Judgement) -> dict[Reference, str]:
    """Short names of the reference lines; their figures are in the sentences."""
    best = judgement.best_known
    return {
        Reference.WITHOUT_NOISE: "without noise",
        Reference.BEST_KNOWN: "" if best is None else f"{best.label}, no privacy",
        Reference.FLOOR: conclusions.floor_words(judgement),
    }
