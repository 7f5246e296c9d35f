"""What every page shows first and in another view: headlines, figures, controls, tables."""

import base64
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from pages.audit import game
from pages.kit.base.page_table import BY_ID, PAGES
from tests.golden.files import rounded
from tests.pages.driving import MAIN, SIDEBAR, app_of, behind_sidebar, nodes, settled

SMALL = {"dataset": "cinema-small"}
# by page: the second view, as a link
OTHER_VIEWS: dict[str, dict[str, str]] = {
    "lessons": {"lesson": "composition"},
    "explore": SMALL | {"algorithm": "spectral", "epsilon": "2", "rank": "8"},
    "compare": SMALL | {"epsilons": "1,5", "draws": "1", "calibrations": "both"},
    "topics": {"algorithm": "dp-nmf", "epsilon": "3.2"},
    "faces": {"epsilon": "1"},
    "papers": {"erratum": "balu-gradient"},
    "tune": SMALL,
    "accountant": {"models": "4", "total": "3"},
    "ledger": {"from": "claim"},  # on data whose runs come with the package
    "audit": {"attack": "private-bias", "runs": "100", "fault": "small-noise"},
}
FIRST_VIEWS = [
    (page.id, {}) for page in PAGES if not page.for_operator and page.id != "runs"
]
VIEWS: list[tuple[str, dict[str, str]]] = [*FIRST_VIEWS, *OTHER_VIEWS.items()]
FEW = 8  # values of a longer row are summed up
HEADLINES = {"title", "header", "subheader"}
SENTENCES = {"caption", "markdown"}
NOTICES = {"info", "warning", "error", "success"}
# of a sentence: a headline, what is bold, a badge or a number
TELLING = re.compile(
    r"^#+ .*$"
    r"|\*\*.+?\*\*"
    r"|:\w+-badge\[[^\]]*\]"
    r"|[-+−]?\d+(?:[,.]\d+)*(?:e-?\d+)?%?",
    re.MULTILINE,
)
TARGET_OF_LINK = re.compile(r"\]\([^)]*\)")
BLOCKS = {"expander", "popover", "form", "tab"}
# what depends on the machine and the day
CHANGES = (
    (re.compile(r"\b\d[\d,.]* ?(ms|s|seconds?|min|minutes?)\b"), "… s"),
    (re.compile(r"\b\d[\d,.]*( ?)(MB|kB|GB)\b"), r"…\1\2"),
    (re.compile(r"\b20\d\d-\d\d-\d\d(T[\d:.+]*)?\b"), "…"),
    (re.compile(r"\b[0-9a-f]{32}\b"), "…"),
)
UNSEEN = {"colour", "colours", "dash", "address"}  # of what a component is handed
TIMES = re.compile(r"seconds|made|created|took")  # columns
SHIPPED = "shipped with dpmf"  # of the caption that counts them


def view(page_id: str, link: dict[str, str]) -> dict[str, Any]:
    """A page after its runs, without a browser."""
    page = BY_ID[page_id]
    path = f"{page.folder}/page.py"
    if page.data_kind is None:
        script = path
    else:
        script = behind_sidebar(path)
    state = {game.STATE_KEY: game.Game(seed=1)}  # else it is drawn
    app = app_of(script, state, **(page.query | link))
    settled(app)
    parts: dict[str, Any] = {"words": [], "controls": [], "tables": [], "figures": []}
    for node in nodes(app, MAIN):
        for name, value in _parts(node):
            parts[name].append(value)
    parts["sidebar"] = [
        value
        for node in nodes(app, SIDEBAR)
        for name, value in _parts(node)
        if name == "controls"
    ]
    return _still(rounded(parts, 5))


def _parts(node: Any) -> Iterator[tuple[str, Any]]:
    kind = getattr(node, "type", "")
    proto = getattr(node, "proto", None)
    if kind in HEADLINES | SENTENCES | NOTICES:
        words = _words(kind, str(node.value))
        if words is not None:
            yield "words", words
    elif kind in BLOCKS:
        label = getattr(node, "label", "") or getattr(
            getattr(proto, kind, None), "label", ""
        )
        yield "words", f"{kind}: {label}"
    elif kind == "metric":
        yield "words", f"metric: {node.label} = {node.value}"
    elif kind in ("dataframe", "arrow_data_frame", "table", "arrow_table"):
        yield "tables", _table(node.value)
    elif kind == "plotly_chart":
        yield "figures", [_trace(trace) for trace in json.loads(proto.spec)["data"]]
    elif kind == "bidi_component":
        yield (
            "figures",
            {proto.component_name: _summary(json.loads(proto.json or "{}"))},
        )
    elif isinstance(label := getattr(node, "label", None), str) and hasattr(
        node, "value"
    ):
        yield "controls", f"{kind}: {label} = {_plain(node.value)}"
    elif isinstance(label := getattr(proto, "label", None), str):
        yield "controls", f"{kind}: {label}"


def _words(kind: str, text: str) -> str | None:
    """What is recorded of a text; None of a sentence without a figure."""
    if kind in HEADLINES:
        return f"{kind}: {text}"
    telling = _telling(text)
    # how many are shipped depends on what the store has by now
    if SHIPPED in text or not (telling or kind in NOTICES):
        return None
    return f"{kind}: {telling}"


def _telling(text: str) -> str:
    """The headlines, bold words, badges and numbers of a text, in their order."""
    without_links = TARGET_OF_LINK.sub("]", _still(text))
    return " … ".join(TELLING.findall(without_links))


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple | set):
        return list(value)
    return value


def _table(value: Any) -> dict[str, Any]:
    """By column: its cells."""
    frame = pd.DataFrame(getattr(value, "data", value))
    return {
        str(name): _summary(
            json.loads(column.to_json(orient="values", double_precision=10))
        )
        for name, column in frame.items()
        if not TIMES.search(str(name))
    }


def _trace(trace: dict[str, Any]) -> dict[str, Any]:
    """What is drawn of a trace: no colours, no markup."""
    shown = ("type", "name", "x", "y", "z", "text")
    drawn = trace | (
        {"name": trace["name"].replace("<br>", " ")} if "name" in trace else {}
    )
    return {name: _summary(_array(drawn[name])) for name in shown if name in drawn}


def _array(value: Any) -> Any:
    """Plotly writes arrays of numbers as bytes."""
    if isinstance(value, dict) and "bdata" in value:
        array = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
        return array.astype(float).tolist()
    return value


def _summary(value: Any) -> Any:
    """A value of JSON without long rows and pictures."""
    if isinstance(value, dict):
        return {
            name: _summary(inner) for name, inner in value.items() if name not in UNSEEN
        }
    if isinstance(value, str) and value.startswith(("iVBORw0KGgo", "data:image")):
        return "a picture"
    if not isinstance(value, list) or len(value) <= FEW:
        if isinstance(value, list):
            return [_summary(inner) for inner in value]
        return value
    picks = sorted({*range(0, len(value), -(-len(value) // (FEW - 1))), len(value) - 1})
    summary = {
        "length": len(value),
        "some": [_summary(value[place]) for place in picks],
    }
    numbers = [
        number
        for number in value
        if isinstance(number, int | float) and not isinstance(number, bool)
    ]
    return summary | (
        {"mean": sum(numbers) / len(numbers)} if len(numbers) == len(value) else {}
    )


def _still(value: Any) -> Any:
    """A value of JSON without what depends on the machine and the day."""
    if isinstance(value, dict):
        return {name: _still(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_still(inner) for inner in value]
    if isinstance(value, str):
        for pattern, replacement in CHANGES:
            value = pattern.sub(replacement, value)
    return value
