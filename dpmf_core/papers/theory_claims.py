"""Published error bounds as claims about exponents.

Along each axis the measured error falls at least as fast, or grows at most as fast, as the bound
over the same places. Only a slower decay or a faster growth contradicts an upper bound.
"""

import math
from collections.abc import Callable, Iterable, Sequence

from dpmf_core.papers.bounds import Axis, Bound, Place
from dpmf_core.papers.clauses import Clause, MissingResult, Results
from dpmf_core.papers.exponents import Exponent, exponent
from dpmf_core.papers.figures import Claim, Runs, Sweeps, by_metric
from dpmf_core.papers.methods import on_lowrank
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.sweep import Method, Point, Summary, Sweep

WORDS = {"users": "users n", "items": "items m", "epsilon": "ε"}
SYMBOLS = {"users": "n", "items": "m", "epsilon": "ε"}
EACH = 40  # ratings of a user along the axis of items, so that they are as many everywhere
# where the axis does not move
PLACES: dict[Axis, Place] = {
    "users": Place(20_000, 1_000, 10.0),
    "items": Place(20_000, 1_000, 10.0),
    "epsilon": Place(5_000, 1_000, 10.0),
}


def place_at(axis: Axis, x: float) -> Place:
    """Return the place of a value on an axis, with the data's share of observed entries.

    A user has 20 log n of m entries, or EACH along the axis of items.
    """
    users, items = (
        x if axis == name else value
        for name, value in (("users", PLACES[axis].users), ("items", PLACES[axis].items))
    )
    ratings = EACH if axis == "items" else 20 * math.log(max(users, 2.0))
    share = min(1.0, ratings / items)
    epsilon = x if axis == "epsilon" else PLACES[axis].epsilon
    return Place(users, items, epsilon, share=share)


def _users(method: Method, steps: tuple[int, ...]) -> Sweeps:
    def sweeps(full: bool) -> tuple[Sweep, ...]:
        names = ("lowrank-5k", "lowrank-10k", "lowrank", "lowrank-50k")
        return tuple(
            _sweep(DataSpec(id=name), method, (PLACES["users"].epsilon,), full)
            for name in (names if full else names[:3])
        )

    return sweeps


def _items(method: Method, steps: tuple[int, ...]) -> Sweeps:
    """Return an item set with about EACH ratings per user; ratings are removed before items."""

    def sweeps(full: bool) -> tuple[Sweep, ...]:
        every = int(PLACES["items"].items)
        return tuple(
            _sweep(
                DataSpec(id="lowrank", top_items=top, most_per_user=EACH * every // top),
                method,
                (PLACES["items"].epsilon,),
                full,
                steps,
            )
            for top in ((250, 320, 400, 500, 630) if full else (250, 400, 630))
        )

    return sweeps


def _epsilons(method: Method, steps: tuple[int, ...]) -> Sweeps:
    def sweeps(full: bool) -> tuple[Sweep, ...]:
        return (_sweep(DataSpec(id="lowrank-5k"), method, (5.0, 10.0, 20.0), full),)

    return sweeps


def _sweep(
    data: DataSpec,
    method: Method,
    epsilons: tuple[float, ...],
    full: bool,
    steps: tuple[int, ...] = (),
) -> Sweep:
    return Sweep(
        data=data,
        methods=on_lowrank(method),
        epsilons=epsilons,
        seeds=tuple(range(3 if full else 2)),
        grid={"steps": steps} if steps else {},
    )


SWEEPS = {"users": _users, "items": _items, "epsilon": _epsilons}


def best_steps(points: Sequence[Point], runs: Runs, metric: str) -> list[Summary]:
    """Return the number of steps with the lowest median at every place."""
    best: dict[tuple[object, ...], Summary] = {}
    for it in by_metric(points, runs, metric):
        place = (it.label, it.epsilon, it.grid.get("users"), it.grid.get("items"))
        if place not in best or it.median < best[place].median:
            best[place] = it
    return list(best.values())


def draws_along(results: Results, axis: Axis) -> list[tuple[float, float]]:
    """Return (axis place, error) of every draw; raise MissingResult without a place."""
    out = []
    for it in results:
        at = it.epsilon if axis == "epsilon" else it.grid.get(axis)
        if at is None:
            raise MissingResult(f"{it.label} has a result without {axis}")
        out += [(float(at), draw) for draw in it.draws]
    return out


def measured_exponent(results: Results, axis: Axis) -> Exponent:
    """Return the exponent of the error along the axis; raise MissingResult."""
    return exponent(draws_along(results, axis))


def bound_exponent(bound: Bound, axis: Axis, values: Iterable[float]) -> float:
    """Return the least-squares exponent of the bound's curve over these values of the axis.

    Logarithms of a bound make it vary.
    """
    return exponent((x, bound.error(place_at(axis, x))) for x in values).value


def no_worse(bound: Bound, axis: Axis) -> Clause:
    """State that the error decays at least as fast, or grows at most as fast, as the bound.

    The interval of the measured exponent is not wholly above the bound's over the same places.
    """
    how = "grows at most" if axis == "items" else "falls at least"
    words = f"the error {how} as fast along {WORDS[axis]} as the bound"

    def of_bound(results: Results) -> float:
        return bound_exponent(bound, axis, [x for x, _ in draws_along(results, axis)])

    def margin(results: Results) -> float:
        return of_bound(results) - measured_exponent(results, axis).low

    def figures(results: Results) -> str:
        measured = measured_exponent(results, axis)
        return (
            f"measured exponent {measured}, of the bound {round(of_bound(results), 2) + 0.0:+.2f}"
        )

    return Clause(words, margin, figures).quoting(bound.place, bound.quote)


def claim_id(algorithm: str, axis: Axis) -> str:
    """Return the id of the claim that measures this algorithm along this axis."""
    return f"theory-{algorithm}-{axis}"


def bound_claims(
    bound: Bound,
    method: Method,
    steps: tuple[int, ...],
    *,
    remark: Callable[[Results], str] | None = None,
    limits: Callable[[bool], str] = lambda full: "",
) -> tuple[Claim, ...]:
    """Return a claim along each axis of a bound. steps: the best of them is taken along items."""
    return tuple(
        Claim(
            id=claim_id(bound.algorithm, axis),
            title=f"{bound.title}: error against {WORDS[axis]}",
            source=bound.source,
            words=f"{bound.statement}.",
            sweeps=SWEEPS[axis](method, steps),
            measure=best_steps,
            clauses=(no_worse(bound, axis),),
            axis=axis,
            remark=remark,
            limits=limits,
            page="theory",
        )
        for axis in bound.axes
    )
