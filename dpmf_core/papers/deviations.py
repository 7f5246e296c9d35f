"""Deviations: where an algorithm of ours departs from the algorithm that its source prints."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Deviation:
    """One place where an algorithm here does something else than its source.

    Each paper's folder declares its deviations in `deviations.py`, by the id of the algorithm, and
    its `printed.py` holds the algorithm as printed. Tests apply a deviation to the printed version
    and find the results of ours.

    place: where in the paper. paper: what the paper does, in a short quotation or its symbols.
    ours: what the algorithm here does. why: the reason. cost: key of the measured cost in error,
    which a command records; '' if nothing is measured.
    """

    place: str
    paper: str
    ours: str
    why: str
    cost: str = ""
