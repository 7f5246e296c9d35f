"""Published error bounds as claims: along each axis the measured error falls at least as fast, or
grows at most as fast, as the bound says. An upper bound is contradicted only by a slower decay, or
a faster growth.
"""

from collections.abc import Callable, Sequence

from dpmf_core.papers.bounds import BOUNDS, Axis, Bound, Place, frank_wolfe_floor
from dpmf_core.papers.clauses import Clause, MissingResult, Results
from dpmf_core.papers.exponents import Exponent, exponent
from dpmf_core.papers.figures import Claim, Runs, Sweeps, by_metric
from dpmf_core.papers.methods import DPALS, DPFW, on_lowrank
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.sweep import Method, Point, Summary, Sweep

METHODS = {"dpals": DPALS, "dpfw": DPFW}
STEPS = {"dpals": (3, 6), "dpfw": (5,)}  # along items, where several, the best is taken
WORDS = {"users": "users n", "items": "items m", "epsilon": "ε"}
SYMBOLS = {"users": "n", "items": "m", "epsilon": "ε"}
EACH = 40  # ratings of a user along the axis of items, so that they are as many everywhere
STALL = (
    f"Measured with T = {STEPS['dpfw'][0]} steps of the source's size 1/T: they cannot bring the"
    f" error below {frank_wolfe_floor(STEPS['dpfw'][0]):.2f} even without noise, for the iterate"
    " never fills the ball. The bound lets T grow with n."
)
# where the axis does not move
PLACES: dict[Axis, Place] = {
    "users": Place(20_000, 1_000, 10.0),
    "items": Place(20_000, 1_000, 10.0),
    "epsilon": Place(5_000, 1_000, 10.0),
}


def _users(method: Method) -> Sweeps:
    def sweeps(full: bool) -> tuple[Sweep, ...]:
        names = ("lowrank-5k", "lowrank-10k", "lowrank", "lowrank-50k")
        return tuple(
            _sweep(DataSpec(id=name), method, (PLACES["users"].epsilon,), full)
            for name in (names if full else names[:3])
        )

    return sweeps


def _items(method: Method) -> Sweeps:
    """About EACH ratings of a user among the items that stay; ratings are cut before items."""

    def sweeps(full: bool) -> tuple[Sweep, ...]:
        every = int(PLACES["items"].items)
        return tuple(
            _sweep(
                DataSpec(id="lowrank", top_items=top, most_per_user=EACH * every // top),
                method,
                (PLACES["items"].epsilon,),
                full,
                STEPS[method.algorithm],
            )
            for top in ((250, 320, 400, 500, 630) if full else (250, 400, 630))
        )

    return sweeps


def _epsilons(method: Method) -> Sweeps:
    def sweeps(full: bool) -> tuple[Sweep, ...]:
        epsilons = (5.0, 10.0, 20.0)
        return (_sweep(DataSpec(id="lowrank-5k"), method, epsilons, full),)

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
    """At every place the number of steps with the lowest median."""
    best: dict[tuple[object, ...], Summary] = {}
    for it in by_metric(points, runs, metric):
        place = (it.label, it.epsilon, it.grid.get("users"), it.grid.get("items"))
        if place not in best or it.median < best[place].median:
            best[place] = it
    return list(best.values())


def draws_along(results: Results, axis: Axis) -> list[tuple[float, float]]:
    """(axis place, error) of every draw. Raises MissingResult where a result has no place."""
    out = []
    for it in results:
        at = it.epsilon if axis == "epsilon" else it.grid.get(axis)
        if at is None:
            raise MissingResult(f"{it.label} has a result without {axis}")
        out += [(float(at), draw) for draw in it.draws]
    return out


def measured_exponent(results: Results, axis: Axis) -> Exponent:
    """The exponent of the error along the axis. Raises MissingResult."""
    return exponent(draws_along(results, axis))


def no_worse(bound: Bound, axis: Axis) -> Clause:
    """That the error along the axis decays at least as fast, or grows at most as fast, as the
    bound says: the interval of the measured exponent is not wholly above the bound's.
    """
    bound_exponent = bound.exponents[axis]
    how = "falls at least" if bound_exponent < 0 else "grows at most"
    words = f"the error {how} as fast as {SYMBOLS[axis]}^{bound_exponent:g}"

    def margin(results: Results) -> float:
        return bound_exponent - measured_exponent(results, axis).low

    def figures(results: Results) -> str:
        return f"measured exponent {measured_exponent(results, axis)}, bound {bound_exponent:+g}"

    return Clause(words, margin, figures)


def claim_id(algorithm: str, axis: Axis) -> str:
    """The claim whose runs show this algorithm's error along this axis."""
    return f"theory-{algorithm}-{axis}"


def _claim(bound: Bound, axis: Axis) -> Claim:
    return Claim(
        id=claim_id(bound.algorithm, axis),
        title=f"{bound.title}: error against {WORDS[axis]}",
        source=bound.source,
        words=f"{bound.statement}.",
        sweeps=SWEEPS[axis](METHODS[bound.algorithm]),
        measure=best_steps,
        clauses=(no_worse(bound, axis),),
        axis=axis,
        remark=_remark(bound, axis),
        page="theory",
    )


def _remark(bound: Bound, axis: Axis) -> Callable[[Results], str]:
    """What the same results say of other bounds of the same algorithm, and why DPFW stalls."""
    others = [it for it in BOUNDS.values() if it.algorithm == bound.algorithm and it is not bound]

    def remark(results: Results) -> str:
        verdicts = [(it.title, no_worse(it, axis).verdict(results)) for it in others]
        sentences = [
            f"{title}: it {'holds' if it.holds else 'does not hold'} that {it.words}."
            for title, it in verdicts
        ]
        return " ".join([*sentences, *([STALL] if bound.algorithm == "dpfw" else [])])

    return remark


MAIN_BOUNDS = (BOUNDS["dpals"], BOUNDS["dpfw"])
DPALS_CLAIMS, DPFW_CLAIMS = (
    tuple(_claim(bound, axis) for axis in bound.exponents) for bound in MAIN_BOUNDS
)
