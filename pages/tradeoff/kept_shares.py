"""Which epsilon keeps a wanted share of the gain over guessing, of every compared method."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from dpmf_core.evaluation.registry import METRICS
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs import comparison
from dpmf_core.runs.gain import KeptGain, kept_at
from dpmf_core.runs.sweep import Point, Summary, summaries
from pages.kit import epsilon_grid, kept_gain, safe_text
from pages.kit.colours import is_trivial, is_twin
from pages.kit.sweep_frames import NO_PROOF, Runs, cautions
from pages.tradeoff import tables
from pages.tradeoff.controls import Question

MOST_NAMED = 4  # epsilons of a line
Draws = dict[int, float]  # a figure by seed, smaller is better


@dataclass(frozen=True)
class Gain:
    """What a gain is measured between, and what each method keeps of it, ascending by epsilon.

    twin, trivial: the best method without privacy, and the best guess.
    """

    twin: Summary
    trivial: Summary
    lines: dict[str, list[KeptGain]]


def gain(points: Sequence[Point], runs: Runs, metric: str) -> Gain | None:
    """Of the methods whose runs have all finished, draw by draw; one whose epsilon is not proved is
    left out. None where no twin or no guess has finished, or none gains.
    """
    missing = {point.label for point in points if point.key not in runs}
    whole = [point for point in points if point.label not in missing]
    results = [it for it in summaries(whole, runs, metric) if it.epsilon is None]
    free = [it for it in results if is_twin(it.algorithm)]
    guesses = [it for it in results if is_trivial(it.algorithm)]
    if not free or not guesses:
        return None
    twin, guess = (tables.best_summary(it, metric) for it in (free, guesses))
    beside = [_draws(_of(it, whole), runs, metric) for it in (twin, guess)]
    notes = cautions(whole, runs)
    lines: dict[str, list[KeptGain]] = {}
    for (label, epsilon), own in _private(tables.best_points(whole, runs, metric)).items():
        share = kept_at(epsilon, _together(_draws(own, runs, metric), *beside))
        if share is not None and notes.get(label) != NO_PROOF:
            name = tables.label_in_list(label, notes.get(label, ""))
            lines.setdefault(name, []).append(share)
    return Gain(twin, guess, lines) if lines else None


def known_line(question: Question, label: str, measured_gain: Gain, metric: str) -> list[KeptGain]:
    """What is known of a method between the same twin and the same guess: all measured epsilons,
    as Explore reads them, where it reads the same draws. Empty where it does not.
    """
    own = [it for it in question.points if it.label == label and it.epsilon is not None]
    if not own:
        return []
    first = min(own, key=lambda it: it.spec.seed).spec
    beside = {who: it.algorithm for who, it in comparison.references(first).items()}
    between = {"twin": measured_gain.twin.algorithm, "trivial": measured_gain.trivial.algorithm}
    draws = {it.spec.seed - first.seed for it in own}
    if beside != between or max(draws) >= comparison.DRAWS or any(it.grid for it in own):
        return []
    epsilons = [it.epsilon for it in own if it.epsilon is not None]
    return epsilon_grid.kept_along(first, metric, also=epsilons)


def _of(summary: Summary, points: Iterable[Point]) -> list[Point]:
    return [
        it
        for it in points
        if (it.label, it.epsilon) == (summary.label, None) and dict(it.grid) == dict(summary.grid)
    ]


def _private(points: Iterable[Point]) -> dict[tuple[str, float], list[Point]]:
    """By method and epsilon, each method's epsilons ascending."""
    groups: dict[tuple[str, float], list[Point]] = {}
    for point in points:
        if point.epsilon is not None:
            groups.setdefault((point.label, point.epsilon), []).append(point)
    return dict(sorted(groups.items(), key=lambda it: it[0][1]))


def _draws(points: Iterable[Point], runs: Runs, metric: str) -> Draws:
    values = {it.spec.seed: runs[it.key].record.metrics.get(metric) for it in points}
    sign = METRICS[metric].sign
    return {seed: sign * float(value) for seed, value in values.items() if value is not None}


def _together(own: Draws, twin: Draws, trivial: Draws) -> list[tuple[float, float, float]]:
    """(private, twin, trivial) of the draws that all three have."""
    seeds = sorted(own.keys() & twin.keys() & trivial.keys())
    return [(own[seed], twin[seed], trivial[seed]) for seed in seeds]


def draw(question: Question, runs: Runs, metric: str) -> None:
    """The question, and the answer of each method."""
    measured_gain = gain(question.points, runs, metric)
    if measured_gain is None or not any(len(line) > 1 for line in measured_gain.lines.values()):
        return
    st.header("Which ε keeps a share of the gain?", anchor=False)
    with st.container(
        horizontal=True, vertical_alignment="center", gap="small", key="tradeoff.keep.row"
    ):
        st.markdown("To keep", width="content")
        percent = kept_gain.percent("tradeoff.keep")
        st.markdown(
            f"% of the gain in {METRICS[metric].title} from {measured_gain.trivial.label} to"
            f" {measured_gain.twin.label}:",
            width="content",
            help=kept_gain.BETWEEN,
        )
    lines = {
        label: known_line(question, label, measured_gain, metric) or line
        for label, line in measured_gain.lines.items()
    }
    safe_text.words_table(
        pd.DataFrame(
            {
                "method": label,
                f"which ε keeps {percent}%": "".join(it for it in kept_gain.answer(line, percent)),
                "read from": _read_from(line),
            }
            for label, line in lines.items()
        )
    )
    st.caption(
        "Every ε that was measured of a method on these data counts, as on Explore; the more"
        " there are, the nearer the answer. Explore measures a method's gain to its own twin"
        f" without privacy, here it is {measured_gain.twin.label} for all."
    )


def _read_from(line: Sequence[KeptGain]) -> str:
    """Which measured points an answer lies between."""
    texts = [budget_text(it.epsilon) for it in line]
    where = f"{texts[0]} to {texts[-1]}"
    if len(line) <= MOST_NAMED:
        where = ", ".join(texts)
    draws = max(len(it.shares) for it in line)
    if draws == 1:
        return f"{len(line)} ε: {where}; 1 draw"
    return f"{len(line)} ε: {where}; {draws} draws"
