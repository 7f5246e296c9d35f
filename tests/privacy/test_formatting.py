"""Privacy losses as text."""

import math

import pytest

from dpmf_core.privacy.formatting import certainty_text, epsilon_text


@pytest.mark.parametrize(
    ("epsilon", "text"),
    [
        (None, "-"),
        (0.0, "0.00"),
        (0.45483, "0.46"),
        (0.455, "0.46"),
        (0.1 + 0.2, "0.30"),
        (2 * (1 + 1e-9), "2.00"),
        (0.0101, "0.011"),
        (1.21e-5, "1.3e-05"),
        (123_456.781, "123456.79"),
        (math.inf, "inf"),
    ],
)
def test_an_epsilon_never_reads_lower_than_it_is(epsilon, text):
    assert epsilon_text(epsilon) == text


@pytest.mark.parametrize(
    ("epsilon", "text"),
    [(0.0, "50%"), (math.log(3), "75%"), (2.0, "89%"), (4.6, "99.1%"), (10.0, "99.996%"), (30, "")],
)
def test_a_suspicion_never_reads_lower_than_it_may_become(epsilon, text):
    assert certainty_text(epsilon) == text
