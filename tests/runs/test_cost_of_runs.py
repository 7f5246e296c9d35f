"""What one stored run's privacy costs, by the runs that it is compared with."""

import pytest

from dpmf_core.runs.comparison import cost_of, references
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from tests.support.records import run_of


def test_the_cost_of_a_stored_run_takes_the_runs_that_it_is_compared_with():
    budget = {"epsilon": 2.0, "delta": 1e-5}
    spec = RunSpec.of(dataset="small", algorithm="dpals", **budget)
    errors = {"best": 0.8, "open": 0.84, "trivial": 1.0}
    stored = {
        other.model_dump_json(): run_of(spec=other, metrics={"rmse": errors[who]})
        for who, other in references(spec).items()
    }

    def find(other: RunSpec) -> Run | None:
        return stored.get(other.model_dump_json())

    record = run_of(spec=spec, metrics={"rmse": 0.9}).record
    cost = cost_of(record, find)
    assert cost is not None and cost.share == pytest.approx(0.5)
    assert (cost.noise, cost.method, cost.total) == (0.06, 0.04, 0.1)
    del stored[spec.open().model_dump_json()]
    assert cost_of(record, find) is None
    assert cost_of(run_of(spec=spec.open(), metrics={"rmse": 0.9}).record, find) is None
