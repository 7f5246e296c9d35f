"""What a tracker of experiments may keep of a run: of private data nothing that was computed from
raw rows, and no epsilon where nothing is proved.
"""

from dataclasses import dataclass
from typing import Any

from dpmf_core.runs.record import Run


@dataclass(frozen=True)
class RunFigures:
    """name: in words. parameters: what was asked for, and what is promised. figures: epsilon and
    held-out errors. curves: (step, figures) in the order of steps.
    """

    name: str
    parameters: dict[str, Any]
    figures: dict[str, float]
    curves: tuple[tuple[int, dict[str, float]], ...]


def figures_of(run: Run) -> RunFigures:
    """Of one run."""
    record = run.record.exported()
    promise = record.guarantee
    parameters: dict[str, Any] = {
        "data": record.spec.data.id,
        "algorithm": record.spec.algorithm,
        "seed": record.spec.seed,
        "guarantee": str(promise.status),
        **{f"param.{name}": value for name, value in record.parameters.items()},
    }
    figures = _numbers(record.metrics)
    if promise.has_epsilon and record.epsilon.exact is not None:
        figures["epsilon"] = record.epsilon.exact
        parameters |= {
            "delta": record.delta,
            "unit": promise.unit,
            "relation": str(record.relation),
            "rule": record.rule,
        }
    curves = tuple(
        (int(point["step"] or 0), _numbers({k: v for k, v in point.items() if k != "step"}))
        for point in record.curves
    )
    return RunFigures(f"{run.title} on {record.spec.data.id}", parameters, figures, curves)


def _numbers(figures: dict[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in figures.items() if value is not None}
