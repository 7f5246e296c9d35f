"""Strange values in every field of every page, and the page's main button after them.

A sentence, never a traceback.
"""

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
from streamlit.testing.v1 import AppTest

from pages.kit import page_table, run_progress
from pages.kit.page_table import BY_ID, Page
from pages.tune import open_search
from tests.pages.driving import behind_sidebar
from tests.runs.test_hostile_words import TEXTS

pytestmark = pytest.mark.slow
NUMBERS = (None, 0.0, -1.0, 1.0, 2.0, 1e-15, 1e-4, 0.999999, 3.7, 1e6, 1e15)
BEYOND = (1e308, float("inf"), float("-inf"), float("nan"))
ENDS = ("first", "last", "none")  # of a list of options
TABLE = "Member,Product,Points\n" + "\n".join(
    f"p{u},thing {i},{1 + (u * i) % 5}" for u in range(30) for i in range(12)
)
LINES = "id,text\n" + "\n".join(
    f"{i},word{i % 7} word{i % 5} other{i % 3} thing" for i in range(40)
)


def matrix() -> bytes:
    file = io.BytesIO()
    scipy.io.savemat(file, {"fea": np.random.default_rng(0).random((20, 64))})
    return file.getvalue()


Case = tuple[Page, dict[str, Any], tuple[str, bytes] | None]  # state before; an uploaded file
STATES: dict[str, dict[str, Any]] = {
    "explore": {"explore.target": True},
    "faces": {"faces.outliers": True},
    "accountant": {"accountant.source": "hand"},
}
VARIANTS: dict[str, Case] = {
    "accountant, a source's claim": (BY_ID["accountant"], {"accountant.source": "claim"}, None),
    "tune, the winner only": (BY_ID["tune"], {"tune.way": "see the winner only"}, None),
    "data, ratings": (BY_ID["data"], {"data.kind": "ratings"}, ("mine.csv", TABLE.encode())),
    "data, documents": (BY_ID["data"], {"data.kind": "samples"}, ("mine.csv", LINES.encode())),
    "data, images": (BY_ID["data"], {"data.kind": "samples"}, ("mine.mat", matrix())),
}
PAGES = {page.id: (page, STATES.get(page.id, {}), None) for page in page_table.PAGES} | VARIANTS
DATA = {"ratings": "cinema-small", "documents": "news", "images": "digits"}


@pytest.fixture(autouse=True)
def nothing_is_trained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The fields and what is made of them, not the training."""
    monkeypatch.setenv("DPMF_ENGINE", "threads")
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))

    def nothing(_page: str, _specs: Mapping[str, Any], **_: float) -> dict[str, Any]:
        return {}

    monkeypatch.setattr(run_progress, "request", nothing)
    monkeypatch.setattr(open_search, "advance", lambda _search: False)


def open_page(name: str) -> AppTest:
    page, state, file = PAGES[name]
    if page.data_kind is None:
        app = AppTest.from_file(str(page.script), default_timeout=60)
    else:
        script = behind_sidebar(f"{page.folder}/page.py")
        app = AppTest.from_string(script, default_timeout=60)
        app.query_params["data"] = DATA[page.data_kind]
    for key, value in state.items():
        app.session_state[key] = value
    app.run()
    if file:
        app.file_uploader[0].upload(*file).run()
    return app


def fields(app: AppTest) -> Iterator[tuple[str, int, tuple[Any, ...]]]:
    """Every field that takes more than a click, by kind and place, and strange values for it."""
    yield from (
        (kind, place, TEXTS)
        for kind in ("text_input", "text_area")
        for place in range(len(getattr(app, kind)))
    )
    for place, box in enumerate(app.number_input):
        whole = box.proto.data_type == box.proto.INT  # a browser sends no infinite integer
        yield "number_input", place, (*NUMBERS, *(() if whole else BEYOND), box.min, box.max)
    yield from (
        ("slider", place, (slider.min, slider.max)) for place, slider in enumerate(app.slider)
    )
    yield from (
        (kind, place, ENDS)
        for kind in ("selectbox", "radio", "multiselect")
        for place in range(len(getattr(app, kind)))
    )
    yield from (("toggle", place, (True, False)) for place in range(len(app.toggle)))


def put(app: AppTest, kind: str, place: int, value: Any) -> None:
    """The value into the field, as a browser would report it."""
    element = getattr(app, kind)[place]
    if kind not in ("selectbox", "radio", "multiselect"):
        element.set_value(value)
    elif value == "none" or not element.options:
        element.set_value([] if kind == "multiselect" else None)
    elif kind == "selectbox":
        element.select_index(0 if value == "first" else len(element.options) - 1)
    else:
        option = element.options[0 if value == "first" else -1]
        element.set_value([option] if kind == "multiselect" else option)
    app.run()


@pytest.mark.parametrize("name", PAGES)
def test_no_field_breaks_a_page(name: str) -> None:
    rng, first = np.random.default_rng(0), open_page(name)
    assert not first.exception, [error.value for error in first.exception]
    count = 0
    for kind, place, values in list(fields(first)):
        few = [values[at] for at in rng.choice(len(values), min(6, len(values)), replace=False)]
        for value in few:
            app = open_page(name)
            label = getattr(app, kind)[place].label
            put(app, kind, place, value)
            assert not app.exception, (
                label,
                str(value)[:60],
                [error.value for error in app.exception],
            )
            for button in [
                button
                for button in app.button
                if button.proto.type == "primary" and not button.disabled
            ]:
                button.click().run()
                assert not app.exception, (
                    label,
                    str(value)[:60],
                    button.label,
                    [error.value for error in app.exception],
                )
            count += 1
    assert count > 2 or name in (
        "start",
        "runs",
        "operator",
    )  # of an empty store, to a visitor: no field
