"""Chien et al. 2021: its claims, presets and corrections."""

from dpmf_core.papers.chien_2021 import bounds, claims, errata, presets, theorem_2
from dpmf_core.papers.paper import Paper

PAPER = Paper(
    id="chien-2021",
    short="Chien et al. 2021",
    citation=(
        "S. Chien, P. Jain, W. Krichene, S. Rendle, S. Song, A. Thakurta, L. Zhang:"
        " Private Alternating Least Squares: Practical Private Matrix Completion with"
        " Tighter Rates. ICML 2021"
    ),
    url="https://proceedings.mlr.press/v139/chien21a.html",
    about="DPALS: alternating least squares whose item step releases noisy sums over users.",
    claims=(*claims.CLAIMS, *theorem_2.CLAIMS, *bounds.CLAIMS),
    errata=errata.ERRATA,
    presets=presets.PRESETS,
    bounds=bounds.BOUNDS,
    tables=bounds.TABLES,
)
