"""The data sets that a session may choose: the catalogue's and its own uploads.

Each kind of data (ratings, documents, images) has its own choice.
"""

import hashlib
from typing import Any

import streamlit as st

import dpmf_datasets as datasets
from dpmf_core.algorithms import (
    REGISTRY,
    PrivateAlgorithm,
    asks_sums_alone,
    build_with_defaults,
)
from dpmf_core.base import limits
from dpmf_core.base.errors import BadInput
from dpmf_core.privacy import default_delta
from dpmf_core.runs import first_views
from dpmf_core.runs.first_views import DataKind
from dpmf_core.runs.references import RECOMMENDED
from pages.kit.base.page_table import Page

# declared ratings of a partitioned set; more would time out
LARGEST_IN_PARTS = 100_000_000
EACH = 20  # ratings per person if undeclared
# ratings of a synthetic data set that an address may request
LARGEST_IN_ADDRESS = 20_000_000
A_ROW = 100  # estimated ratings per person if their number is private
# stands for the best proven method for ratings that is known at the epsilon
BEST = "best"
KIND = "sidebar.holds"  # in the session: the page's kind of data
OWN = "data.own"  # in the session: its own data sets by id
# in the session: name of the uploaded file that no page uses yet
UNREAD = "data.unread"
# sidebar values that each kind of data has separately
OF_KIND = ("dataset", "algorithm", "delta", "row_count", "item_features")
# default sidebar values of each kind
FIRST: dict[str, dict[str, Any]] = {
    kind: {"dataset": data_id, "algorithm": RECOMMENDED["samples"]}
    for kind, data_id in first_views.USUAL_DATA.items()
}
FIRST["ratings"]["algorithm"] = BEST


def data_kind() -> DataKind:
    kind: DataKind = st.session_state.get(KIND, "ratings")
    return kind


def session_key(name: str, kind: DataKind | None = None) -> str:
    """The session's key of a sidebar value, shared by all pages or by a kind of data."""
    kind = kind or data_kind()
    if name in OF_KIND and kind != "ratings":
        return f"sidebar.{kind}.{name}"
    return f"sidebar.{name}"


def own() -> dict[str, Any]:
    """The session's own data sets by id."""
    entries: dict[str, Any] = st.session_state.setdefault(OWN, {})
    return entries


def find(data_id: str) -> Any:
    """The session's or the catalogue's data set of this id. Raises BadInput."""
    return own().get(data_id) or datasets.entry_of(data_id)


def title_of(data_id: str) -> str:
    """A data set's title, or its id if it is unknown."""
    try:
        return str(find(data_id).title)
    except BadInput:
        return data_id


def name_in_keys(data_id: str) -> str:
    """A data set's name in keys, which browsers see; not the path of an uploaded file."""
    if not datasets.is_own(data_id):
        return data_id
    return hashlib.sha256(data_id.encode()).hexdigest()[:16]


def each_key(entry: Any) -> str:
    """The session's key for the declared number of ratings per person of private data."""
    return f"choose.each.{name_in_keys(entry.id)}"


def step_key(entry: Any) -> str:
    """The session's key for the declared step of the rating scale of private data."""
    return f"choose.step.{name_in_keys(entry.id)}"


