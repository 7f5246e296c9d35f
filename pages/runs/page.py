"""What have I tried? My stored runs or everyone's, up to six side by side, with exports."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.base.documents import to_json
from dpmf_core.jobs.engine import engine
from dpmf_core.runs import permissions
from dpmf_core.runs.record import Run
from dpmf_core.runs.reports import report, script
from pages.kit.base import drawing, lesson, safe_text
from pages.kit.base.exports import draw_files
from pages.kit.controls.session_widgets import (
    PageValue,
    one_of,
    segments,
    write_to_address,
)
from pages.kit.running.run_request import RunRequest
from pages.runs import side_by_side
from pages.server import sessions, visitor

COLUMNS = {
    "made": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm"),
    "ε": st.column_config.NumberColumn(format="%g"),
    "δ": st.column_config.NumberColumn(format="%.1e"),
    **side_by_side.FORMATS,
    "seconds": st.column_config.NumberColumn(format="%.2f"),
    "MB": st.column_config.NumberColumn(format="%.2f"),
}

MINE = "mine"
EVERYONE = "everyone"
OWNERS = {MINE: "Mine", EVERYONE: "Everyone's"}
WHOSE = PageValue("runs.whose", "whose", MINE, one_of(OWNERS))
TITLES = {"learn": "Lessons"}  # pages with another name


def draw_switch() -> str:
    """Whose runs are listed; on one person's own machine there is nothing to choose."""
    if visitor.asker().alone:
        return EVERYONE
    WHOSE.start()
    whose: str = segments(
        "Whose runs", OWNERS, WHOSE.key, disabled=lesson.page_values() is not None
    )
    write_to_address([WHOSE])
    return whose


def draw_no_own_runs(n_runs: int) -> None:
    """Say that none of the runs is the visitor's, and offer everyone's runs."""
    st.title("No run of yours is stored yet", anchor=False)
    st.write(f"Train the first one on Explore. {what_is_mine()}")
    st.button(
        f"Show everyone's runs ({n_runs:,})",
        key="runs.everyone",
        type="primary",
        on_click=st.session_state.update,
        args=({WHOSE.key: EVERYONE},),
        disabled=lesson.page_values() is not None,
    )


def what_is_mine() -> str:
    """Which runs are the visitor's."""
    if visitor.logged_in():
        return "A run is yours if you were the first to start it."
    return (
        "A run is yours if you were the first to start it since you opened this site. Without a"
        " login, a reload starts anew."
    )


def sharing_words(whose: str) -> str:
    words = "Runs on your uploaded files stay in your session."
    if visitor.asker().alone:
        return words
    words = (
        "Everyone on this server shares runs on public and synthetic data, with notes and tags."
        f" {words}"
    )
    if whose == MINE:
        words = f"{what_is_mine()} {words}"
    return words


def heading(n_runs: int, megabytes: float, whose: str) -> str:
    words = f"{safe_text.count_text(n_runs, 'run')}, {megabytes:,.1f} MB"
    if whose == MINE:
        words = f"Your {words}"
    return words


def ticked_keys(table: pd.DataFrame, whose: str) -> list[str]:
    """Draw the list and return the keys of the ticked runs, at most the number that is compared."""
    event = safe_text.table(
        table,
        key=f"runs.table.{whose}",  # a tick is a row of one list
        on_select="rerun",
        selection_mode="multi-row",
        column_config=COLUMNS,
        height=min(360, 38 + 35 * len(table)),
        placeholder="",
        # without empty columns
        column_order=[
            name
            for name in table.columns
            if name != "key" and table[name].replace("", None).notna().any()
        ],
    )
    rows = event.selection.rows
    if len(rows) > side_by_side.MOST:
        st.warning(f"Showing the first {side_by_side.MOST} of {len(rows)} ticked runs.")
    return [str(table["key"].iloc[row]) for row in rows[: side_by_side.MOST]]


