"""An answer as an HTML page that needs nothing else, and prints.

It holds what public or simulated data gave, what was declared, and noisy releases: nothing else of
private rows.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence

from dpmf_core import algorithms
from dpmf_core.choosing import wording
from dpmf_core.choosing.answer import Answer, Place, interval
from dpmf_core.choosing.finding import Finding, wish
from dpmf_core.html_text import table, text
from dpmf_core.privacy.formatting import budget_text, delta_text
from dpmf_core.runs.html_report import STYLE
from dpmf_core.runs.record import provenance

PRINT_STYLE = (
    "pre{white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid #cbd2dc;padding:.5rem}"
    "@media print{body{color:#000;background:#fff;margin:0;max-width:none}h2{break-after:avoid}"
    "table,svg,pre{break-inside:avoid}}"
)
WIDTH, HEIGHT, LEFT, RIGHT, EDGE = 760, 360, 56, 150, 34
AS_READ = (
    "Rows that cannot be read are left out, and a rating outside the scale counts as the scale's"
    " nearer end. How many there are is said where the file is read, and not here: that is known"
    " from the file alone."
)
HEAD = ("ε", "method", "median", "95%", "gain kept", "of rare items", "worst quarter loses", "")
BEST_TINT, OTHER_TINT = "#0072B2", "#8b93a1"


def report(finding: Finding) -> str:
    """The page. Raises nothing: whatever it tells is in the finding."""
    title, answer = finding.headline, finding.answer
    parts = [
        f"<h1>{text(title)}</h1>",
        *(f"<p>{text(sentence)}</p>" for sentence in wording.sentences(answer)),
        figure(answer),
        "<h2>What was asked</h2>",
        table(["", ""], _question_rows(finding)),
        "<h2>What choosing cost, and what training costs</h2>",
        f"<p>{text(finding.cost)} {text(finding.confirmation)} {text(finding.training)}</p>",
        *_commands(finding),
        "<h2>Every method at every epsilon</h2>",
        table(HEAD, _rows(answer)),
        f"<p>{text(_explanation(finding))}</p>",
    ]
    body = "\n".join(parts)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f"<title>{text(title)}</title><style>{STYLE}{PRINT_STYLE}</style><body>{body}</body></html>"
    )


def _question_rows(finding: Finding) -> list[tuple[str, str]]:
    question, origin = finding.question, provenance()
    trial_data = "these data" if finding.public else f"a simulated twin, {question.data.id}"
    rows = [
        ("data", finding.title + ("" if finding.public else " (private)")),
        ("tried on", trial_data),
        ("must protect", question.whom),
        ("asked for", wish(question)),
        ("is for", "ratings" if question.goal == "ratings" else "lists of 20"),
        ("δ", delta_text(question.delta)),
        ("draws of split and noise", str(question.draws)),
        ("made (UTC)", origin["created"]),
        ("versions", ", ".join(f"{name} {it}" for name, it in origin["versions"].items())),
    ]
    if question.rare is not None:
        rows.insert(5, ("of rare items", f"keeps at least {question.rare:.0%} of Recall@20"))
    if question.worst is not None:
        rows.insert(5, ("worst quarter", f"loses at most {question.worst:g} in RMSE"))
    if finding.assumptions:
        rows.insert(2, ("taken as public or declared", ", ".join(finding.assumptions)))
    return rows


def _commands(finding: Finding) -> list[str]:
    training = ["<h2>Train it</h2>", f"<pre>{text(finding.train)}</pre>"] if finding.train else []
    if training and not finding.public:
        training.append(f"<p>{AS_READ}</p>")
    return [*training, "<h2>Find the answer again</h2>", f"<pre>{text(finding.again)}</pre>"]


def _rows(answer: Answer) -> list[tuple[str, ...]]:
    metric = answer.metric
    places = sorted(answer.places, key=lambda it: (it.epsilon, metric.sign * it.value))
    return [
        (
            budget_text(place.epsilon),
            place.title,
            metric.text(place.value),
            " to ".join(metric.text(end) for end in interval(place.values)),
            "" if place.share is None else f"{place.share:.0%}",
            "" if place.rare is None else f"{statistics.median(place.rare):.0%}",
            "" if place.losses is None else f"{statistics.median(place.losses):.3f}",
            _note(answer, place),
        )
        for place in places
    ]


def _note(answer: Answer, place: Place) -> str:
    if place == answer.best:
        return "the answer"
    return "on the Pareto front" if place in answer.front else ""


def _explanation(finding: Finding) -> str:
    answer = finding.answer
    plain, guess = (statistics.median(it) for it in (answer.plain, answer.guesses))
    metric, reference = answer.metric, algorithms.find(answer.reference).title
    refusals = " ".join(
        f"{title} was not tried: {why}" for title, why in finding.runs.refusals.items()
    )
    return (
        f"{metric.title} of the median draw; 95%: Student's interval of the mean over draws."
        f" Without privacy {reference} has {metric.text(plain)}, guessing {metric.text(guess)}. The"
        " methods are proven for a whole person, and every release is accounted exactly. Rare"
        " items: the half with the fewest ratings. Worst quarter: of people by activity, of items"
        f" by popularity. {refusals}"
    )


# ---- the figure ----------------------------------------------------------------------------------


def figure(answer: Answer) -> str:
    """Error against epsilon, a line a method, as SVG: what is recommended is thick."""
    lines: dict[str, list[Place]] = {}
    for place in sorted(answer.places, key=lambda it: it.epsilon):
        lines.setdefault(place.method, []).append(place)
    plain, guess = (statistics.median(it) for it in (answer.plain, answer.guesses))
    values = [place.value for places in lines.values() for place in places]
    low, high = min(*values, plain, guess), max(*values, plain, guess)
    first, last = (math.log(answer.question.epsilons[at]) for at in (0, -1))

    def x(epsilon: float) -> float:
        share = (math.log(epsilon) - first) / max(last - first, 1e-12)
        return LEFT + (WIDTH - LEFT - RIGHT) * share

    def y(value: float) -> float:
        return HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (value - low) / max(high - low, 1e-12)

    best_method = answer.best.method if answer.best else ""
    shapes = [_level(y(plain), "no privacy", ""), _level(y(guess), "guessing", "6 4")]
    for method, places in lines.items():
        points = " ".join(f"{x(it.epsilon):.1f},{y(it.value):.1f}" for it in places)
        tint, width = (BEST_TINT, 4) if method == best_method else (OTHER_TINT, 1.2)
        shapes.append(
            f'<polyline fill="none" stroke="{tint}" stroke-width="{width}" points="{points}"/>'
        )
    shapes += _names(lines, best_method, y)
    shapes += [
        _word(x(it), HEIGHT - 10, budget_text(it), "middle") for it in answer.question.epsilons
    ]
    shapes += [_word(4, y(it) + 4, answer.metric.text(it)) for it in (low, high)]
    shapes.append(_word(WIDTH - RIGHT + 24, HEIGHT - 10, "ε, total"))
    if answer.best:
        at = answer.best
        shapes.append(
            f'<circle cx="{x(at.epsilon):.1f}" cy="{y(at.value):.1f}" r="9" fill="none"'
            f' stroke="{BEST_TINT}" stroke-width="3"/>'
        )
    label = text(f"{answer.metric.title} against epsilon. {wording.headline(answer)}")
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}"'
    return f'<svg {size} role="img" aria-label="{label}">{"".join(shapes)}</svg>'


def _names(
    lines: Mapping[str, Sequence[Place]], best_method: str, y: Callable[[float], float]
) -> list[str]:
    """Each line's name at its end, moved apart where they would touch."""
    shapes, last = [], -math.inf
    for method, places in sorted(lines.items(), key=lambda it: y(it[1][-1].value)):
        last = max(y(places[-1].value) + 4, last + 14)
        tint = BEST_TINT if method == best_method else "currentColor"
        shapes.append(_word(WIDTH - RIGHT + 8, last, places[0].title, tint=tint))
    return shapes


def _level(at: float, name: str, dash: str) -> str:
    return (
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}" stroke="{OTHER_TINT}"'
        f' stroke-dasharray="{dash}"/>' + _word(LEFT + 4, at - 4, name)
    )


def _word(x: float, y: float, word: str, anchor: str = "start", tint: str = "currentColor") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="12" text-anchor="{anchor}"'
        f' fill="{tint}">{text(word)}</text>'
    )
