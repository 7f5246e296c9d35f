"""Sentences, figures and tables about a comparison's finished runs."""

import statistics
from collections.abc import Callable, Iterable, Sequence

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.base.documents import to_json
from dpmf_core.data.catalogue import is_in_parts
from dpmf_core.evaluation.registry import Metric, weak_reference
from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.runs.conclusions import (
    better_words,
    cost_words,
    floor_words,
    kept_words,
    no_difference_words,
    not_ranked_words,
    scale_words,
    share_text,
)
from dpmf_core.runs.draws import Draws, Judgement
from dpmf_core.runs.measurements import Measured, Point, is_reference
from dpmf_core.runs.record import RunRecord, Runs
from dpmf_core.runs.references import best_known
from dpmf_core.runs.reports import notebook_of_sweep
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.sweep import rows
from pages.compare.comparison_controls import ALWAYS, CompareQuestion
from pages.kit.base import safe_text
from pages.kit.base.exports import draw_files
from pages.kit.figures import charts, sweep_charts
from pages.kit.figures.sweep_charts import parameter, place
from pages.kit.privacy import privacy_card

QUESTION = "Which method, at which ε?"
PRIVATE = (
    "No method is best by errors on private data",
    "These errors are computed on your raw data, without noise, and only you see them. Choosing a"
    " method by them would cost more than its ε. Choose selects a method privately, and its cost is"
    " part of the total.",
)


# the table of a run's data set, as far as it is stored
KnownDraws = Callable[[RunSpec], Draws]


