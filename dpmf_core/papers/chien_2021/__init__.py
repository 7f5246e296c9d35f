"""Chien et al. 2021: its claims, presets and corrections."""

from dpmf_core.papers.chien_2021 import bounds, claims, theorem_2
from dpmf_core.papers.paper import read_paper

PAPER = read_paper(
    __name__,
    (*claims.CLAIMS, *theorem_2.CLAIMS, *bounds.CLAIMS),
    claims.PRESETS,
    bounds.BOUNDS,
)
