"""What have I tried? Every stored run, up to six side by side, notes, exports."""

from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.base.requesters import may_delete, may_note
from dpmf_core.jobs.engine import engine
from dpmf_core.runs import permissions
from dpmf_core.runs.record import Run
from dpmf_core.runs.reports import report, script
from dpmf_core.runs.store import to_json
from pages.kit import drawing, safe_text
from pages.kit.runs import Request
from pages.runs import comparison
from pages.server import sessions, visitor

COLUMNS = {
    "made": st.column_config.DatetimeColumn(format="YYYY-MM-DD HH:mm"),
    "ε": st.column_config.NumberColumn(format="%.4g"),
    "δ": st.column_config.NumberColumn(format="%.1e"),
    "RMSE": st.column_config.NumberColumn(format="%.4f"),
    "objective": st.column_config.NumberColumn(format="%.4f"),
    "seconds": st.column_config.NumberColumn(format="%.2f"),
    "MB": st.column_config.NumberColumn(format="%.2f"),
}

TITLES = {"tradeoff": "Trade-off", "learn": "Lessons"}  # of pages that go by another name


def ticked_keys(table: pd.DataFrame) -> list[str]:
    """The keys of the rows that are ticked."""
    event = safe_text.table(
        table,
        key="runs.table",
        on_select="rerun",
        selection_mode="multi-row",
        column_config=COLUMNS,
        height=min(360, 38 + 35 * len(table)),
        placeholder="",
        # what no run has would push the rest out of sight
        column_order=[
            name
            for name in table.columns
            if name != "key" and table[name].replace("", None).notna().any()
        ],
    )
    rows = event.selection.rows
    if len(rows) > comparison.MOST:
        st.warning(
            f"At most {comparison.MOST} runs are compared: the first {comparison.MOST} of the"
            f" {len(rows)} are."
        )
    return [str(table["key"].iloc[row]) for row in rows[: comparison.MOST]]


def exports(runs: list[Run], table: pd.DataFrame) -> None:
    st.header("Take them away", anchor=False)
    first, second, third, fourth = st.columns(4)
    first.download_button(
        "The list as CSV", lambda: safe_text.to_csv(table), "runs.csv", "text/csv", width="stretch"
    )
    if runs:
        second.download_button(
            "As JSON",
            lambda: to_json([run.export() for run in runs], indent=1),
            "runs.json",
            "application/json",
            width="stretch",
        )
        third.download_button(
            "A report (HTML)",
            lambda: report(runs, "Runs compared"),
            "runs.html",
            "text/html",
            width="stretch",
        )
        fourth.download_button(
            "Scripts",
            lambda: "\n\n".join(script(run.record.exported()) for run in runs),
            "runs.py",
            "text/x-python",
            width="stretch",
        )


def notes(keys: list[str], rows: dict[str, dict[str, Any]]) -> None:
    """Note and tags of one run; deleting the chosen ones; each where the visitor may."""
    store, who = engine().store, visitor.asker()
    if len(keys) == 1 and not may_note(who, rows[keys[0]]["owner"]):
        st.caption(
            "Somebody else had this run computed: notes, tags and deleting are hers. You may read"
            " it, compare it and take it away."
        )
    elif len(keys) == 1:
        row = rows[keys[0]]
        with st.form("runs.notes", border=False):
            left, right, button = st.columns([3, 2, 1], vertical_alignment="bottom")
            note = left.text_input("Note", row["note"], max_chars=2000, key=f"runs.note.{keys[0]}")
            tags = right.text_input(
                "Tags, with commas between", row["tags"], max_chars=200, key=f"runs.tags.{keys[0]}"
            )
            if button.form_submit_button("Keep", width="stretch"):
                with visitor.here():
                    permissions.annotate(store, keys[0], note, tags)
                st.rerun()
    if keys and all(may_delete(who, rows[key]["owner"]) for key in keys):
        with st.popover(f"Delete {len(keys)} run{'s' * (len(keys) > 1)}"):
            st.write(
                "Everyone on this server shares its store. A deleted run is computed again when"
                " someone asks for it."
            )
            if st.button("Delete", key="runs.delete", type="primary"):
                with visitor.here():
                    permissions.delete(store, keys)
                st.rerun()


def going_on() -> None:
    """What this session began and goes on though its page is not shown; each with a way to stop
    it.
    """
    for page, (work, _) in sessions.registry.going(sessions.this()).items():
        words, button = st.columns([5, 1], vertical_alignment="center")
        progress = ""
        if isinstance(work, Request):
            progress = f": {len(work.open_jobs)} of {len(work.specs)} runs to go"
        name = page.partition(".")[0]
        words.markdown(
            f"**{TITLES.get(name, name.capitalize())} goes on**{progress}. It stops two minutes"
            " after you have left this site."
        )
        button.button(
            "Stop",
            key=f"runs.stop.{page}",
            width="stretch",
            on_click=sessions.registry.let_go,
            args=(sessions.this(), page),
        )


def main() -> None:
    drawing.repeat(going_on, 2.0)
    store = engine().store
    # of private data, the command line's are for its user
    rows, sizes = [row for row in store.rows() if row["public"]], store.sizes()
    if not rows:
        st.title("No run is stored yet", anchor=False)
        st.write("Explore makes the first.")
        return
    megabytes = sum(sizes.get(row["key"], 0) for row in rows) / 1e6
    st.title(f"{len(rows):,} runs, {megabytes:,.1f} MB")
    st.write(
        f"Tick up to {comparison.MOST} to see them side by side. By keyboard, Shift and Space tick"
        " a row. A click on a heading sorts, and the magnifying glass above the table searches."
    )
    st.caption(
        "Everyone on this server shares the runs on public and synthetic data, with their notes and"
        " tags. Runs on a file that you brought stay in your session."
    )
    table = comparison.run_table(rows, sizes, visitor.asker().owner)
    table = table.sort_values("made", ascending=False, kind="stable")
    keys = ticked_keys(table) if len(table) else []
    runs = comparison.load(store, keys)
    if runs:
        comparison.side_by_side(runs)
    notes(keys, {row["key"]: row for row in rows})
    exports(runs, table)


try:
    main()
except BadInput as error:
    safe_text.error(error)
