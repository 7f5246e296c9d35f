"""The form for a table of ratings: its layout, the roles of columns, the scale, the date format.

The person who brings the table declares all of it, as facts; a refused table keeps the answers.
"""

from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.data.addresses import written
from dpmf_core.data.column_names import REQUIRED_ROLES
from dpmf_core.data.report import Problem, outside_of
from dpmf_core.data.row_rules import MOST_OUTSIDE
from dpmf_datasets import session_files
from dpmf_datasets.readers.dates import ORDERS
from dpmf_datasets.readers.ratings_tables import LABELS
from dpmf_datasets.upload_reading import Preview
from pages.data import layout_form, session_data, uploaded_data
from pages.data.layout_form import FileFacts
from pages.data.uploaded_data import LONGEST
from pages.kit.base import safe_text
from pages.kit.controls.session_widgets import UNBOUNDED, optional_number

ANOTHER = "another"
MOST_VALUES = 3  # of a column
LAYOUTS = {"long": "one rating", "wide": "all ratings of one person"}
SCALES: dict[str, tuple[float, float]] = {
    "1 to 5": (1, 5),
    "half stars, 0.5 to 5": (0.5, 5),
    "1 to 10": (1, 10),
    "-10 to 10": (-10, 10),
    "0 to 100": (0, 100),
}
# in the session: the ratings outside the scale of the last table
OUTSIDE = "data.outside"


@dataclass(frozen=True)
class OutsideRatings:
    """The ratings of a file outside the declared scale. A person is asked about them.

    Attributes
    ----------
    are_many
        Whether they are more than a tenth, so that the scale or the column may be wrong.
    """

    file_id: str
    facts: FileFacts
    problem: Problem
    are_many: bool


def draw(file: Any) -> None:
    """Draw the questions and the button that reads the table. Raises BadInput."""
    layout, preview = layout_form.ask(file)
    if preview is None:
        return
    kind = st.segmented_control(
        "Each row holds",
        LAYOUTS,
        default="long",
        required=True,
        format_func=LAYOUTS.__getitem__,
        key=f"data.layout.{file.name}",
    )
    if kind == "wide":
        columns, missing = _wide_columns(preview, file.name)
    else:
        columns, missing = _long_columns(preview, file.name)
    scale = _scale(file.name)
    if "bounds" not in scale:
        missing.append("the scale")
    if missing:
        st.caption(f"To continue, choose {' and '.join(missing)}.")
    pressed = st.button(
        "Check and use",
        type="primary",
        key="data.use",
        disabled=bool(missing),
    )
    facts = {**layout, **columns, **scale}
    if pressed:
        _check(file, facts)
    answer = _about_outside(file, facts)
    if answer:
        del st.session_state[OUTSIDE]
        session_data.keep(session_data.read(file, {**facts, **answer}), file.file_id)


def _check(file: Any, facts: FileFacts) -> None:
    """Read the whole table; keep it if no rating lies outside the scale."""
    st.session_state.pop(OUTSIDE, None)
    upload = session_data.read(file, {**facts, "outside": "leave-out"})
    problem = outside_of(upload.report.problems)
    if problem is None:
        session_data.keep(upload, file.file_id)
    session_files.remove(upload.entry)  # it is read again with the person's answer
    are_many = MOST_OUTSIDE * problem.count > upload.report.kept + problem.count
    st.session_state[OUTSIDE] = OutsideRatings(file.file_id, facts, problem, are_many)


def _about_outside(file: Any, facts: FileFacts) -> FileFacts | None:
    """Ask what to do with ratings outside the scale; return the answer, or None before it."""
    question: OutsideRatings | None = st.session_state.get(OUTSIDE)
    if question is None or (question.file_id, question.facts) != (file.file_id, facts):
        st.session_state.pop(OUTSIDE, None)
        return None
    problem = question.problem
    low, high = (f"{float(bound):g}" for bound in facts["bounds"].split(","))
    value = ""
    if "missing" not in facts:
        value = _commonest(problem)
    sentences = [
        f"**{problem.count:,} ratings lie outside {low} to {high}:"
        f" {safe_text.escape_letters(problem.examples)}** ({problem.place}). Nothing is used yet."
    ]
    if question.are_many:
        sentences.append(
            "They are more than a tenth: does another column hold the rating?"
        )
    if value:
        sentences.append(f"Does {safe_text.escape_letters(value)} mean 'not rated'?")
    sentences.append(
        "If the scale is wrong, change it above. If it is right, leave these rows out, or set"
        f" higher ratings to {high} and lower ones to {low}."
    )
    st.warning(" ".join(sentences))
    if problem.count == 1:
        rows = "this row"
    else:
        rows = f"these {problem.count:,} rows"
    answer: FileFacts | None = None
    with st.container(horizontal=True):
        if st.button(f"Leave {rows} out", key="data.use.leave-out"):
            answer = {"outside": "leave-out"}
        if st.button(f"Set to {low} or {high}", key="data.use.clamp"):
            answer = {"outside": "clamp"}
        words = f"{value} means 'not rated'"
        if value and st.button(words, key="data.use.missing"):
            answer = {"missing": value}
    return answer


