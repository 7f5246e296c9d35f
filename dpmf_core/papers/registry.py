"""The registry of papers: each is a folder and one line here.

If a source's data are not on this machine, others stand in; the verdict says so.
"""

from collections.abc import Mapping

from dpmf_core.base.registry import by_id
from dpmf_core.papers import (
    balu_2016,
    chien_2021,
    jain_2018,
    own_tables,
    saha_2022,
    vallet_2014,
)
from dpmf_core.papers.deviations import Deviation
from dpmf_core.papers.erratum import Erratum
from dpmf_core.papers.figures import Claim, Figure
from dpmf_core.papers.paper import Paper
from dpmf_core.papers.theory import Bound

PAPERS: dict[str, Paper] = by_id(
    (
        chien_2021.PAPER,
        jain_2018.PAPER,
        saha_2022.PAPER,
        balu_2016.PAPER,
        vallet_2014.PAPER,
    )
)
CLAIMS: dict[str, Claim] = by_id(
    tuple(claim for paper in PAPERS.values() for claim in paper.claims)
)
ERRATA: dict[str, Erratum] = by_id(
    tuple(erratum for paper in PAPERS.values() for erratum in paper.errata)
)
PRESETS: dict[str, Figure] = by_id(
    tuple(preset for paper in PAPERS.values() for preset in paper.presets)
)
BOUNDS: dict[str, Bound] = by_id(
    tuple(bound for paper in PAPERS.values() for bound in paper.bounds)
)
TABLES: dict[str, Figure] = by_id(own_tables.TABLES)
FIGURES: dict[str, Figure] = by_id(
    (*CLAIMS.values(), *PRESETS.values(), *TABLES.values())
)
# where our algorithms depart from a paper's, by the paper's id and the algorithm's
DEVIATIONS: dict[str, Mapping[str, tuple[Deviation, ...]]] = {
    paper.id: paper.deviations for paper in PAPERS.values()
}
