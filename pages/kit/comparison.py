"""A comparison's runs as figures and in a sentence, over the draws that all of them share."""

import statistics
import textwrap
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpmf_core import algorithms
from dpmf_core.evaluation.registry import METRICS, weak_reference
from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.runs.comparison import (
    DRAWS,
    PLAIN,
    Comparison,
    clearly_better,
    same_draws,
    split_name,
)
from dpmf_core.runs.epsilon_grid import Point
from dpmf_core.runs.needed_epsilon import Draws, share_kept, share_text, shares_kept
from dpmf_core.runs.privacy_cost import best_known
from dpmf_core.runs.record import Run
from pages.kit import charts, colours, sweep_charts
from pages.kit.sidebar_values import Choice

NAMES = {PLAIN: "DPALS without biases"}


def title(who: str, run: Run, unit: str = "user") -> str:
    """Return a method's name with a note on its epsilon. unit: what the others protect."""
    name, caution = NAMES.get(who, run.record.title), sweep_charts.caution(run.record, unit)
    return f"{name} ({caution})" if caution else name


def ladder(runs: Mapping[str, Run], metric: str) -> pd.DataFrame:
    """Return the metric of every method in every finished draw.

    The chosen run is distinguished from its method with default parameters.
    """
    rows = []
    own = next((run.record for name, run in runs.items() if split_name(name)[0] == "main"), None)
    unit = own.guarantee.unit if own else "user"
    # its kind with default parameters is there as well
    again = own is not None and own.spec.algorithm in {split_name(name)[0] for name in runs}
    for name, run in runs.items():
        who, draw = split_name(name)
        spec = run.record.spec
        label = title(who, run, unit)
        if who == "main" and again:
            label = f"{label}, your parameters"
        row = {"name": label, "id": who if who in NAMES else spec.algorithm, "draw": draw}
        rows.append(row | {metric: run.record.metric(metric)})
    return pd.DataFrame(rows, columns=["name", "id", "draw", metric])


def draw_methods(
    page: str, selection: Comparison, runs: Mapping[str, Run], metric: str, remark: str = ""
) -> None:
    """Draw every method at this epsilon, with its draws. remark: explains the metric."""
    methods = "Every private method" if selection.every else "Selected methods"
    st.header(f"{methods}, at this ε", anchor="methods")
    draws = max(split_name(name)[1] for name in selection.runs) + 1
    words = [
        *filter(None, [remark]),
        f"Dots are draws of split and noise, bars are medians. All methods share {draws} draws.",
        *["Some runs are missing, so the ranking may change."] * (len(runs) < len(selection.runs)),
        *(f"{name} is missing: {why}" for name, why in selection.refusals.items()),
    ]
    st.caption(" ".join(words))

    def make() -> charts.Ready:
        points, kind = ladder(runs, metric), METRICS[metric]
        medians = points.groupby("name")[metric].median().sort_values()
        values = "; ".join(f"{name} {kind.text(value)}" for name, value in medians.items())
        alt = f"{kind.label} of each method: {values}"
        return charts.ready(_methods_chart(points, metric), alt, points)

    charts.show_ready(charts.of_runs(f"ladder {metric}", runs.items(), make), f"{page}.ladder")


def has_steps(run: Run) -> bool:
    return len(run.record.curves) > 1


def draw_steps(
    page: str,
    heading: str,
    runs: Mapping[str, Run],
    parts: Mapping[str, str],
    metric: str,
    guess: tuple[str, float | None],
) -> None:
    """Draw the metric by step, private and non-private.

    parts: names by key in a record's curve. guess: the trivial predictor's name and metric.
    """
    st.caption("Computed on raw data, not released. Further draws are faint.")

    def make() -> charts.Ready:
        lines = []
        for key, run in runs.items():
            who, draw = split_name(key)
            if who in ("main", "best"):
                # further draws have only the first part
                some = dict(list(parts.items())[: 1 if draw else None])
                lines.append((run.record.title, run.record.spec.algorithm, draw, run, some))
        curves, (name, trivial) = sweep_charts.curve_frame(lines, metric), guess
        alt = f"{heading}, private and non-private."
        return charts.ready(_steps_chart(curves, trivial, metric, name), alt, curves)

    charts.show_ready(charts.of_runs(f"steps {metric}", runs.items(), make), f"{page}.steps")


