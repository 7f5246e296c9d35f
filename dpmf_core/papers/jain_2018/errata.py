"""Errata of Jain, Thakkar & Thakurta 2018, private Frank-Wolfe."""

from dpmf_core.papers.erratum import (
    EXACT,
    Comparison,
    Erratum,
    Reading,
    Status,
    epsilon_form,
    nominal,
)
from dpmf_core.papers.source_noise import SOURCE_NOISE
from dpmf_core.privacy import Relation
from dpmf_core.privacy.accounting import epsilon as exactly

J18 = "Jain et al. 2018"
ADD, REPLACE = Relation


def _cost(relation: Relation, within_l: bool = False) -> Reading:
    """Of the noise at a nominal epsilon of 1, for rows within 2L or within L."""
    noise = SOURCE_NOISE[J18].claims(1.0)[within_l]
    name = EXACT[relation] + (", rows within L" if within_l else ", rows within 2L")
    return Reading(name, exactly(noise.event, noise.delta, relation), epsilon_form(3))


def slack() -> Comparison:
    """What the noise costs for which the source proves 1."""
    return Comparison(nominal(1.0), _cost(ADD))


def relation() -> Comparison:
    """The same noise under the relation that is proved and the one that is defined."""
    return Comparison(_cost(ADD), _cost(REPLACE))


def rows_within_l() -> Comparison:
    """The same noise where the row that enters the sum is projected to L."""
    return Comparison(_cost(ADD), _cost(ADD, within_l=True), (_cost(REPLACE, within_l=True),))


SETTINGS = "σ of Theorem 3.1 for ε = 1 at δ = 1e-6, per user; the same for any number of steps."
ERRATA = (
    Erratum(
        id="jain-slack",
        title="The noise is about twice what is needed",
        source=J18,
        place="Theorem 3.1",
        status=Status.LOOSE,
        statement="σ² = 64 L⁴ T ln(1/δ)/ε² gives (ε, δ).",
        holds="It does, with slack: the bound from concentrated privacy is not tight. Composed"
        " exactly, that noise costs about half. Figures that compare it with another paper's method"
        " at the same ε compare two rules as well.",
        section="Slack of the bound",
        means=slack,
        settings=SETTINGS + " Rows within 2L, sensitivity 4L².",
    ),
    Erratum(
        id="jain-relation",
        title="Replacement is defined, removal is proved",
        source=J18,
        place="Definition of neighbours; Theorem 3.1",
        status=Status.AMBIGUOUS,
        statement="Neighbours differ in one user's ratings, which are replaced.",
        holds="The proof bounds what one user adds. Replacing her moves a second moment √2 times as"
        " far. The slack above is larger than that, so ε = 1 still holds.",
        section="Relation of the proof",
        means=relation,
        settings=SETTINGS + " Rows within 2L, sensitivity 4L².",
    ),
    Erratum(
        id="jain-sensitivity",
        title="Rows within L have noise for rows within 2L",
        source=J18,
        place="Algorithm 4",
        status=Status.LOOSE,
        statement="Rows are projected to L; the noise is the one of Algorithm 1, for 4L².",
        holds="In Algorithm 1 residuals are within 2L, and 4L² is right. In Algorithm 4 the row"
        " that enters is within L and moves the sum by L²: a quarter of the noise gives the same"
        " privacy."
        " So it would in Algorithm 1, were residuals projected to L themselves.",
        section="Rows within L",
        means=rows_within_l,
        settings=SETTINGS,
    ),
)
