"""The registry loads an algorithm when it is asked for, and nothing wrong can be listed."""

import json
import subprocess
import sys

import pytest

from dpmf_core.algorithms import REGISTRY
from dpmf_core.algorithms.registry import Place, Registry
from dpmf_core.errors import BadInput

ASKED = """
import json, sys
from dpmf_core.algorithms import REGISTRY, find
known = "dpals" in REGISTRY and list(REGISTRY)
before = sorted(sys.modules)
title = find("spectral").title
print(json.dumps([known, before, sorted(sys.modules), title]))
"""


def test_one_is_loaded_when_it_is_asked_for() -> None:
    done = subprocess.run([sys.executable, "-c", ASKED], check=True, capture_output=True, text=True)
    known, before, after, title = json.loads(done.stdout)
    assert known[:2] == ["global-mean", "user-mean"] and title == "Spectral"
    assert not {"dpmf_core.algorithms.spectral", "numba", "scipy.optimize"} & set(before)
    assert "dpmf_core.algorithms.spectral" in after
    assert "dpmf_core.algorithms.nmf" not in after


def test_every_line_is_of_an_algorithm_with_that_id() -> None:
    assert [kind.id for kind in REGISTRY.values()] == list(REGISTRY)
    assert len(REGISTRY) == len(set(REGISTRY.values())) > 30


def test_two_of_one_id_are_refused() -> None:
    place = Place("bias", "baselines", "Bias")
    with pytest.raises(ValueError, match=r"two entries .* 'bias'"):
        Registry((place, place))


def test_a_line_with_another_id_is_refused_when_it_is_asked_for() -> None:
    registry = Registry((Place("biases", "baselines", "Bias"),))
    with pytest.raises(ValueError, match="Bias has the id 'bias', and is listed as 'biases'"):
        registry["biases"]


def test_what_nobody_lists_is_refused_in_words() -> None:
    assert "nothing" not in REGISTRY
    with pytest.raises(BadInput, match=r"There is no algorithm 'dpalz'\. Did you mean 'dpals'"):
        REGISTRY.find("dpalz")
