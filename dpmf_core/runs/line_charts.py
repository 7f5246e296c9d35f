"""Lines as SVG, which notebooks, reports and browsers show without anything else."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dpmf_core.errors import BadInput
from dpmf_core.html_text import text

TINTS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
WIDTH, HEIGHT, EDGE = 720, 300, 46
NAMESPACE = "http://www.w3.org/2000/svg"  # which a file of its own needs
Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Chart:
    """A figure that a notebook shows; `save` writes it as a file."""

    svg: str = field(repr=False)
    title: str

    def _repr_html_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> Path:
        """Writes the figure as an SVG file and returns its path. Raises BadInput."""
        file = Path(path).expanduser()
        try:
            file.write_text(self.svg.replace("<svg ", f'<svg xmlns="{NAMESPACE}" ', 1), "utf-8")
        except OSError as error:
            raise BadInput(f"The figure cannot be saved as '{path}' ({error.strerror}).") from error
        return file


def line_chart(lines: Mapping[str, Points], across: str, title: str, *, log: bool = False) -> str:
    """A line for each name, as SVG. across: what the first figure of each point is; log: on a
    logarithmic scale, for figures above 0. There is a point at least.
    """
    scale = math.log if log else float
    places = [scale(x) for line in lines.values() for x, _ in line]
    figures = [y for line in lines.values() for _, y in line]
    low, high, first, last = min(figures), max(figures), min(places), max(places)

    def at(x: float, y: float) -> tuple[str, str]:
        right = EDGE + (WIDTH - 2 * EDGE) * (scale(x) - first) / max(last - first, 1e-12)
        down = HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * (y - low) / max(high - low, 1e-12)
        return f"{right:.1f}", f"{down:.1f}"

    elements = []
    for place, (name, line) in enumerate(lines.items()):
        tint = TINTS[place % len(TINTS)]
        points = [",".join(at(x, y)) for x, y in line]
        if len(points) == 1:
            points *= 2  # a line of no length, whose round ends are a dot
        elements.append(
            f'<polyline fill="none" stroke="{tint}" stroke-width="2.5" stroke-linecap="round"'
            f' points="{" ".join(points)}"/>'
        )
        elements.append(
            f'<text x="{EDGE + 8}" y="{18 + 15 * place}" fill="{tint}"'
            f' font-size="13">{text(name)}</text>'
        )
    ends = sorted({x for line in lines.values() for x, _ in line})
    marks = (
        (2, HEIGHT - EDGE, f"{low:.3f}"),
        (2, EDGE, f"{high:.3f}"),
        (EDGE, HEIGHT - 12, f"{across} {ends[0]:g}"),
        (WIDTH - 2 * EDGE, HEIGHT - 12, f"{across} {ends[-1]:g}"),
    )
    axes = "".join(
        f'<text x="{x}" y="{y}" font-size="12" fill="currentColor">{text(mark)}</text>'
        for x, y, mark in marks
    )
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img"'
        f' aria-label="{text(title)}">{axes}{"".join(elements)}</svg>'
    )
