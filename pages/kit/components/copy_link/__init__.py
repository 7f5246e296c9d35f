"""An address in full view, with a button that copies it."""

from pathlib import Path

from pages.kit.components import Component
from pages.kit.language import say

COMPONENT = Component(Path(__file__).parent)


def draw(key: str, address: str) -> None:
    """The whole address, wrapped, and the button beside it."""
    words = {"copy": say("Copy"), "copied": say("Copied"), "by hand": say("Press Ctrl+C")}
    COMPONENT.mount(key, {"address": address, "words": words})
