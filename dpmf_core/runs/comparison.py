"""The runs that show what one private run costs, over the same draws; and runs side by side.

The cost is measured by the algorithm without noise, the best known one without privacy, the trivial
predictors, and other private algorithms at the same budget.
"""

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpmf_core import algorithms
from dpmf_core.algorithms import Algorithm
from dpmf_core.base.errors import BadInput
from dpmf_core.data.catalogue import is_in_parts
from dpmf_core.evaluation.paired_difference import PairedDifference, compare_pairs
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.privacy.budget import Calibration
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.privacy_cost import BEST_BY_SUMS, PrivacyCost, best_known
from dpmf_core.runs.record import Run, RunRecord
from dpmf_core.runs.specification import DataSpec, RunSpec

PLAIN = "dpals-plain"  # DPALS without its biases, a variant that comparisons show next to DPALS
VARIANTS: dict[str, tuple[str, dict[str, bool]]] = {PLAIN: ("dpals", {"biases": False})}
DRAWS = 3


@dataclass(frozen=True)
class Comparison:
    """runs: by name, the chosen one ("main") first, then draw by draw.

    refusals: titles of algorithms that the shape does not suit, and why. every: whether they
    include all private algorithms.
    """

    runs: dict[str, RunSpec]
    refusals: dict[str, str]
    every: bool


def run_name(who: str, draw: int) -> str:
    """The name of an algorithm's run in one draw; in the first draw it is the algorithm's."""
    return f"{who} draw {draw}" if draw else who


def split_name(name: str) -> tuple[str, int]:
    """(algorithm, number of the draw) of a run's name."""
    who, _, draw = name.partition(" draw ")
    return who, int(draw or 0)


def private_methods(task: str) -> list[str]:
    """Every algorithm that takes a budget, and the variants, quick ones first."""
    kinds = algorithms.of_task(task)
    own = [name for name, kind in kinds.items() if issubclass(kind, algorithms.PrivateAlgorithm)]
    own += [name for name, (algorithm, _) in VARIANTS.items() if algorithm in own]
    return sorted(own, key=lambda name: _kind(name).training_cost)


def _kind(method: str) -> type[Algorithm]:
    """The class of an algorithm, which may be a variant."""
    return algorithms.find(VARIANTS.get(method, (method, {}))[0])


def comparison(spec: RunSpec, shape: Any, every: bool = False) -> Comparison:
    """A private run next to its references, the trivial predictors and other algorithms.

    All have the same seeds, so they are judged by the same splits. Other algorithms, a selection or
    all, keep the run's calibration only if it is exact.
    """
    methods = {"main": spec, **references(spec), "user-mean": _other(spec, "user-mean")}
    if spec.data.item_features == "public":
        methods["content"] = _other(spec, "content")
    if _exact(spec):
        for name in private_methods("ratings"):
            kind, other = _kind(name), _other(spec, *VARIANTS.get(name, (name, {})))
            suits = other.data.item_features == "public" or not kind.needs_item_features
            if suits and (every or kind.is_usual_rival):
                methods[name] = other
    return _over_draws(methods, shape, every or not _exact(spec))


def part_comparison(spec: RunSpec, shape: Any) -> Comparison:
    """`comparison` for documents and images.

    If outliers were planted, the best known algorithm separates them. Others look for as many
    components.
    """
    methods = {"main": spec, **references(spec)}
    if _exact(spec):
        methods |= {
            name: _other(spec, name, _parts(spec))
            for name in private_methods("samples")
            if name != spec.algorithm
        }
    return _over_draws(methods, shape, True)


def references(spec: RunSpec) -> dict[str, RunSpec]:
    """What one private run is measured by.

    "best": the best known algorithm without privacy; for ratings "trivial": the trivial predictor;
    "open": the same algorithm without noise.
    """
    task = algorithms.find(spec.algorithm).task
    outliers = spec.data.outlier_rows > 0 and spec.data.outlier_cells > 0
    metric = "rmse" if spec.data.positives_above is None else "recall_at_20"
    best = best_known(metric, task, outliers=outliers, in_parts=is_in_parts(spec.data.id))
    trivial = {} if task == "samples" else {"trivial": _other(spec, "global-mean")}
    return {"best": _other(spec, best, _parts(spec)), **trivial, "open": spec.open()}


