"""The line of a run in a list, and standard JSON."""

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # a list of runs is read from summaries, which need none of these
    from dpmf_core.runs.record import RunRecord

Summary = dict[str, Any]
# the parts of a summary that come from raw rows; the key is a hash of them
RAW_FIGURES = ("key", "rmse", "metrics", "fit_seconds")


def to_json(value: Any, indent: int | None = None) -> str:
    """Convert to standard JSON: non-finite values become null, numpy numbers plain ones."""
    return json.dumps(_plain(value), indent=indent, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if hasattr(value, "tolist"):  # numpy's
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def summarise(record: "RunRecord") -> Summary:
    """Summarise a run in one line of a list.

    `epsilon` is the exact one, null if nothing is proved.
    """
    spec = record.spec
    return {
        "key": record.key,
        "title": record.title,
        "dataset": spec.data.id,
        "algorithm": spec.algorithm,
        "parameters": spec.parameters,
        "epsilon": record.epsilon.exact,
        "nominal_epsilon": spec.budget.epsilon if spec.budget else None,
        "delta": record.delta,
        "unit": record.guarantee.unit,
        "relation": str(record.relation),
        "seed": spec.seed,
        "guarantee": str(record.guarantee.status),
        "public": record.public,
        "rmse": record.metrics.get("rmse"),
        "metrics": record.metrics,
        "fit_seconds": record.seconds.get("fit"),
    }
