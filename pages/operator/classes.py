"""The classes that this server keeps, for operators, who can clear them."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence

import streamlit as st

from dpmf_core.jobs.machine import duration
from dpmf_core.teaching import class_records, room_codes
from dpmf_core.teaching.class_records import GatheredClass
from pages.kit.base import safe_text
from pages.server import visitor

MOST = 50  # classes on the page
# in the session: the key of the button that was clicked once
CHOICE = "operator.clearing"
PROBLEM = "operator.clearing.problem"  # in the session: why nothing was changed
WORDS = "Its answers and publications are deleted. Its privacy account stays."


def draw(names: Mapping[str, str]) -> None:
    """Draw the classes, the one used last first.

    Parameters
    ----------
    names
        The logins by owner.

    Raises
    ------
    BadInput
        If the classes cannot be read.
    """
    st.header("Classes", anchor=False)
    safe_text.draw_kept_problem(PROBLEM)
    all_classes = class_records.classes()
    if not all_classes:
        st.write("No class is stored.")
        return
    for one in all_classes[:MOST]:
        _draw_class(one, names)
    if len(all_classes) > MOST:
        st.caption(f"And {len(all_classes) - MOST:,} that were used earlier.")
    _draw_owners(all_classes, names)


def _draw_class(one: GatheredClass, names: Mapping[str, str]) -> None:
    what, state, owner, room, button = st.columns(
        [3, 4, 2, 2, 2], vertical_alignment="center"
    )
    what.markdown(f"Class `{one.name}`")
    answers = safe_text.count_text(one.n_answers, "answer")
    if one.is_opened:
        opened = "opened by a teacher"
    else:
        opened = "not opened by a teacher"
    age = duration(max(0.0, time.time() - one.changed))
    state.markdown(f"{answers}, last change {age} ago, {opened}")
    owner.markdown(safe_text.escape_letters(owner_name(one.owner, names)))
    if one.room_code:
        room.button(
            f"End code {room_codes.in_halves(one.room_code)}",
            f"operator.end_room.{one.name}",
            help="The room code ends; the link of the class still opens it.",
            on_click=_end_room,
            args=(one.id,),
            width="stretch",
        )
    with button:
        _draw_button(one.name, "Clear", [one.id])


def _draw_owners(
    all_classes: Sequence[GatheredClass], names: Mapping[str, str]
) -> None:
    """Draw the choice of an owner. All classes of an owner can be cleared."""
    counter = Counter(one.owner for one in all_classes if one.owner)
    if not counter:
        return
    choice, button = st.columns([9, 2], vertical_alignment="bottom")
    owner = choice.selectbox(
        "All classes of one owner",
        [owner for owner, _ in counter.most_common()],
        key="operator.class_owner",
        format_func=lambda owner: f"{owner_name(owner, names)}: {counter[owner]:,}",
    )
    class_ids = [one.id for one in all_classes if one.owner == owner]
    with button:
        _draw_button(f"of.{owner}", "Clear all", class_ids)


def _draw_button(name: str, label: str, class_ids: list[str]) -> None:
    """Draw a button that clears classes with its second click."""
    key = f"operator.clear.{name}"
    if st.session_state.get(CHOICE) != key:
        st.button(
            label,
            key,
            on_click=st.session_state.update,
            args=({CHOICE: key},),
            width="stretch",
        )
        return
    st.button(
        f"{label} for good",
        f"operator.clear_now.{name}",
        help=WORDS,
        on_click=_clear,
        args=(class_ids,),
        type="primary",
        width="stretch",
    )


def _end_room(class_id: str) -> None:
    """End a class's room code, if the visitor still is an operator: the page may be old."""
    if not visitor.asker().operator:
        return
    with safe_text.kept_problem(PROBLEM):
        room_codes.end_room(class_id)


def _clear(class_ids: list[str]) -> None:
    """Clear classes, if the visitor still is an operator: the page may be old."""
    if not visitor.asker().operator:
        return
    del st.session_state[CHOICE]
    with safe_text.kept_problem(PROBLEM):
        class_records.clear(class_ids)


def owner_name(owner: str, names: Mapping[str, str]) -> str:
    """A login's name, or else the beginning of the owner's digest."""
    return names.get(owner) or owner.partition(":")[2][:8] or "nobody"
