"""Components of this project's own: each a folder with a `.js` and a `.css` of its name, and a
function here that draws it.

Streamlit runs a script that is handed over as text from a `blob:` address, which the server's
policy forbids. A script in a declared folder is served as a file of this server, which the policy
allows. Streamlit finds such folders in the manifests of installed packages; a clone has none, so
each is declared here.

A script gets its data as JSON and writes them as text, never as HTML. Several share `story`: their
scripts import `../dpmf.story/story.js`, and `story.css` stands before their own.
"""

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import streamlit as st
from streamlit.components.v2.component_manager import BidiComponentManager
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest
from streamlit.components.v2.types import ComponentRenderer

from dpmf_core.base.version import __version__
from dpmf_core.privacy.interpretation import Meaning
from pages.kit import drawing

PROJECT, FOLDER = "dpmf", Path(__file__).parent
SHARED = {"hero": ("story",), "matched_parts": ("story",)}  # folders that others use too
LOCK = threading.Lock()  # declaring a folder twice would empty its component for a moment
Story = Mapping[str, Any]  # what a component of a first view draws


def _mount(name: str, key: str, data: Any, **on_change: Any) -> None:
    """Draw the component of a folder here.

    on_change: for each value that the script may set, `on_<value>_change`, called in the session
    after a person has changed it.
    """
    folders = (*SHARED.get(name, ()), name)
    with LOCK:
        for folder in folders:
            _declare(get_bidi_component_manager(), folder)
        render = _renderer(folders)
    render(key=key, data=data, height="content", **on_change)


def _declare(manager: BidiComponentManager, folder: str) -> None:
    """Once a runtime: the folder's files are served under its name."""
    if manager.get_component_asset_root(f"{PROJECT}.{folder}") is None:
        config = ComponentConfig(name=folder, asset_dir=folder)
        manifest = ComponentManifest(name=PROJECT, version=__version__, components=[config])
        manager.register_from_manifest(manifest, FOLDER)


@cache
def _renderer(folders: tuple[str, ...]) -> ComponentRenderer:
    """The mounting command of the last. Styles go with the page: nothing is drawn without."""
    styles = [(FOLDER / it / f"{it}.css").read_text("utf-8") for it in folders]
    name = folders[-1]
    return st.components.v2.component(f"{PROJECT}.{name}", css="".join(styles), js=f"{name}.js")


def _answer(key: str, name: str) -> float | None:
    """The number that a browser says under a name; None where it says none."""
    value = st.session_state[key].get(name)
    is_number = isinstance(value, int | float) and math.isfinite(value)
    return float(value) if is_number else None


# ---- first views ---------------------------------------------------------------------------------


def draw_hero(key: str, story: Story, on_pick: Callable[[float], None]) -> None:
    """Error against epsilon, with its headline and one person's list; all three follow the slider
    in the browser while its handle is held.

    story: epsilon, method, title, sentence, alt, colour; points ascending by epsilon (epsilon,
    median, low, high, values, title, sentence, label, cells); best, trivial and open (median,
    label), the latter None until a run without noise is there;
    range of the axis; lists of one person or None; terms with their meanings; words; stale and
    pending. on_pick: called with the epsilon of a point that a person has chosen.
    """

    def handle_pick() -> None:
        epsilon = _answer(key, "picked")
        if epsilon is not None and any(it["epsilon"] == epsilon for it in story["points"]):
            on_pick(epsilon)

    _mount_story("hero", key, story, on_picked_change=handle_pick)


def draw_matched_parts(key: str, story: Story) -> None:
    """Topics as words, or components as pictures, next to their partners without privacy, under a
    headline; all follow the slider in the browser while its handle is held.

    story: epsilon, colour, terms with their meanings, words, stale, pending; kind ("words" or
    "pictures"); plain: the parts without privacy, each a list of words or a PNG file in base64;
    across: pictures in a row; points ascending by epsilon (epsilon, title, sentence, parts and
    alike in the order of the plain ones, cells).
    """
    _mount_story("matched_parts", key, story)


