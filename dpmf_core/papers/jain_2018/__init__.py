"""Jain et al. 2018: its claims, presets, bounds and corrections."""

from dpmf_core.papers.jain_2018 import bounds, claims, errata, presets
from dpmf_core.papers.paper import Paper

PAPER = Paper(
    id="jain-2018",
    short="Jain et al. 2018",
    citation=(
        "P. Jain, O. Thakkar, A. Thakurta:"
        " Differentially Private Matrix Completion Revisited. ICML 2018"
    ),
    url="https://proceedings.mlr.press/v80/jain18b.html",
    about="Private Frank-Wolfe and private SVD for matrix completion, with bounds on their error.",
    claims=(*claims.CLAIMS, *bounds.CLAIMS),
    errata=errata.ERRATA,
    presets=presets.PRESETS,
    bounds=bounds.BOUNDS,
    tables=bounds.TABLES,
)
