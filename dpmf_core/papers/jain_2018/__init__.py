"""Jain et al. 2018: its claims, presets, bounds and corrections."""

from dpmf_core.papers.jain_2018 import bounds, claims
from dpmf_core.papers.paper import read_paper

PAPER = read_paper(
    __name__, (*claims.CLAIMS, *bounds.CLAIMS), claims.PRESETS, bounds.BOUNDS
)
