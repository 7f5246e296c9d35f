"""Pages under test: a script behind the sidebar, and waiting for its runs."""

import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
from streamlit.components.v2 import manifest_scanner
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest

from dpmf_core.jobs.engine import engine
from dpmf_core.runs.planning import account_of
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from dpmf_datasets import session_files
from pages.kit.base.page_table import PAGES, Page
from pages.kit.privacy import account_summary
from tests.support.engines import WAIT

ROOT = Path(__file__).parents[2]
MOST_DRAWINGS = 100  # of a page while nothing is computed
# at every drawing of a page a test's app looks through all installed packages, which takes longer
# than to draw it
manifest_scanner.scan_component_manifests = functools.cache(
    manifest_scanner.scan_component_manifests
)


def page_at(path: str) -> Page:
    """The page whose script lies at `pages/...`."""
    return next(page for page in PAGES if page.script == ROOT / "pages" / path)


def behind_sidebar(path: str) -> str:
    """A script that draws the sidebar, if there is one, and then the page at `pages/...`."""
    kind = page_at(path).data_kind
    sidebar = ""
    if kind is not None:
        sidebar = f"sidebar.draw({kind!r})\n"
    return (
        "import runpy\nfrom pages.kit import sidebar\nfrom pages.kit.running import runs\n"
        f"{sidebar}with runs.following():\n"
        f"    runpy.run_path({str(ROOT / 'pages' / path)!r})\n"
    )


def app_of(
    script: str, state: Mapping[str, Any] | None = None, **address: str
) -> AppTest:
    """A script, or the page at `pages/....py`, with this session state and address; not drawn."""
    if script.endswith(".py"):
        app = AppTest.from_file(str(ROOT / "pages" / script))
    else:
        app = AppTest.from_string(script)
    app.default_timeout = WAIT
    for name, value in (state or {}).items():
        app.session_state[name] = value
    app.query_params.update(address)
    return app


def brought(entry: Any, kind: str = "") -> dict[str, Any]:
    """The state of a session that brought a data set and has chosen it."""
    key = ".".join(filter(None, ("sidebar", kind, "dataset")))
    return {"data.own": {entry.id: entry}, key: entry.id}


def forget(upload: Any) -> None:
    """Take away what a session brought, with its account and its runs."""
    account_of(upload.entry.id).forget()
    engine().forget(upload.entry.id)
    session_files.remove(upload.entry)


def plain(text: str) -> str:
    """A text as it is read: its terms without their links."""
    return re.sub(r"\[([^\]]*)\]\(glossary[^)]*\)", r"\1", text)


def words(app: AppTest) -> str:
    """All that a page says, in its order by kind."""
    elements = (
        *app.title,
        *app.markdown,
        *app.caption,
        *app.warning,
        *app.error,
        *app.info,
        *app.success,
    )
    return plain("\n".join(str(element.value) for element in elements))


def frames(app: AppTest) -> list[pd.DataFrame]:
    """The tables of a page as they are read: first those that scroll, then those of words."""
    tables = (table.value.map(_as_read).rename(columns=_as_read) for table in app.table)
    return [*(frame.value for frame in app.dataframe), *tables]


