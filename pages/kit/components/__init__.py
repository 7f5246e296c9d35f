"""Browser components: each is a folder with a `.js` and a `.css`, and a function here.

Streamlit runs a script passed as text from a `blob:` address, which the server's policy forbids.
Scripts in declared folders are files of this server, which the policy allows. Streamlit finds such
folders in manifests of installed packages; a clone has none, so each is declared here.

A script gets its data as JSON and writes them as text, never as HTML. Several share `story`: their
scripts import `../dpmf.story/story.js`, and `story.css` precedes their own.
"""

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal

import streamlit as st
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest
from streamlit.components.v2.types import ComponentRenderer

from dpmf import __version__
from pages.kit import drawing

PROJECT, FOLDER = "dpmf", Path(__file__).parent
SHARED = {"hero": ("story",), "matched_parts": ("story",)}  # shared folders
LOCK = threading.Lock()  # a second declaration would briefly empty the component
Story = Mapping[str, Any]  # data of a first view's component


def _mount(name: str, key: str, data: Any, **on_change: Any) -> None:
    """Draw the component of a folder.

    on_change: for each value that the script may set, `on_<value>_change`, called in the session
    after a person changed it.
    """
    folders = (*SHARED.get(name, ()), name)
    with LOCK:
        manager = get_bidi_component_manager()
        for folder in folders:
            if manager.get_component_asset_root(f"{PROJECT}.{folder}") is None:  # of this runtime
                config = ComponentConfig(name=folder, asset_dir=folder)
                manifest = ComponentManifest(PROJECT, __version__, components=[config])
                manager.register_from_manifest(manifest, FOLDER)
        render = _renderer(folders)
    render(key=key, data=data, height="content", **on_change)


@cache
def _renderer(folders: tuple[str, ...]) -> ComponentRenderer:
    """Return the mounting command of the last folder, with inline styles."""
    styles = [(FOLDER / it / f"{it}.css").read_text("utf-8") for it in folders]
    name = folders[-1]
    return st.components.v2.component(f"{PROJECT}.{name}", css="".join(styles), js=f"{name}.js")


def _taking(
    key: str, name: str, is_valid: Callable[[float], bool], then: Callable[[float], None]
) -> Callable[[], None]:
    """Return a callback that passes on a valid number that a browser sent under a name."""

    def take() -> None:
        value = st.session_state[key].get(name)
        if isinstance(value, int | float) and math.isfinite(value) and is_valid(value):
            then(float(value))

    return take


# ---- first views ---------------------------------------------------------------------------------


def draw_hero(key: str, story: Story, on_pick: Callable[[float], None]) -> None:
    """Draw error against epsilon with its headline and one person's list, all following the slider.

    story: epsilon, method, title, sentence, alt, colour; points ascending by epsilon (epsilon,
    median, low, high, values, title, sentence, label, cells); best, trivial and open (median,
    label), the last None without a noiseless run; range of the axis; lists of one person or None;
    terms with their meanings; words; stale and pending. on_pick: called with the epsilon of a
    chosen point.
    """
    epsilons = [it["epsilon"] for it in story["points"]]
    take = _taking(key, "picked", epsilons.__contains__, on_pick)
    _mount_story("hero", key, story, on_picked_change=take)


def draw_matched_parts(key: str, story: Story) -> None:
    """Draw topics as words, or components as pictures, each with its non-private partner.

    The headline and the parts follow the slider in the browser, which highlights the pair under the
    pointer or with the keyboard's focus. story: epsilon, colour, terms with their meanings, words,
    stale, pending; kind ("words" or "pictures"); plain: the non-private parts, each a list of words
    or a PNG file in base64; across: pictures in a row of a wide page; points ascending by epsilon
    (epsilon, title, sentence, parts and alike in the order of the plain ones, cells).
    """
    _mount_story("matched_parts", key, story)


def _mount_story(name: str, key: str, story: Story, **on_change: Any) -> None:
    data = {**story, "awaited": drawing.awaits_first_view()}
    _mount(name, key, data, on_drawn_change=drawing.first_view_drawn, **on_change)


# ---- what epsilon means --------------------------------------------------------------------------


def draw_hundred(key: str, epsilon: float, points: Sequence[Mapping[str, object]]) -> None:
    """Draw what epsilon means for one person as a hundred figures that follow the slider.

    points: ascending by `epsilon`, each with its `title`, the sentences `certainty` and `guess`,
    and `figures`, how many of the hundred stand out. The browser shows the nearest.
    """
    _mount("hundred", key, {"epsilon": epsilon, "points": list(points)})


# ---- choosing epsilon ----------------------------------------------------------------------------


# an epsilon at which the slider stops; its meaning, a sentence or ""; the name of a mark
Stop = Mapping[str, float | str]
TOTAL_EPSILON = "Privacy loss ε, total"


def draw_epsilon_slider(
    key: str,
    now: Stop,
    stops: Sequence[Stop],
    marks: Sequence[Stop],
    then: Callable[[float], None],
    *,
    name: str = TOTAL_EPSILON,
    fixed: bool = False,
    place: Literal["side", "bar"] = "side",
) -> None:
    """Draw a slider of epsilon on a logarithmic scale.

    While the handle is held, the page's figures follow in the browser; the session follows when it
    is released. stops: ascending. marks: named epsilons that a click chooses exactly. then: called
    with the released epsilon. name: what epsilon is. fixed: locked. place: "bar" is only for the
    bottom of small screens.
    """
    data = {
        "now": now,
        "stops": stops,
        "marks": marks,
        "labels": {
            "name": name,
            "low": "more private",
            "high": "more accurate",
            "marks": "ε of real deployments",
        },
        "fixed": fixed,
        "place": place,
    }
    low, high = (float(stop["epsilon"]) for stop in (stops[0], stops[-1]))
    take = _taking(key, "released", lambda it: low <= it <= high and not fixed, then)
    _mount("epsilon_slider", key, data, on_released_change=take)


def draw_price_curve(
    key: str,
    stops: Sequence[dict[str, object]],
    without_noise: float,
    first: float,
    words: Mapping[str, str],
    colour: str,
    then: Callable[[float], None],
    follows: bool,
) -> None:
    """Draw the share kept at each epsilon, with a handle that moves in the browser, and its facts.

    stops: ascending by epsilon; each has `kept`, `low` and `high` as shares of 1, `measured`, and
    `facts`, a list of numbers with their words. without_noise: the share that the method keeps
    without noise. first: the handle's first place. words: `name` of the handle, `low` and `high`
    ends of the axis, `best` and `trivial` for all and nothing kept, `open` for the method without
    noise, `price` for the space between the curve and that line. then: called with the chosen
    epsilon, and if the page follows, with those that a held handle passes.
    """
    epsilons = [stop["epsilon"] for stop in stops]
    data = {
        "stops": list(stops),
        "open": without_noise,
        "first": epsilons.index(first),
        "words": dict(words),
        "follows": follows,
        "colour": colour,
    }
    take = _taking(key, "released", epsilons.__contains__, then)
    _mount("price_curve", key, data, on_released_change=take)
