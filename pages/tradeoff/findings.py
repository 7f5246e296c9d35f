"""A sweep's finished runs in sentences with numbers."""

from collections.abc import Sequence

import pandas as pd

from dpmf_core.evaluation.registry import METRICS, weak_reference
from dpmf_core.privacy.formatting import budget_text, epsilon_text
from dpmf_core.runs.sweep import Point, Summary, summaries
from pages.kit import sweep_frames
from pages.kit.colours import is_trivial, is_twin
from pages.kit.sweep_frames import SOURCE_SUFFIX, Runs, method
from pages.tradeoff import tables

QUESTION = "Which method, at which ε?"


def finding(points: Sequence[Point], runs: Runs, metric: str) -> tuple[str, str]:
    """Title and sentence: which private method is best at the middle epsilon, what it keeps, and
    what the others need to get there.

    No method is called best, nor compared, before all its rivals' runs at that epsilon have
    finished.
    """
    other = sweep_frames.cautions(points, runs)
    rivals = [point for point in points if point.epsilon is not None and point.label not in other]
    if not any(point.key in runs for point in rivals):
        if len(runs) < len(points):
            return QUESTION, "Runs appear here as they finish."
        return QUESTION, "Nothing private was compared."
    epsilon = tables.middle_epsilon(
        {point.epsilon for point in rivals if point.epsilon is not None}
    )
    keys = {point.key for point in rivals if point.epsilon == epsilon}
    if missing := sum(key not in runs for key in keys):
        return (
            (
                f"At ε = {budget_text(epsilon)}, {len(keys) - missing} of {len(keys)} runs have"
                " finished"
            ),
            "Which method is best is said when all have.",
        )
    results = _complete_summaries(points, runs, metric)
    private = [it for it in results if it.epsilon is not None and it.label not in other]
    at = [it for it in private if it.epsilon == epsilon]
    if not at:
        kind = METRICS[metric].title
        return QUESTION, f"No finished run has {kind}."
    top = tables.best_summary(at, metric)
    open_ = {point.label for point in points if point.key not in runs}
    parts = [
        *_place(top),
        *_gain_kept(results, top, metric),
        *_overlaps(at, top),
        *_rivals_epsilons([it for it in private if it.label not in open_], top, metric),
        *_exclusions(other),
    ]
    text = "; ".join(parts)
    return _title(at, top, metric), f"{text[:1].upper()}{text[1:]}." if text else ""


def _complete_summaries(points: Sequence[Point], runs: Runs, metric: str) -> list[Summary]:
    """Summaries of the points whose runs have all finished; of a grid, its best place."""
    whole = tables.complete_points(points, runs)
    return summaries(tables.best_points(whole, runs, metric), runs, metric)


def _title(at: Sequence[Summary], top: Summary, metric: str) -> str:
    """Which method is best at an epsilon; where there is one alone, what it has."""
    verb = "is best:" if len({it.label for it in at}) > 1 else "has"
    figure = f"{METRICS[metric].title} {METRICS[metric].text(top.median)}"
    return f"At ε = {budget_text(top.epsilon or 0)}, {method(top.label)} {verb} {figure}"


def _place(top: Summary) -> list[str]:
    """Where in a grid it is."""
    if not top.grid:
        return []
    return [f"with {sweep_frames.place(dict(top.grid), [top.algorithm])}"]


def _gain_kept(results: Sequence[Summary], top: Summary, metric: str) -> list[str]:
    """How much of the way from guessing to the best that is not private."""
    free = [it for it in results if it.epsilon is None and is_twin(it.algorithm)]
    trivial = [it for it in results if is_trivial(it.algorithm)]
    if not free or not trivial:
        return []
    open_, guess = tables.best_summary(free, metric), tables.best_summary(trivial, metric)
    gain, mine = (METRICS[metric].sign * (guess.median - it.median) for it in (open_, top))
    text = METRICS[metric].text
    twin = open_.label
    beside = f"({twin} {text(open_.median)}, {guess.label} {text(guess.median)})"
    if gain <= 0:
        return []
    if mine <= 0:
        return [f"**no better than guessing** {beside}"]
    if mine >= gain:
        return [f"no worse than {twin} without privacy {beside}"]
    share = f"{mine / gain:.0%}" if mine / gain < 0.995 else "over 99%"
    return [f"**{share} of the gain over guessing** is kept {beside}"]


