"""Where our sketch and regular factorisation depart from Balu & Furon 2016, unless as printed."""

from collections.abc import Mapping

from dpmf_core.papers.deviations import Deviation

UNITS = Deviation(
    place="section 5.1.3",
    paper="a learning rate η chosen “based on validation set prediction score”, in stars",
    ours="measures errors in units of a quarter of the rating range, which is 1 for 1 to 5 stars;"
    " not with as_printed",
    why="one default learning rate then fits ratings of every range",
    cost="units",
)
CLIPPING = Deviation(
    place="section 5.1.2, equation 18",
    paper="errors of the product of both vectors, whatever its size",
    ours="clips predictions to the rating range; not with as_printed",
    why="no rating is outside the range",
    cost="clipping",
)


def step_length(place: str, paper: str) -> Deviation:
    return Deviation(
        place=place,
        paper=paper,
        ours="ends a step where its rating is met, which binds if η (|p|² + |q|²) is above 1; not"
        " with as_printed",
        why="steps at large learning rates would overshoot until the factors are infinite",
        cost="step-length",
    )


DEVIATIONS: Mapping[str, tuple[Deviation, ...]] = {
    "sketch": (
        step_length(
            "section 3.2, equations 15 and 16",
            "cells “are updated with their sign corrected gradients”",
        ),
        UNITS,
        CLIPPING,
    ),
    "sgd-mf": (
        step_length("section 2.2, equations 2 and 3", "p − η ∇R and q − η ∇R"),
        UNITS,
        CLIPPING,
    ),
}
