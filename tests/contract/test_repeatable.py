"""The number of threads changes no algorithm's result."""

import pytest
from numpy.testing import assert_array_equal
from threadpoolctl import threadpool_limits

from dpmf_core.algorithms import REGISTRY, PrivateAlgorithm
from dpmf_core.runs.execution import run
from dpmf_core.runs.specification import RunSpec

DATA = {"ratings": "cinema-small", "samples": "digits"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", REGISTRY.values(), ids=lambda kind: kind.id)
def test_threads_change_no_result(kind, monkeypatch):
    """Neither those of the kernels nor those of the linear algebra below them."""
    spec = RunSpec.parse(
        data={"id": DATA[kind.task]},
        algorithm=kind.id,
        parameters=dict.fromkeys(
            {"steps", "iterations", "draws"} & kind.model_fields.keys(), 5
        ),
        budget={"epsilon": 2.0, "delta": 1e-6}
        if issubclass(kind, PrivateAlgorithm)
        else None,
        seed=3,
    )
    runs = []
    for threads in (1, 3):
        monkeypatch.setenv("DPMF_THREADS", str(threads))
        with threadpool_limits(threads):
            runs.append(run(spec))
    one, three = runs
    assert one.arrays.keys() == three.arrays.keys()
    assert one.record.curves == three.record.curves
    for name, array in one.arrays.items():
        assert_array_equal(array, three.arrays[name])
