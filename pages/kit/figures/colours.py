"""Colours and marks of methods, the same in every figure, in light and dark mode.

Every colour has a contrast of at least 3 to 1 with its page, and colours stay distinguishable with
deuteranopia. They start from the colours of Okabe & Ito.
"""

import streamlit as st

from dpmf_core.algorithms import REGISTRY, PrivateAlgorithm
from dpmf_core.runs.comparison import PLAIN

# name: (colour on a light page, on a dark page)
PALETTE = {
    "blue": ("#0072B2", "#3f9fe3"),
    "sky": ("#00a3b9", "#9ad6f7"),
    "green": ("#009E73", "#009E73"),
    "vermilion": ("#D55E00", "#D55E00"),
    "orange": ("#c48838", "#E69F00"),
    "pink": ("#e8559f", "#f99fc8"),
    "brown": ("#5a2d00", "#e4b498"),
    "violet": ("#4b2a8a", "#bd53b2"),
    "olive": ("#4a7805", "#a1c94b"),
    "red": ("#9c2e35", "#9c5222"),
    "teal": ("#265136", "#007a7a"),
    "grey": ("#6b7280", "#8b93a1"),
    "periwinkle": ("#8685f2", "#4e5db2"),
    "magenta": ("#f6265e", "#c8395a"),
}
UNCOLOURED = "teal"  # private methods without a colour of their own
NOT_PRIVATE = ("#4a4f59", "#b8bec9")
TEXT = ("#1f2937", "#fafafa")
BACKGROUND = ("255,255,255", "18,22,29")  # red, green, blue
# variants drawn next to their method
VARIANTS = {PLAIN: "periwinkle"}


def is_dark() -> bool:
    return st.context.theme.type == "dark"


def of(name: str) -> str:
    """The colour of a method, a variant or a palette entry; grey without privacy."""
    kind = REGISTRY.get(name)
    if kind is not None:
        name = kind.colour
        if not name and issubclass(kind, PrivateAlgorithm):
            name = UNCOLOURED
    return _here(PALETTE.get(VARIANTS.get(name, name), NOT_PRIVATE))


def ink() -> str:
    """The colour of axes and levels."""
    return _here(PALETTE["grey"])


def text() -> str:
    return _here(TEXT)


def page(alpha: float) -> str:
    """The page's background with opacity `alpha`, from 0 to 1."""
    return f"rgba({_here(BACKGROUND)},{alpha:g})"


def marker(method: str) -> str:
    if method in REGISTRY:
        return REGISTRY[method].marker
    return "circle"


def _here(pair: tuple[str, str]) -> str:
    """The colour on this page, from the colours on a light and on a dark page."""
    light, dark = pair
    if is_dark():
        return dark
    return light
