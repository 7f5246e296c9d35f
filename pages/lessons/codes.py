"""A check of completion codes that a class has handed in."""

import pandas as pd
import streamlit as st

from dpmf_core.serving import completion
from dpmf_core.serving.signing import ForgedToken
from dpmf_core.teaching.lessons import LESSONS
from pages.kit import safe_text

MOST = 500


def draw(sequences: dict[str, str] | None = None) -> None:
    """sequences: titles of classes, by id, whose codes are known by name too."""
    text = st.text_area(
        "Codes, one a line", key="teach.codes", max_chars=100_000, placeholder="AEAB2..."
    )
    lines = [it.strip() for it in text.splitlines() if it.strip()][:MOST]
    if not lines:
        st.caption("A code says which lesson was finished, and on which day. It names nobody.")
        return
    rows, valid = check_codes(lines, sequences or {})
    st.markdown(f"**{valid} of {len(lines)} codes are valid.**")
    safe_text.words_table(pd.DataFrame(rows))


def check_codes(lines: list[str], sequences: dict[str, str]) -> tuple[list[dict[str, str]], int]:
    """What each code says, and how many are valid; one that was there before is not."""
    titles = {completion.mark(name): course_lesson.title for name, course_lesson in LESSONS.items()}
    titles |= {completion.mark(name): title for name, title in sequences.items()}
    rows, earlier = [], set()
    for line in lines:
        try:
            code = completion.read(line)
        except ForgedToken:
            rows.append(_row(line, "not valid"))
            continue
        again = code in earlier
        earlier.add(code)
        what = titles.get(code.what, "another sequence")
        predictions = f"{code.right} of {code.n_questions}"
        verdict = "handed in twice" if again else "valid"
        rows.append(_row(line, verdict, what, code.day.isoformat(), predictions))
    return rows, len(earlier)


def _row(code: str, verdict: str, what: str = "", day: str = "", right: str = "") -> dict[str, str]:
    return {
        "code": f"{code[:8]} ...",
        "check": verdict,
        "finished": what,
        "day": day,
        "predicted rightly": right,
    }
