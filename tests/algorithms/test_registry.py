"""The registry loads an algorithm when it is asked for, and nothing wrong can be listed."""

import json
import subprocess
import sys
from typing import ClassVar

import pytest

from dpmf_core.algorithms import REGISTRY
from dpmf_core.algorithms.baselines import Bias
from dpmf_core.algorithms.registry import Place, Registry
from dpmf_core.errors import BadInput

SCRIPT = """
import json, sys
from dpmf_core.algorithms import REGISTRY, find
known = "dpals" in REGISTRY and list(REGISTRY)
before = sorted(sys.modules)
title = find("spectral").title
print(json.dumps([known, before, sorted(sys.modules), title]))
"""


def test_one_is_loaded_when_it_is_asked_for() -> None:
    process = subprocess.run(
        [sys.executable, "-c", SCRIPT], check=True, capture_output=True, text=True
    )
    known_ids, before, after, title = json.loads(process.stdout)
    assert known_ids[:2] == ["global-mean", "user-mean"] and title == "Spectral"
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


def test_one_of_ones_own_is_added_and_replaced_but_takes_nobodys_id() -> None:
    registry = Registry((Place("bias", "baselines", "Bias"),))

    class Mine(Bias):
        id: ClassVar[str] = "mine"

    class Later(Bias):
        id: ClassVar[str] = "mine"

    registry.add(Mine)
    registry.add(Later)
    assert registry.find("mine") is Later and list(registry)[:1] == ["bias"]
    with pytest.raises(BadInput, match="Another algorithm has the id 'bias'"):
        registry.add(Bias)
    with pytest.raises(BadInput, match=r"it is no subclass of dpmf_core\.algorithms\.Algorithm"):
        registry.add(int)  # type: ignore[arg-type]
