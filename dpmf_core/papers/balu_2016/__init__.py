"""Balu & Furon 2016: its claims, presets and corrections."""

from dpmf_core.papers.balu_2016 import claims, errata, protocol
from dpmf_core.papers.bounds import PrintedTable
from dpmf_core.papers.paper import Paper

NOISE = PrintedTable(
    title="How the noise of a count sketch differs from that of SGLD",
    place="Section 4.3",
    columns=("what", "in a count sketch"),
    rows={
        "Which factors get it": "all but those of the rating that is learned from",
        "Its variance": "δ² / (wk) for an update δ, so of the order η²; SGLD's is η",
        "Its distribution": "not Gaussian: it comes from 2d updates alone",
    },
    note="w: cells of a row; k: rows; d: dimension; η: learning rate. A test checks the variance"
    " over many hashes.",
)

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
    errata=errata.ERRATA,
    presets=protocol.PRESETS,
    tables=(NOISE,),
)
