"""The records of small runs of every algorithm."""

from typing import Any

from dpmf_core.algorithms import Algorithm
from dpmf_core.privacy import Relation
from dpmf_core.runs.execution import run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.testing import rating_worlds
from tests.golden.files import rounded
from tests.support.made_up_samples import blocks

# what says when and where a run was made, what follows from the specification, and sentences
LEFT_OUT = {
    "cached",
    "created",
    "curves",
    "model",
    "noise",
    "peak_mb",
    "public",
    "seconds",
    "shape",
    "spec",
    "split",
    "title",
    "versions",
}
BUDGETS = {
    "one user more or less": {"epsilon": 2.0, "delta": 1e-5},
    "one user replaced": {
        "epsilon": 8.0,
        "delta": 1e-6,
        "relation": Relation.REPLACE_ONE,
    },
}


def records(kind: type[Algorithm]) -> dict[str, Any]:
    """By budget: a run with the parameters that the algorithm recommends."""
    if kind.task == "ratings":
        data = rating_worlds.low_rank()
    else:
        data = blocks()
    found: dict[str, Any] = {}
    for name, budget in BUDGETS.items():
        spec = RunSpec.parse(data={"id": "golden"}, algorithm=kind.id, budget=budget)
        record = run(spec, input_data=data).record
        fields = {
            key: field for key, field in record.to_dict().items() if key not in LEFT_OUT
        }
        guarantee = fields["guarantee"]
        fields["guarantee"] = {key: guarantee[key] for key in ("status", "unit")}
        found[name] = rounded(fields, 6)
        if not record.ledger:
            return {"without a budget": found[name]}
    return found
