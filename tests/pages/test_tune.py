"""The Tune page: a search from its button to the winner and its price."""

import re

import pytest

from dpmf_core.privacy import Budget, Gaussian, default_delta
from dpmf_core.privacy.gaussian import gaussian_mu
from dpmf_core.privacy.selection import SHAPES
from dpmf_core.runs.planning import account_of
from dpmf_core.runs.tuning.search import price
from dpmf_datasets import session_files
from pages.kit.base import data_sets
from pages.tune import open_search
from tests.pages.driving import (
    app_of,
    behind_sidebar,
    brought,
    run_until,
    settled,
    widget_of,
)

SCRIPT = behind_sidebar("tune/page.py")


def page(dataset="cinema-small", **state):
    app = app_of(
        SCRIPT,
        state,
        dataset=dataset,
        algorithm="private-bias",
        epsilon="5",
    )
    app.run()
    assert not app.exception, [error.value for error in app.exception]
    return app


def verdicts(app):
    return [
        message.value
        for message in (*app.success, *app.info)
        if "On test ratings: The winner " in message.value
    ]


def test_a_search_ends_with_the_winner_on_test_ratings_and_the_price():
    app = page(**{"tune.trials": 5, "tune.moving.private-bias": ["prior_deviation"]})
    assert app.title[0].value == "Which parameters for Private biases at ε = 5?"
    app.button(key="tune.go").click()
    run_until(app, lambda: verdicts(app))
    app.button(key="tune.use").click().run()
    deviation = app.session_state["explore.private-bias.prior_deviation"]
    box = widget_of(app.text_input, "explore.private-bias.prior_deviation")
    assert float(box.value) == pytest.approx(deviation, rel=1e-5)
    assert verdicts(app)
    assert app.button(key="tune.next.take-away")
    assert app.session_state["export.tuned"] == ("cinema-small", "private-bias")
    assert app.session_state["sidebar.algorithm"] == "private-bias"
    assert app.title[0].value.startswith("The best of 5 trials: validation RMSE 0.")
    assert "95%" in verdicts(app)[0]
    scores = next(
        table.value for table in app.dataframe if "best so far" in table.value.columns
    )
    assert (scores["low"] < scores["score"]).all()
    assert (scores["score"] < scores["high"]).all()
    cost = next(
        table.value for table in app.dataframe if "what is shown" in table.value.columns
    )
    assert len(cost) == 2 + len(SHAPES)
    budget = Budget(epsilon=5.0, delta=default_delta(2000))
    thrice = price(
        Gaussian(1 / gaussian_mu(5.0, budget.delta)),
        open_search.SCORE_NOISE,
        5,
        budget,
        3,
    )
    paid = cost["total ε"].astype(float).tolist()
    assert paid[0] == pytest.approx(thrice.single, abs=0.006)
    assert paid[-1] == pytest.approx(thrice.all_shown, abs=0.006)
    assert float(cost["total ε"].iloc[0]) < min(paid[1:-1]) < paid[-1]
    assert any("cost **nothing**" in markdown.value for markdown in app.markdown)


def form(app):
    return next(
        expander
        for expander in app.expander
        if expander.label == "Set parameters yourself"
    ).proto


def test_tune_starts_at_the_method_epsilon_and_parameters_of_the_address():
    first = page()
    assert first.title[0].value == "Which parameters for Private biases at ε = 5?"
    assert not form(first).expanded
    assert first.button(key="tune.next.take-away")
    linked = app_of(
        SCRIPT,
        dataset="cinema-small",
        algorithm="spectral",
        epsilon="0.5",
        search="shrinkage",
        trials="7",
        **{"p.rank": "3"},
    ).run()
    assert linked.title[0].value == "Which parameters for Spectral at ε = 0.5?"
    assert form(linked).expanded
    assert linked.number_input(key="explore.spectral.rank").value == 3
    assert linked.number_input(key="tune.trials").value == 7
    assert linked.multiselect(key="tune.moving.spectral").value == ["shrinkage"]
    for name, value in {
        "search": "shrinkage",
        "trials": "7",
        "p.rank": "3",
    }.items():
        assert linked.query_params[name] in (value, [value])
    wrong = app_of(
        SCRIPT,
        dataset="cinema-small",
        algorithm="spectral",
        search="nonsense",
    ).run()
    assert "'search' in the link is invalid" in wrong.warning[0].value
    assert not wrong.exception


def test_of_several_methods_it_tunes_the_one_of_the_last_answer():
    state = {"choose.method": ("cinema-small", "private-svd")}
    app = app_of(SCRIPT, state, dataset="cinema-small").run()
    assert app.title[0].value.startswith("Which parameters for Private SVD at ε")
    other = app_of(
        SCRIPT, {"choose.method": ("cinema", "private-svd")}, dataset="cinema-small"
    )
    assert "Private SVD" not in other.run().title[0].value


def test_of_ones_own_data_a_private_selection_leaves_its_winner_alone():
    """Nothing else is trained."""
    rows = [f"p{u},thing {i},{1 + (u * i) % 5}" for u in range(40) for i in range(12)]
    content = "\n".join(["user,item,rating", *rows, ""]).encode()
    mine = session_files.read(content, "mine.csv", {"bounds": "1,5"})
    state = {
        "tune.trials": 3,
        "tune.moving.private-bias": ["prior_deviation"],
        "tune.way": "private",
        "tune.cap.5": 3.0,
    }
    own = brought(mine.entry)
    asked = page(**own)
    # before they are declared
    for button in asked.button:
        assert button.key != "tune.go"
    asked.number_input(key=data_sets.each_key(mine.entry)).set_value(12).run()
    assert "total ε" not in asked.button(key="tune.go").label  # on synthetic data
    app = page(**state, **own)
    price = re.search(r"total ε 0\.00 → ([\d.]+)", app.button(key="tune.select").label)
    app.button(key="tune.select").click()
    app = settled(app)
    account = account_of(mine.entry.id)
    assert 2.9 < account.total.epsilon <= 3.0  # its cap
    assert account.total.epsilon == pytest.approx(float(price[1]), abs=0.005)
    assert len(account.entries) == 1
    assert app.button(key="tune.use")
    columns = {column for frame in app.dataframe for column in frame.value.columns}
    bought = {
        "what",
        "times",
        "ε each",
        "ε together",
        "state",
        "first (UTC)",
        "last (UTC)",
    }
    assert columns <= bought
    session_files.remove(mine.entry)


def test_a_button_says_beforehand_that_a_selection_exceeds_the_budget():
    rows = [f"p{u},thing {i},{1 + (u + i) % 5}" for u in range(40) for i in range(12)]
    content = "\n".join(["user,item,rating", *rows, ""]).encode()
    mine = session_files.read(content, "mine.csv", {"bounds": "1,5"})
    account = account_of(mine.entry.id)
    account.set_budget(3.0, default_delta(40))
    state = {
        "tune.trials": 3,
        "tune.moving.private-bias": ["prior_deviation"],
        "tune.way": "private",
        "tune.cap.5": 3.0,
    }
    app = page(**state, **brought(mine.entry))
    assert app.button(key="tune.select").disabled
    (caption,) = [
        caption.value
        for caption in app.caption
        if "counts it as one Gaussian release" in caption.value
    ]
    assert re.search(r"It fits with ε = [\d.]+ or less for each training run", caption)
    account.set_budget(30.0, default_delta(40))
    app = page(**state, **brought(mine.entry))
    assert not app.button(key="tune.select").disabled
    assert not account.entries
    session_files.remove(mine.entry)