def _overlaps(at: Sequence[Summary], top: Summary) -> list[str]:
    """Those of which some draw is as good as some draw of the best."""
    names = [
        tables.label_in_list(it.label)
        for it in at
        if it.label != top.label and len(it.draws) > 1 and it.low <= top.high and top.low <= it.high
    ]
    if not names:
        return []
    return [
        (
            f"draws of {' and '.join(names[:3])} overlap with its own, so that their order may be"
            " chance"
        )
    ]


def _rivals_epsilons(private: Sequence[Summary], top: Summary, metric: str) -> list[str]:
    """What the next two methods would need to be as good; where one epsilon was measured, how
    good they are.
    """
    rest = sorted(
        (it for it in private if it.epsilon == top.epsilon and it.label != top.label),
        key=lambda it: METRICS[metric].sign * it.median,
    )
    out = []
    for label, median in [(it.label, it.median) for it in rest][:2]:
        line = [it for it in private if it.label == label]
        name = tables.label_in_list(label)
        if len(line) == 1:
            out.append(f"{name} has {METRICS[metric].text(median)}")
        elif epsilon := sweep_frames.first_epsilon(line, top.median, metric):
            at_about = budget_text(float(f"{epsilon:.2g}"))
            out.append(f"{name} gets there at about ε = {at_about}")
        else:
            most = budget_text(max(it.epsilon for it in line if it.epsilon is not None))
            out.append(f"{name} does not get there up to ε = {most}")
    return out


def _exclusions(other: dict[str, str]) -> list[str]:
    return [
        f"{method(label)} is not ranked: {reason}"
        if reason == sweep_frames.NO_PROOF
        else f"{method(label)} is not ranked: its ε {reason}"
        for label, reason in other.items()
    ]


def worse_than_guessing(points: Sequence[Point], runs: Runs, metric: str) -> list[str]:
    """A sentence for every method that does worse than the trivial predictor somewhere, of
    those whose runs have all finished.
    """
    results = _complete_summaries(points, runs, metric)
    trivial = [it for it in results if is_trivial(it.algorithm)]
    if not trivial:
        return []
    guess, sign = tables.best_summary(trivial, metric), METRICS[metric].sign
    worse: dict[str, list[Summary]] = {}
    for it in results:
        if it.epsilon is not None and sign * it.median > sign * guess.median:
            worse.setdefault(it.label, []).append(it)
    text = METRICS[metric].text
    return [
        "**{name} does worse than {guess}** ({figure}) at ε = {places}.".format(
            name=method(label),
            guess=guess.label,
            figure=text(guess.median),
            places=", ".join(f"{budget_text(it.epsilon or 0)} ({text(it.median)})" for it in at),
        )
        for label, at in worse.items()
    ]


def weak_references(points: Sequence[Point], runs: Runs, metric: str) -> list[str]:
    """A sentence for every twin without privacy that is no better than a trivial predictor."""
    results = [
        it
        for it in summaries(tables.best_points(points, runs, metric), runs, metric)
        if it.epsilon is None
    ]
    guesses = {it.label: it.median for it in results if is_trivial(it.algorithm)}
    sentences = [
        weak_reference(it.label, it.median, guesses, METRICS[metric])
        for it in results
        if is_twin(it.algorithm)
    ]
    return [line for line in sentences if line]


def both_rules(points: Sequence[Point]) -> list[str]:
    """The methods that are run with exact accounting and with their source's rule."""
    labels = dict.fromkeys(point.label for point in points)
    return [label for label in labels if f"{label}{SOURCE_SUFFIX}" in labels]


def rule_alone(points: Sequence[Point], runs: Runs, metric: str, label: str) -> str:
    """How much the source's rule for the noise costs one method, and which part that is of its
    distance to what is not private; '' before both have run.
    """
    results = {(it.label, it.epsilon): it for it in _complete_summaries(points, runs, metric)}
    shared = [
        epsilon
        for name, epsilon in results
        if name == label and epsilon is not None and (f"{label}{SOURCE_SUFFIX}", epsilon) in results
    ]
    if not shared:
        return ""
    epsilon = tables.middle_epsilon(shared)
    ours, theirs = (
        results[label, epsilon].median,
        results[f"{label}{SOURCE_SUFFIX}", epsilon].median,
    )
    truly = _true_epsilon(points, runs, f"{label}{SOURCE_SUFFIX}", epsilon)
    costs = ""
    if truly is not None:
        costs = f", which truly costs ε = {epsilon_text(truly)}"
    free = [it for it in results.values() if it.epsilon is None and is_twin(it.algorithm)]
    sign = METRICS[metric].sign
    is_worse = bool(free) and sign * (theirs - ours) > 0
    more = ": more than was asked for"
    text = (
        "{name} at ε = {epsilon}: {metric} {ours:.3f} with exact accounting, {theirs:.3f} with its"
        " source's noise{costs}{more}."
    ).format(
        name=label,
        epsilon=budget_text(epsilon),
        metric=METRICS[metric].title,
        ours=ours,
        theirs=theirs,
        costs=costs,
        more=more if not is_worse and truly is not None and truly > epsilon * 1.005 else "",
    )
    if not is_worse:
        return text
    open_ = tables.best_summary(free, metric)
    distance = sign * (theirs - open_.median)
    if distance <= 0:
        return text
    alone = (
        f"**{min(sign * (theirs - ours) / distance, 1.0):.0%} of its distance to {open_.label} is"
        " the rule alone.**"
    )
    return f"{text} {alone}"