def _as_read(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def component(app: AppTest, name: str) -> dict[str, Any]:
    """The data of the one of this project's own components on a page, by the name of its folder."""
    (data,) = components(app, name)
    return data


def components(app: AppTest, name: str) -> list[dict[str, Any]]:
    """The data of all components of a name."""
    protos = [getattr(node, "proto", None) for node in nodes(app)]
    return [
        json.loads(proto.json)
        for proto in protos
        if getattr(proto, "component_name", "") == f"dpmf.{name}"
    ]


# ---- what Streamlit's test of a page has no public name for --------------------------------------

MAIN = 0
SIDEBAR = 1


def nodes(app: AppTest, part: int | None = None) -> Iterator[Any]:
    """All blocks and elements of a page as they stand there, or those of one part of it."""
    if part is None:
        yield from _nodes_below(app._tree)
    else:
        yield from _nodes_below(app._tree[part])


def _nodes_below(node: Any) -> Iterator[Any]:
    yield node
    children = getattr(node, "children", {})
    for place in sorted(children):
        yield from _nodes_below(children[place])


def widget_states(app: AppTest) -> WidgetStates:
    """What a browser says of all its widgets."""
    return app._tree.get_widget_states()


def run_with(app: AppTest, states: WidgetStates) -> AppTest:
    """Run the page after a browser has said this of its widgets."""
    return app._run(states)


def headline(app: AppTest) -> str:
    """What the first view of Explore says at the epsilon that is chosen, sentence included."""
    story = component(app, "hero")
    (point,) = [
        point for point in story["points"] if point["epsilon"] == story["epsilon"]
    ]
    return f"{point['title']}\n{point['sentence']}"


def run_until(app: AppTest, condition: Callable[[], object]) -> AppTest:
    """The page, drawn again whenever all its runs have ended, until the condition holds.

    Fails on an exception, where a run takes five minutes, and where nothing is computed any more
    and the condition does not hold.
    """
    app.run()
    drawings = 0
    while not condition():
        assert not app.exception, [error.value for error in app.exception]
        jobs = engine().jobs()
        drawings += 1
        if jobs:
            drawings = 0
        assert drawings < MOST_DRAWINGS, words(app)[:1000]
        for job in jobs:
            assert job.wait(WAIT), "the run did not finish"
        app.run()
    assert not app.exception, [error.value for error in app.exception]
    return app


def engine_run(spec: RunSpec) -> Run:
    """A run as the page's engine makes it, or has made it."""
    run: Run = engine().submit(spec).result(WAIT)
    return run


def settled(app: AppTest) -> AppTest:
    """The page after its last run, or with an error. Its headings leave out no level."""
    run_until(app, lambda: app.error or not _waits(app))
    levels = list(_heading_levels(app))
    for before, level in pairwise(levels):
        assert level <= before + 1, f"h{level} after h{before}: {levels}"
    return app


HEADINGS = {"title": 1, "header": 2, "subheader": 3}  # elements, with their levels
# components that begin with the page's title
FIRST_VIEWS = (
    "dpmf.hero",
    "dpmf.matched_parts",
)


def _heading_levels(app: AppTest) -> Iterator[int]:
    """The levels of a page's headings, in their order."""
    for node in nodes(app, MAIN):
        component_name = getattr(getattr(node, "proto", None), "component_name", "")
        if component_name in FIRST_VIEWS:
            yield 1
        if node.type in HEADINGS:
            yield HEADINGS[node.type]
        elif node.type == "markdown" and (
            hashes := re.match(r"(#+) ", str(node.value))
        ):
            yield len(hashes[1])


def _waits(app: AppTest) -> bool:
    """Whether the page, or the sidebar's total, waits for runs."""
    if any(account_summary.WHOLE_PLAN in caption.value for caption in app.caption):
        return True
    has_list = "runs.followed" in app.session_state  # which has no `get`
    watches = has_list and app.session_state["runs.followed"]
    app.session_state["runs.followed"] = []
    keys = [str(button.key) for button in app.button]
    return bool(watches) or any(key.endswith(".cancel") for key in keys)


def everything_asked(app: AppTest) -> AppTest:
    """The page on private data after each of its buttons with a price was pressed."""
    for _ in range(8):
        prices = [button for button in app.button if ".buy." in str(button.key)]
        enabled = [button for button in prices if not button.disabled]
        if not enabled:
            return app
        enabled[0].click()
        settled(app)
    raise AssertionError("there are buttons without end")


def widget_of(widgets: Iterable[Any], key: str) -> Any:
    """The widget that shows the session's value under a key, which may have a number after it."""
    return next(
        widget
        for widget in widgets
        if re.fullmatch(rf"{re.escape(key)}\.\d+", str(widget.key))
    )


def let_go(app: AppTest, epsilon: object, key: str = "sidebar.slider") -> WidgetStates:
    """What a browser says when the handle of epsilon's slider is released there."""
    states = widget_states(app)
    slider_id = _slider(app, key).id
    event = json.dumps({"event": "released", "value": epsilon})
    states.widgets.add(
        id=f"$$STREAMLIT_INTERNAL_KEY_{slider_id}__events", json_trigger_value=event
    )
    return states


def slider_epsilon(app: AppTest) -> float:
    """Where the handle of epsilon's slider stands."""
    slider = _slider(app, "sidebar.slider")
    return float(json.loads(slider.json)["now"]["epsilon"])


def _slider(app: AppTest, key: str) -> Any:
    """What the server sent to a slider."""
    for element in app.get("bidi_component"):
        if element.proto.id.endswith(f"-{key}"):
            return element.proto
    raise AssertionError(f"there is no slider {key}")
