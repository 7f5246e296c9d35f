"""The runs that a private run is compared with, at its epsilon and over a grid of epsilons.

All are over the same draws of split and noise: the method without noise, the best known one without
privacy, what needs no model of others, and the proven rivals.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dpmf_core import algorithms
from dpmf_core.algorithms import Algorithm
from dpmf_core.base.errors import BadInput
from dpmf_core.data.catalogue import is_in_parts
from dpmf_core.privacy.budget import Calibration
from dpmf_core.runs.draws import Draws, Judgement
from dpmf_core.runs.measurements import Measured, Point
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.record import Run, RunRecord
from dpmf_core.runs.references import (
    GLOBAL_MEAN,
    OWN_MEAN,
    best_known,
    judging_metrics,
    proven_methods,
)
from dpmf_core.runs.specification import RunSpec

PLAIN = "dpals-plain"  # DPALS without its biases, a variant that comparisons show next to DPALS
VARIANTS: dict[str, tuple[str, dict[str, bool]]] = {PLAIN: ("dpals", {"biases": False})}
NAMES = {PLAIN: "DPALS without biases"}
DRAWS = 3
# the series 1, 2, 5 first, then values between: the order in which they are most useful
COARSE = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
EPSILONS = tuple(sorted((*COARSE, 0.14, 0.32, 0.71, 1.4, 3.2, 7.1, 14.1, 31.6)))
# names of runs in a comparison
MAIN = "main"
OPEN = "open"
BEST_KNOWN = "best"
TRIVIAL = "trivial"


@dataclass(frozen=True)
class Comparison:
    """The runs that compare a chosen method with others.

    Attributes
    ----------
    points
        The runs by name: the chosen one ("main") first, then draw by draw.
    refusals
        Why the shape does not suit an algorithm, by the algorithm's title.
    every
        Whether the points include all private algorithms.
    """

    points: dict[str, Point]
    refusals: dict[str, str]
    every: bool

    @property
    def runs(self) -> dict[str, RunSpec]:
        """The specifications by name."""
        return {name: point.spec for name, point in self.points.items()}

    @property
    def label(self) -> str:
        """The label of the chosen method."""
        return self.points[MAIN].label

    def table(self, finished_runs: Mapping[str, Run]) -> Draws:
        """The table of these runs, from the finished runs by name."""
        runs = {
            point.key: finished_runs[name]
            for name, point in self.points.items()
            if name in finished_runs
        }
        return Draws.of_runs(self.points.values(), runs)


def run_name(who: str, draw: int) -> str:
    """The name of an algorithm's run in one draw; in the first draw it is the algorithm's."""
    if draw:
        return f"{who} draw {draw}"
    return who


def split_name(name: str) -> tuple[str, int]:
    """(algorithm, number of the draw) of a run's name."""
    who, _, draw = name.partition(" draw ")
    return who, int(draw or 0)


def private_methods(task: str) -> list[str]:
    """Every algorithm that takes a budget, and the variants, quick ones first."""
    kinds = algorithms.of_task(task)
    own = [
        name
        for name, kind in kinds.items()
        if issubclass(kind, algorithms.PrivateAlgorithm)
    ]
    own += [name for name, (algorithm, _) in VARIANTS.items() if algorithm in own]
    return sorted(own, key=lambda name: _kind(name).training_cost)


def _kind(method: str) -> type[Algorithm]:
    """The class of an algorithm, which may be a variant."""
    return algorithms.find(VARIANTS.get(method, (method, {}))[0])


# ---- at one epsilon ------------------------------------------------------------------------------


def comparison(spec: RunSpec, shape: Any, every: bool = False) -> Comparison:
    """A private run next to its references and to other algorithms.

    All have the same seeds, so they are judged by the same splits. The other algorithms are the
    proven quick ones or all. They keep the run's calibration only if it is exact. For documents and
    images they look for the same number of components. If outliers were planted, the best known
    algorithm separates them.
    """
    methods = {MAIN: spec, **references(spec)}
    if spec.data.item_features == "public":
        methods["content"] = _other(spec, "content")
    methods |= rivals(spec, every)
    suitable, refusals = _suitable(methods, shape)
    points = {
        run_name(name, draw): _in_draw(point, draw)
        for draw in range(DRAWS)
        for name, point in suitable.items()
    }
    return Comparison(points, refusals, every or not _exact(spec))


