"""Browser components: each is a folder with a `.js` and a `.css`, and a function here.

Streamlit runs a script passed as text from a `blob:` address, which the server's policy forbids.
Scripts in declared folders are files of this server, which the policy allows. Streamlit finds such
folders in manifests of installed packages; a clone has none, so each is declared here.

A script gets its data as JSON and writes them as text, never as HTML. Several share `story`: their
scripts import `../dpmf.story/story.js`, and `story.css` precedes their own.
"""

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

import streamlit as st
from streamlit.components.v2.types import ComponentRenderer

from dpmf import __version__
from pages.kit.base import drawing
from pages.server import streamlit_internals

PROJECT = "dpmf"
FOLDER = Path(__file__).parent
SHARED = {"hero": ("story",), "matched_parts": ("story",)}  # shared folders
LOCK = threading.Lock()  # a second declaration would briefly empty the component
Story = dict[str, Any]  # data of a first view's component
StoryPart = dict[str, Any]


def _component(name: str) -> Callable[..., object]:
    """The command that draws the component of a folder, as high as its content.

    For each value that the script may set, `on_<value>_change` is called in the session after a
    person changed it.
    """
    folders = (*SHARED.get(name, ()), name)
    with LOCK:
        for folder in folders:
            streamlit_internals.declare_component(PROJECT, __version__, FOLDER, folder)
        return partial(_renderer(folders), height="content")


@cache
def _renderer(folders: tuple[str, ...]) -> ComponentRenderer:
    """The mounting command of the last folder, with inline styles."""
    styles = [
        (FOLDER / folder / f"{folder}.css").read_text("utf-8") for folder in folders
    ]
    name = folders[-1]
    return st.components.v2.component(
        f"{PROJECT}.{name}", css="".join(styles), js=f"{name}.js"
    )


def _taking(
    key: str,
    name: str,
    is_valid: Callable[[float], bool],
    then: Callable[[float], None],
) -> Callable[[], None]:
    """A callback that passes on a valid number that a browser sent under a name.

    `is_valid` also gets numbers that are not finite.
    """

    def take() -> None:
        value = st.session_state[key].get(name)
        # an integer too large for a float is not valid, either
        if isinstance(value, int | float) and is_valid(value):
            then(float(value))

    return take


# ---- the keyboard's focus ------------------------------------------------------------------------


def draw_focus(key: str, token: str) -> None:
    """Move the keyboard's focus to the heading inside the container of this key.

    Parameters
    ----------
    key
        The key of the container.
    token
        Distinguishes the occasions. The focus moves once for each, so the component may be drawn
        again with the same token.
    """
    # as Streamlit writes a key into a class
    place = re.sub(r"[^a-zA-Z0-9_-]", "-", key)
    draw = _component("focus")
    draw(key=f"focus.{key}", data={"place": place, "token": token})


# ---- first views ---------------------------------------------------------------------------------


def draw_hero(
    key: str,
    story: Story,
    methods: Sequence[Mapping[str, object]],
    on_pick: Callable[[float], None],
    on_method: Callable[[str], None],
) -> None:
    """Draw the share kept, or the error, against epsilon with its headline and one person's list.

    All follow the slider.

    Parameters
    ----------
    key
        The key of the component in the session.
    story
        The data of the view:

        - `epsilon`, `title`, `sentence` and `alt`.
        - `method`: the name and the short name of the line. Its `colour`.
        - `points`, ascending by epsilon: `epsilon`, `method`, `colour`, `share`, `error`, `title`,
        `sentence`, `details`, `label` and `cells`. The error, and the share if there is one, have
        median, low, high and values.
        - `others`, thin lines: `name`, `short`, `colour` and `points`.
        - `levels`, the ends of the scale: `kind`, `share`, `error`, and a name and a short one by
        unit.
        - `units`: "share" and "error", or only "error".
        - `range` of the axis.
        - `lists` of one person, or None.
        - `terms` with their meanings, `words`, `stale` and `pending`.
    methods
        The methods that a click shows: id, title, and whether the method is shown.
    on_pick
        Called with the epsilon of a chosen point.
    on_method
        Called with the id of a chosen method.
    """
    epsilons = [point["epsilon"] for point in story["points"]]
    take = _taking(key, "picked", epsilons.__contains__, on_pick)
    ids = [method["id"] for method in methods]

    def take_method() -> None:
        name = st.session_state[key].get("method_shown")
        if name in ids:
            on_method(name)

    draw = _component("hero")
    draw(
        key=key,
        data={
            **story,
            "awaited": drawing.awaits_first_view(),
            "methods": list(methods),
        },
        on_picked_change=take,
        on_method_shown_change=take_method,
        on_drawn_change=drawing.first_view_drawn,
    )