# ---- figures -------------------------------------------------------------------------------------


def _steps_chart(curves: pd.DataFrame, trivial: float | None, metric: str, guess: str) -> go.Figure:
    """Return held-out (solid) and training (dotted) error by step. curves: from `curve_frame`."""
    ticks = {"dtick": 1} if curves["step"].max() <= 12 else {}
    fig = charts.figure("step", METRICS[metric].title, xaxis=ticks)
    lines = ["name", "id", "part", curves["draw"] == 0]
    for (name, ident, part, main), rows in curves.groupby(lines, sort=False):
        label, x, y = f"{name}, {part}", list[int | None](), list[float | None]()
        # further draws are one line with gaps, because a trace costs more than its points
        for _, draw in rows.groupby("draw"):
            x += [None] * bool(x) + draw["step"].tolist()
            y += [None] * bool(y) + draw[metric].tolist()
        fig.add_scatter(
            x=x,
            y=y,
            name=label,
            showlegend=bool(main),
            mode="lines+markers" if main else "lines",
            opacity=1.0 if main else 0.35,
            line={
                "color": colours.of(str(ident)),
                "dash": "dot" if part == "train" else "solid",
                "width": 2.5 if main else 1,
            },
            hovertemplate=f"{label}<br>step %{{x}}: %{{y:.3f}}" + "<extra></extra>",
        )
    if trivial is not None:
        words = f"{guess}: {METRICS[metric].text(trivial)}"
        charts.level(fig, trivial, words, {"dash": "dash", "color": colours.ink()})
    return fig


def _methods_chart(points: pd.DataFrame, metric: str) -> go.Figure:
    """Return a chart with a row for each method: draws as dots, the median as a bar.

    points: as from `ladder`.
    """
    kind, values = METRICS[metric], points[metric].tolist()
    medians = points.groupby("name")[metric].median().sort_values(kind="stable")
    names, tints = list(medians.index), points["id"].map(colours.of)
    # long names would be cut next to a narrow figure
    labels = ["<br>".join(textwrap.wrap(name, 16, break_long_words=False)) for name in names]
    bars = tints.groupby(points["name"]).first()[names].tolist()
    low, high = min(values), max(values)
    fig = charts.figure(
        kind.title,
        "",
        height=60 + 35 * len(names),
        xaxis={"range": [low - 0.06 * (high - low) - 1e-3, high + 0.25 * (high - low) + 1e-3]},
        yaxis={
            "categoryorder": "array",
            "categoryarray": names[::-1],
            "tickvals": names,
            "ticktext": labels,
            "title": None,
        },
    )
    dots = {"color": tints.tolist(), "size": 9, "opacity": 0.45}
    look = {
        "showlegend": False,
        "hovertemplate": f"%{{y}}<br>%{{x:.{kind.digits}f}}<extra></extra>",
    }
    fig.add_scatter(x=values, y=points["name"].tolist(), mode="markers", marker=dots, **look)
    marks = {"symbol": "line-ns", "size": 20, "line": {"width": 3, "color": bars}}
    fig.add_scatter(x=medians.tolist(), y=names, mode="markers", marker=marks, **charts.SILENT)
    ends = points.groupby("name")[metric].max()
    fig.add_scatter(  # right of all dots of a row: above a bar lies the row before
        x=[ends[name] for name in names],
        y=names,
        mode="text",
        text=[f"\u2003{kind.text(median)}" for median in medians],
        textposition="middle right",
        textfont={"color": colours.ink()},
        **charts.SILENT,
    )
    fig.update_traces(cliponaxis=False)
    return fig


# ---- sentences -----------------------------------------------------------------------------------


def median(draws: Draws, place: int) -> float:
    return statistics.median(draw[place] for draw in draws)


def gain_kept(draws: Draws, without: str, no_better: str) -> str:
    """Return what the private runs kept, as a clause: the median draw and the range of all.

    draws: (private, best, trivial) errors. without: name of the best known method. no_better: the
    clause for runs no better than the trivial predictor.
    """
    private, best, trivial = (median(draws, place) for place in range(3))
    if private >= trivial:
        return no_better
    if private <= best:
        return f"does at least as well as {without} without privacy"
    between = _between([share_text(it) for it in sorted(shares_kept(draws) or ())])
    kept = share_text(share_kept(draws) or 0)
    return f"keeps {kept} of {without}'s gain over guessing{between}"


