"""What is made of a hostile record, such as a damaged store or the name of a file may hold, is
parsed or run: no line of it is anybody's code, link or formula.
"""

import ast
import contextlib
import copy
import csv
import io
import json
import re
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from markdown_it import MarkdownIt

from dpmf_core.cli import output
from dpmf_core.runs.execution import run
from dpmf_core.runs.record import Run, RunRecord
from dpmf_core.runs.reports import report
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import summarise, to_json
from pages.kit import safe_text
from pages.runs import comparison
from tests.runs.test_spreadsheets import FORMULA, cells
from tests.support.records import altered

BUDGET = {"epsilon": 2.0, "delta": 1e-5}
WHOLE: list[dict[str, Any]] = [
    {
        "data": {"id": "cinema-small"},
        "algorithm": "dpals",
        "budget": BUDGET,
        "parameters": {"rank": 2, "steps": 2},
    },
    {"data": {"id": "cinema-small"}, "algorithm": "als", "parameters": {"rank": 2, "steps": 3}},
    {
        "data": {"id": "cinema-small", "top_items": 60, "item_choice": "private"},
        "algorithm": "private-bias",
        "budget": {**BUDGET, "epsilon": 4.0},
    },
    {
        "data": {"id": "digits", "most_samples": 200},
        "algorithm": "oneshot-nmf",
        "budget": BUDGET,
        "parameters": {"n_components": 3, "iterations": 5},
    },
    {"data": {"id": "cinema-small"}, "algorithm": "input-perturbation", "budget": BUDGET},
]
HOSTILE = (
    '"""\nimport os; os.system("touch /tmp/dpmf-was-here")\n"""',
    "'); raise SystemExit('ran')  #", 'x;=HYPERLINK("http://evil.example")',
    "=1+cmd|' /C calc'!A0", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>",
    "</td></table><a href='javascript:alert(1)'>x</a>", "[x](javascript:alert(1))",
    "![x](http://evil.example/x.png)", "\u202e\u2028\x00", "{0.__class__}", "../../etc/passwd",
    "\\N{BULLET}\\", "%s%n",
)  # fmt: skip


@pytest.fixture(scope="module")
def records() -> list[dict[str, Any]]:
    """What real runs export: of public data, and as on private data."""
    runs = [run(RunSpec.parse(**parts)) for parts in WHOLE]
    private_runs = [altered(one, public=False) for one in runs]
    return [json.loads(to_json(one.export())) for one in (*runs, *private_runs)]


def made_of(runs: list[Run]) -> dict[str, str]:
    """Every file that can be made of runs, by its kind."""
    rows = [
        {"created": "2026-11-22", **summarise(one.record), "note": "", "tags": ""} for one in runs
    ]
    return {
        "html": report(runs, "Runs compared"),
        "json": to_json([one.export() for one in runs], indent=1),
        "script": "\n\n".join(output.script(one.record) for one in runs),
        "csv": safe_text.to_csv(comparison.run_table(rows, {})),
    }


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", logger="streamlit")


# ---- what is made of hostile records -------------------------------------------------------------


def hostile(record: dict[str, Any], text: str) -> Run:
    """A record with this text wherever text or names may be."""
    new_record = copy.deepcopy(record)
    new_record["spec"]["data"]["id"] = f"{text}"
    new_record |= {
        "title": text,
        "split": text,
        "noise": text,
        "key": text,
        "created": text,
        "rule": text,
        "versions": {text: text},
    }
    new_record["guarantee"] |= {"words": text, "taken_as_public": [text]}
    new_record["parameters"] = {**new_record["parameters"], text: text}
    new_record["metrics"] = {**new_record.get("metrics", {}), text: 1.0}
    new_record["ledger"] = [{**row, "statistic": text} for row in new_record["ledger"]]
    return Run(RunRecord.model_validate(new_record))


@pytest.fixture(scope="module", params=HOSTILE, ids=range(len(HOSTILE)))
def attack(
    request: pytest.FixtureRequest, records: list[dict[str, Any]]
) -> tuple[str, dict[str, str]]:
    """A hostile text, and the files that are made of records which hold it everywhere."""
    return request.param, made_of(
        [hostile(records[0], request.param), hostile(records[1], request.param)]
    )


def test_the_script_holds_literals_alone(
    attack: tuple[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    text, files = attack
    tree = ast.parse(files["script"])
    for node in tree.body:
        assert isinstance(node, ast.Expr | ast.ImportFrom | ast.Assign), ast.dump(node)
    arguments: list[dict[str, Any]] = []

    module: Any = ModuleType("stub")
    module.RunSpec = SimpleNamespace(parse=lambda **parts: arguments.append(parts))
    module.run = lambda _spec: SimpleNamespace(record=SimpleNamespace(metrics={}))
    module.output = SimpleNamespace(epsilon_words=lambda _record: "")
    for name in ("dpmf_core.cli", "dpmf_core.runs.execution", "dpmf_core.runs.specification"):
        monkeypatch.setitem(sys.modules, name, module)
    functions = {
        node.func.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert functions == {"run", "print"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(tree, "script", "exec"), {})
    assert [parts["data"]["id"] for parts in arguments] == [text, text]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_the_report_has_no_tag_or_attribute_of_others(attack: tuple[str, dict[str, str]]) -> None:
    reader = Tags()
    reader.feed(attack[1]["html"])
    tags = {
        "html", "meta", "title", "style", "body", "h1", "h2", "table", "tr", "th", "td", "p",
        "b", "svg", "polyline", "text",
    }  # fmt: skip
    assert {tag for tag, _ in reader.tags} <= tags
    names = {name for _, attributes in reader.tags for name in attributes}
    own = "lang charset name content viewbox role aria-label fill stroke stroke-width points"
    assert names <= {*own.split(), "stroke-linecap", "x", "y", "font-size", "text-anchor"}


ADDRESS = re.compile(r"https?://|www\.|\w@\w")
LURES = (
    "Log in again at https://evil.example/login",
    "see www.evil.example now",
    "write to me@evil.example",
    "`x`http://evil.example",
    "a ` http://evil.example/`b",
)


@pytest.mark.parametrize("text", (*HOSTILE, *LURES), ids=range(len(HOSTILE) + len(LURES)))
@pytest.mark.parametrize("render", [safe_text.escape, safe_text.escape_letters])
def test_markdown_has_no_link_image_or_tag_of_others(
    text: str, render: Callable[[str], str]
) -> None:
    """What is said on a page about other people's text."""
    tokens = MarkdownIt("commonmark", {"html": True}).parse(f"It says {render(text)} here.")
    children = [child for token in tokens for child in (token, *(token.children or []))]
    # a screen links what looks like an address
    assert not any(
        ADDRESS.search(child.content)
        for child in children
        if child.type in ("text", "text_special")
    )
    kinds = {child.type for child in children}
    assert kinds <= {
        "paragraph_open",
        "paragraph_close",
        "inline",
        "text",
        "text_special",
        "softbreak",
        "code_inline",
        "hardbreak",
    }


def test_the_list_has_no_formula(attack: tuple[str, dict[str, str]]) -> None:
    for separator in ",;\t|":
        assert not [cell for cell in cells(attack[1]["csv"], separator) if FORMULA.match(cell)]
    assert len(list(csv.DictReader(io.StringIO(attack[1]["csv"].replace("\x00", ""))))) == 2
