"""One person in the first view of Explore: who is shown, and their lists along epsilon."""

import contextlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import streamlit as st

from dpmf_core.jobs.engine import engine
from dpmf_core.runs import shipped_runs
from dpmf_core.runs.comparison import TRIVIAL, references
from dpmf_core.runs.measurements import Measured
from dpmf_core.runs.recommendations import recommend, someone
from dpmf_core.runs.specification import RunSpec
from pages.kit.base import data_sets
from pages.kit.controls.sidebar_values import SidebarChoice

# names of data shipped with runs
PERSON = "person"
LISTS = "lists"
USER = "explore.user."  # in the session, by data set: the person shown
LIST_LENGTH = 6  # recommendations in the first view
CACHE_SIZE = 4000  # lists in memory, for all sessions
RecommendedItems = list[dict[str, Any]]


def _person(choice: SidebarChoice, spec: RunSpec) -> int | None:
    """The person whose list is shown: the chosen one, otherwise one with many ratings.

    None while no run names people.
    """

    def usual() -> int | None:
        trivial = references(spec)[TRIVIAL]
        run = engine().known_runs.whole(trivial)
        if run is not None:
            return someone(run)
        shipped_person: int | None = shipped_runs.view_data(trivial, PERSON)
        return shipped_person

    user: int | None = st.session_state.get(start(choice, usual))
    return user


def start(choice: SidebarChoice, usual: Callable[[], int | None]) -> str:
    """Set the person shown for these data if there is none, and give their key in the session.

    The person in the address comes first, if this session has shown no one yet, then the usual one.
    """
    key = f"{USER}{data_sets.name_in_keys(choice.dataset)}"
    if key in st.session_state:
        return key
    user = None
    if not any(str(name).startswith(USER) for name in st.session_state):
        user = _linked_person(choice.entry.n_users)
    if user is None:
        user = usual()
    if user is not None:
        st.session_state[key] = user
    return key


def _linked_person(n_users: int) -> int | None:
    text = st.query_params.get(PERSON, "")
    if text.isdecimal() and int(text) < n_users:
        return int(text)
    return None


def lists(
    choice: SidebarChoice, spec: RunSpec, line: Sequence[Measured]
) -> dict[str, Any] | None:
    """The person's lists at each point of the first draw, with and without noise."""
    user = _person(choice, spec)
    if user is None:
        return None
    items_of = _cached_items if choice.entry.public else _items
    points = []
    for one in line:
        # the run of this point with the seed of `spec`
        run = spec.on(one.algorithm, parameters=dict(one.parameters))
        run = run.at_epsilon(one.epsilon or 0.0)
        with contextlib.suppress(LookupError):
            points.append(
                {
                    "epsilon": one.epsilon,
                    "items": items_of(run, user),
                    "open": items_of(run.open(), user),
                }
            )
    if not points:
        return None
    return {"person": user, "at": points}


def _items(spec: RunSpec, user: int) -> RecommendedItems:
    """A run's recommendations for a person; raises LookupError if none are known."""
    run = engine().known_runs.whole(spec)
    if run is None:
        lists_by_user: dict[str, RecommendedItems] = (
            shipped_runs.view_data(spec, LISTS) or {}
        )
        items = lists_by_user[str(user)]
    else:
        films = recommend(run, user, LIST_LENGTH)
        items = [{"id": film.item, "title": film.title} for film in films]
    if not items:
        raise LookupError
    return items


_cached_items = lru_cache(CACHE_SIZE)(_items)
