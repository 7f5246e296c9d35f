"""The number of threads changes no algorithm's result."""

import hashlib
import json
import os
import subprocess
import sys

import pytest

from dpmf_core.algorithms import REGISTRY, PrivateAlgorithm
from dpmf_core.runs.execution import run
from dpmf_core.runs.specification import RunSpec

pytestmark = pytest.mark.slow
DATA = {"ratings": "cinema-small", "samples": "digits"}


def digests() -> dict[str, str]:
    """A digest of all that each algorithm's run of a few steps on embedded data returned."""
    by_name: dict[str, str] = {}
    for name, kind in REGISTRY.items():
        is_private = issubclass(kind, PrivateAlgorithm)
        numbers = ("steps", "iterations", "draws")
        run_spec = RunSpec.parse(
            data={"id": DATA[kind.task]},
            algorithm=name,
            parameters={number: 5 for number in numbers if number in kind.model_fields},
            budget={"epsilon": 2.0, "delta": 1e-6} if is_private else None,
            seed=3,
        )
        result = run(run_spec)
        content = [part.encode() + array.tobytes() for part, array in sorted(result.arrays.items())]
        content.append(json.dumps(result.record.curves, sort_keys=True).encode())
        by_name[name] = hashlib.sha256(b"".join(content)).hexdigest()
    return by_name


def apart(threads: int) -> dict[str, str]:
    """The same in a process that was started with so many threads."""
    limits = dict.fromkeys(
        ("DPMF_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(threads)
    )
    process = subprocess.run(
        [sys.executable, "-m", "tests.contract.test_repeatable"],
        env={**os.environ, **limits},
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(process.stdout))


def test_threads_change_no_algorithms_result():
    one, three = apart(1), apart(3)
    assert one.keys() == REGISTRY.keys()
    assert [name for name in one if one[name] != three[name]] == []


if __name__ == "__main__":
    print(json.dumps(digests()))