def _commonest(problem: Problem) -> str:
    """The value of most of the ratings outside the scale; "" if there is none."""
    value, count = next(iter(problem.commonest), ("", 0))
    if count > 1 and 2 * count > problem.count:
        return value
    return ""


def _long_columns(preview: Preview, name: str) -> tuple[FileFacts, list[str]]:
    """Ask for the roles of columns and the format of dates; return facts and what is missing."""
    known = len(set(preview.roles.values()))
    st.subheader(f"{known} of {len(preview.columns)} columns recognised", anchor=False)
    st.caption(f"{safe_text.escape_letters(name)}: {preview.layout}")
    roles = _roles(preview, name)
    used_columns = roles.values()
    uploaded_data.draw_unused(
        [column for column in preview.columns if column not in used_columns]
    )
    # a role without a column is stated if one was detected
    facts = {
        role: column
        for role, column in roles.items()
        if column or role in preview.roles
    }
    missing = [
        f"the column for {title}"
        for role, title in LABELS.items()
        if role in REQUIRED_ROLES and not roles[role]
    ]
    time_column = roles["time"]
    if time_column in preview.dates:
        order = st.segmented_control(
            "Dates such as 03/04/2021 have",
            ORDERS,
            default=preview.dates[time_column],
            format_func=ORDERS.__getitem__,
            key=f"data.dates.{name}.{time_column}",
        )
        if order is None:
            missing.append("how dates are written")
        else:
            facts["dates"] = order
    return facts, missing


def _roles(preview: Preview, name: str) -> dict[str, str]:
    """Ask for the column of each role ("" for none), with its first values below."""
    roles = {}
    places = st.columns(len(LABELS))
    for number, (role, title) in enumerate(LABELS.items()):
        roles[role] = _ask_column(
            places[number], preview, role, title, f"data.role.{number}.{name}"
        )
    return roles


def _ask_column(
    place: DeltaGenerator, preview: Preview, role: str, label: str, key: str
) -> str:
    """Ask for the column of a role ("" for none), with its first values below."""
    options = ["", *preview.columns]
    detected = preview.roles.get(role, "")
    column: str = place.selectbox(
        label,
        options,
        options.index(detected) if detected in options else 0,
        format_func=lambda option: option or "none",
        key=key,
    )
    place.caption(_values_text(preview, column) or "&nbsp;")
    return column


def _wide_columns(preview: Preview, name: str) -> tuple[FileFacts, list[str]]:
    """Ask for the column of the person and those without ratings, in a wide table."""
    st.caption(
        f"{safe_text.escape_letters(name)}: {preview.layout} Each other column is one item, and its"
        " cells are ratings."
    )
    left, right = st.columns(2)
    user = _ask_column(
        left, preview, "user", "The column that names the person", f"data.person.{name}"
    )
    others = [column for column in preview.columns if column != user]
    unused = right.multiselect(
        "Columns without ratings, such as a time or an age",
        others,
        key=f"data.leave.{name}",
    )
    facts = {"layout": "wide", "user": user}
    if unused:
        facts["leave"] = ",".join(unused)
    missing = []
    if not user:
        missing.append("the column that names the person")
    return facts, missing


def _values_text(preview: Preview, column: str) -> str:
    """The first distinct values of a column, shortened, as Markdown."""
    if column not in preview.columns:
        return ""
    place = preview.columns.index(column)
    values = (row[place].strip() for row in preview.rows if place < len(row))
    texts = [text[:LONGEST] for text in dict.fromkeys(values) if text]
    return safe_text.escape_letters(", ".join(texts[:MOST_VALUES]))


def _scale(name: str) -> FileFacts:
    """Ask for the lowest and highest possible rating, and for values that are not ratings."""
    left, right = st.columns([4, 1], gap="medium")
    with left:
        bounds = _bounds(name)
    text = right.text_input(
        "Means 'not rated'",
        max_chars=60,
        key=f"data.missing.{name}",
        placeholder="e.g. 0 or -1,99",
    )
    facts = {}
    if bounds is not None:
        facts["bounds"] = written("bounds", bounds)
    if text.strip():
        facts["missing"] = written("missing", text)
    return facts


def _bounds(name: str) -> tuple[float, float] | None:
    """Ask for the lowest and highest possible rating; return None until both are given."""
    scale = st.segmented_control(
        "Rating scale", [*SCALES, ANOTHER], key=f"data.scale.{name}", wrap=True
    )
    st.caption(
        "Please declare the scale; inferring it from the ratings would leak information."
    )
    if scale != ANOTHER:
        return SCALES.get(scale or "")
    left, right, _ = st.columns([1, 1, 2])
    low = optional_number(
        left.container(),
        "Lowest possible rating",
        f"data.low.{name}",
        -UNBOUNDED,
        UNBOUNDED,
        placeholder="e.g. 0",
    )
    high = optional_number(
        right.container(),
        "Highest",
        f"data.high.{name}",
        -UNBOUNDED,
        UNBOUNDED,
        placeholder="e.g. 20",
    )
    if low is None or high is None:
        return None
    return low, high
