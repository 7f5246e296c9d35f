"""What is measured of the claims of Saha & Imtiaz 2022, and by which statements they are judged."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from dpmf_core.data.catalogue import catalogue
from dpmf_core.papers.clauses import Clause, Median, Results, less, line, on_each
from dpmf_core.papers.figures import Runs
from dpmf_core.papers.saha_2022.methods import DOCUMENTS, FACES, PLAIN, PRIVATE, RANDOM
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.record import Run
from dpmf_core.runs.sweep import Point, Summary

FIRST, LAST = "the first step", "the last step"
CLOSE = 0.1  # what "very close" is taken to be
ALIKE = 0.9  # mean cosine from which parts are called alike


# ---- what is measured ----------------------------------------------------------------------------


def at_both_ends(points: Sequence[Point], runs: Runs, metric: str) -> list[Summary]:
    """A curve's value after the first step and after the last: `after` in the grid."""
    out = []
    for point in points:
        curve = runs[point.key].record.curves if point.key in runs else ()
        values = [value for it in curve if (value := it.get(metric)) is not None]
        for after, place in ((FIRST, 0), (LAST, -1)) if values else ():
            grid = {**point.grid, "after": after}
            draws = (float(values[place]),)
            out.append(Summary(point.label, point.spec.algorithm, point.epsilon, grid, draws))
    return out


def beside_plain(
    compare: Callable[[Run, Run], float],
) -> Callable[[Sequence[Point], Runs, str], list[Summary]]:
    """A figure of each private run and the run without privacy on the same data."""

    def measure(points: Sequence[Point], runs: Runs, _: str) -> list[Summary]:
        there = [(point, runs[point.key]) for point in points if point.key in runs]
        twins = {point.grid["data"]: run for point, run in there if point.label == PLAIN}
        return [
            replace(_summary(point), draws=(compare(run, twins[point.grid["data"]]),))
            for point, run in there
            if point.label != PLAIN and point.grid["data"] in twins
        ]

    return measure


def _summary(point: Point) -> Summary:
    return Summary(point.label, point.spec.algorithm, point.epsilon, point.grid, ())


# ---- what is judged ------------------------------------------------------------------------------


def close(theirs: Median, twin: Median, within: float = CLOSE) -> Clause:
    """That a private figure comes close to the one without privacy."""

    def margin(results: Results) -> float:
        return within * abs(twin(results)) - abs(theirs(results) - twin(results))

    def figures(results: Results) -> str:
        return f"{theirs(results):.4f} in private, {twin(results):.4f} without"

    at = "" if theirs.epsilon is None else f" at ε = {budget_text(theirs.epsilon)} a step"
    words = f"the private method comes within {within:.0%} of the one without privacy{at}"
    return Clause(words, margin, figures)


def narrows(epsilons: Sequence[float]) -> Clause:
    """That a larger epsilon of a step is a smaller objective."""
    first, last = epsilons[0], epsilons[-1]
    words = f"the gap is smaller at ε = {budget_text(last)} a step than at {first:g}"
    return less(Median(PRIVATE, last), Median(PRIVATE, first), words)


def judged_by_step() -> tuple[Clause, ...]:
    ends = {after: Median(PRIVATE, 0.5, {"after": after}) for after in (FIRST, LAST)}
    clauses = (
        close(ends[LAST], Median(PLAIN, grid={"after": LAST})),
        less(ends[LAST], ends[FIRST], "the private objective falls over the steps"),
    )
    return tuple(on_each("data", clause) for clause in clauses)


def judged_by_epsilon(epsilons: Sequence[float]) -> tuple[Clause, ...]:
    clauses = close(Median(PRIVATE, epsilons[-1]), Median(PLAIN)), narrows(epsilons)
    return tuple(on_each("data", clause) for clause in clauses)


def _remark(results: Results, ids: Sequence[str] = ()) -> str:
    """What a start without private data finds, and which of the source's sets are missing."""
    random = [it for it in results if it.label == RANDOM and it.grid.get("after", LAST) == LAST]
    titles = {entry.id: entry.title for entry in catalogue().catalogue()}
    there = {it.grid["data"] for it in results}
    missing = [titles[name] for name in ids if titles[name] not in there]
    other = missing if len(missing) < len(ids) else []  # of a stand-in the size speaks
    at = ", ".join(f"{it.median:.4f}" for it in random)
    parts = [
        f"From a random start it is {at} at ε = {budget_text(random[0].epsilon or 0)} a step."
        if random
        else "",
        "With the source's start, which is computed from the private data, nothing is proved.",
        f"Not measured on {', '.join(other)}." if other else "",
    ]
    return " ".join(part for part in parts if part)


def remark_on_documents(results: Results) -> str:
    return _remark(results, DOCUMENTS)


def remark_on_faces(results: Results) -> str:
    return _remark(results, FACES)


def remark_on_words(results: Results) -> str:
    at = ", ".join(f"{it.median:.1f}" for it in results if it.label == RANDOM)
    return f"From a random start {at} of ten words are shared."


def coherence_cost(results: Results) -> float:
    return Median(PRIVATE, 0.5)(results) / Median(PLAIN)(results)


def eight_topics() -> Clause:
    def margin(results: Results) -> float:
        at = line(results, PLAIN, "n_components")
        return at[8.0] - max(value for K, value in at.items() if K != 8.0)

    def figures(results: Results) -> str:
        at = line(results, PLAIN, "n_components")
        return ", ".join(f"{value:.4f} at K {K:g}" for K, value in at.items())

    return Clause("mean coherence is largest at 8 topics", margin, figures)
