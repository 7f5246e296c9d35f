"""Sentences and tables about a comparison's finished runs."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from dpmf_core.base.errors import BadInput
from dpmf_core.evaluation.registry import METRICS, Metric, weak_reference
from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.runs import comparison
from dpmf_core.runs.epsilon_grid import EpsilonGrid
from dpmf_core.runs.needed_epsilon import Draws, Goal, Measured, answer, kept_at
from dpmf_core.runs.privacy_cost import PrivacyCost, best_known
from dpmf_core.runs.record import Run
from dpmf_core.runs.sweep import Point, Summary
from dpmf_core.runs.sweep import summaries as summaries_of
from pages.kit import epsilon_grid
from pages.kit.colours import is_reference, is_trivial
from pages.kit.comparison import gain_kept
from pages.kit.sweep_frames import NO_PROOF, SOURCE_SUFFIX, Runs, cautions, method, place

QUESTION = "Which method, at which ε?"
MOST_NAMED = 4  # epsilons in a list


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

    @cached_property
    def trivial(self) -> Summary | None:
        """The best trivial predictor."""
        return self.best(it for it in self.summaries if is_trivial(it.algorithm))

    def cost(self, it: Summary) -> PrivacyCost | None:
        """Return the cost of noise and method, over the draws that all four methods share."""
        own = next((one for one in self.summaries if self._is_open(one, it)), None)
        if own is None or self.reference is None or self.trivial is None:
            return None
        values = [
            dict(zip(one.seeds, one.draws, strict=True))
            for one in (it, own, self.reference, self.trivial)
        ]
        seeds = sorted(set.intersection(*(set(one) for one in values)))
        private, without_noise, best, guess = values
        draws = [(private[it], without_noise[it], best[it], guess[it]) for it in seeds]
        return PrivacyCost.of(self.kind, draws) if draws else None

    @staticmethod
    def _is_open(one: Summary, it: Summary) -> bool:
        """Return whether `one` is the method of `it` without noise."""
        same = (one.algorithm, dict(one.grid)) == (it.algorithm, dict(it.grid))
        return same and one.epsilon is None and it.epsilon is not None

    @property
    def finished_labels(self) -> list[str]:
        """Labels of proven private methods whose runs have all finished."""
        open_ = {it.label for it in self.points if it.key not in self.runs}
        labels = dict.fromkeys(it.label for it in self.private if it.label not in open_)
        return [it for it in labels if self.cautions.get(it) != NO_PROOF]

    def draws(self, it: Summary) -> Draws:
        """Return (private, reference, trivial) for each shared draw; smaller is better."""
        if self.reference is None or self.trivial is None:
            return []
        values = [dict(zip(one.seeds, one.draws, strict=True)) for one in (it, self.reference)]
        values.append(dict(zip(self.trivial.seeds, self.trivial.draws, strict=True)))
        seeds = sorted(set.intersection(*(set(one) for one in values)))
        return [tuple(self.kind.sign * one[seed] for one in values) for seed in seeds]

    def runs_of(self, it: Summary) -> list[Run]:
        """Return a summary's runs."""
        where = (it.label, it.epsilon, dict(it.grid))
        return [
            self.runs[point.key]
            for point in self.points
            if (point.label, point.epsilon, dict(point.grid)) == where
        ]


