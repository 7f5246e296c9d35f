"""Sentences, figures and tables about a comparison's finished runs."""

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.base.documents import to_json
from dpmf_core.data.catalogue import is_in_parts
from dpmf_core.evaluation.registry import METRICS, Metric, weak_reference
from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.runs.draws import Measured, Point
from dpmf_core.runs.needed_epsilon import Draws
from dpmf_core.runs.privacy_cost import PrivacyCost, best_known
from dpmf_core.runs.record import RunRecord
from dpmf_core.runs.reports import notebook_of_sweep
from dpmf_core.runs.sweep import rows
from dpmf_core.runs.sweep import summaries as summaries_of
from pages.compare.controls import ALWAYS, CompareQuestion
from pages.kit import charts, privacy_card, safe_text, sweep_charts
from pages.kit.colours import is_reference, is_trivial
from pages.kit.comparison import gain_kept
from pages.kit.exports import draw_files
from pages.kit.sweep_charts import NO_PROOF, Runs, cautions, parameter, place

QUESTION = "Which method, at which ε?"


@dataclass(frozen=True)
class CompareResults:
    """The finished runs of a question by `Point.key`, and the metric."""

    points: Sequence[Point]
    runs: Runs
    metric: str

    @property
    def kind(self) -> Metric:
        return METRICS[self.metric]

    @cached_property
    def cautions(self) -> dict[str, str]:
        """Why a method's epsilon differs in meaning from the others', by label."""
        return cautions(self.points, self.runs)

    @cached_property
    def summaries(self) -> list[Measured]:
        """Each method at each epsilon with all runs finished; only the best place of a grid."""
        open_ = {(it.label, it.epsilon) for it in self.points if it.key not in self.runs}
        best: dict[tuple[str, float | None], Measured] = {}
        for it in summaries_of(self.points, self.runs, self.metric):
            where = (it.label, it.epsilon)
            if where not in open_ and (where not in best or self.rank(it) < self.rank(best[where])):
                best[where] = it
        return list(best.values())

    def rank(self, it: Measured) -> float:
        """Return the median with a sign such that smaller is better."""
        return self.kind.sign * it.median

    def best(self, some: Iterable[Measured]) -> Measured | None:
        return min(some, key=self.rank, default=None)

    @property
    def private(self) -> list[Measured]:
        return [it for it in self.summaries if it.epsilon is not None]

    @cached_property
    def reference(self) -> Measured | None:
        """The best method without privacy."""
        return self.best(
            it for it in self.summaries if it.epsilon is None and is_reference(it.algorithm)
        )

    @property
    def has_best_known(self) -> bool:
        """Whether the reference is the best known method without privacy, or a better one."""
        return any(it.algorithm == best_known(self.metric) for it in self.summaries)

    @cached_property
    def trivial(self) -> Measured | None:
        """The best trivial predictor."""
        return self.best(it for it in self.summaries if is_trivial(it.algorithm))

    def cost(self, it: Measured) -> PrivacyCost | None:
        """Return the cost of noise and method, over the draws that all four methods share."""
        same = it.algorithm, dict(it.grid)
        plain = (one for one in self.summaries if one.epsilon is None and it.epsilon is not None)
        own = next((one for one in plain if (one.algorithm, dict(one.grid)) == same), None)
        if own is None or self.reference is None or self.trivial is None:
            return None
        draws = _shared_draws(it, own, self.reference, self.trivial)
        return PrivacyCost.of(self.kind, draws) if draws else None

    def draws(self, it: Measured) -> Draws:
        """Return (private, reference, trivial) for each shared draw; smaller is better."""
        if self.reference is None or self.trivial is None:
            return []
        draws = _shared_draws(it, self.reference, self.trivial)
        return [tuple(self.kind.sign * error for error in draw) for draw in draws]


def _shared_draws(*some: Measured) -> list[Any]:
    """Return the figures of every draw that these summaries share, each a tuple."""
    values = [dict(zip(it.seeds, it.draws, strict=True)) for it in some]
    seeds = sorted(set.intersection(*map(set, values)))
    return [tuple(own[seed] for own in values) for seed in seeds]


