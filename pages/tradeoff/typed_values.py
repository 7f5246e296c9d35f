"""What is typed into the boxes of the Trade-off page: epsilons, and a grid of parameters."""

import re

from dpmf_core.errors import BadInput

MOST_EPSILONS = 20


def epsilons(text: str) -> tuple[float, ...]:
    """Each once, lowest first. Raises BadInput."""
    try:
        values = sorted({float(part) for part in re.split(r"[,;\s]+", text) if part})
    except ValueError:
        raise BadInput(
            f"Epsilons are numbers with commas between them, e.g. 0.5, 1, 5. Got '{text[:60]}'."
        ) from None
    if not 1 <= len(values) <= MOST_EPSILONS or not all(
        1e-4 <= epsilon <= 1000 for epsilon in values
    ):
        raise BadInput(
            f"Give 1 to {MOST_EPSILONS} epsilons from 0.0001 to 1000. Got '{text[:60]}'."
        )
    return tuple(values)


def grid(text: str) -> dict[str, list[str]]:
    """The values of one or two parameters. Raises BadInput."""
    out: dict[str, list[str]] = {}
    for part in filter(None, (part.strip() for part in text.split(";"))):
        name, equals, values = part.partition("=")
        choices = [value.strip() for value in values.split(",") if value.strip()]
        if not (equals and name.strip() and choices):
            raise BadInput(
                "A grid is written NAME = VALUES, e.g. rank = 2, 4, 8; steps = 2, 5. Got"
                f" '{part[:60]}'."
            )
        out[name.strip()] = choices
    if len(out) > 2:
        raise BadInput(f"A grid has one or two parameters. Got {len(out)}: {', '.join(out)}.")
    return out
