"""An address in full view, with a button that copies it."""

from pathlib import Path

from pages.kit.components import Component

COMPONENT = Component(Path(__file__).parent)


def draw(key: str, address: str) -> None:
    """The whole address, wrapped, and the button beside it."""
    words = {"copy": "Copy", "copied": "Copied", "by hand": "Press Ctrl+C"}
    COMPONENT.mount(key, {"address": address, "words": words})
