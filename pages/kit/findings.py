"""A sweep's finished runs in sentences with numbers."""

import statistics
from collections.abc import Mapping, Sequence

import pandas as pd

from dpmf_core import algorithms
from dpmf_core.compare import same_draws
from dpmf_core.experiment import Run
from dpmf_core.reference import weak_reference
from dpmf_core.sweeps import Point, Summary, reaches, summaries
from pages.kit import swept
from pages.kit.guarantee import loss, shown
from pages.kit.swept import LARGER_IS_BETTER, METRICS, SOURCED, TRIVIAL, Finished


def finding(points: Sequence[Point], finished: Finished, metric: str) -> tuple[str, str]:
    """Title and sentence: which private method is best at the middle epsilon, what it keeps, and what the others need to get there.

    No method is called best, nor compared, before all its rivals' runs at that epsilon have finished.
    """
    other = swept.cautions(points, finished)
    rivals = [point for point in points if point.epsilon is not None and point.label not in other]
    if not any(point.key in finished for point in rivals):
        return "Which method, at which ε?", "Runs appear here as they finish." if len(finished) < len(points) else "Nothing private was compared."
    epsilon = swept.middle({point.epsilon for point in rivals if point.epsilon is not None})
    asked = {point.key for point in rivals if point.epsilon == epsilon}
    if missing := sum(key not in finished for key in asked):
        return f"At ε = {loss(epsilon)}, {len(asked) - missing} of {len(asked)} runs have finished", "Which method is best is said when all have."
    whole = swept.complete(points, finished)
    found = summaries(swept.at_best(whole, finished, metric), finished, metric)
    private = [it for it in found if it.epsilon is not None and it.label not in other]
    at = [it for it in private if it.epsilon == epsilon]
    if not at:
        return "Which method, at which ε?", f"No finished run has {METRICS[metric]}."
    top = swept.best(at, metric)
    figure = f"{METRICS[metric]} {top.median:.3f}"
    title = f"At ε = {loss(epsilon)}, " + (f"{top.label} is best: {figure}" if len({it.label for it in at}) > 1 else f"{top.label} has {figure}")
    where = [f"with {swept.place(dict(top.grid), [top.algorithm])}"] if top.grid else []
    open_ = {point.label for point in points if point.key not in finished}
    needed = _needed([it for it in private if it.label not in open_], [it for it in at if it.label not in open_], top, metric)
    parts = [*where, *_kept(found, top, metric), *_overlapping(at, top), *needed, *_unlike(other)]
    text = "; ".join(parts)
    return title, f"{text[:1].upper()}{text[1:]}." if text else ""


def _kept(found: Sequence[Summary], top: Summary, metric: str) -> list[str]:
    """How much of the way from guessing to the best that is not private."""
    free = [it for it in found if it.epsilon is None and it.algorithm not in TRIVIAL and it.algorithm in _twins()]
    trivial = [it for it in found if it.algorithm in TRIVIAL]
    if not free or not trivial:
        return []
    open_, guess = swept.best(free, metric), swept.best(trivial, metric)
    gain, mine = (swept.sign(metric) * (guess.median - it.median) for it in (open_, top))
    told = f"({open_.label} {open_.median:.3f}, {guess.label} {guess.median:.3f})"
    if gain <= 0:
        return []
    if mine <= 0:
        return [f"**no better than guessing** {told}"]
    if mine >= gain:
        return [f"as good as without privacy {told}"]
    share = f"{mine / gain:.0%}" if mine / gain < 0.995 else "over 99%"
    return [f"**{share} of the gain over guessing** is kept {told}"]


def _overlapping(at: Sequence[Summary], top: Summary) -> list[str]:
    """Those of which some draw is as good as some draw of the best."""
    names = [swept.said(it.label) for it in at if it.label != top.label and len(it.draws) > 1 and it.low <= top.high and top.low <= it.high]
    return [f"draws of {' and '.join(names[:3])} overlap with its own, so that their order may be chance"] if names else []


