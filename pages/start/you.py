"""You in the data: how your list of films, and what an attacker learns, change with epsilon.

The visitor rates five films. These ratings stay in the session: they are neither stored nor put
into an address.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st

from dpmf_core.algorithms import Recommender
from dpmf_core.data.ratings import Ratings, most_rated
from dpmf_core.evaluation.metrics import top_items
from dpmf_core.privacy import Gaussian
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.privacy.gaussian import gaussian_mu
from dpmf_core.privacy.interpretation import success_of
from dpmf_core.runs import shipped_runs
from dpmf_core.runs.comparison import TRIVIAL, references
from dpmf_core.runs.measurements import Measured
from dpmf_core.runs.specification import RunSpec
from pages.kit.base import safe_text
from pages.kit.components import draw_hundred
from pages.kit.controls.sidebar_values import EPSILONS
from pages.kit.privacy import privacy_card
from pages.start import price

FILMS = "films"  # the name under which the result of `films_to_rate` is shipped
COUNT = 5  # films to rate
LENGTH = 5  # recommended films
STARS = range(1, 6)
# followed by a film's title, in the session: the film's rating
STARS_KEY = "start.stars."
WITH_LIST = "start.listed"  # in the session: whether a list has been shown
WITHOUT_NOISE = "Without noise"


def films_to_rate(ratings: Ratings) -> dict[str, Any]:
    """The titles of all films, and the films to rate with their genres.

    The films to rate are the most rated films with different genres: no two share one.
    """
    assert ratings.item_features is not None and ratings.titles is not None
    names = np.array(ratings.item_features.names)
    genres = ratings.item_features.values
    asked_items: list[int] = []
    for film in most_rated(ratings.item_counts, ratings.n_items):
        n_shared_genres = genres[asked_items] @ genres[film]
        if not n_shared_genres.any():
            asked_items.append(int(film))
    genres_by_title = {
        ratings.titles[film]: ", ".join(names[genres[film] > 0])
        for film in asked_items[:COUNT]
    }
    return {"titles": list(ratings.titles), "asked": genres_by_title}


@functools.cache
def films() -> dict[str, Any] | None:
    """The shipped result of `films_to_rate` for this page's data, if any."""
    values = shipped_runs.view_data(references(price.run())[TRIVIAL], FILMS)
    if isinstance(values, dict):
        return values
    return None


# ---- the lists -----------------------------------------------------------------------------------


def run_of(best: Measured) -> RunSpec:
    """The specification of a method's run at its epsilon, with the page's seed."""
    return next(
        row.point.spec
        for row in price.judgement().table.rows
        if (row.point.label, row.point.epsilon) == (best.label, best.epsilon)
        and row.point.spec.seed == price.run().seed
    )


@functools.cache
def model(epsilon: float, with_noise: bool) -> Recommender | None:
    """The shipped model of the best method at a measured epsilon; None if it is not shipped."""
    spec = run_of(price.best_at(epsilon))
    if not with_noise:
        spec = spec.open()  # the same run without noise
    released_run = shipped_runs.released_run(spec)
    if released_run is None:
        return None
    released_model: Recommender = released_run.model
    return released_model


def recommended(
    epsilon: float, ratings: Mapping[str, int], *, with_noise: bool = True
) -> list[str]:
    """The films recommended to a person with these ratings who is not in the data, best first."""
    recommender = model(epsilon, with_noise)
    titles: list[str] = (films() or {}).get("titles", [])
    if recommender is None or not titles:
        return []
    items = [titles.index(title) for title in ratings]
    own = Ratings.of(
        [0] * len(items),
        items,
        list(ratings.values()),
        n_users=1,
        n_items=len(titles),
        bounds=price.entry().bounds,
    )
    best = top_items(
        recommender, recommender.personal(own), own, np.array([0]), LENGTH
    )[0]
    return [titles[item] for item in best if item >= 0]


def has_rated() -> bool:
    """Whether the visitor has rated all films that the page asks for."""
    titles = (films() or {}).get("asked", ())
    return bool(titles) and all(
        st.session_state.get(f"{STARS_KEY}{title}") for title in titles
    )


# ---- what is drawn -------------------------------------------------------------------------------


def draw(epsilon: float) -> None:
    """Draw the films to rate, the visitor's lists, and what an attacker can learn."""
    known_films = films()
    if known_films is None:
        return
    st.header("You in the data", anchor="you")
    st.write(
        "Rate five films. The titles are invented; follow your taste. Your ratings stay in this"
        " session: they are not stored, and the address does not contain them."
    )
    ratings = dict[str, int]()
    asked_films = known_films["asked"].items()
    for column, (title, genres) in zip(st.columns(COUNT), asked_films, strict=True):
        column.markdown(f":small[**{safe_text.escape_letters(title)}**  \n{genres}]")
        stars = column.segmented_control(
            f"Stars for {title}",  # screen readers read it as it is, so it has no Markdown
            STARS,
            key=f"{STARS_KEY}{title}",
            persist_state="session",
            label_visibility="collapsed",
        )
        if stars is not None:
            ratings[title] = stars
    left, right = st.columns(2, gap="large")
    with right:
        st.subheader("Can an attacker tell that you took part?", anchor=False)
        draw_hundred("start.hundred", epsilon, meanings(price.delta()))
    with left:
        _draw_lists(price.best_at(epsilon), ratings)


def _draw_lists(best: Measured, ratings: Mapping[str, int]) -> None:
    """Draw a method's lists with and without noise, or placeholders until all films are rated."""
    st.subheader("Your list", anchor=False)
    places = [column.empty() for column in st.columns(2)]
    count = st.empty()
    st.caption(
        f"You were not among the {price.entry().n_users:,} people: your list is computed here, from"
        " the released model and your own ratings, and only you see it."
    )
    epsilon = best.epsilon or 0.0
    headings = (f"{best.label} at ε = {budget_text(epsilon)}", WITHOUT_NOISE)
    is_complete = len(ratings) == COUNT
    # lists shown before stay on the page until the new ones are computed
    if not (is_complete and st.session_state.get(WITH_LIST)):
        for place, heading in zip(places, headings, strict=True):
            place.markdown(_list_text(heading, [":gray[…]"] * LENGTH))
    if not is_complete:
        count.caption(f"{len(ratings)} of {COUNT} rated.")
        return
    if not st.session_state.get(WITH_LIST):
        count.caption("Computing your list.")
    own = recommended(epsilon, ratings)
    plain = recommended(epsilon, ratings, with_noise=False)
    for place, heading, titles in zip(places, headings, (own, plain), strict=True):
        place.markdown(_list_text(heading, [_row(title, own) for title in titles]))
    n_same = len(set(own) & set(plain))
    count.caption(
        f"{n_same} of {len(plain)} stay. Struck out: lost to noise. Move the point above."
    )
    st.session_state[WITH_LIST] = True


def _list_text(heading: str, rows: Sequence[str]) -> str:
    return "\n".join([f"**{heading}**\n", *(f"1. {row}" for row in rows)])


def _row(title: str, own: Sequence[str]) -> str:
    """A film in a list, struck out if it is missing from `own`, the list with noise."""
    text = safe_text.escape_letters(title)
    if title in own:
        return text
    return f"~~{text}~~"


@functools.cache
def meanings(delta: float) -> list[dict[str, object]]:
    """The meaning of each epsilon of the slider, in ascending order."""
    return [
        privacy_card.in_hundred(
            epsilon,
            price.certainty_here(epsilon),
            success_of(Gaussian(1 / gaussian_mu(epsilon, delta))),
        )
        for epsilon in EPSILONS
    ]
