"""An answer as a printable HTML page, and as a notebook that repeats and trains it.

Both are self-contained. They hold the question, figures from public or simulated data, declared
facts and noisy releases, and nothing else of private rows.
"""

import statistics

from markupsafe import Markup

from dpmf_core.base import documents
from dpmf_core.base.documents import plain
from dpmf_core.privacy.formatting import budget_text, delta_text
from dpmf_core.runs.line_charts import line_chart
from dpmf_core.runs.needed_epsilon import share_text
from dpmf_core.runs.privacy_cost import ReferenceLine
from dpmf_core.runs.record import provenance
from dpmf_core.runs.tuning.choosing import wording
from dpmf_core.runs.tuning.choosing.answer import Answer, Place, interval
from dpmf_core.runs.tuning.choosing.finding import Finding, wish


def report(finding: Finding) -> str:
    """The HTML page."""
    answer = finding.answer
    return documents.render(
        "choice.html",
        title=finding.name,
        finding=finding,
        sentences=wording.sentences(answer),
        chart=Markup(_chart(answer)),
        question_rows=_question_rows(finding),
        rows=_rows(answer),
        metric=answer.metric.title,
        levels=_levels(answer),
    )


def notebook(finding: Finding) -> str:
    """The notebook as JSON. Its cells run if the package is installed."""
    sentences = wording.sentences(finding.answer)
    return documents.notebook("choice.notebook", finding=finding, sentences=sentences)


def _levels(answer: Answer) -> list[ReferenceLine]:
    """The reference lines: the answer's method without noise, the best known, and guessing.

    Without an answer the first is left out.
    """
    if answer.best is None:
        return list(answer.lines(answer.places[0])[1:])
    return list(answer.lines(answer.best))


def _question_rows(finding: Finding) -> list[tuple[str, object]]:
    question, origin = finding.question, provenance()
    rows: dict[str, object] = {
        "data": finding.title + ("" if finding.public else " (private)"),
        "tried on": "these data" if finding.public else f"synthetic data, {question.data.id}",
        "taken as public or declared": ", ".join(finding.assumptions),
        "must protect": question.whom,
        "asked for": wish(question),
        "of rare items": question.rare
        and f"at least {question.rare:.0%} of the gain in Recall@20 over an arbitrary list",
        "worst quarter": question.worst and f"loses at most {question.worst:g} in RMSE",
        "is for": "ratings" if question.goal == "ratings" else "lists of 20",
        "δ": delta_text(question.delta),
        "parameters": ", ".join(f"{name} {plain(it)}" for name, it in finding.parameters.items()),
        "draws of split and noise": question.draws,
        "made (UTC)": origin["created"],
        "versions": ", ".join(f"{name} {it}" for name, it in origin["versions"].items()),
    }
    return [(name, value) for name, value in rows.items() if value]


def _rows(answer: Answer) -> list[tuple[str, ...]]:
    metric = answer.metric
    places = sorted(answer.places, key=lambda it: (it.epsilon, metric.sign * it.value))
    return [
        (
            budget_text(place.epsilon),
            place.title,
            metric.text(place.value),
            " to ".join(metric.text(end) for end in interval(place.values)),
            "" if place.share is None else share_text(place.share),
            "" if place.rare is None else share_text(statistics.median(place.rare)),
            "" if place.losses is None else f"{statistics.median(place.losses):.3f}",
            _note(answer, place),
        )
        for place in places
    ]


def _note(answer: Answer, place: Place) -> str:
    if place == answer.best:
        return "the answer"
    return "on the Pareto front" if place in answer.front else ""


def _chart(answer: Answer) -> str:
    """Error against epsilon, one line per method; the recommended one stands out."""
    ends = (answer.question.epsilons[0], answer.question.epsilons[-1])
    best, levels = answer.best, _levels(answer)
    lines = {it.label: [(end, it.value) for end in ends] for it in levels}
    for place in sorted(answer.places, key=lambda it: it.epsilon):
        lines.setdefault(place.title, []).append((place.epsilon, place.value))
    return line_chart(
        lines,
        "ε, total",
        f"{answer.metric.title} against epsilon. {wording.headline(answer)}",
        log=True,
        best=best.title if best else "",
        dashes={it.label: it.reference for it in levels},
        dot=(best.epsilon, best.value) if best else None,
    )
