"""Pages while their runs come in: whichever have finished, there is something to read and
nothing breaks.
"""

from collections.abc import Mapping
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.runs.epsilon_grid import EpsilonGrid
from pages.kit import epsilon_grid, run_progress
from tests.pages.driving import behind_sidebar, components, settled, words

# states of presets are gone through without pages in test_partial_presets
pytestmark = pytest.mark.slow
SMALL = {"data": "cinema-small"}
TWO = {**SMALL, "methods": "spectral,private-bias", "epsilons": "1, 5"}
STATES: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "explore": (
        "explore/page.py",
        {**SMALL, "algo": "private-bias"},
        {"explore.target": True},
    ),
    "trade-off": ("tradeoff/page.py", TWO, {}),
    "trade-off by rank": (
        "tradeoff/page.py",
        {**TWO, "methods": "spectral", "grid": "rank = 2, 4"},
        {},
    ),
    "trade-off by steps": (
        "tradeoff/page.py",
        {**TWO, "methods": "dpals", "grid": "rank = 2, 4; steps = 1, 2", "epsilons": "5"},
        {},
    ),
    "trade-off by both rules": ("tradeoff/page.py", {**TWO, "noise": "both"}, {}),
    "sketch": ("sketch/page.py", SMALL, {}),
    "sketch by size": ("sketch/page.py", SMALL, {"sketch.figure": "balu-fig2"}),
    "retention": ("retention/page.py", SMALL, {}),
    "topics": ("topics/page.py", {"data": "news"}, {}),
    "faces": (
        "faces/page.py",
        {"data": "digits"},
        {"faces.morph": True, "faces.outliers": True},
    ),
}
SUBSETS = {
    "none": lambda names: [],
    "the first": lambda names: names[:1],
    "all but the first": lambda names: names[1:],
    "the last": lambda names: names[-1:],
    "the first two": lambda names: names[:2],
    "every other": lambda names: names[::2],
    "every third": lambda names: names[1::3],
    "half": lambda names: names[: len(names) // 2],
}  # fmt: skip


@pytest.mark.parametrize("name", STATES)
def test_whatever_has_finished_is_shown(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path, link, state = STATES[name]
    app = AppTest.from_string(behind_sidebar(path), default_timeout=120)
    for key, value in link.items():
        app.query_params[key] = value
    for key, value in state.items():
        app.session_state[key] = value
    settled(app)
    whole, pages = run_progress.request, []
    for subset, pick in SUBSETS.items():

        def some(
            page: str,
            specs: Mapping[str, Any],
            patience: float = 1.5,
            pick: Any = pick,
            **more: Any,
        ) -> dict[str, Any]:
            runs = whole(page, specs, patience, **more)
            pages.append(page)
            return {key: runs[key] for key in pick(list(runs))}

        monkeypatch.setattr(run_progress, "request", some)
        app.run()
        assert not app.exception, (subset, [error.value for error in app.exception])
        assert not app.error, (subset, [error.value for error in app.error])
        assert app.title or first_views(app), subset
    assert len(pages) >= len(SUBSETS)


def first_views(app: AppTest) -> list[dict[str, Any]]:
    """What the components that begin a page with a finding hold."""
    return [data for name in ("hero", "matched_parts") for data in components(app, name)]


def only(name: str, monkeypatch: pytest.MonkeyPatch, *run_names: str) -> AppTest:
    """The page whose comparison has finished these runs and no others, at no epsilon more."""
    path, link, _ = STATES[name]
    app = AppTest.from_string(behind_sidebar(path), default_timeout=120)
    for key, value in link.items():
        app.query_params[key] = value
    whole = run_progress.request

    def some(
        page: str, specs: Mapping[str, Any], patience: float = 1.5, **more: Any
    ) -> dict[str, Any]:
        return whole(page, {key: spec for key, spec in specs.items() if key in run_names}, patience)

    monkeypatch.setattr(run_progress, "request", some)
    nothing = EpsilonGrid("objective", (), (), ())
    monkeypatch.setattr(epsilon_grid, "read", lambda *_, **__: nothing)
    return settled(app)


@pytest.mark.parametrize(
    ("run_name", "present", "absent"),
    [("main", "With privacy", "Without privacy"), ("twin", "Without privacy", "With privacy")],
)
def test_faces_of_one_side_are_drawn_while_the_other_is_missing(
    run_name: str, present: str, absent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = only("faces", monkeypatch, run_name)
    (picture,) = (
        image for it in app.get("image") for image in it.proto.imgs if "(" in image.caption
    )
    assert picture.caption.startswith(f"{present} (")
    assert f"{absent} (" not in words(app)


@pytest.mark.parametrize(
    ("run_name", "present"), [("main", "with privacy"), ("twin", "without privacy")]
)
def test_topics_of_one_side_are_listed_while_the_other_is_missing(
    run_name: str, present: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = only("topics", monkeypatch, run_name)
    assert any(it.value.startswith(f"**{present} (") for it in app.markdown)
    assert sum(it.value.count(" · ") > 5 for it in app.markdown) >= 8
