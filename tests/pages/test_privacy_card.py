"""The privacy card says under which neighbouring relation its epsilon holds."""

import pytest
from streamlit.testing.v1 import AppTest

SCRIPT = """
from dpmf_core.algorithms import find
from dpmf_core.data.ratings import Shape
from pages.kit import privacy_card

algorithm = find({name!r})()
plan = algorithm.plan(Shape(200, 30, (1.0, 5.0)), 2.0)
privacy_card.{function}(plan, algorithm.guarantee(), 1e-5)
"""


@pytest.mark.parametrize("function", ["draw", "label"])
@pytest.mark.parametrize(
    ("name", "alike"), [("local-bias", True), ("private-bias", False), ("user-mean", False)]
)
def test_an_epsilon_that_holds_under_both_relations_says_so(
    name: str, alike: bool, function: str
) -> None:
    """A message's noise is made for any two rows; private biases count an added row."""
    app = AppTest.from_string(SCRIPT.format(name=name, function=function), default_timeout=30).run()
    assert not app.exception