def middle(epsilons: Iterable[float | None]) -> float:
    """Return the epsilon of the headline."""
    ascending = sorted(it for it in epsilons if it is not None)
    return ascending[(len(ascending) - 1) // 2]


def headline(results: CompareResults) -> tuple[str, str]:
    """Return title and sentence: the best private method at the middle epsilon, and what it keeps.

    No method is called best before all runs at that epsilon have finished.
    """
    points, runs = results.points, results.runs
    rivals = [it for it in points if it.epsilon is not None and it.label not in results.cautions]
    if not any(it.key in runs for it in rivals):
        started = len(runs) == len(points)
        return QUESTION, "No private method was compared." if started else "Runs appear here."
    epsilon = middle({it.epsilon for it in rivals})
    keys = {it.key for it in rivals if it.epsilon == epsilon}
    if any(key not in runs for key in keys):
        question = f"Which method is best at ε = {budget_text(epsilon)}?"
        return question, "The answer appears when all runs at this ε have finished."
    ranked = [it for it in results.private if it.label not in results.cautions]
    at = [it for it in ranked if it.epsilon == epsilon]
    top = results.best(at)
    if top is None:
        return QUESTION, f"No finished run has {results.kind.title}."
    verb = "is best:" if len(at) > 1 else "has"
    title = (
        f"At ε = {budget_text(epsilon)}, {top.label} {verb}"
        f" {results.kind.title} {results.kind.text(top.median)}"
    )
    sentences = _place_and_gain(results, top)
    overlapping = [
        it.label
        for it in at
        if it.label != top.label and len(it.draws) > 1 and it.low <= top.high and top.low <= it.high
    ]
    if overlapping:
        sentences.append(f"Its draws overlap with those of {' and '.join(overlapping[:3])}.")
    sentences += [
        f"{label} is not ranked: {'' if reason == NO_PROOF else 'its ε '}{reason}."
        for label, reason in results.cautions.items()
    ]
    return title, " ".join(sentences)


def _place_and_gain(results: CompareResults, top: Measured) -> list[str]:
    """Return its place in a grid, and how much of the gain over guessing it keeps."""
    words = [f"With {place(dict(top.grid), [top.algorithm])}."] if top.grid else []
    draws, reference, trivial = results.draws(top), results.reference, results.trivial
    if (
        draws
        and reference is not None
        and trivial is not None
        and results.rank(reference) < results.rank(trivial)
    ):
        text = results.kind.text
        clause = gain_kept(draws, reference.label, f"does no better than {trivial.label}")
        levels = (
            f"({reference.label} {text(reference.median)}, {trivial.label} {text(trivial.median)})"
        )
        words.append(f"It **{clause}** {levels}.")
        if (cost := results.cost(top)) is not None:
            words.append(cost.words(reference.label, is_best=results.has_best_known))
    return words


def weak_references(results: CompareResults) -> list[str]:
    """Return a warning for every non-private method no better than a trivial predictor."""
    plain = [it for it in results.summaries if it.epsilon is None]
    guesses = {it.label: it.median for it in plain if is_trivial(it.algorithm)}
    sentences = [
        weak_reference(it.label, it.median, guesses, results.kind)
        for it in plain
        if is_reference(it.algorithm)
    ]
    return [it for it in sentences if it]


# ---- figures and tables --------------------------------------------------------------------------


def figure(question: CompareQuestion, results: CompareResults, aside: DeltaGenerator) -> None:
    """Draw the metric against epsilon or a parameter, or over two parameters.

    aside: for the choice of epsilon.
    """
    kind, axis, is_grid = results.kind, question.axis, bool(question.sweep.grid)
    table = sweep_charts.frame(question.points, results.runs, kind.id)
    if table.empty:
        st.info(f"No finished run has {kind.title} yet.")
        return
    if is_grid and table["epsilon"].nunique() > 1:
        at = _pick_epsilon(question, aside)
        table = table[table["epsilon"].isna() | (table["epsilon"] == at)]
    if len(question.sweep.grid) == 2:
        _heat_map(question, table, kind)
    else:
        _lines(results, table, axis, is_in_parts(question.sweep.data.id))
    if is_grid:
        st.caption(
            "Measured on the validation split. On private data, choosing by a grid costs more than"
            " the ε of one run: all its runs compose. On public or synthetic data it is free."
        )


def _pick_epsilon(question: CompareQuestion, place: DeltaGenerator) -> float:
    """Ask for one of the question's epsilons; the default is the middle one."""
    epsilons = sorted({it.epsilon for it in question.points if it.epsilon is not None})
    return place.selectbox(
        "At ε",
        epsilons,
        epsilons.index(middle(epsilons)),
        key=f"compare.at.{question.signature}",
        format_func=lambda at: f"at ε = {budget_text(at)}",
        label_visibility="collapsed",
    )


def _lines(results: CompareResults, table: pd.DataFrame, axis: str, in_parts: bool) -> None:
    kind = results.kind
    title = "privacy loss ε, total"
    if table["source"].any():
        title = "ε, total; dotted lines: by the source's own rule"
    if axis != "epsilon":
        title = parameter(axis, dict.fromkeys(table["id"]))
    known = best_known(kind.id, in_parts=in_parts)
    best = results.reference.algorithm if results.reference and results.has_best_known else known
    table = table[~table["id"].isin({ALWAYS[0], known} - {best})]  # one line is enough
    fig = sweep_charts.against(table, axis, kind.label, title, best)
    medians = table.groupby("name", sort=False)["value"].median()
    words = "; ".join(f"{name} {value:.3f}" for name, value in medians.items())
    alt = f"{kind.title} against {title}. Medians over the axis: {words}."
    caption = "Each dot is one draw of split and noise; lines are medians, bands the range."
    if axis == "epsilon":
        caption += " A horizontal line in a method's colour is the method without noise."
    if table["source"].any():
        caption += " Dotted: noise by the source's own rule, at its nominal ε."
    charts.show(fig, "compare.main", alt, table, caption=caption)


def _heat_map(question: CompareQuestion, table: pd.DataFrame, kind: Metric) -> None:
    """Draw the medians of one method over the two parameters of a grid."""
    names = list(question.sweep.grid)
    table = table.dropna(subset=names)
    key = f"compare.heat.method.{question.signature}"
    name = st.selectbox("Method", list(dict.fromkeys(table["name"])), key=key)
    own = table[table["name"] == name]
    if own.empty:
        return
    x, y = (parameter(it, [str(own["id"].iloc[0])]) for it in names)
    medians = own.pivot_table(index=names[1], columns=names[0], values="value", aggfunc="median")
    fig = charts.heat_map(medians, medians.map("{:.3f}".format), x, y)
    charts.show(fig, "compare.heat", f"{kind.title} of {name} over {x} and {y}.", own)


def promises(results: CompareResults) -> None:
    with st.expander("Guarantee and time of each method"):
        safe_text.words_table(methods_table(results))
        guarantees = [run.record.guarantee for run in results.runs.values()]
        for words, status in {it.words: it.status for it in guarantees}.items():
            st.markdown(f"{privacy_card.badge(status)} {words}")


def exports(question: CompareQuestion, runs: Runs) -> None:
    finished = [point for point in question.points if point.key in runs]
    files = {
        "compare.csv": (
            "Runs as CSV",
            lambda: safe_text.to_csv(pd.DataFrame(rows(finished, runs))),
        ),
        "compare.json": (
            "Runs as JSON",
            lambda: to_json(
                [runs[key].export() for key in dict.fromkeys(it.key for it in finished)]
            ),
        ),
        "compare.ipynb": (
            "Notebook",
            notebook_of_sweep(question.sweep.model_dump(mode="json"), question.metric),
        ),
    }
    draw_files(files, "Contains the data set, δ, the seed and the whole comparison.")
    if any(not runs[it.key].record.public for it in finished):
        st.caption(
            "Your data are private, so the files contain settings and ledgers but no errors, which"
            " are computed on raw data. `dpmf sweep --noisy-errors` releases them with noise."
        )


def methods_table(results: CompareResults) -> pd.DataFrame:
    """Return each method's guarantee, its true at its largest nominal epsilon, and its time."""
    records: dict[str, list[RunRecord]] = {}
    for point in results.points:
        if point.key in results.runs:
            records.setdefault(point.label, []).append(results.runs[point.key].record)
    return pd.DataFrame(_promise(label, its) for label, its in records.items())


def _promise(label: str, records: Sequence[RunRecord]) -> dict[str, str]:
    def nominal(record: RunRecord) -> float:
        return record.spec.budget.epsilon if record.spec.budget else 0.0

    record = max(records, key=nominal)
    at, guarantee, exact = nominal(record), record.guarantee, record.epsilon.exact
    has_epsilon = exact is not None and at and guarantee.has_epsilon
    seconds = [it for record in records if (it := record.seconds["fit"]) is not None]
    median = f"{statistics.median(seconds):.2f}" if seconds else "-"
    return {
        "method": label,
        "guarantee": f"{guarantee.status}{f', one {guarantee.unit}' if at else ''}",
        "true ε": f"{epsilon_text(exact)} at nominal {budget_text(at)}" if has_epsilon else "-",
        "seconds": f"{median} ({len(records)} run{'s' * (len(records) > 1)})",
    }
