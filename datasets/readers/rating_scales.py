"""The usual scales of ratings, and the scale in a column's name; values are never looked at."""

import re
from dataclasses import dataclass

NUMBER = r"(-?\d{1,4}(?:\.\d{1,2})?)"
# 1-5, 0.5 to 5, 1_10, 1..5, -10 to 10
FROM_TO = re.compile(
    rf"(?<![\d.])(?<!\d-){NUMBER}\s*(?:-|–|_|\.\.|\bto\b|\bbis\b)\s*{NUMBER}(?![\d.])"
)
OUT_OF = re.compile(r"(?:out[ _]?of|von|/)[ _]?(5|10|100)(?!\d)")


@dataclass(frozen=True)
class Scale:
    """low, high: the lowest and highest possible rating."""

    low: float
    high: float
    words: str


STARS = Scale(1, 5, "1 to 5")
HALF_STARS = Scale(0.5, 5, "half stars, 0.5 to 5")
TEN = Scale(1, 10, "1 to 10")
PLUS_MINUS_TEN = Scale(-10, 10, "-10 to 10")
PERCENT = Scale(0, 100, "0 to 100")
USUAL = (STARS, HALF_STARS, TEN, PLUS_MINUS_TEN, PERCENT)


def scale_in_name(column: str) -> Scale | None:
    """The scale in a column's name, such as `score (1-10)` or `percent`; None without one."""
    text = column.lower()
    if match := FROM_TO.search(text):
        low, high = map(float, match.groups())
        if low < high:
            return _scale(low, high)
    if match := OUT_OF.search(text):
        high = float(match[1])
        return PERCENT if high == PERCENT.high else _scale(1.0, high)
    if re.search(r"half[ _-]?stars?|halbe[ _-]?sterne", text):
        return HALF_STARS
    return PERCENT if re.search(r"percent|prozent|%", text) else None


def _scale(low: float, high: float) -> Scale:
    usual = (scale for scale in USUAL if (scale.low, scale.high) == (low, high))
    return next(usual, Scale(low, high, f"{low:g} to {high:g}"))
