"""Privacy losses as text."""

import math

import pytest

from dpmf_core.privacy.formatting import epsilon_text


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