def _mount_story(name: str, key: str, story: Story, **on_change: Any) -> None:
    data = {**story, "awaited": drawing.awaits_first_view()}
    _mount(name, key, data, on_drawn_change=drawing.first_view_drawn, **on_change)


# ---- what epsilon means --------------------------------------------------------------------------

# {..}: filled in by the browser
MEANING_WORDS = {
    "title": "What ε = {epsilon} means for one person",
    "suspicion": (
        "Someone who starts at 50:50 can become {about}at most {suspicion}% sure that you took"
        " part, except with probability {exception}."
    ),
    "always": (
        "Someone who starts at 50:50 can never become more than {about}{suspicion}% sure that you"
        " took part."
    ),
    "guess": (
        "The best attacker is right {about}{correct} times in 100; guessing is right 50 times."
    ),
    "about": "about ",
}


def draw_hundred(key: str, epsilon: float, meanings: Mapping[float, Meaning]) -> None:
    """What an epsilon means for one person, as a hundred figures that follow the slider.

    meanings: by epsilon, computed from the exact curve; between two of them the browser says about.
    """
    points = [{"epsilon": at, **asdict(meanings[at])} for at in sorted(meanings)]
    _mount("hundred", key, {"epsilon": epsilon, "points": points, "words": MEANING_WORDS})


# ---- choosing epsilon ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Stop:
    """An epsilon that the slider stops at; meaning: a sentence, or nothing; name: of a mark."""

    epsilon: float
    meaning: str = ""
    name: str = ""


def draw_epsilon_slider(
    key: str,
    now: Stop,
    stops: Sequence[Stop],
    marks: Sequence[Stop],
    then: Callable[[float], None],
    *,
    fixed: bool = False,
    place: Literal["side", "bar"] = "side",
) -> None:
    """A slider of epsilon on a logarithmic scale. While its handle is held it tells all figures of
    the page, in the browser alone; when it is released, the session.

    stops: ascending. marks: epsilons with a name, which a click chooses exactly. then: called with
    the epsilon at which a person has let go. fixed: it cannot be moved. place: a bar stays at the
    bottom of a small screen, and shows on no other.
    """
    data = {
        "now": asdict(now),
        "stops": [asdict(stop) for stop in stops],
        "marks": [asdict(mark) for mark in marks],
        "labels": {
            "name": "Privacy loss ε, total",
            "low": "more private",
            "high": "more accurate",
            "marks": "ε of real deployments",
        },
        "fixed": fixed,
        "place": place,
    }

    def handle_release() -> None:
        epsilon = _answer(key, "released")
        is_on_scale = epsilon is not None and stops[0].epsilon <= epsilon <= stops[-1].epsilon
        if epsilon is not None and is_on_scale and not fixed:
            then(epsilon)

    _mount("epsilon_slider", key, data, on_released_change=handle_release)


def draw_price_curve(
    key: str,
    stops: Sequence[dict[str, object]],
    without_noise: float,
    first: float,
    words: Mapping[str, str],
    colour: str,
    then: Callable[[float], None],
) -> None:
    """A curve of what is kept at each epsilon, with a handle that moves along it in the browser
    alone, and next to it what holds there.

    stops: ascending by epsilon; each has `kept`, `low` and `high` as shares of 1, `measured`, and
    `facts`, a list of numbers with their words. without_noise: the share that the method itself
    keeps. first: where the handle stands first. words: `name` of the handle, `low` and `high` ends
    of the axis, `best` and `trivial` for all and nothing kept, `open` for the method without noise,
    `price` for the space between the curve and that. then: called with the chosen epsilon.
    """
    epsilons = [stop["epsilon"] for stop in stops]
    data = {
        "stops": list(stops),
        "open": without_noise,
        "first": epsilons.index(first),
        "words": dict(words),
    }

    def handle_release() -> None:
        epsilon = _answer(key, "released")
        if epsilon is not None and epsilon in epsilons:
            then(epsilon)

    _mount("price_curve", key, data | {"colour": colour}, on_released_change=handle_release)
