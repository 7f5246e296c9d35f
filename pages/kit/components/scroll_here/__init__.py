"""Brings the place where it stands into view, for what opens out of sight of its button."""

from pathlib import Path

from pages.kit.components import Component

COMPONENT = Component(Path(__file__).parent)


def draw(key: str, turn: int) -> None:
    """Once for each turn; a turn that was taken is not taken again when the page is redrawn."""
    COMPONENT.mount(key, {"turn": turn})