def _twins() -> set[str]:
    return {kind.twin for kind in algorithms.of_task("ratings").values()}


def _needed(private: Sequence[Summary], at: Sequence[Summary], top: Summary, metric: str) -> list[str]:
    """What the next two methods would need to be as good; where one epsilon was measured, how good they are."""
    rest = sorted((it for it in at if it.label != top.label), key=lambda it: swept.sign(metric) * it.median)
    out = []
    for label, median in [(it.label, it.median) for it in rest][:2]:
        line = [it for it in private if it.label == label]
        if len(line) == 1:
            out.append(f"{swept.said(label)} has {median:.3f}")
            continue
        needed = reaches(line, top.median, larger_is_better=metric in LARGER_IS_BETTER, digits=swept.DIGITS)
        most = max(it.epsilon for it in line if it.epsilon is not None)
        name = swept.said(label)
        out.append(f"{name} gets there at about ε = {loss(float(f'{needed:.2g}'))}" if needed else f"{name} does not get there up to ε = {loss(most)}")
    return out


def _unlike(other: dict[str, str]) -> list[str]:
    return [f"{label} is not ranked: {reason}" if reason == "no proof" else f"{label} is not ranked: its ε {reason}" for label, reason in other.items()]


def worse_than_guessing(points: Sequence[Point], finished: Finished, metric: str) -> list[str]:
    """A sentence for every method that does worse than the trivial predictor somewhere, of those whose runs have all finished."""
    found = summaries(swept.at_best(swept.complete(points, finished), finished, metric), finished, metric)
    trivial = [it for it in found if it.algorithm in TRIVIAL]
    if not trivial:
        return []
    guess, sign = swept.best(trivial, metric), swept.sign(metric)
    worse: dict[str, list[Summary]] = {}
    for it in found:
        if it.epsilon is not None and sign * it.median > sign * guess.median:
            worse.setdefault(it.label, []).append(it)
    return [
        f"**{label} does worse than {guess.label}** ({guess.median:.3f}) at ε = " + ", ".join(f"{loss(it.epsilon or 0)} ({it.median:.3f})" for it in at) + "."
        for label, at in worse.items()
    ]


def weak_references(points: Sequence[Point], finished: Finished, metric: str) -> list[str]:
    """A sentence for every twin without privacy that is no better than a trivial predictor."""
    found = [it for it in summaries(swept.at_best(points, finished, metric), finished, metric) if it.epsilon is None]
    guesses = {it.label: it.median for it in found if it.algorithm in TRIVIAL}
    larger = metric in LARGER_IS_BETTER
    told = [
        weak_reference(it.label, it.median, guesses, METRICS[metric], larger_is_better=larger)
        for it in found
        if it.algorithm in _twins() and it.algorithm not in TRIVIAL
    ]
    return [line for line in told if line]


REFERENCES = ("twin", "trivial", "user-mean")


def weak_twin(done: Mapping[str, Run]) -> str:
    """The same of one private run's twin, once both trivial predictors are there; '' before, and where nothing is wrong."""
    draws = same_draws(done, *REFERENCES)
    if not draws:
        return ""
    errors = {name: statistics.median(draw[place] for draw in draws) for place, name in enumerate(REFERENCES)}
    guesses = {done[name].record["title"]: errors[name] for name in ("trivial", "user-mean")}
    return weak_reference(done["twin"].record["title"], errors["twin"], guesses)


def both_rules(points: Sequence[Point]) -> list[str]:
    """The methods that are run with exact accounting and with their source's rule."""
    labels = dict.fromkeys(point.label for point in points)
    return [label for label in labels if f"{label}{SOURCED}" in labels]


