"""You in the data: rate five films, see your list change with epsilon, and what an attacker learns.

Ratings stay in the visitor's session; they are neither stored nor put into an address.
"""

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import streamlit as st

from dpmf_core.algorithms import Recommender
from dpmf_core.data.ratings import Ratings
from dpmf_core.evaluation.metrics import top_items
from dpmf_core.privacy.certainty import CERTAIN, WHAT_IS_AN_EXCEPTION, range_text
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs import shipped_runs
from dpmf_core.runs.comparison import references
from dpmf_core.runs.epsilon_grid import EPSILONS, OPEN, TRIVIAL, at_epsilon
from dpmf_core.teaching import membership
from pages.kit import safe_text
from pages.start import price

FILMS = "films"  # name of these data among those shipped with runs
COUNT, LENGTH, N_KNOWN = 5, 5, 3  # films to rate; recommendations; ratings the attacker knows
STARS = range(1, 6)
BOUND = "The bound e^ε / (1 + e^ε) holds for every attacker and all Gaussian noise of this ε"
STARS_KEY = "start.stars."  # in the session, with a film's title: its rating


def films_to_rate(ratings: Ratings) -> dict[str, Any]:
    """Return all titles, and the most rated films without a common genre, with their genres."""
    assert ratings.item_features is not None and ratings.titles is not None
    names, genres = np.array(ratings.item_features.names), ratings.item_features.values
    asked_items = list[int]()
    for film in np.argsort(-np.bincount(ratings.items, minlength=ratings.n_items), kind="stable"):
        if not (genres[asked_items] @ genres[film]).any():
            asked_items.append(int(film))
    words = {ratings.titles[it]: ", ".join(names[genres[it] > 0]) for it in asked_items[:COUNT]}
    return {"titles": list(ratings.titles), "asked": words}


@functools.cache
def films() -> dict[str, Any] | None:
    """Return the shipped result of `films_to_rate` for this page's data, if any."""
    values = shipped_runs.view_data(references(price.choice().spec())[TRIVIAL], FILMS)
    return values if isinstance(values, dict) else None


@functools.cache
def model(epsilon: float | None) -> Recommender | None:
    """Return the first draw's released model at this epsilon; None for the method without noise."""
    spec = price.choice().spec()
    run = shipped_runs.released_run(
        references(spec)[OPEN] if epsilon is None else at_epsilon(spec, epsilon)
    )
    return None if run is None else run.model


def recommended(epsilon: float | None, ratings: Mapping[str, int]) -> list[str]:
    """Return the list of a person with these ratings who is not in the data, best first."""
    recommender, titles = model(epsilon), (films() or {}).get("titles", [])
    if recommender is None or not titles:
        return []
    items, bounds = [titles.index(title) for title in ratings], price.choice().entry.bounds
    own = Ratings.of(
        [0] * len(items),
        items,
        list(ratings.values()),
        n_users=1,
        n_items=len(titles),
        bounds=bounds,
    )
    best = top_items(recommender, recommender.personal(own), own, np.array([0]), LENGTH)[0]
    return [titles[item] for item in best if item >= 0]


def has_rated() -> bool:
    """Return whether the visitor has rated all films that the page asks for."""
    titles = (films() or {}).get("asked", ())
    return bool(titles) and all(st.session_state.get(f"{STARS_KEY}{it}") for it in titles)


def draw(epsilon: float) -> None:
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
        stars = column.segmented_control(
            f"**{safe_text.escape_letters(title)}**  \n{genres}",
            list(STARS),
            key=f"{STARS_KEY}{title}",
            persist_state="session",
        )
        ratings |= {title: stars} if stars is not None else {}
    if len(ratings) < COUNT:
        st.caption(f"{len(ratings)} of {COUNT} rated.")
        return
    left, right = st.columns(2, gap="large")
    with left:
        _draw_lists(min(EPSILONS, key=lambda it: abs(np.log(it / epsilon))), ratings)
    with right:
        _draw_attack(epsilon, ratings)


def _draw_lists(epsilon: float, ratings: Mapping[str, int]) -> None:
    """Draw the lists. epsilon: the nearest measured one."""
    own, plain = (recommended(it, ratings) for it in (epsilon, None))
    st.subheader("Your list", anchor=False)
    lists = {f"At ε = {budget_text(epsilon)}": own, "Without noise": plain}
    for column, (heading, titles) in zip(st.columns(2), lists.items(), strict=True):
        texts = {it: safe_text.escape_letters(it) for it in titles}
        lines = [f"1. {text if it in own else f'~~{text}~~'}" for it, text in texts.items()]
        column.markdown("\n".join([f"**{heading}**\n", *lines]))
    count = len(set(own) & set(plain))
    st.caption(
        f"{count} of {len(plain)} stay. Struck out: lost to noise. Move the point above. You were"
        f" not among the {price.choice().entry.n_users:,} people: your list is computed here, from"
        " the released model and your own ratings, and only you see it."
    )


def _draw_attack(epsilon: float, ratings: Mapping[str, int]) -> None:
    delta = price.choice().delta
    noise = membership.noise_of(epsilon, delta, COUNT, max(STARS))
    attack = _attack(tuple(ratings.values())[:N_KNOWN], noise)
    certainty = price.certainty_here(epsilon)
    low, high = np.quantile(attack.beliefs, (0.05, 0.95))
    st.subheader("Can an attacker tell that you took part?", anchor=False)
    st.write(
        "The attacker starts at 50:50, knows everyone else's ratings and your first three, and sees"
        " the sum of each film's ratings."
    )
    figures: dict[str, Any] = {
        "Without noise": CERTAIN,
        f"With noise, ε = {budget_text(epsilon)}": range_text(low, high),
        "The bound": f"at most {certainty.percent}",
    }
    for column, (label, value) in zip(st.columns(3), figures.items(), strict=True):
        column.markdown(f"{label}  \n**{value}**")
    right = f"{attack.right:.0%}" if attack.right < 0.995 else "over 99%"
    st.write(f"With noise the attacker is right in **{right}** of cases. Guessing is right in 50%.")
    st.caption(
        f"Measured on {len(attack.beliefs):,} simulated publications with you and as many without"
        f" you: five sums with Gaussian noise of {noise:.3g} stars. The range covers 90% of them."
        " Everyone else's ratings do not matter, because the attacker subtracts them."
        f" {certainty.with_premises(BOUND)} {WHAT_IS_AN_EXCEPTION}"
    )


_attack = functools.lru_cache(256)(membership.attack)
