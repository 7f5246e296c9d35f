"""The data sets that a session may choose: the catalogue's, and those that it brought itself.

Each kind of data (ratings, documents, images) has a choice of its own.
"""

from typing import Any

import streamlit as st

import dpmf_datasets as datasets
from dpmf_core.algorithms import REGISTRY, PrivateAlgorithm, asks_sums_alone, build_with_defaults
from dpmf_core.base.errors import BadInput
from dpmf_core.jobs import first_views
from dpmf_core.privacy import default_delta
from dpmf_core.serving import limits
from dpmf_datasets.simulated import stand_ins
from pages.kit.page_table import DataKind, Page

# declared ratings of a set in parts, at most: a run on more would not end in the half hour that one
# may take
LARGEST_IN_PARTS = 100_000_000
EACH = 20  # ratings of a person, where nothing is declared
# ratings of a synthetic data set that an address may ask for, at most
LARGEST_IN_ADDRESS = 20_000_000
A_ROW = 100  # ratings of a person, where their number is private
KIND = "sidebar.holds"  # in the session: the kind of data of the page shown
OWN = "data.own"  # in the session: the data sets that it brought, by id
# values that each kind of data has for itself
OF_KIND = ("dataset", "algorithm", "delta", "row_count", "item_features")
# what a kind is first shown with, by the names of the sidebar's values
FIRST: dict[str, dict[str, Any]] = {
    kind: {"dataset": it.data, "algorithm": it.algorithm, "epsilon": it.epsilon}
    for kind, it in first_views.USUAL.items()
}


def data_kind() -> DataKind:
    """What the page shown is about."""
    kind: DataKind = st.session_state.get(KIND, "ratings")
    return kind


def session_key(name: str, kind: DataKind | None = None) -> str:
    """Where a value of the sidebar lies in the session: one place for all pages, or one for
    each kind of data.
    """
    kind = kind or data_kind()
    return f"sidebar.{kind}.{name}" if name in OF_KIND and kind != "ratings" else f"sidebar.{name}"


def kind_of(entry: Any) -> DataKind:
    kind: DataKind = getattr(entry, "holds", "ratings")
    return kind


def find(data_id: str) -> Any:
    """The session's own data set of this id, or the catalogue's. Raises BadInput."""
    return st.session_state.get(OWN, {}).get(data_id) or datasets.entry_of(data_id)


def title_of(data_id: str) -> str:
    """A data set in words; its id where it is not known any more."""
    try:
        return str(find(data_id).title)
    except BadInput:
        return data_id


def each_key(entry: Any) -> str:
    """In the session: about how many ratings a person of private data gives, as somebody said."""
    return f"choose.each.{entry.id}"