def references(spec: RunSpec) -> dict[str, RunSpec]:
    """What one private run is measured by.

    "best": the best known algorithm without privacy; "open": the same algorithm without noise; for
    ratings "trivial" and "user-mean": what needs no model of others.
    """
    task = algorithms.find(spec.algorithm).task
    outliers = spec.data.outlier_rows > 0 and spec.data.outlier_cells > 0
    metric, *_ = judging_metrics(spec.data)
    best = best_known(
        metric, task, outliers=outliers, in_parts=is_in_parts(spec.data.id)
    )
    runs = {BEST_KNOWN: _other(spec, best), OPEN: spec.open()}
    if task == "ratings":
        runs |= {TRIVIAL: _other(spec, GLOBAL_MEAN), OWN_MEAN: _other(spec, OWN_MEAN)}
    return runs


def rivals(spec: RunSpec, every: bool = False) -> dict[str, RunSpec]:
    """Other private algorithms at the run's budget, with recommended parameters, by name."""
    if not _exact(spec):
        return {}
    task = algorithms.find(spec.algorithm).task
    is_known = spec.data.item_features == "public"
    if every:
        names = private_methods(task)
    else:
        names = proven_methods(task)
    return {
        name: _other(spec, *VARIANTS.get(name, (name, {})))
        for name in names
        if is_known or not _kind(name).needs_item_features
    }


def _suitable(
    methods: Mapping[str, RunSpec], shape: Any
) -> tuple[dict[str, Point], dict[str, str]]:
    """The points of runs that can start on this shape, and why others cannot, by title.

    A run that is the chosen one again is left out.
    """
    main = methods[MAIN].canonical()
    points = dict[str, Point]()
    refusals = dict[str, str]()
    again = {name for name, spec in methods.items() if name != MAIN and spec == main}
    is_own = not again and bool(main.parameters) and _exact(main)
    for name, spec in methods.items():
        if name in again:
            continue
        title = NAMES.get(name, spec.kind.title)
        try:
            if name != MAIN:
                prepare(spec, shape)
        except BadInput as error:
            refusals[title] = error.args[0]
            continue
        label = title
        if is_own and name == MAIN:
            label = f"{title}, your parameters"
        points[name] = Point(
            spec, label, spec.epsilon, is_rival=not (is_own and name == MAIN)
        )
    return points, refusals


def _in_draw(point: Point, draw: int) -> Point:
    seed = point.spec.seed + draw
    return replace(point, spec=point.spec.model_copy(update={"seed": seed}))


def _exact(spec: RunSpec) -> bool:
    return spec.budget is not None and spec.budget.calibration is Calibration.EXACT


def _other(
    spec: RunSpec, algorithm: str, parameters: Mapping[str, Any] | None = None
) -> RunSpec:
    """The run with another algorithm, which looks for the same number of components."""
    own = {
        name: value for name, value in spec.parameters.items() if name == "n_components"
    }
    if algorithms.find(algorithm).task == "ratings":
        own = {}
    return spec.on(algorithm, parameters={**own, **(parameters or {})}).canonical()


# ---- over a grid of epsilons ---------------------------------------------------------------------


def grid_points(
    spec: RunSpec, shape: Any, epsilons: Sequence[float] = EPSILONS
) -> tuple[Point, ...]:
    """The draws of a private run over epsilons, and of its references and rivals.

    Useful ones come first: first draws before further ones, references before private runs, coarse
    epsilons before fine ones. Each is the run that `comparison` shows at its epsilon. Raises
    BadInput if the run has no budget.
    """
    return (*own_points(spec, shape, epsilons), *rival_points(spec, shape, epsilons))


