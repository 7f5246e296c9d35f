"""Balu & Furon 2016: its claims, presets and corrections."""

from dpmf_core.papers.balu_2016 import claims, errata, langevin, presets
from dpmf_core.papers.paper import Paper

PAPER = Paper(
    id="balu-2016",
    short="Balu & Furon 2016",
    citation=(
        "R. Balu, T. Furon:"
        " Differentially Private Matrix Factorization using Sketching Techniques. IH&MMSec 2016"
    ),
    url="https://doi.org/10.1145/2909827.2930793",
    about="Factorisation by stochastic gradients whose factors lie in one count sketch.",
    claims=claims.CLAIMS,
    errata=(*errata.ERRATA, *langevin.ERRATA),
    presets=presets.PRESETS,
)