def cost_of(record: RunRecord, find: Callable[[RunSpec], Run | None]) -> PrivacyCost | None:
    """The cost of one private run's noise and of its method, by its error or its objective.

    find: returns a finished run, or None where there is none. None where the run is not private, or
    a run that it is compared with is missing.
    """
    if record.spec.budget is None:
        return None
    metric = next((it for it in ("rmse", "objective") if record.metrics.get(it) is not None), None)
    runs = {name: find(spec) for name, spec in references(record.spec).items()}
    others = {name: run.record.metrics for name, run in runs.items() if run is not None}
    if metric is None or others.keys() != runs.keys():
        return None
    sides = (record.metrics, others["open"], others["best"])
    private, without_noise, best = (it.get(metric) for it in sides)
    if "trivial" in others:
        guess = others["trivial"].get(metric)
    else:  # of parts every run says what guessing costs
        guess = record.metrics.get(f"trivial_{metric}")
    if private is None or without_noise is None or best is None or guess is None:
        return None
    return PrivacyCost.of(METRICS[metric], [(private, without_noise, best, guess)])


def best_known_on(data: DataSpec, shape: Any, metric: str) -> str:
    """The best known algorithm without privacy for this shape: ALS if it does not fit in memory."""
    name = best_known(metric, in_parts=is_in_parts(data.id))
    try:
        prepare(RunSpec.parse(data=data, algorithm=name), shape)
    except BadInput:
        return BEST_BY_SUMS
    return name


def _parts(spec: RunSpec) -> dict[str, Any]:
    """How many components a factorisation looks for."""
    return {name: value for name, value in spec.parameters.items() if name == "n_components"}


def _exact(spec: RunSpec) -> bool:
    return spec.budget is not None and spec.budget.calibration is Calibration.EXACT


def _other(spec: RunSpec, algorithm: str, parameters: Mapping[str, Any] | None = None) -> RunSpec:
    return spec.on(algorithm, parameters=dict(parameters or {})).canonical()


def _over_draws(methods: Mapping[str, RunSpec], shape: Any, every: bool) -> Comparison:
    """Every algorithm once per draw, without copies of the chosen run.

    Algorithms that cannot start on this shape are refused.
    """
    suitable, refusals = {}, {}
    for name, spec in methods.items():
        if name != "main" and spec == methods["main"].canonical():
            continue
        try:
            if name != "main":
                prepare(spec, shape)
            suitable[name] = spec
        except BadInput as error:
            refusals[algorithms.find(spec.algorithm).title] = error.args[0]
    runs = {
        run_name(name, draw): spec.model_copy(update={"seed": spec.seed + draw})
        for draw in range(DRAWS)
        for name, spec in suitable.items()
    }
    return Comparison(runs, refusals, every)


def same_draws(runs: Mapping[str, Run], *who: str, metric: str = "rmse") -> list[tuple[float, ...]]:
    """A figure of each of these algorithms, draw by draw, in the draws that all have finished."""
    numbers = sorted({draw for name in runs for one, draw in [split_name(name)] if one == who[0]})
    whole = [draw for draw in numbers if all(run_name(one, draw) in runs for one in who)]
    return [tuple(runs[run_name(one, draw)].record.metric(metric) for one in who) for draw in whole]


def clearly_better(
    runs: Mapping[str, Run], run_names: Iterable[str], metric: str = "rmse"
) -> tuple[str, PairedDifference] | None:
    """The best proven algorithm for the same unit that clearly beats the chosen one.

    It has the smallest median among those that beat it beyond chance over all requested draws; None
    if there is none. Algorithms with unfinished draws are not judged.
    """
    count = Counter(split_name(name)[0] for name in run_names)
    better = []
    for who in count.keys() - {"main", "open", "best", "trivial", "user-mean", "content"}:
        both = same_draws(runs, "main", who, metric=metric)
        if not (both and len(both) == count[who] == count["main"]):
            continue
        mine, theirs = (runs[it].record.guarantee for it in ("main", who))
        ours, others = zip(*both, strict=True)
        gap = compare_pairs(others, ours)
        if theirs.has_epsilon and theirs.unit == mine.unit and gap.clear < 0:
            better.append((statistics.median(others), who, gap))
    return min(better, key=lambda it: it[:2])[1:] if better else None


def settings(record: RunRecord) -> dict[str, Any]:
    """All settings of a run, flat: data, split, budget, algorithm, every parameter."""
    spec = record.spec.model_dump(mode="json")
    noise = {"noise": "none"} if record.spec.without_noise else {}
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
    rows = [{"setting": name, "values": [one.get(name) for one in flat]} for name in names]
    return [row for row in rows if any(value != row["values"][0] for value in row["values"])]
