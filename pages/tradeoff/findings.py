"""Sentences and tables about a comparison's finished runs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpmf_core.evaluation.registry import METRICS, Metric, weak_reference
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.needed_epsilon import Draws
from dpmf_core.runs.privacy_cost import PrivacyCost, best_known
from dpmf_core.runs.sweep import Point, Summary
from dpmf_core.runs.sweep import summaries as summaries_of
from pages.kit.colours import is_reference, is_trivial
from pages.kit.comparison import gain_kept
from pages.kit.sweep_frames import NO_PROOF, Runs, cautions, method, place

QUESTION = "Which method, at which ε?"


@dataclass(frozen=True)
class Results:
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
    def summaries(self) -> list[Summary]:
        """Each method at each epsilon with all runs finished; only the best place of a grid."""
        open_ = {(it.label, it.epsilon) for it in self.points if it.key not in self.runs}
        best: dict[tuple[str, float | None], Summary] = {}
        for it in summaries_of(self.points, self.runs, self.metric):
            where = (it.label, it.epsilon)
            if where not in open_ and (where not in best or self.rank(it) < self.rank(best[where])):
                best[where] = it
        return list(best.values())

    def rank(self, it: Summary) -> float:
        """Return the median with a sign such that smaller is better."""
        return self.kind.sign * it.median

    def best(self, some: Iterable[Summary]) -> Summary | None:
        return min(some, key=self.rank, default=None)

    @property
    def private(self) -> list[Summary]:
        return [it for it in self.summaries if it.epsilon is not None]

    @cached_property
    def reference(self) -> Summary | None:
        """The best method without privacy."""
        return self.best(
            it for it in self.summaries if it.epsilon is None and is_reference(it.algorithm)
        )

    @property
    def has_best_known(self) -> bool:
        """Whether the reference is the best known method without privacy, or a better one."""
        return any(it.algorithm == best_known(self.metric) for it in self.summaries)

    @cached_property
    def trivial(self) -> Summary | None:
        """The best trivial predictor."""
        return self.best(it for it in self.summaries if is_trivial(it.algorithm))

    def cost(self, it: Summary) -> PrivacyCost | None:
        """Return the cost of noise and method, over the draws that all four methods share."""
        own = next((one for one in self.summaries if self._is_open(one, it)), None)
        if own is None or self.reference is None or self.trivial is None:
            return None
        draws = _shared_draws(it, own, self.reference, self.trivial)
        return PrivacyCost.of(self.kind, draws) if draws else None

    @staticmethod
    def _is_open(one: Summary, it: Summary) -> bool:
        """Return whether `one` is the method of `it` without noise."""
        same = (one.algorithm, dict(one.grid)) == (it.algorithm, dict(it.grid))
        return same and one.epsilon is None and it.epsilon is not None

    def draws(self, it: Summary) -> Draws:
        """Return (private, reference, trivial) for each shared draw; smaller is better."""
        if self.reference is None or self.trivial is None:
            return []
        draws = _shared_draws(it, self.reference, self.trivial)
        return [tuple(self.kind.sign * error for error in draw) for draw in draws]


def _shared_draws(*some: Summary) -> list[Any]:
    """Return the figures of every draw that these summaries share, each a tuple."""
    values = [dict(zip(it.seeds, it.draws, strict=True)) for it in some]
    seeds = sorted(set.intersection(*map(set, values)))
    return [tuple(own[seed] for own in values) for seed in seeds]


def middle(epsilons: Iterable[float | None]) -> float:
    """Return the epsilon of the headline."""
    ascending = sorted(it for it in epsilons if it is not None)
    return ascending[(len(ascending) - 1) // 2]


def headline(results: Results) -> tuple[str, str]:
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
        f"At ε = {budget_text(epsilon)}, {method(top.label)} {verb}"
        f" {results.kind.title} {results.kind.text(top.median)}"
    )
    return title, " ".join(
        [*_place_and_gain(results, top), *_overlaps(at, top), *_exclusions(results)]
    )


def _place_and_gain(results: Results, top: Summary) -> list[str]:
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


def _overlaps(at: Sequence[Summary], top: Summary) -> list[str]:
    """Return which methods have draws that overlap with the best method's."""
    names = [
        method(it.label)
        for it in at
        if it.label != top.label and len(it.draws) > 1 and it.low <= top.high and top.low <= it.high
    ]
    return [f"Its draws overlap with those of {' and '.join(names[:3])}."] if names else []


def _exclusions(results: Results) -> list[str]:
    return [
        f"{method(label)} is not ranked: {reason}."
        if reason == NO_PROOF
        else f"{method(label)} is not ranked: its ε {reason}."
        for label, reason in results.cautions.items()
    ]


def weak_references(results: Results) -> list[str]:
    """Return a warning for every non-private method no better than a trivial predictor."""
    plain = [it for it in results.summaries if it.epsilon is None]
    guesses = {it.label: it.median for it in plain if is_trivial(it.algorithm)}
    sentences = [
        weak_reference(it.label, it.median, guesses, results.kind)
        for it in plain
        if is_reference(it.algorithm)
    ]
    return [it for it in sentences if it]


def best_places(results: Results) -> list[str]:
    """Return the best place of the grid for every method with its parameters, by epsilon."""
    out = []
    for label in dict.fromkeys(it.label for it in results.summaries if it.grid):
        at = [
            (f"at ε = {budget_text(it.epsilon)} " if it.epsilon is not None else "")
            + f"with {place(dict(it.grid), [it.algorithm])} ({results.kind.text(it.median)})"
            for it in results.summaries
            if it.label == label
        ]
        out.append(f"**{method(label)}** does best {'; '.join(at)}.")
    return out