def stand_in(entry: Any) -> Any:
    """The data set on which choosing costs no epsilon: the same where it is public, else a
    synthetic one of its public shape and the declared number of ratings.
    """
    if entry.public:
        return entry
    each = st.session_state.get(each_key(entry)) or min(EACH, max(1, entry.n_items // 4))
    density = each / entry.n_items
    return datasets.entry_of(
        stand_ins.stand_in_id(entry.n_users, entry.n_items, density, entry.bounds)
    )


def is_public(data_id: str) -> bool:
    """Whether a data set is published or simulated, so that what is computed on it costs nobody
    privacy.
    """
    return bool(find(data_id).public)


def chosen_is_public() -> bool:
    """Whether the data set chosen on this page is public; so it is where none is chosen."""
    data_id = st.session_state.get(session_key("dataset"))
    return data_id is None or is_public(data_id)


def privacy_units(entry: Any) -> int:
    """How many privacy units there are, known to everybody."""
    if kind_of(entry) == "ratings":
        return int(entry.n_users)
    return int(entry.n_people or entry.n_samples)


def n_ratings(entry: Any) -> int:
    """How many ratings a set holds: as declared, or so many a person where that is private."""
    if entry.public:
        return int(entry.n_ratings)
    return int(entry.n_users * min(entry.n_items, A_ROW))


def in_parts() -> tuple[Any, ...]:
    """The sets of ratings in parts that are not too large for a page."""
    return tuple(it for it in datasets.in_parts() if n_ratings(it) <= LARGEST_IN_PARTS)


def is_in_parts(data_id: str) -> bool:
    """Whether a data set is kept in parts, of which one is in memory at a time."""
    return datasets.is_in_parts(data_id)


def why_unsuited(page: Page) -> str:
    """Why a page cannot be about the data set that is chosen, in a sentence; '' where it can."""
    if page.takes_parts or page.data_kind != "ratings":
        return ""
    data_id = st.session_state[session_key("dataset")]
    if not is_in_parts(data_id):
        return ""
    return (
        f"'{find(data_id).title}' is kept in parts, of which one is in memory at a time, and what"
        " this page shows needs all ratings together. Choose another data set at left; Explore,"
        " Trade-off, Tune, Choose and Accountant take ratings in parts."
    )


def entries() -> tuple[Any, ...]:
    """All of this page's kind: the catalogue's, and the session's own."""
    kind = data_kind()
    ratings = (*datasets.ratings(), *in_parts()) if kind == "ratings" else ()
    catalogue = ratings or datasets.samples(kind)
    own = st.session_state.get(OWN, {}).values()
    data_id = st.session_state.get(session_key("dataset")) or ""
    declared = (find(data_id),) if stand_ins.is_stand_in(data_id) else ()
    return (*catalogue, *declared, *(entry for entry in own if kind_of(entry) == kind))


def usable() -> list[str]:
    """Ids of those on this machine that may be computed on here; the usual one where there is
    none, of which the page then says so.
    """
    ids = [entry.id for entry in entries() if _is_usable(entry.id)]
    return ids or [FIRST[data_kind()]["dataset"]]


def _is_usable(data_id: str) -> bool:
    if datasets.is_own(data_id) or stand_ins.is_stand_in(data_id):
        return True
    return datasets.present(data_id) and limits.allowed_here(data_id)


def add_own(entry: Any) -> None:
    """A data set of this session alone, chosen on every page about its kind; call it before the
    sidebar is drawn.
    """
    st.session_state[OWN] = {**st.session_state.get(OWN, {}), entry.id: entry}
    choose(entry)


def choose(entry: Any) -> None:
    """A data set is the chosen one on every page about its kind; call it before the sidebar is
    drawn.
    """
    kind = kind_of(entry)
    values = {"dataset": entry.id, "delta": default_delta(privacy_units(entry))}
    values |= dict.fromkeys(("top_items", "most_words"))
    for name, value in values.items():
        st.session_state[session_key(name, kind)] = value
    if kind != "ratings":
        st.session_state.setdefault(session_key("algorithm", kind), FIRST[kind]["algorithm"])


def remove_own(entry: Any) -> None:
    """Forget a data set of this session; pages that showed it go back to their first one."""
    own = st.session_state.get(OWN, {})
    st.session_state[OWN] = {name: it for name, it in own.items() if name != entry.id}
    for key, value in list(st.session_state.items()):
        if str(key).endswith(".dataset") and value == entry.id:
            del st.session_state[key]


def private_algorithms() -> list[str]:
    """Ids of what takes a budget and suits the page's data; what needs item features only
    where they are chosen.
    """
    task = "ratings" if data_kind() == "ratings" else "samples"
    data_id = st.session_state.get(session_key("dataset"))
    has_table = data_id is None or bool(getattr(find(data_id), "item_features", ""))
    plain = not has_table or st.session_state.get(session_key("item_features")) != "public"
    parts = data_id is not None and is_in_parts(data_id)
    return [
        name
        for name, kind in REGISTRY.items()
        if issubclass(kind, PrivateAlgorithm)
        and kind.task == task
        and not (plain and kind.needs_item_features)
        and not (parts and not takes_parts(name))
    ]


def takes_parts(algorithm: str) -> bool:
    """Whether an algorithm, with its defaults, takes ratings in parts."""
    return asks_sums_alone(build_with_defaults(algorithm, {}))