def draw_exports(runs: list[Run], table: pd.DataFrame) -> None:
    st.header("Export", anchor=False)

    def all_to_json() -> str:
        return to_json([run.export() for run in runs], indent=1)

    def scripts() -> str:
        return "\n\n".join(script(run.record.exported()) for run in runs)

    files: dict[str, tuple[str, Callable[[], str]]] = {
        "runs.csv": ("The list as CSV", lambda: safe_text.to_csv(table))
    }
    if runs:
        files["runs.json"] = ("As JSON", all_to_json)
        files["runs.html"] = ("A report (HTML)", lambda: report(runs, "Runs compared"))
        files["runs.py"] = ("Scripts", scripts)
    draw_files(files)


def draw_notes(keys: list[str], rows: dict[str, dict[str, Any]]) -> None:
    """Draw note and tags of one run, and deletion of the chosen ones, as far as allowed."""
    if len(keys) == 1:
        row = rows[keys[0]]
        if permissions.may_note(row["owner"]):
            _draw_note(row)
        else:
            st.caption(
                "Someone else started this run, so only they can annotate or delete it. You can"
                " compare and export it."
            )
    if keys and all(permissions.may_delete(rows[key]["owner"]) for key in keys):
        _draw_deletion(keys)


def _draw_note(row: dict[str, Any]) -> None:
    key = row["key"]
    with st.form("runs.notes", border=False):
        left, right, button = st.columns([3, 2, 1], vertical_alignment="bottom")
        note = left.text_input(
            "Note", row["note"], max_chars=2000, key=f"runs.note.{key}"
        )
        tags = right.text_input(
            "Tags, separated by commas",
            row["tags"],
            max_chars=200,
            key=f"runs.tags.{key}",
        )
        if button.form_submit_button("Keep", width="stretch"):
            permissions.annotate(engine().store, key, note, tags)
            st.rerun()


def _draw_deletion(keys: list[str]) -> None:
    with st.popover(f"Delete {safe_text.count_text(len(keys), 'run')}"):
        st.write(
            "Everyone on this server shares these runs. A deleted run is computed again when"
            " someone needs it."
        )
        if st.button("Delete", key="runs.delete", type="primary"):
            permissions.delete(engine().store, keys)
            st.rerun()


def draw_going_on() -> None:
    for page, (work, _) in sessions.registry.going(sessions.this()).items():
        words, button = st.columns([5, 1], vertical_alignment="center")
        progress = ""
        if isinstance(work, RunRequest):
            progress = f": {len(work.open_jobs)} of {len(work.specs)} runs to go"
        name = page.partition(".")[0]
        title = TITLES.get(name, name.capitalize())
        words.markdown(
            f"**{title} is still running**{progress}. It stops two minutes after you leave this"
            " site."
        )
        button.button(
            safe_text.button_label("Stop", title),
            key=f"runs.stop.{page}",
            width="stretch",
            on_click=sessions.registry.let_go,
            args=(sessions.this(), page),
        )


def main() -> None:
    drawing.repeat(draw_going_on, 2.0)
    store = engine().store
    # private runs of the command line are only for its user
    public_rows = [row for row in store.rows() if row["public"]]
    if not public_rows:
        st.title("No run is stored yet", anchor=False)
        st.write("Train the first one on Explore.")
        return
    whose = draw_switch()
    who = visitor.asker()
    rows = public_rows
    if whose == MINE:
        rows = [row for row in public_rows if who.owns(row["owner"])]
    if not rows:
        draw_no_own_runs(len(public_rows))
        return
    sizes = store.sizes()
    megabytes = sum(sizes.get(row["key"], 0) for row in rows) / 1e6
    st.title(heading(len(rows), megabytes, whose))
    st.write(
        f"Tick up to {side_by_side.MOST} to see them side by side"
        " (Shift and Space on the keyboard). Click a heading to sort, or the magnifying"
        " glass above the table to search."
    )
    st.caption(sharing_words(whose))
    # each row says whose it is only where runs of several people are listed
    owner = "" if whose == MINE or who.alone else who.owner
    table = side_by_side.run_table(rows, sizes, owner)
    table = table.sort_values("made", ascending=False, kind="stable")
    keys = ticked_keys(table, whose)
    runs = side_by_side.load(store, keys)
    if runs:
        side_by_side.draw(runs)
    with visitor.here():
        draw_notes(keys, {row["key"]: row for row in rows})
    draw_exports(runs, table)


main()
