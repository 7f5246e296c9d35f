"""Finished runs with invented figures, for pages and figures."""

import hashlib
from typing import Any

from dpmf_core.algorithms import REGISTRY
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from tests.support.records import run_of


def figure(text: str) -> float:
    """A number from .5 to 1.5 that hangs on the text alone."""
    return 0.5 + int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 2**32


def made_up(spec: RunSpec) -> Run:
    """A run of this specification with figures out of the air."""
    kind = REGISTRY[spec.algorithm]
    text = spec.model_dump_json()
    guarantee = kind().guarantee()
    quarters = [
        {"from": 10.0**n, "to": 10.0 ** (n + 1), "rmse": figure(f"{text}{n}")}
        for n in range(4)
    ]
    if kind.task == "ratings":
        curve = "test_rmse"
    else:
        curve = "objective"
    names = [
        curve,
        "train_rmse",
        *["validation_rmse"] * (spec.split.validation_fraction > 0),
    ]
    n_steps = min(20, max(3, int(spec.parameters.get("steps", 3))))
    budget: dict[str, Any] = spec.budget.model_dump(mode="json") if spec.budget else {}
    return run_of(
        spec=spec,
        key=hashlib.sha256(text.encode()).hexdigest()[:32],
        title=kind.title,
        parameters=dict(spec.parameters),
        metrics={metric: figure(text + metric) for metric in METRICS}
        | {"trivial_objective": 1.6},
        buckets={"activity": quarters, "popularity": quarters},
        curves=[
            {"step": float(step)}
            | {name: figure(f"{text}{name}{step}") for name in names}
            for step in range(1, n_steps + 1)
        ],
        epsilon={"exact": budget.get("epsilon")},
        delta=budget.get("delta"),
        calibration=budget.get("calibration"),
        relation="add-remove",
        guarantee={
            "status": str(guarantee.status),
            "words": guarantee.words,
            "unit": guarantee.unit,
            "taken_as_public": [],
        },
        ledger=[],
        seconds={"load": 0.1, "fit": 1.0, "evaluate": 0.1},
        version=kind.version,
        split="random",
    )