def stand_in(entry: Any) -> Any:
    """A data set on which choosing costs no epsilon.

    Public data stand for themselves; for private data it is a synthetic set of the same public
    shape and the declared number of ratings.
    """
    if entry.public:
        return entry
    each = st.session_state.get(each_key(entry)) or min(
        EACH, max(1, entry.n_items // 4)
    )
    density = each / entry.n_items
    return datasets.entry_of(
        datasets.stand_in_id(entry.n_users, entry.n_items, density, entry.bounds)
    )


def is_public(data_id: str) -> bool:
    """Whether a data set is published or simulated, so computing on it costs no privacy."""
    return bool(find(data_id).public)


def chosen_is_public() -> bool:
    """Whether the page's data set is public or absent."""
    data_id = st.session_state.get(session_key("dataset"))
    return data_id is None or is_public(data_id)


def n_ratings(entry: Any) -> int:
    """The number of ratings: declared, or an estimate if it is private."""
    if entry.public:
        return int(entry.n_ratings)
    return int(entry.n_users * min(entry.n_items, A_ROW))


def in_parts() -> tuple[Any, ...]:
    """The partitioned rating sets that are small enough for a page."""
    return tuple(
        entry for entry in datasets.in_parts() if n_ratings(entry) <= LARGEST_IN_PARTS
    )


def why_unsuited(page: Page) -> str:
    """Why a page cannot use the chosen data set; '' if it can."""
    if page.takes_parts or page.data_kind != "ratings":
        return ""
    data_id = st.session_state[session_key("dataset")]
    if not datasets.is_in_parts(data_id):
        return ""
    return (
        f"'{find(data_id).title}' is too large for memory, and this page needs all ratings at once."
        " Choose another data set in the sidebar, or use Explore, Compare, Tune, Choose or"
        " Account."
    )


def entries() -> tuple[Any, ...]:
    """The catalogue's and the session's data sets of the page's kind."""
    kind = data_kind()
    here: list[Any] = [entry for entry in datasets.catalogue() if entry.holds == kind]
    if kind == "ratings":
        here += in_parts()
    data_id = st.session_state.get(session_key("dataset")) or ""
    if datasets.is_stand_in(data_id):
        here.append(find(data_id))
    return (*here, *(entry for entry in own().values() if entry.holds == kind))


def usable() -> dict[str, str]:
    """Titles by id of data sets that may be used here; the default's if there are none."""
    titles = {entry.id: entry.title for entry in entries() if _is_usable(entry.id)}
    first = FIRST[data_kind()]["dataset"]
    return titles or {first: title_of(first)}


def _is_usable(data_id: str) -> bool:
    if datasets.is_own(data_id) or datasets.is_stand_in(data_id):
        return True
    return datasets.present(data_id) and limits.allowed_here(data_id)


def add_own(entry: Any) -> None:
    """Add a data set of this session and choose it. Call it before the sidebar is drawn."""
    own()[entry.id] = entry
    choose(entry)


def choose(entry: Any) -> None:
    """Choose a data set on every page of its kind. Call it before the sidebar is drawn."""
    kind = entry.holds
    values = {"dataset": entry.id, "delta": default_delta(entry.shape().n_units)}
    values |= dict.fromkeys(("top_items", "most_words", "most_per_user"))
    for name, value in values.items():
        st.session_state[session_key(name, kind)] = value
    if kind != "ratings":
        st.session_state.setdefault(
            session_key("algorithm", kind), FIRST[kind]["algorithm"]
        )


def remove_own(entry: Any) -> None:
    """Remove a data set of this session; pages that showed it return to their default."""
    own().pop(entry.id, None)
    for key, value in list(st.session_state.items()):
        if str(key).endswith(".dataset") and value == entry.id:
            del st.session_state[key]


def offered_methods() -> list[str]:
    """What the sidebar offers: the best known method for ratings, then single methods."""
    methods = private_algorithms()
    if data_kind() == "ratings":
        methods.insert(0, BEST)
    return methods


def private_algorithms() -> list[str]:
    """Ids of private methods that suit the page's data and its public item table."""
    task = "ratings" if data_kind() == "ratings" else "samples"
    data_id = st.session_state.get(session_key("dataset"))
    has_table = data_id is None or bool(getattr(find(data_id), "item_features", ""))
    plain = (
        not has_table or st.session_state.get(session_key("item_features")) != "public"
    )
    parts = data_id is not None and datasets.is_in_parts(data_id)
    return [
        name
        for name, kind in REGISTRY.items()
        if issubclass(kind, PrivateAlgorithm)
        and kind.task == task
        and not (plain and kind.needs_item_features)
        and not (parts and not asks_sums_alone(build_with_defaults(name, {})))
    ]
