"""What have I tried? Every stored run, up to six side by side, with notes and exports."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.base.documents import to_json
from dpmf_core.jobs.engine import engine
from dpmf_core.runs import permissions
from dpmf_core.runs.record import Run
from dpmf_core.runs.reports import report, script
from pages.kit import drawing, safe_text
from pages.kit.exports import draw_files
from pages.kit.runs import Request
from pages.runs import comparison
from pages.server import sessions, visitor

COLUMNS = {
    "made": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm"),
    "ε": st.column_config.NumberColumn(format="%g"),
    "δ": st.column_config.NumberColumn(format="%.1e"),
    **comparison.FORMATS,
    "seconds": st.column_config.NumberColumn(format="%.2f"),
    "MB": st.column_config.NumberColumn(format="%.2f"),
}

TITLES = {"learn": "Lessons"}  # pages with another name


def ticked_keys(table: pd.DataFrame) -> list[str]:
    event = safe_text.table(
        table,
        key="runs.table",
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
    if len(rows) > comparison.MOST:
        st.warning(f"Showing the first {comparison.MOST} of {len(rows)} ticked runs.")
    return [str(table["key"].iloc[row]) for row in rows[: comparison.MOST]]


def exports(runs: list[Run], table: pd.DataFrame) -> None:
    st.header("Export", anchor=False)
    files: dict[str, tuple[str, Callable[[], str]]] = {
        "runs.csv": ("The list as CSV", lambda: safe_text.to_csv(table))
    }
    if runs:
        files |= {
            "runs.json": ("As JSON", lambda: to_json([run.export() for run in runs], indent=1)),
            "runs.html": ("A report (HTML)", lambda: report(runs, "Runs compared")),
            "runs.py": (
                "Scripts",
                lambda: "\n\n".join(script(it.record.exported()) for it in runs),
            ),
        }
    draw_files(files)


def notes(keys: list[str], rows: dict[str, dict[str, Any]]) -> None:
    """Draw note and tags of one run, and deletion of the chosen ones, as far as allowed."""
    store = engine().store
    if len(keys) == 1 and not permissions.may_note(rows[keys[0]]["owner"]):
        st.caption(
            "Someone else started this run, so only they can annotate or delete it. You can compare"
            " and export it."
        )
    elif len(keys) == 1:
        (key,), row = keys, rows[keys[0]]
        with st.form("runs.notes", border=False):
            left, right, button = st.columns([3, 2, 1], vertical_alignment="bottom")
            note = left.text_input("Note", row["note"], max_chars=2000, key=f"runs.note.{key}")
            tags = right.text_input(
                "Tags, separated by commas", row["tags"], max_chars=200, key=f"runs.tags.{key}"
            )
            if button.form_submit_button("Keep", width="stretch"):
                permissions.annotate(store, key, note, tags)
                st.rerun()
    if keys and all(permissions.may_delete(rows[key]["owner"]) for key in keys):
        with st.popover(f"Delete {len(keys)} run{'s' * (len(keys) > 1)}"):
            st.write(
                "Everyone on this server shares these runs. A deleted run is computed again when"
                " someone needs it."
            )
            if st.button("Delete", key="runs.delete", type="primary"):
                permissions.delete(store, keys)
                st.rerun()


def going_on() -> None:
    for page, (work, _) in sessions.registry.going(sessions.this()).items():
        words, button = st.columns([5, 1], vertical_alignment="center")
        progress = ""
        if isinstance(work, Request):
            progress = f": {len(work.open_jobs)} of {len(work.specs)} runs to go"
        name = page.partition(".")[0]
        words.markdown(
            f"**{TITLES.get(name, name.capitalize())} is still running**{progress}. It stops two"
            " minutes after you leave this site."
        )
        key, stop, args = f"runs.stop.{page}", sessions.registry.let_go, (sessions.this(), page)
        button.button("Stop", key=key, width="stretch", on_click=stop, args=args)


def main() -> None:
    drawing.repeat(going_on, 2.0)
    store = engine().store
    # private runs of the command line are only for its user
    rows, sizes = [row for row in store.rows() if row["public"]], store.sizes()
    if not rows:
        st.title("No run is stored yet", anchor=False)
        st.write("Train the first one on Explore.")
        return
    megabytes = sum(sizes.get(row["key"], 0) for row in rows) / 1e6
    st.title(f"{len(rows):,} runs, {megabytes:,.1f} MB")
    st.write(
        f"Tick up to {comparison.MOST} to see them side by side (Shift and Space on the keyboard)."
        " Click a heading to sort, or the magnifying glass above the table to search."
    )
    st.caption(
        "Everyone on this server shares runs on public and synthetic data, with notes and tags."
        " Runs on your uploaded files stay in your session."
    )
    table = comparison.run_table(rows, sizes, visitor.asker().owner)
    table = table.sort_values("made", ascending=False, kind="stable")
    keys = ticked_keys(table) if len(table) else []
    runs = comparison.load(store, keys)
    if runs:
        comparison.side_by_side(runs)
    with visitor.here():
        notes(keys, {row["key"]: row for row in rows})
    exports(runs, table)


main()
