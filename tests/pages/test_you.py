"""You in the data: the list is that of the released model, and nothing of the ratings is kept."""

import numpy as np
import pytest

from dpmf_core.data.ratings import Ratings
from dpmf_core.runs import shipped_runs
from dpmf_core.runs.comparison import references
from dpmf_core.runs.epsilon_grid import at_epsilon
from dpmf_core.runs.store import Store
from pages.start import price, you
from tests.pages.driving import app_of, component, words

STARS = (5, 1, 4, 2, 5)


def shipped(epsilon):
    spec = price.choice().spec()
    run = shipped_runs.released_run(
        references(spec)["open"] if epsilon is None else at_epsilon(spec, epsilon)
    )
    assert run is not None, "run `python -m benchmarks.shipped`"
    return run


@pytest.mark.parametrize("epsilon", [None, 0.1, 2.0, 31.6])
def test_the_list_is_what_the_algorithm_itself_would_recommend(epsilon):
    films = you.films()
    assert films is not None and len(films["titles"]) == price.choice().entry.n_items
    asked = list(films["asked"])
    items = [films["titles"].index(title) for title in asked]
    bounds, count = price.choice().entry.bounds, len(films["titles"])
    own = Ratings.of([0] * 5, items, STARS, n_users=1, n_items=count, bounds=bounds)
    model = shipped(epsilon).model
    scores = model.scores(model.personal(own), np.array([0]))[0]
    order = [item for item in np.argsort(-scores, kind="stable") if item not in items]
    expected = [films["titles"][item] for item in order[: you.LENGTH]]
    assert you.recommended(epsilon, dict(zip(asked, STARS, strict=True))) == expected


def test_rating_five_films_shows_a_list_and_an_attack_and_stores_nothing(data_folder):
    app = app_of("start/page.py").run()
    films = you.films()
    assert films is not None and "100% sure" not in words(app)
    assert component(app, "price_curve")["follows"] is False  # there is no list that could
    for title, stars in zip(films["asked"], STARS, strict=True):
        app.segmented_control(key=f"start.stars.{title}").set_value(stars)
    app.run()
    assert not app.exception
    ratings = dict(zip(films["asked"], STARS, strict=True))
    shown = words(app)
    assert component(app, "price_curve")["follows"] is True
    assert "100% sure" in shown and "at most 88.1%" in shown
    for title in you.recommended(2.0, ratings):
        assert title.split(" (")[0] in shown
    assert not app.query_params and not Store(data_folder).rows()
