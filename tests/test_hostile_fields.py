"""Strange values in every field of every page, and the page's main button after them. A sentence, never a traceback."""

import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
from streamlit.testing.v1 import AppTest

from pages.kit import runs, tuned
from tests.pages.driving import ROOT, behind_sidebar
from tests.test_hostile_words import HOLDS, TEXTS

pytestmark = pytest.mark.slow
NUMBERS = (None, 0.0, -1.0, 1.0, 2.0, 1e-15, 1e-4, 0.999999, 3.7, 1e6, 1e15)
BEYOND = (1e308, float("inf"), float("-inf"), float("nan"))
ENDS = ("first", "last", "none")  # of a list of options
TABLE = "Member,Product,Points\n" + "\n".join(f"p{u},thing {i},{1 + (u * i) % 5}" for u in range(30) for i in range(12))
LINES = "id,text\n" + "\n".join(f"{i},word{i % 7} word{i % 5} other{i % 3} thing" for i in range(40))
ALONE = ("privacy/audit.py", "work/data.py", "work/runs.py", "learn/lessons.py", "learn/glossary.py")  # pages without the sidebar's controls


def matrix() -> bytes:
    held = io.BytesIO()
    scipy.io.savemat(held, {"fea": np.random.default_rng(0).random((20, 64))})
    return held.getvalue()


PAGES: dict[str, tuple[str, dict[str, Any], tuple[str, bytes] | None]] = {
    "explore": ("recommend/explore.py", {"explore.target": True}, None),
    "trade-off": ("recommend/tradeoff.py", {}, None),
    "sketch": ("recommend/sketch.py", {}, None),
    "retention": ("recommend/retention.py", {}, None),
    "topics": ("factorise/topics.py", {}, None),
    "faces": ("factorise/faces.py", {"faces.outliers": True}, None),
    "accountant": ("privacy/accountant.py", {"accountant.source": "hand"}, None),
    "accountant, a source's claim": ("privacy/accountant.py", {"accountant.source": "claim"}, None),
    "audit": ("privacy/audit.py", {}, None),
    "tune": ("work/tune.py", {}, None),
    "tune, the winner only": ("work/tune.py", {"tune.way": "see the winner only"}, None),
    "data, ratings": ("work/data.py", {"data.kind": "ratings"}, ("mine.csv", TABLE.encode())),
    "data, documents": ("work/data.py", {"data.kind": "samples"}, ("mine.csv", LINES.encode())),
    "data, images": ("work/data.py", {"data.kind": "samples"}, ("mine.mat", matrix())),
    "runs": ("work/runs.py", {}, None),
    "lessons": ("learn/lessons.py", {}, None),
    "glossary": ("learn/glossary.py", {}, None),
}


@pytest.fixture(autouse=True)
def nothing_is_trained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The fields and what is made of them, not the training."""
    monkeypatch.setenv("DPMF_ENGINE", "threads")
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))

    def nothing(_page: str, _specs: Mapping[str, Any], **_: float) -> dict[str, Any]:
        return {}

    monkeypatch.setattr(runs, "wanted", nothing)
    monkeypatch.setattr(tuned, "advanced", lambda _search: False)


def opened(name: str) -> AppTest:
    page, state, file = PAGES[name]
    if page in ALONE:
        app = AppTest.from_file(str(ROOT / "pages" / page), default_timeout=60)
    else:
        app = AppTest.from_string(behind_sidebar(page, HOLDS.get(page, "ratings")), default_timeout=60)
        app.query_params["data"] = {"documents": "news", "images": "digits"}.get(HOLDS.get(page, ""), "cinema-small")
    for key, value in state.items():
        app.session_state[key] = value
    app.run()
    if file:
        app.file_uploader[0].upload(*file).run()
    return app


def fields(app: AppTest) -> Iterator[tuple[str, int, tuple[Any, ...]]]:
    """Every field that takes more than a click, by kind and place, and strange values for it."""
    yield from ((kind, place, TEXTS) for kind in ("text_input", "text_area") for place in range(len(getattr(app, kind))))
    for place, box in enumerate(app.number_input):
        whole = box.proto.data_type == box.proto.INT  # a browser sends no infinite integer
        yield "number_input", place, (*NUMBERS, *(() if whole else BEYOND), box.min, box.max)
    yield from (("slider", place, (slider.min, slider.max)) for place, slider in enumerate(app.slider))
    yield from ((kind, place, ENDS) for kind in ("selectbox", "radio", "multiselect") for place in range(len(getattr(app, kind))))
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
        picked = element.options[0 if value == "first" else -1]
        element.set_value([picked] if kind == "multiselect" else picked)
    app.run()


@pytest.mark.parametrize("name", PAGES)
def test_no_field_breaks_a_page(name: str) -> None:
    rng, first = np.random.default_rng(0), opened(name)
    assert not first.exception, [error.value for error in first.exception]
    tried = 0
    for kind, place, values in list(fields(first)):
        few = [values[at] for at in rng.choice(len(values), min(6, len(values)), replace=False)]
        for value in few:
            app = opened(name)
            label = getattr(app, kind)[place].label
            put(app, kind, place, value)
            assert not app.exception, (label, str(value)[:60], [error.value for error in app.exception])
            for button in [button for button in app.button if button.proto.type == "primary" and not button.disabled]:
                button.click().run()
                assert not app.exception, (label, str(value)[:60], button.label, [error.value for error in app.exception])
            tried += 1
    assert tried > 5 or name == "runs"  # an empty store's page has no field
