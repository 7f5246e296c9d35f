"""The Theory page in every state: each bound and axis, links, missing results, its own runs."""

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.papers.bounds import BOUNDS
from pages.kit.page_table import BY_ID
from tests.pages.driving import settled, words

SCRIPT = BY_ID["theory"].script


def page(**address: str) -> AppTest:
    app = AppTest.from_string(
        "import runpy\nfrom pages.kit import run_progress\nrun_progress.begin()\n"
        f"runpy.run_path({str(SCRIPT)!r})\nrun_progress.leave()\n",
        default_timeout=120,
    )
    for name, value in address.items():
        app.query_params[name] = value
    return app


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("axis", ["users", "items", "epsilon"])
def test_every_bound_along_every_axis(bound: str, axis: str) -> None:
    app = settled(page(bound=bound, axis=axis))
    assert not app.exception
    text = words(app)
    assert BOUNDS[bound].statement in text
    assert f"^{{{BOUNDS[bound].exponents[axis]:g}}}$" in app.title[0].value
    assert app.query_params["bound"] == bound
    assert app.query_params["axis"] == axis


def test_tables_and_users_follow_the_numbers() -> None:
    app = settled(page())
    app.number_input(key="theory.m").set_value(10_000)
    app.number_input(key="theory.entry").set_value(0.5)
    app.number_input(key="theory.ratings").set_value(10)
    settled(app)
    tables = " ".join(str(element.value.to_dict()) for element in app.table)
    assert "100,000" in tables  # m^(5/4)
    assert "**ε = 5** where δ = 0" in words(app)
