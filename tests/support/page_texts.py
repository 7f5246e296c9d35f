"""Every text that a drawn page sends to the browser, wherever in its elements it stands."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pandas as pd
from google.protobuf.message import Message
from streamlit.testing.v1 import AppTest

# fields of Streamlit's elements that nobody reads
UNREAD = {
    "id",
    "form_id",
    "page",
    "page_script_hash",
    "query_string",
    "external",
    "url",
    "icon",
    "type",
    "format",
    "key",
    "element_id",
    "color",
    "config",
    "engine",
    "component_name",
    "css_content",
    "html_content",
    "js_content",
    "js_source_path",
    "anchor",
    "caption_type",
    "gap",
    "language",
    "columns",
    "column_config",
    "data_test_id",
    "default",
    "raw_values",
    "value",
    "css_id",
    "popover_id",
    "trigger_id",
    "widget_id",
    "args",
    "url_pathname",
    "deferred_file_id",
    "theme",
}
# of a figure
FIGURE_TEXTS = {"text", "name", "title", "ticktext", "hovertemplate", "label"}
PICTURE = "iVBORw0KGgo"  # how a PNG file in base64 begins
CODE = re.compile(r"`[^`]*`|\$[^$]*\$")
DIRECTIVE = re.compile(r":[a-z-]+(?:\[|/[a-z_]+:)|\]\([^)]*\)|%\{[^}]*\}|<[^>]*>")


def texts(app: AppTest) -> list[str]:
    """What a page shows, as it is read: without code, formulas, addresses and figures' markup."""
    strings: list[str] = []
    todo: list[Any] = [app._tree]
    while todo:
        node = todo.pop()
        todo += list(getattr(node, "children", {}).values())
        kind = getattr(node, "type", "")
        if kind in ("code", "latex", "html"):
            continue
        if kind in ("arrow_data_frame", "arrow_table", "dataframe", "table"):
            settings = getattr(getattr(node, "proto", None), "columns", "")
            strings += _of_table(node.value, json.loads(settings or "{}"))
        proto = getattr(node, "proto", None)
        if isinstance(proto, Message):
            strings += _of_message(proto)
    return [plain for text in strings if (plain := DIRECTIVE.sub(" ", CODE.sub(" ", text)).strip())]


def _of_table(table: Any, settings: dict[str, Any]) -> Iterator[str]:
    """Its headings and cells, as the settings of its columns say that they are shown."""
    frame = pd.DataFrame(getattr(table, "data", table))
    for name in frame.columns:
        setting = settings.get(str(name), {})
        yield str(setting.get("label") or name)
        if not pd.api.types.is_numeric_dtype(frame[name]):
            options = (setting.get("type_config") or {}).get("options") or []
            labels = {it["value"]: it["label"] for it in options if isinstance(it, dict)}
            yield from (str(labels.get(cell, cell)) for cell in frame[name])


def _of_message(proto: Message) -> Iterator[str]:
    for field, value in proto.ListFields():
        if field.name not in UNREAD:
            for part in _parts(value):
                yield from _of_part(field.name, part)


def _parts(value: Any) -> Iterator[Any]:
    """Of a field that is repeated or a map, each."""
    if isinstance(value, str | Message | int | float | bytes):
        yield value
    else:
        yield from (value.values() if hasattr(value, "values") else value)


def _of_part(name: str, part: Any) -> Iterator[str]:
    if isinstance(part, Message):
        yield from _of_message(part)
    elif not isinstance(part, str):
        return
    elif name == "spec":
        yield from _of_figure(json.loads(part)) if part.startswith("{") else _of_graph(part)
    elif name == "json":
        yield from _of_component(json.loads(part))
    else:
        yield part


def _of_figure(part: Any, name: str = "") -> Iterator[str]:
    if isinstance(part, dict):
        for key, value in part.items():
            yield from _of_figure(value, key)
    elif isinstance(part, list):
        for value in part:
            yield from _of_figure(value, name)
    elif isinstance(part, str) and (name in FIGURE_TEXTS or name in ("x", "y", "labels")):
        yield part


def _of_graph(dot: str) -> Iterator[str]:
    for text in re.findall(r'label="([^"]*)"', dot):
        yield text.replace("\\n", " ")


def _of_component(part: Any) -> Iterator[str]:
    """What a component of this project is handed; its colours, addresses and pictures are no
    words.
    """
    if isinstance(part, dict):
        for key, value in part.items():
            if key not in ("colour", "address", "id", "kind", "place", "xref", "yref"):
                yield from _of_component(value)
    elif isinstance(part, list):
        for value in part:
            yield from _of_component(value)
    elif isinstance(part, str) and not part.startswith(PICTURE):
        yield part
