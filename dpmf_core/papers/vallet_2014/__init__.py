"""Vallet et al. 2014: its claims, presets and corrections."""

from dpmf_core.papers.paper import Paper
from dpmf_core.papers.vallet_2014 import claims, errata, protocol

PAPER = Paper(
    id="vallet-2014",
    short="Vallet et al. 2014",
    citation=(
        "D. Vallet, A. Friedman, S. Berkovsky:"
        " Matrix Factorization Without User Data Retention. PAKDD 2014"
    ),
    url="https://doi.org/10.1007/978-3-319-06608-0_47",
    about=(
        "Matrix factorisation whose server stores neither ratings nor user vectors: users bring"
        " their ratings each time, and item factors learn from them."
    ),
    claims=claims.CLAIMS,
    errata=errata.ERRATA,
    presets=protocol.PRESETS,
)
