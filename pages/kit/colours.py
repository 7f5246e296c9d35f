"""Colours and marks of methods, the same in every figure, in light and dark mode.

Every colour has a contrast of at least 3 to 1 with its page, and colours stay distinguishable with
deuteranopia. They start from those of Okabe & Ito.
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
# variants drawn next to their method
VARIANTS = {PLAIN: "periwinkle"}


def is_dark() -> bool:
    return st.context.theme.type == "dark"


def of(name: str) -> str:
    """Return the colour of a method, a variant or a palette entry; grey without privacy."""
    return _pair(name)[is_dark()]


def ink() -> str:
    """Return the colour of axes and levels."""
    return "#8b93a1" if is_dark() else "#6b7280"


def text() -> str:
    return "#fafafa" if is_dark() else "#1f2937"


def page(alpha: float) -> str:
    """Return the page's background with opacity `alpha`, from 0 to 1."""
    red, green, blue = (18, 22, 29) if is_dark() else (255, 255, 255)
    return f"rgba({red},{green},{blue},{alpha:g})"


def marker(method: str) -> str:
    return REGISTRY[method].marker if method in REGISTRY else "circle"


def _pair(method: str) -> tuple[str, str]:
    if method in PALETTE:
        return PALETTE[method]
    kind = REGISTRY.get(method)
    colour = VARIANTS.get(method, kind.colour if kind is not None else "")
    if not colour and kind is not None and issubclass(kind, PrivateAlgorithm):
        colour = UNCOLOURED
    return PALETTE[colour] if colour else NOT_PRIVATE