def rule_alone(points: Sequence[Point], finished: Finished, metric: str, label: str) -> str:
    """How much the source's rule for the noise costs one method, and which part that is of its distance to what is not private; '' before both have run."""
    found = {(it.label, it.epsilon): it for it in summaries(swept.at_best(swept.complete(points, finished), finished, metric), finished, metric)}
    shared = [epsilon for name, epsilon in found if name == label and epsilon is not None and (f"{label}{SOURCED}", epsilon) in found]
    if not shared:
        return ""
    epsilon = swept.middle(shared)
    ours, theirs = found[label, epsilon].median, found[f"{label}{SOURCED}", epsilon].median
    truly = _true_epsilon(points, finished, f"{label}{SOURCED}", epsilon)
    costs = f", which truly costs ε = {shown(truly)}" if truly is not None else ""
    text = f"{label} at ε = {loss(epsilon)}: {METRICS[metric]} {ours:.3f} with exact accounting, {theirs:.3f} with its source's noise{costs}"
    free = [it for it in found.values() if it.epsilon is None and it.algorithm in _twins()]
    sign = swept.sign(metric)
    if not free or sign * (theirs - ours) <= 0:
        return text + (": more than was asked for." if truly is not None and truly > epsilon * 1.005 else ".")
    open_ = swept.best(free, metric)
    distance = sign * (theirs - open_.median)
    return f"{text}. **{min(sign * (theirs - ours) / distance, 1.0):.0%} of its distance to {open_.label} is the rule alone.**" if distance > 0 else f"{text}."


def _true_epsilon(points: Sequence[Point], finished: Finished, label: str, epsilon: float) -> float | None:
    """The exact epsilon of a method's runs at a nominal one; None where none is proved."""
    for point in points:
        if point.label == label and point.epsilon == epsilon and point.key in finished:
            record = finished[point.key].record
            return record["epsilon"]["exact"] if record["guarantee"]["status"] in swept.PROVED else None
    return None


def reached(table: pd.DataFrame, metric: str, value: float) -> str:
    """`swept.which_epsilon` as a sentence."""
    rows = list(zip(table["method"].map(str), table["epsilon"].astype(float), table["low"].astype(float), strict=True))
    there = [f"ε = {up_to(at, low)} with {name}" for name, at, low in rows if at == at]
    missing = [name for name, at, _ in rows if at != at]
    parts = [f"{METRICS[metric]} {value:.3f} takes " + ", ".join(there)] if there else []
    if missing:
        says = "does" if len(missing) == 1 else "do"
        parts.append(f"{', '.join(missing)} {says} not reach {'it' if there else f'{METRICS[metric]} {value:.3f}'} up to ε = {loss(table['high'].max())}")
    return "; ".join(parts) + "."


def up_to(epsilon: float, low: float) -> str:
    """An epsilon that was found; where the smallest measured one is good enough already, a smaller one may be too."""
    return f"{shown(epsilon)} or less" if epsilon <= low else shown(epsilon)


def who_pays(table: pd.DataFrame, label: str, twin: str, epsilon: float) -> str:
    """What privacy adds to the RMSE of the least and the most active users, and of the least and the most rated items."""
    wide = table.pivot_table(index=["by", "place", "group"], columns="name", values="rmse").reset_index()
    if label not in wide or twin not in wide:
        return ""
    out = []
    for by, few, many in (("activity", "users who rate least", "those who rate most"), ("popularity", "the items rated least", "those rated most")):
        part = wide[wide["by"] == by].sort_values("place")
        costs = part[label] - part[twin]
        out.append(f"for {few} ({part['group'].iloc[0]} ratings) **{costs.iloc[0]:+.3f}**, for {many} ({part['group'].iloc[-1]}) **{costs.iloc[-1]:+.3f}**")
    return f"At ε = {loss(epsilon)}, {label} changes the RMSE of {twin}: " + "; ".join(out) + "."


def best_places(table: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """For every method that has parameters of the grid, its best place at each epsilon. table: as of `swept.frame`; names: the grid's parameters."""
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
            at.append(f"{'' if epsilon != epsilon else f'at ε = {loss(float(str(epsilon)))} '}with {swept.place(grid, ids)} ({float(medians.min()):.3f})")
        out.append(f"**{name}** does best {'; '.join(at)}.")
    return out