def _between(values: Sequence[str]) -> str:
    """Return the range of ascending values in brackets; '' for one."""
    if len(values) < 2:
        return ""
    if values[0] == values[-1]:
        return " (in each draw)"
    return f" ({values[0]} to {values[-1]})"


def median_text(draws: Draws, place: int, digits: int) -> str:
    values = [draw[place] for draw in draws]
    texts = [f"{value:.{digits}f}" for value in sorted(values)]
    return f"{statistics.median(values):.{digits}f}{_between(texts)}"


def better_method(
    runs: Mapping[str, Run], names: Iterable[str], metric: str
) -> tuple[str, str] | None:
    """Return another proven method that is clearly better: its name and a sentence."""
    better = clearly_better(runs, names, metric)
    if better is None:
        return None
    (who, gap), kind = better, METRICS[metric]
    mean, low, high = (f"{-it:.{kind.digits}f}" for it in (gap.mean, *reversed(gap.interval)))
    name = title(who, runs[who], runs[who].record.guarantee.unit)
    return who, (
        f"**{name} does better at this ε**: its {kind.title} is lower in each of"
        f" {len(gap.differences)} draws, by {mean} on average ({low} to {high}, 95%)."
    )


REFERENCES = ("best", "trivial", "user-mean")


def title_of(runs: Mapping[str, Run], who: str) -> str:
    return next(run.record.title for name, run in runs.items() if split_name(name)[0] == who)


def weak_best_known(runs: Mapping[str, Run]) -> str:
    """Return a warning if the best known method does no better than a trivial predictor.

    '' otherwise, and before both predictors are finished.
    """
    draws = same_draws(runs, *REFERENCES)
    if not draws:
        return ""
    best, *guesses = ((title_of(runs, it), median(draws, at)) for at, it in enumerate(REFERENCES))
    return weak_reference(*best, dict(guesses))


# ---- headlines of first views --------------------------------------------------------------------


def best_known_title(algorithm: str) -> str:
    """Return the title of the best known method without privacy for an algorithm's task."""
    return algorithms.find(best_known("rmse", algorithms.find(algorithm).task)).title


def headline(choice: Choice, point: Point, title: str, clause: str) -> str:
    """Return the headline of a measured point. clause: what the method does.

    With the source's rule it states the total first.
    """
    count = len(point.shared_draws) or DRAWS
    if choice.calibration == "source" and point.prices:
        return (
            f"At ε = {epsilon_text(point.prices[0])} in total ({source_rule(choice.algorithm)}: ε ="
            f" {budget_text(point.epsilon)}), {title} {clause}{_of_draws(count)}"
        )
    return plain_headline(point.epsilon, title, clause, count)


def source_rule(algorithm: str) -> str:
    """Return the name of the source's rule, with what its epsilon is for."""
    kind = algorithms.find(algorithm)
    assert issubclass(kind, algorithms.PrivateAlgorithm)
    if not kind.source_epsilon_of:
        return "the source's rule"
    return f"the source's rule, for {kind.source_epsilon_of}"


def plain_headline(epsilon: float | None, title: str, clause: str, count: int = DRAWS) -> str:
    """Return the headline of a proven epsilon, or None without one. count: of finished draws."""
    start = "With no proven ε" if epsilon is None else f"At ε = {budget_text(epsilon)}"
    return f"{start}, {title} {clause}{_of_draws(count)}"


def _of_draws(count: int) -> str:
    """Return which draws are finished, if some are missing."""
    if count >= DRAWS:
        return ""
    return ", in the first draw" if count == 1 else f", in {count} of {DRAWS} draws"


def purchase_text(choice: Choice, point: Point) -> str:
    """Return what a point cost on private data; '' on public data."""
    if choice.entry.public:
        return ""
    prices = ", ".join(epsilon_text(price) for price in point.prices)
    if len(point.prices) == 1:
        return f"1 draw on your data, at ε = {prices}"
    return f"{len(point.prices)} draws on your data, at ε = {prices}"