def draw_matched_parts(key: str, story: Story) -> None:
    """Draw topics as words, or components as pictures, each with its non-private partner.

    The headline and the parts follow the slider in the browser. The browser highlights the pair
    under the pointer or with the keyboard's focus.

    Parameters
    ----------
    key
        The key of the component in the session.
    story
        The data of the view:

        - `epsilon`, `colour`, `terms` with their meanings, `words`, `stale` and `pending`.
        - `kind`: "words" or "pictures".
        - `plain`: the non-private parts, each a list of words or a PNG file in base64.
        - `across`: the number of pictures in a row of a wide page.
        - `points`, ascending by epsilon: `epsilon`, `title`, `sentence`, `parts` and `alike` in the
        order of `plain`, and `cells`.
    """
    draw = _component("matched_parts")
    draw(
        key=key,
        data={**story, "awaited": drawing.awaits_first_view()},
        on_drawn_change=drawing.first_view_drawn,
    )


# ---- what epsilon means --------------------------------------------------------------------------


def draw_hundred(
    key: str, epsilon: float, points: Sequence[Mapping[str, object]]
) -> None:
    """Draw what epsilon means for one person as a hundred figures that follow the slider.

    The browser shows the nearest point.

    Parameters
    ----------
    key
        The key of the component in the session.
    epsilon
        The chosen epsilon.
    points
        The points, ascending by `epsilon`. Each has its `title`, the sentences `certainty` and
        `guess`, and `figures`, the number of the hundred that stand out.
    """
    draw = _component("hundred")
    draw(key=key, data={"epsilon": epsilon, "points": list(points)})


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
    name: str,
    fixed: bool,
    place: Literal["side", "bar"],
) -> None:
    """Draw a slider of epsilon on a logarithmic scale.

    While a person holds the handle, the page's figures follow in the browser. The session follows
    when they release it.

    Parameters
    ----------
    key
        The key of the component in the session.
    now
        The chosen stop.
    stops
        The stops, ascending by epsilon.
    marks
        Named epsilons. A click chooses them exactly.
    then
        Called with the released epsilon.
    name
        The name of epsilon next to the slider.
    fixed
        Whether the slider is locked.
    place
        "bar" is only for the bottom of small screens.
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
    draw = _component("epsilon_slider")
    draw(key=key, data=data, on_released_change=take)


def draw_price_curve(
    key: str,
    stops: Sequence[StoryPart],
    now: float,
    words: Mapping[str, str],
    others: Sequence[StoryPart],
    then: Callable[[float], None],
    follows: bool,
) -> None:
    """Draw the share kept at each epsilon, with a handle that moves in the browser, and its facts.

    Parameters
    ----------
    key
        The key of the component in the session.
    stops
        The stops, ascending by epsilon. Each has `kept`, `low` and `high` as shares of 1,
        `measured`, `colour`, and `facts`, a list of numbers with their words.
    now
        The epsilon of the stop where the handle is.
    words
        The texts of the component: `name` of the handle; `low` and `high` ends of the axis; `best`
        and `floor` for all and nothing kept; `bestShort` where `best` is too long; `own` for the
        curve if there are others; `price` for the space above the curve.
    others
        Thin lines with `name`, `colour` and `points`, which are pairs of an epsilon and a share.
    then
        Called with the chosen epsilon.
    follows
        Whether the page follows the handle. `then` is then also called with the epsilons that a
        held handle passes.
    """
    epsilons = [stop["epsilon"] for stop in stops]
    data = {
        "stops": list(stops),
        "now": epsilons.index(now),
        "words": dict(words),
        "others": list(others),
        "follows": follows,
    }
    take = _taking(key, "released", epsilons.__contains__, then)
    draw = _component("price_curve")
    draw(key=key, data=data, on_released_change=take)