def _true_epsilon(points: Sequence[Point], runs: Runs, label: str, epsilon: float) -> float | None:
    """The exact epsilon of a method's runs at a nominal one; None where none is proved."""
    for point in points:
        if point.label == label and point.epsilon == epsilon and point.key in runs:
            record = runs[point.key].record
            return record.epsilon.exact if record.guarantee.has_epsilon else None
    return None


def needed_epsilons(table: pd.DataFrame, metric: str, value: float) -> str:
    """`tables.which_epsilon` as a sentence."""
    rows = list(
        zip(
            table["method"].map(str),
            table["epsilon"].astype(float),
            table["low"].astype(float),
            strict=True,
        )
    )
    there = [f"ε = {epsilon_or_less(at, low)} with {name}" for name, at, low in rows if at == at]
    missing = [name for name, at, _ in rows if at != at]
    goal = f"{METRICS[metric].title} {value:.3f}"
    parts = []
    if there:
        parts = [f"{goal} takes {', '.join(there)}"]
    if missing:
        verb = "does" if len(missing) == 1 else "do"
        target, highest = "it" if there else goal, budget_text(table["high"].max())
        parts.append(f"{', '.join(missing)} {verb} not reach {target} up to ε = {highest}")
    return "; ".join(parts) + "."


def epsilon_or_less(epsilon: float, low: float) -> str:
    """An epsilon that was found; where the smallest measured one is good enough already, a
    smaller one may be too.
    """
    if epsilon <= low:
        return f"{epsilon_text(epsilon)} or less"
    return epsilon_text(epsilon)


PAYERS = {
    "activity": (
        "for users who rate least ({fewest} ratings) **{least:+.3f}**, for those who rate most"
        " ({most_rated}) **{most:+.3f}**"
    ),
    "popularity": (
        "for the items rated least ({fewest} ratings) **{least:+.3f}**, for those rated most"
        " ({most_rated}) **{most:+.3f}**"
    ),
}


def who_pays(table: pd.DataFrame, label: str, twin: str, epsilon: float) -> str:
    """What privacy adds to the RMSE of the least and the most active users, and of the least
    and the most rated items. label, twin: as the table names them.
    """
    wide = table.pivot_table(
        index=["by", "place", "group"], columns="name", values="rmse"
    ).reset_index()
    if label not in wide or twin not in wide:
        return ""
    out = []
    for by, sentence in PAYERS.items():
        part = wide[wide["by"] == by].sort_values("place")
        costs = part[label] - part[twin]
        out.append(
            sentence.format(
                fewest=part["group"].iloc[0],
                least=costs.iloc[0],
                most_rated=part["group"].iloc[-1],
                most=costs.iloc[-1],
            )
        )
    return f"At ε = {budget_text(epsilon)}, {label} changes the RMSE of {twin}: {'; '.join(out)}."


def best_places(table: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """For every method that has parameters of the grid, its best place at each epsilon. table:
    as of `sweep_frames.frame`; names: the grid's parameters.
    """
    out = []
    for name, lines in table.groupby("name", sort=False):
        own = [parameter for parameter in names if lines[parameter].notna().any()]
        if not own:
            continue
        ids, at = [str(lines["id"].iloc[0])], []
        for epsilon, part in lines.groupby("epsilon", dropna=False):
            medians = part.groupby(own)["value"].median()
            best = medians.idxmin()
            grid = dict(zip(own, best if isinstance(best, tuple) else (best,), strict=True))
            sentence = f"with {sweep_frames.place(grid, ids)} ({float(medians.min()):.3f})"
            if epsilon == epsilon:
                text = budget_text(float(str(epsilon)))
                sentence = f"at ε = {text} {sentence}"
            at.append(sentence)
        out.append(f"**{name}** does best {'; '.join(at)}.")
    return out
