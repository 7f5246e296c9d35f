"""Saha & Imtiaz 2022: its claims, presets and corrections."""

from dpmf_core.papers.paper import Paper
from dpmf_core.papers.saha_2022 import claims, errata, presets

PAPER = Paper(
    id="saha-2022",
    short="Saha & Imtiaz 2022",
    citation=(
        "S. Saha, H. Imtiaz:"
        " Privacy-preserving Non-negative Matrix Factorization with Outliers. 2022"
    ),
    url="https://arxiv.org/abs/2211.01451",
    about="Private non-negative factorisation of documents and images, outliers set apart.",
    claims=claims.CLAIMS,
    errata=errata.ERRATA,
    presets=presets.PRESETS,
    tables=(presets.TABLE_2,),
)
