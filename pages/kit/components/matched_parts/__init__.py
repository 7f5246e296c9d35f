"""Topics as words, or parts as pictures, beside their partners without privacy, under a headline:
drawn in the browser, where all follow the slider while its handle is held.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pages.kit import drawing
from pages.kit.components import Component

COMPONENT = Component(Path(__file__).parent, shared="story")


def draw(key: str, story: Mapping[str, Any]) -> None:
    """story: epsilon, colour, terms with their meanings, words, stale, pending; kind ("words" or
    "pictures"); plain: the parts without privacy, each a list of words or a PNG file in base64;
    across: pictures in a row; points ascending by epsilon (epsilon, title, sentence, parts and
    alike in the order of the plain ones, cells).
    """
    COMPONENT.mount(
        key,
        {**story, "awaited": drawing.awaits_first_view()},
        on_drawn_change=drawing.first_view_drawn,
    )