def middle(epsilons: Iterable[float | None]) -> float:
    """Return the epsilon of the headline."""
    ascending = sorted(it for it in epsilons if it is not None)
    return ascending[(len(ascending) - 1) // 2]


# ---- the headline --------------------------------------------------------------------------------


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
            is_best = reference.algorithm == best_known(results.metric)
            words.append(cost.words(reference.label, is_best=is_best))
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


# ---- remarks -------------------------------------------------------------------------------------


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


def remarks(results: Results) -> list[str]:
    """Return which private methods beat the best non-private one or lose to guessing."""
    out: list[str] = []
    digits, sign, text = results.kind.digits, results.kind.sign, results.kind.text
    for label in dict.fromkeys(it.label for it in results.private):
        line = [it for it in results.private if it.label == label]
        top, reference, guess = results.best(line), results.reference, results.trivial
        assert top is not None  # lines are not empty
        if reference is not None and sign * round(top.median, digits) < sign * round(
            reference.median, digits
        ):
            out.append(
                f"**{method(label)} does better than {reference.label} without privacy**"
                f" ({results.kind.title} {text(top.median)} at ε = {budget_text(top.epsilon or 0)};"
                f" {reference.label} {text(reference.median)}). The methods differ, so this is not"
                " an effect of privacy."
            )
        if guess is not None and (
            worse := [it for it in line if results.rank(it) > results.rank(guess)]
        ):
            places = [f"{budget_text(it.epsilon or 0)} ({text(it.median)})" for it in worse]
            out.append(
                f"**{method(label)} does worse than {guess.label}** ({text(guess.median)}) at"
                f" ε = {', '.join(places)}."
            )
    return out


def rule_costs(results: Results) -> list[str]:
    """Return what the source's rule for the noise costs methods that ran with both rules."""
    lines = {(it.label, it.epsilon): it for it in results.private}
    out = []
    for label in dict.fromkeys(it.label for it in results.private):
        source = f"{label}{SOURCE_SUFFIX}"
        shared = [at for name, at in lines if name == label and (source, at) in lines]
        if not shared:
            continue
        epsilon = middle(shared)
        ours, theirs = lines[label, epsilon], lines[source, epsilon]
        record = results.runs_of(theirs)[0].record
        truly = record.epsilon.exact if record.guarantee.has_epsilon else None
        costs = "" if truly is None else f", which truly costs ε = {epsilon_text(truly)}"
        out.append(
            f"{label} at ε = {budget_text(epsilon)}: {results.kind.title} {ours.median:.3f} with"
            f" exact accounting, {theirs.median:.3f} with its source's noise{costs}."
            + _share_of_rule(results, ours, theirs)
        )
    return out


def _share_of_rule(results: Results, ours: Summary, theirs: Summary) -> str:
    """Return how much of a method's distance to the reference is due to the rule."""
    if results.reference is None:
        return ""
    more, distance = (results.rank(theirs) - results.rank(it) for it in (ours, results.reference))
    if more <= 0 or distance <= 0:
        return ""
    share = f"{min(more / distance, 1.0):.0%}"
    return f" **{share} of its distance to {results.reference.label} is due to the rule.**"


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


# ---- which epsilon is enough ---------------------------------------------------------------------


def needed_epsilons(results: Results, goal: Goal) -> pd.DataFrame:
    """Return which epsilon reaches a goal, for every finished private method."""
    lines = {label: line_of(results, label, goal) for label in results.finished_labels}
    return pd.DataFrame(
        {
            "method": method(label, results.cautions.get(label, "")),
            "sufficient ε": "".join(answer(line, goal)),
            "read from": _read_from(line),
        }
        for label, line in lines.items()
        if line
    )


def line_of(results: Results, label: str, goal: Goal) -> list[Measured]:
    """Return a method's measured points.

    They come from Explore's grid if it has the same draws and references, otherwise from this
    page's runs.
    """
    grid = _known_grid(results, label)
    own = sorted(
        (it for it in results.private if it.label == label), key=lambda it: it.epsilon or 0
    )
    if goal.is_share:
        if grid is not None and _measures_alike(results, label):
            return grid.kept
        shares = (kept_at(it.epsilon or 0, results.draws(it)) for it in own)
        return [it for it in shares if it is not None]
    if grid is not None:
        return grid.measured
    return [Measured(it.epsilon, it.draws) for it in own if it.epsilon is not None]


def _first(results: Results, label: str) -> Point:
    own = (it for it in results.points if it.label == label and it.epsilon is not None)
    return min(own, key=lambda it: it.spec.seed)


def _known_grid(results: Results, label: str) -> EpsilonGrid | None:
    """Return Explore's grid of a method if it has the same draws."""
    own = [it for it in results.points if it.label == label and it.epsilon is not None]
    first = _first(results, label).spec
    if any(it.grid or it.spec.seed - first.seed >= comparison.DRAWS for it in own):
        return None
    try:
        return epsilon_grid.read(first, results.metric, also=[it.epsilon or 0 for it in own])
    except BadInput:
        return None


def _measures_alike(results: Results, label: str) -> bool:
    """Return whether Explore compares the method with the same references."""
    references = comparison.references(_first(results, label).spec)
    here = {"best": results.reference, "trivial": results.trivial}
    return all(it and it.algorithm == references[who].algorithm for who, it in here.items())


def _read_from(line: Sequence[Measured]) -> str:
    """Return the measured points used, in words."""
    texts = [budget_text(it.epsilon) for it in line]
    where = ", ".join(texts) if len(line) <= MOST_NAMED else f"{texts[0]} to {texts[-1]}"
    draws = max(len(it.values) for it in line)
    return f"{len(line)} ε: {where}; {draws} draw{'s' * (draws > 1)}"
