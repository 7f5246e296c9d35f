"""An item set that is chosen by exact counts is an assumption on the card; released with noise,
it is a row of the ledger.
"""

from tests.pages.driving import widget_of, words
from tests.pages.test_explore import page, settled


def test_a_released_item_set_makes_the_card_proven() -> None:
    app = page(top="60", algo="spectral", eps="5")
    assert "CONDITIONAL" in words(app) and "the item set is public" in words(app)
    radio = app.radio(key="sidebar.shape")
    assert radio.label == "Which items there are, and how many users"
    radio.set_value("released")
    settled(app)
    assert not app.error and "CONDITIONAL" not in words(app)
    assert widget_of(app.number_input, "sidebar.delta").value == 1e-6
    assert "ε = 5.00 (δ = 1e-6, per user, add/remove, at most)" in words(app)
    releases = next(table.value for table in app.dataframe if "released" in table.value.columns)
    assert releases["noise"].tolist()[:2] == ["padded Gaussian count", "thresholded Gaussian"]
    assert app.query_params["shape"] in ("released", ["released"])


def test_where_nothing_is_assumed_nothing_is_offered() -> None:
    app = page(algo="spectral", eps="5")
    assert "sidebar.shape" not in {radio.key for radio in app.radio}