def own_points(
    spec: RunSpec, shape: Any, epsilons: Sequence[float] = EPSILONS
) -> tuple[Point, ...]:
    """The part of `grid_points` without rivals."""
    methods = _methods(spec, shape)
    fixed = [point for point in methods.values() if point.epsilon is None]
    return _over_draws([*fixed, *_along([methods[MAIN]], epsilons)])


def rival_points(
    spec: RunSpec, shape: Any, epsilons: Sequence[float] = EPSILONS
) -> tuple[Point, ...]:
    """The part of `grid_points` with rivals, each also without noise."""
    others = [point for name, point in _methods(spec, shape).items() if name != MAIN]
    private = [point for point in others if point.epsilon is not None]
    without_noise = [
        replace(
            point,
            spec=point.spec.open(),
            label=point.spec.open().kind.title,
            epsilon=None,
        )
        for point in private
    ]
    return _over_draws([*without_noise, *_along(private, epsilons)])


def _methods(spec: RunSpec, shape: Any) -> dict[str, Point]:
    """The run, its references and its rivals, by name."""
    spec.require_budget()
    methods, _ = _suitable({MAIN: spec, **references(spec), **rivals(spec)}, shape)
    return methods


def _along(points: Iterable[Point], epsilons: Sequence[float]) -> list[Point]:
    """The points at each epsilon, coarse ones first."""
    order = sorted(
        dict.fromkeys(epsilons), key=lambda epsilon: (epsilon not in COARSE, epsilon)
    )
    return [
        replace(point, spec=point.spec.at_epsilon(epsilon), epsilon=epsilon)
        for epsilon in order
        for point in points
    ]


def _over_draws(points: Sequence[Point]) -> tuple[Point, ...]:
    return tuple(_in_draw(point, draw) for draw in range(DRAWS) for point in points)


# ---- stored runs ---------------------------------------------------------------------------------


def judgement_of(
    record: RunRecord, find: Callable[[RunSpec], Run | None]
) -> tuple[Judgement, Measured] | None:
    """One private run judged by its error, objective or lists, over its own draw.

    Parameters
    ----------
    record
        The record of the run.
    find
        Gives a finished run, or None if it has not finished.

    Returns
    -------
    tuple or None
        The judgement and the run's figure. None if the run is not private, or if a run that it is
        compared with is missing.
    """
    if record.spec.budget is None:
        return None
    names = judging_metrics(record.spec.data)
    metric = next(
        (name for name in names if record.metrics.get(name) is not None), None
    )
    if metric is None:
        return None
    others = references(record.spec)
    runs = {name: find(spec) for name, spec in others.items()}
    main = Point(record.spec, record.title, record.spec.epsilon)
    points = {main.key: main}
    finished_runs = {main.key: Run(record, {})}
    for name, run in runs.items():
        if run is None:
            return None
        point = Point(others[name], run.record.title, None)
        points[point.key] = point
        finished_runs[point.key] = run
    judgement = Draws.of_runs(points.values(), finished_runs).by(metric)
    own = judgement.line(main.label)
    if own and judgement.cost(own[0]) is not None:
        return (judgement, own[0])
    return None


def settings(record: RunRecord) -> dict[str, Any]:
    """All settings of a run, flat: data, split, budget, algorithm, every parameter."""
    spec = record.spec.model_dump(mode="json")
    if record.spec.without_noise:
        noise = {"noise": "none"}
    else:
        noise = {}
    return {
        "data": spec["data"].pop("id"),
        **{f"data: {name}": value for name, value in spec["data"].items()},
        **{f"split: {name}": value for name, value in spec["split"].items()},
        **{"seed": spec["seed"], "algorithm": record.title, **noise},
        **{f"budget: {name}": value for name, value in (spec["budget"] or {}).items()},
        **record.parameters,
    }


def differences(records: Sequence[RunRecord]) -> list[dict[str, Any]]:
    """The settings that differ: one row per setting, one value per run (None if it has none)."""
    flat = [settings(record) for record in records]
    names = dict.fromkeys(name for one in flat for name in one)
    rows = [
        {"setting": name, "values": [one.get(name) for one in flat]} for name in names
    ]
    return [
        row for row in rows if any(value != row["values"][0] for value in row["values"])
    ]
