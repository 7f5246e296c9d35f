"""Pages while their runs come in: whichever have finished, there is something to read and nothing breaks."""

from collections.abc import Mapping
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.kit import runs
from tests.pages.driving import behind_sidebar, settled

pytestmark = pytest.mark.slow  # states of presets are gone through without pages in test_partial_presets
SMALL = {"data": "cinema-small"}
TWO = {**SMALL, "methods": "spectral,private-bias", "epsilons": "1, 5"}
HELD: dict[str, tuple[str, str, dict[str, str], dict[str, Any]]] = {
    "explore": ("recommend/explore.py", "ratings", {**SMALL, "algo": "private-bias"}, {"explore.lists": True, "explore.target": True}),
    "trade-off": ("recommend/tradeoff.py", "ratings", TWO, {}),
    "trade-off by rank": ("recommend/tradeoff.py", "ratings", {**TWO, "methods": "spectral", "grid": "rank = 2, 4"}, {}),
    "trade-off by steps": ("recommend/tradeoff.py", "ratings", {**TWO, "methods": "dpals", "grid": "rank = 2, 4; steps = 1, 2", "epsilons": "5"}, {}),
    "trade-off by both rules": ("recommend/tradeoff.py", "ratings", {**TWO, "noise": "both"}, {}),
    "sketch": ("recommend/sketch.py", "ratings", SMALL, {}),
    "sketch by size": ("recommend/sketch.py", "ratings", SMALL, {"sketch.figure": "balu-fig2"}),
    "retention": ("recommend/retention.py", "ratings", SMALL, {"retention.view": "shares"}),
    "retention by activity": ("recommend/retention.py", "ratings", SMALL, {"retention.view": "activity"}),
    "retention by time": ("recommend/retention.py", "ratings", SMALL, {"retention.view": "windows"}),
    "topics": ("factorise/topics.py", "documents", {"data": "news"}, {}),
    "faces": ("factorise/faces.py", "images", {"data": "digits"}, {"faces.morph": True, "faces.outliers": True}),
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


@pytest.mark.parametrize("name", HELD)
def test_whatever_has_finished_is_shown(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path, holds, link, state = HELD[name]
    app = AppTest.from_string(behind_sidebar(path, holds), default_timeout=120)
    for key, value in link.items():
        app.query_params[key] = value
    for key, value in state.items():
        app.session_state[key] = value
    settled(app)
    whole, asked = runs.wanted, []
    for subset, chosen in SUBSETS.items():

        def some(page: str, specs: Mapping[str, Any], patience: float = 1.5, chosen: Any = chosen, **more: Any) -> dict[str, Any]:
            found = whole(page, specs, patience, **more)
            asked.append(page)
            return {key: found[key] for key in chosen(list(found))}

        monkeypatch.setattr(runs, "wanted", some)
        app.run()
        assert not app.exception, (subset, [error.value for error in app.exception])
        assert app.title and not app.error, (subset, [error.value for error in app.error])
    assert len(asked) >= len(SUBSETS)


def only(name: str, monkeypatch: pytest.MonkeyPatch, *kept: str) -> AppTest:
    """The page whose comparison has finished these runs and no others."""
    path, holds, link, _ = HELD[name]
    app = AppTest.from_string(behind_sidebar(path, holds), default_timeout=120)
    for key, value in link.items():
        app.query_params[key] = value
    whole = runs.wanted

    def some(page: str, specs: Mapping[str, Any], patience: float = 1.5, **more: Any) -> dict[str, Any]:
        return whole(page, {key: spec for key, spec in specs.items() if key in kept}, patience)

    monkeypatch.setattr(runs, "wanted", some)
    return settled(app)


@pytest.mark.parametrize(("kept", "shown", "missing"), [("main", "With privacy", "Without privacy"), ("twin", "Without privacy", "With privacy")])
def test_faces_of_one_side_are_drawn_while_the_other_is_missing(kept: str, shown: str, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app = only("faces", monkeypatch, kept)
    assert any(it.value.startswith(shown) for it in app.subheader)
    assert any(it.value == f"{missing}: not there yet." for it in app.caption)
    assert len(app.get("image")) >= 1


@pytest.mark.parametrize(("kept", "shown"), [("main", "with privacy"), ("twin", "without privacy")])
def test_topics_of_one_side_are_listed_while_the_other_is_missing(kept: str, shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app = only("topics", monkeypatch, kept)
    assert any(it.value.startswith(f"**{shown} (") for it in app.markdown)
    assert sum(it.value.count(" · ") > 5 for it in app.markdown) >= 8
