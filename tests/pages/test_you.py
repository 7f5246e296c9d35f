"""You in the data: the list is that of the released model, and nothing of the ratings is kept."""

import numpy as np
import pytest

from dpmf_core.data.ratings import Ratings
from dpmf_core.runs import shipped_runs
from dpmf_core.runs.store import Store
from pages.start import price, you
from tests.pages.driving import app_of, component, words

STARS = (5, 1, 4, 2, 5)


def released(epsilon, with_noise):
    """The shipped run of the best method at an epsilon, or the same run without noise."""
    spec = you.run_of(price.judgement().best(epsilon))
    assert spec.budget.epsilon == epsilon
    assert spec.seed == 0
    if not with_noise:
        spec = spec.open()
    run = shipped_runs.released_run(spec)
    assert run is not None, "run `python -m benchmarks.shipped`"
    return run


@pytest.mark.parametrize("with_noise", [True, False])
@pytest.mark.parametrize("epsilon", [0.1, 2.0, 31.6])
def test_the_list_is_what_the_best_method_itself_would_recommend(epsilon, with_noise):
    films = you.films()
    titles = films["titles"]
    assert len(titles) == price.entry().n_items
    asked = list(films["asked"])
    items = [titles.index(title) for title in asked]
    own = Ratings.of(
        [0] * 5,
        items,
        STARS,
        n_users=1,
        n_items=len(titles),
        bounds=price.entry().bounds,
    )
    model = released(epsilon, with_noise).model
    (scores,) = model.scores(model.personal(own), np.array([0]))
    order = np.argsort(-scores, kind="stable")
    unseen = [titles[item] for item in order if item not in items]
    ratings = dict(zip(asked, STARS, strict=True))
    shown = you.recommended(epsilon, ratings, with_noise=with_noise)
    assert shown == unseen[: you.LENGTH]


def n_rows(app):
    """How many rows the lists have."""
    return sum(element.value.count("\n1. ") for element in app.markdown)


def test_rating_five_films_shows_a_list_and_stores_nothing(data_folder):
    app = app_of("start/page.py").run()
    asked = you.films()["asked"]
    assert "0 of 5 rated." in words(app)
    assert n_rows(app) == 2 * you.LENGTH  # the place of the lists is kept
    # there is no list that could
    assert component(app, "price_curve")["follows"] is False
    for title, stars in zip(asked, STARS, strict=True):
        app.segmented_control(key=f"start.stars.{title}").set_value(stars)
    app.run()
    assert not app.exception
    assert component(app, "price_curve")["follows"] is True
    assert n_rows(app) == 2 * you.LENGTH
    shown = words(app)
    assert "of 5 stay" in shown
    assert f"{price.best_at(2.0).label} at ε = 2" in shown
    for title in you.recommended(2.0, dict(zip(asked, STARS, strict=True))):
        assert title.split(" (")[0] in shown
    assert not app.query_params
    assert not Store(data_folder).rows()


def test_the_attacker_is_a_hundred_figures_before_and_after_rating():
    hundred = component(app_of("start/page.py").run(), "hundred")
    assert hundred["epsilon"] == 2.0
    (point,) = [point for point in hundred["points"] if point["epsilon"] == 2.0]
    assert point["figures"] == 88
    assert point["certainty"] == price.certainty_here(2.0).words()
    assert "times in 100" in point["guess"]
