"""The registry of errata: a source is a file, and one line here."""

from dpmf_core.papers.errata import balu, chien, jain, langevin, saha, vallet
from dpmf_core.papers.errata.erratum import Erratum
from dpmf_core.registry import by_id

ERRATA: dict[str, Erratum] = by_id(
    (
        *chien.ERRATA,
        *jain.ERRATA,
        *saha.ERRATA,
        *balu.ERRATA,
        *langevin.ERRATA,
        *vallet.ERRATA,
    )
)
