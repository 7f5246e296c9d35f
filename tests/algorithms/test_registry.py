"""The registry loads an algorithm when it is asked for, and nothing wrong can be listed."""

import json
import subprocess
import sys

from dpmf_core.algorithms import REGISTRY

SCRIPT = """
import json, sys
from dpmf_core.algorithms import REGISTRY, find
known = "dpals" in REGISTRY and list(REGISTRY)
before = sorted(sys.modules)
title = find("spectral").title
print(json.dumps([known, before, sorted(sys.modules), title]))
"""


def test_one_is_loaded_when_it_is_asked_for():
    process = subprocess.run(
        [sys.executable, "-c", SCRIPT], check=True, capture_output=True, text=True
    )
    known_ids, before, after, title = json.loads(process.stdout)
    assert known_ids[:2] == ["global-mean", "user-mean"] and title == "Spectral"
    assert not {"dpmf_core.algorithms.spectral", "numba", "scipy.optimize"} & set(before)
    assert "dpmf_core.algorithms.spectral" in after
    assert "dpmf_core.algorithms.nmf" not in after


def test_every_line_is_of_an_algorithm_with_that_id():
    assert [kind.id for kind in REGISTRY.values()] == list(REGISTRY)
    assert len(REGISTRY) == len(set(REGISTRY.values())) > 30
