"""The start page stands on an empty store, by figures of real runs of today's usual choice."""

import re

from dpmf_core.runs.needed_epsilon import answer
from dpmf_core.runs.store import Store
from pages.kit import epsilon_grid
from pages.start import price
from tests.pages.driving import app_of, words


def test_no_number_of_the_figure_is_written_as_a_power_of_ten():
    for stop in price.stops():
        words = " ".join(fact["words"] for fact in stop["facts"])
        assert not re.search(r"\de[+]\d", words)


def test_the_epsilon_that_keeps_a_share_is_the_one_of_the_other_pages():
    """On an empty store too: Explore and Compare read it from the runs of the package."""
    value, detail = answer(epsilon_grid.read(price.choice().spec()).kept, 0.8)
    assert value.startswith("ε ≈ ") and f"{value}{detail}" in price.caption()


def test_the_page_stands_on_an_empty_store_and_asks_for_no_run(data_folder):
    app = app_of("start/page.py").run()
    assert not app.exception
    assert price.caption() in words(app)
    assert not Store(data_folder).rows()
