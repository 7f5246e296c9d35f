"""What the sidebar says of epsilon."""

import math
import re

import pytest

from pages.kit.sidebar import suspicion
from pages.kit.sidebar_values import EPSILONS


def test_an_even_suspicion_is_never_said_to_grow_less_than_it_may() -> None:
    for epsilon in EPSILONS:
        may_become = 100 / (1 + math.exp(-epsilon))
        match = re.search(r"([\d.]+)%", suspicion(epsilon))
        assert (float(match[1]) if match else 100) == pytest.approx(may_become + 0.05, abs=0.0501)
        assert (float(match[1]) if match else 100) >= may_become


def test_odds_of_three_to_one_are_three_quarters() -> None:
    assert "at most 75% " in suspicion(math.log(3) - 1e-12)
    assert suspicion(10.0) == "becomes at most 99.996% sure, except in rare cases"