def middle(epsilons: Iterable[float]) -> float:
    """The epsilon of the headline."""
    ascending = sorted(epsilons)
    return ascending[(len(ascending) - 1) // 2]


def title_and_text(judgement: Judgement, known_draws: KnownDraws) -> tuple[str, str]:
    """Title and sentences: the best private method at the middle epsilon, what it keeps.

    No method is called best before all runs at that epsilon have finished, nor on private data.
    """
    if not judgement.table.is_public:
        return PRIVATE
    reasons = " ".join(not_ranked_words(judgement))
    if not judgement.planned_epsilons:
        return QUESTION, reasons or "No private method is compared."
    epsilon = middle(judgement.planned_epsilons)
    top = judgement.best(epsilon)
    if top is not None:
        return _title(judgement, top), " ".join(_sentences(judgement, top, known_draws))
    if any(point.epsilon == epsilon for point in judgement.table.missing):
        question = f"Which method is best at ε = {budget_text(epsilon)}?"
        return question, "The answer appears when all runs at this ε have finished."
    return QUESTION, reasons or f"No finished run has {judgement.metric.title}."


def _title(judgement: Judgement, top: Measured) -> str:
    kind = judgement.metric
    epsilon = top.epsilon or 0.0
    at = f"At ε = {budget_text(epsilon)}"
    count = len(judgement.at(epsilon))
    if count == 1:
        return f"{at}, {top.label} has {kind.title} {kind.text(top.median)}"
    if judgement.no_different(top):
        return f"{at}, none of {count} methods is clearly better than {top.label} by {kind.title}"
    return f"{at}, {top.label} is the best of {count} methods by {kind.title}"


def _sentences(
    judgement: Judgement, top: Measured, known_draws: KnownDraws
) -> list[str]:
    """What a method keeps, which other is as good or better, what it costs, the scale."""
    sentences = []
    if top.grid:
        sentences.append(f"With {place(dict(top.grid), [top.algorithm])}.")
    sentences += [
        f"It **{kept_words(judgement, top)}**.",
        _known_better(judgement, top, known_draws),
        no_difference_words(judgement, top),
    ]
    cost = judgement.cost(top)
    if cost is not None:
        sentences.append(cost_words(judgement, cost))
    sentences.append(scale_words(judgement))
    sentences += not_ranked_words(judgement)
    return [sentence for sentence in sentences if sentence]


def _known_better(judgement: Judgement, top: Measured, known_draws: KnownDraws) -> str:
    """Which better proven method is known on these data but not compared; '' if none is."""
    points = [row.point for row in judgement.table.rows]
    spec = next(
        point.spec
        for point in points
        if point.label == top.label
        and point.epsilon == top.epsilon
        and point.grid == top.grid
    )
    known = known_draws(spec).by(judgement.metric.id)
    # the same method with the same parameters at the same epsilon
    same = (top.algorithm, top.parameters, top.epsilon)
    own = next(
        (
            one
            for one in known.measured
            if (one.algorithm, one.parameters, one.epsilon) == same
        ),
        None,
    )
    if own is None:
        return ""
    # the best of the chosen methods may still be behind one that was not chosen
    better = known.better(own)
    if better is None or better.algorithm in {point.spec.algorithm for point in points}:
        return ""
    return better_words(known, own)


def weak_references(judgement: Judgement) -> list[str]:
    """A warning for every non-private method no better than what needs no model."""
    if judgement.floor is None:
        return []
    floors = {floor_words(judgement): judgement.floor.median}
    sentences = [
        weak_reference(one.label, one.median, floors, judgement.metric)
        for one in judgement.measured
        if one.epsilon is None and is_reference(one.algorithm)
    ]
    return [sentence for sentence in sentences if sentence]


# ---- figures and tables --------------------------------------------------------------------------


def draw_figure(
    question: CompareQuestion,
    judgement: Judgement,
    aside: DeltaGenerator,
    of_shares: bool,
) -> None:
    """Draw the share kept or the metric against epsilon or a parameter, or over two parameters.

    Parameters
    ----------
    aside
        The place for the choice of epsilon.
    """
    kind = judgement.metric
    is_grid = bool(question.sweep.grid)
    table = sweep_charts.frame(judgement, of_shares=of_shares)
    if table.empty:
        st.info(f"No finished run has {kind.title} yet.")
        return
    if is_grid and table["epsilon"].nunique() > 1:
        at = _pick_epsilon(question, aside)
        table = table[table["epsilon"].isna() | (table["epsilon"] == at)]
    if len(question.sweep.grid) == 2:
        _heat_map(question, table, kind)
    else:
        _lines(question, judgement, table, of_shares)
    if is_grid:
        st.caption(
            "Measured on the validation split. On private data, choosing by a grid costs more than"
            " the ε of one run: all its runs compose. On public or synthetic data it is free."
        )


def _pick_epsilon(question: CompareQuestion, place: DeltaGenerator) -> float:
    """Ask for one of the question's epsilons; the default is the middle one."""
    epsilons = sorted(
        {point.epsilon for point in question.points if point.epsilon is not None}
    )
    return place.selectbox(
        "At ε",
        epsilons,
        epsilons.index(middle(epsilons)),
        key=f"compare.at.{question.signature}",
        format_func=lambda at: f"at ε = {budget_text(at)}",
        label_visibility="collapsed",
        width=160,
    )


def _lines(
    question: CompareQuestion,
    judgement: Judgement,
    table: pd.DataFrame,
    of_shares: bool,
) -> None:
    axis = question.axis
    if axis != "epsilon":
        title = parameter(axis, dict.fromkeys(table["id"]))
    elif table["source"].any():
        title = "ε, total; dotted lines: by the source's own rule"
    else:
        title = "privacy loss ε, total"
    kind = judgement.metric
    quantity = kind.label
    text: Callable[[float], str] = kind.text
    if of_shares:
        quantity = "share kept"
        text = share_text
    # the ends of the scale are drawn by `add_ends`
    known = best_known(kind.id, in_parts=is_in_parts(question.sweep.data.id))
    table = table[~table["id"].isin({*ALWAYS, known})]
    fig = sweep_charts.against(table, axis, quantity, title, of_shares=of_shares)
    sweep_charts.add_ends(fig, judgement, None, of_shares=of_shares)
    medians = table.groupby("name", sort=False)["value"].median()
    words = "; ".join(f"{name} {text(value)}" for name, value in medians.items())
    alt = f"{quantity} against {title}. Medians over the axis: {words}."
    caption = (
        "Each dot is one draw of split and noise; lines are medians, bands the range."
    )
    if axis == "epsilon":
        caption += (
            " A horizontal line in a method's colour is the method without noise."
        )
    if table["source"].any():
        caption += " Dotted: noise by the source's own rule, at its nominal ε."
    if of_shares and table["value"].min() < charts.LOWEST_SHARE:
        caption += f" Shares below {share_text(charts.LOWEST_SHARE)} are only among the numbers."
    charts.show(fig, "compare.main", alt, table, caption=caption)


def _heat_map(question: CompareQuestion, table: pd.DataFrame, kind: Metric) -> None:
    """Draw the medians of one method over the two parameters of a grid."""
    names = list(question.sweep.grid)
    table = table.dropna(subset=names)
    name = st.selectbox(
        "Method",
        list(dict.fromkeys(table["name"])),
        key=f"compare.heat.method.{question.signature}",
    )
    own = table[table["name"] == name]
    if own.empty:
        return
    x, y = (parameter(name, [str(own["id"].iloc[0])]) for name in names)
    medians = own.pivot_table(
        index=names[1],
        columns=names[0],
        values="value",
        aggfunc="median",
    )
    fig = charts.heat_map(medians, medians.map("{:.3f}".format), x, y)
    charts.show(fig, "compare.heat", f"{kind.title} of {name} over {x} and {y}.", own)


def draw_promises(points: Sequence[Point], runs: Runs) -> None:
    with st.expander("Guarantee and time of each method"):
        safe_text.words_table(methods_table(points, runs))
        guarantees = [run.record.guarantee for run in runs.values()]
        statuses = {guarantee.words: guarantee.status for guarantee in guarantees}
        for words, status in statuses.items():
            st.markdown(f"{privacy_card.badge(status)} {words}")


def draw_exports(question: CompareQuestion, runs: Runs) -> None:
    finished = [point for point in question.points if point.key in runs]
    keys = dict.fromkeys(point.key for point in finished)

    def to_csv() -> str:
        return safe_text.to_csv(pd.DataFrame(rows(finished, runs)))

    def all_to_json() -> str:
        return to_json([runs[key].export() for key in keys])

    notebook = notebook_of_sweep(question.sweep, question.metric)
    files = {
        "compare.csv": ("Runs as CSV", to_csv),
        "compare.json": ("Runs as JSON", all_to_json),
        "compare.ipynb": ("Notebook", notebook),
    }
    draw_files(files, "Contains the data set, δ, the seed and the whole comparison.")
    if any(not runs[point.key].record.public for point in finished):
        st.caption(
            "Your data are private, so the files contain settings and ledgers but no errors, which"
            " are computed on raw data. `dpmf sweep --noisy-errors` releases them with noise."
        )


def methods_table(points: Sequence[Point], runs: Runs) -> pd.DataFrame:
    """Each method's guarantee, its true at its largest nominal epsilon, and its time."""
    records: dict[str, list[RunRecord]] = {}
    for point in points:
        if point.key in runs:
            records.setdefault(point.label, []).append(runs[point.key].record)
    return pd.DataFrame(
        _promise(label, of_label) for label, of_label in records.items()
    )


def _nominal(record: RunRecord) -> float:
    """A run's nominal epsilon; 0 without privacy."""
    return record.spec.epsilon or 0.0


def _promise(label: str, records: Sequence[RunRecord]) -> dict[str, str]:
    record = max(records, key=_nominal)
    return {
        "method": label,
        "guarantee": _guarantee_text(record),
        "true ε": _true_epsilon(record),
        "seconds": _seconds_text(records),
    }


def _guarantee_text(record: RunRecord) -> str:
    guarantee = record.guarantee
    if not _nominal(record):
        return str(guarantee.status)
    return f"{guarantee.status}, one {guarantee.unit}"


def _true_epsilon(record: RunRecord) -> str:
    exact = record.epsilon.exact
    nominal = _nominal(record)
    if exact is None or not nominal or not record.guarantee.has_epsilon:
        return "-"
    return f"{epsilon_text(exact)} at nominal {budget_text(nominal)}"


def _seconds_text(records: Sequence[RunRecord]) -> str:
    fits = [record.seconds["fit"] for record in records]
    known_seconds = [fit for fit in fits if fit is not None]
    if known_seconds:
        median = f"{statistics.median(known_seconds):.2f}"
    else:
        median = "-"
    return f"{median} ({safe_text.count_text(len(records), 'run')})"
