"""Bars of a class's counts, large enough to be read from the last row."""

import html
import math
import textwrap

import pandas as pd

from pages.kit.figures import charts, colours

LETTERS = 30  # in one line of an answer
# pixels: a line of an answer, a bar with its gap, the axis below
LINE = 20
BAR = 44
AXIS = 70
FONT = 16
TICKS = 8  # about as many numbers on the axis, at most


def draw(
    key: str,
    alt: str,
    table: pd.DataFrame,
    caption: str = "",
    right: int | None = None,
    noise: int = 0,
) -> None:
    """Draw a bar for each row of a table of names and counts.

    Parameters
    ----------
    key
        The key of the figure in the session.
    alt
        The description of the figure.
    table
        A column of names and a column of counts.
    caption
        Markdown below the figure.
    right
        The row of the right answer, which is marked; None for none.
    noise
        How far a count may be off. It is drawn as an interval.
    """
    (_, names), (what, counts) = table.items()
    labels = [_label(str(name), place == right) for place, name in enumerate(names)]
    if noise:  # the interval crosses the bar and what stands at its end
        labels = [
            f"{label}: {count:,}" for label, count in zip(labels, counts, strict=True)
        ]
    n_lines = sum(max(0, label.count("<br>") - 1) for label in labels)
    font = {"size": FONT, "color": colours.text()}
    fig = charts.figure(str(what), "", AXIS + BAR * len(table) + LINE * n_lines)
    fig.update_xaxes(
        range=_range(counts, noise),
        dtick=_tick(counts, noise),
        tickformat="d",
        tickfont=font,
    )
    fig.update_yaxes(
        autorange="reversed",
        type="category",
        automargin=True,
        tickfont=font,
    )
    tint = [colours.of("dpals")] * len(table)
    if right is not None:
        tint = [colours.ink()] * len(table)
        tint[right] = colours.of("dpals")
    fig.add_bar(
        x=counts,
        y=labels,
        orientation="h",
        marker_color=tint,
        text=[f"{count:,}" for count in counts],
        textposition="none" if noise else "outside",
        textfont=font,
        cliponaxis=False,
        hoverinfo="skip",
        error_x={
            "type": "constant",
            "value": noise,
            "visible": noise > 0,
            "color": colours.text(),
        },
    )
    charts.show(fig, key, alt, table, leaves=True, caption=caption)


def _label(name: str, is_right: bool) -> str:
    """An answer in short lines, escaped so that Plotly reads no HTML in it."""
    text = f"✓ {name}" if is_right else name
    lines = textwrap.wrap(text, LETTERS) or [name]
    return "<br>".join(html.escape(line, quote=False) for line in lines)


def _range(counts: pd.Series, noise: int) -> tuple[float, float]:
    """The ends of the axis: from 0, unless noise leads below it, to the largest count."""
    lowest = min(0, int(counts.min()) - noise)
    highest = max(1, int(counts.max()) + noise)
    room = 0.08 * (highest - lowest)  # for the count at the end of the longest bar
    if lowest == 0:
        return 0.0, highest + room
    return lowest - room, highest + room


def _tick(counts: pd.Series, noise: int) -> int:
    """A whole-number distance of the axis's numbers: 1, 2 or 5 times a power of ten."""
    low, high = _range(counts, noise)
    least = max(1.0, (high - low) / TICKS)
    power = int(10 ** math.floor(math.log10(least)))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least)
