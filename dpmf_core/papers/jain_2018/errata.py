"""Corrections of Jain, Thakkar & Thakurta 2018."""

import numpy as np
from scipy.optimize import brentq

from dpmf_core.papers.erratum import EXACT, Comparison, Erratum, Reading, Status, nominal
from dpmf_core.papers.source_noise import jain
from dpmf_core.privacy import Relation
from dpmf_core.privacy.accounting import epsilon as exactly

ADD, REPLACE = Relation
FEW_STEPS, MANY_STEPS = 100, 400


def _exact(stated: float, relation: Relation, within_l: bool = False) -> float:
    noise = jain(stated, row_bound="L" if within_l else "2L")
    return exactly(noise.event, noise.delta, relation)


def _cost(relation: Relation, within_l: bool = False) -> Reading:
    """Return the cost of the noise at a nominal epsilon of 1, for rows within 2L or within L."""
    name = EXACT[relation] + (", rows within L" if within_l else ", rows within 2L")
    return Reading(name, _exact(1.0, relation, within_l), "ε = {:.3f}")


def slack() -> Comparison:
    """Account the noise for which the source proves epsilon 1."""
    return Comparison(nominal(1.0), _cost(ADD))


def relation() -> Comparison:
    """Compare the same noise for a row added or removed, and for a row replaced.

    Also the nominal epsilon from which replacement costs more than stated.
    """
    equal = brentq(lambda stated: _exact(stated, REPLACE) - stated, 1.0, 20.0)
    return Comparison(
        _cost(ADD),
        _cost(REPLACE),
        (Reading("as stated, where replacing a row costs as much", equal),),
    )


def rows_within_l() -> Comparison:
    """Account the same noise if the row that enters the sum is projected to L."""
    return Comparison(_cost(ADD), _cost(ADD, within_l=True), (_cost(REPLACE, within_l=True),))


def excess_risk(steps: int, users: int = 30, items: int = 20) -> float:
    """Return the relative excess risk of Frank-Wolfe with steps of 1/T on a matrix of rank one.

    The matrix is fully observed, k is its nuclear norm, every direction is exact, and the risk of 0
    is 1.
    """
    target = np.outer(np.linspace(-1, 1, users), np.linspace(-1, 1, items))
    k = float(np.linalg.norm(target))  # of rank one: the nuclear norm
    iterate = np.zeros_like(target)
    for _ in range(steps):
        left, _, right = np.linalg.svd(target - iterate)
        iterate += (k * np.outer(left[:, 0], right[0]) - iterate) / steps
    return float(np.sum((iterate - target) ** 2)) / k**2


def rate() -> Comparison:
    """Compare what four times as many steps leave of the excess risk, as stated and computed."""
    form = "{:.2f} of the excess risk"
    few, many = excess_risk(FEW_STEPS), excess_risk(MANY_STEPS)
    return Comparison(
        Reading("by a rate of 1/T", FEW_STEPS / MANY_STEPS, form),
        Reading("computed", many / few, form),
        (Reading("left after 400 steps", many, "{:.3f} of the risk of predicting 0"),),
    )


SETTINGS = "σ of Theorem 3.1 for ε = 1 at δ = 1e-6, per user; the same for any number of steps."
ERRATA = (
    Erratum(
        id="jain-rate",
        title="Steps of 1/T do not converge at the rate 1/T",
        place="Appendix A, Theorem A.1; so Theorem 3.2 and Corollary 3.1",
        quote="the algorithm converges at the rate of [...] even with an error slack of",
        status=Status.ERROR,
        statement="Frank-Wolfe from 0 with T steps of size 1/T has an excess risk of order k²/(|Ω|"
        " T) plus the slack.",
        holds="With η = 1/T, the proof's recursion keeps the term (1 - 1/T)^T of the first excess"
        " risk, which tends to 1/e of it and does not vanish. On a matrix of rank one with nuclear"
        " norm k, even exact steps leave at least (1 - 1/T)^2T of the risk of predicting 0: 0.135"
        " for large T. So neither the excess risk nor the generalisation error vanishes with more"
        " users. Steps of 2/(t + 2) have the stated rate.",
        section="Rate of Frank-Wolfe",
        means=rate,
        settings="T = 100 and T = 400, a fully observed matrix of rank one, no noise.",
    ),
    Erratum(
        id="jain-slack",
        title="Theorem 3.1 needs less noise",
        place="Theorem 3.1",
        quote="due to a reduction of a Concentrated DP guarantee to a standard DP guarantee",
        status=Status.LOOSE,
        statement="σ² = 64 L⁴ T ln(1/δ)/ε² gives (ε, δ).",
        holds="It does for a user added or removed, with slack: the conversion from concentrated"
        " privacy is not tight. By exact accounting, this noise costs about half of ε = 1. So"
        " figures that compare it with another method at the same ε also compare two accounting"
        " rules.",
        section="Slack of the bound",
        means=slack,
        settings=SETTINGS + " Rows within 2L, sensitivity 4L².",
    ),
    Erratum(
        id="jain-relation",
        title="The sensitivity is for adding or removing a row",
        place="Definition 2.2; Appendix D.1.1, Lemma D.1",
        quote="differing in exactly one row",
        status=Status.AMBIGUOUS,
        statement="Neighbouring matrices differ in one row with any two values; the L2 sensitivity"
        " of AᵀA is 4L² for rows within 2L.",
        holds="Adding or removing a row moves AᵀA by 4L². Replacing a row moves it by up to √2"
        " times as much: aaᵀ - bbᵀ with orthogonal a and b, both of norm 2L. With that sensitivity"
        " the proof's conversion gives ε + ε²/(4 ln(1/δ)), more than ε. By exact accounting, the"
        " slack above covers it up to the ε given here, but not beyond; the source allows ε up to"
        " 2 ln(1/δ) = 27.6. Whether a user can reach rows of norm 2L in every step is open: those"
        " of the first step are within L.",
        section="Relation of the proof",
        means=relation,
        settings=SETTINGS + " Rows within 2L, sensitivity 4L².",
    ),
    Erratum(
        id="jain-sensitivity",
        title="Rows within L get noise for rows within 2L",
        place="Appendix B, Theorem B.1",
        quote="follows immediately from the proof of Theorem 3.1, as the key step of computing the"
        " top eigenvectors of the matrix remains the same",
        status=Status.LOOSE,
        statement="Algorithm 4 projects rows to L and draws the noise of Algorithm 1, for 4L².",
        holds="In Algorithm 1 residuals are within 2L, and 4L² is right. In Algorithm 4 the row is"
        " within L and moves the sum by L²: a quarter of the noise gives the same privacy.",
        section="Rows within L",
        means=rows_within_l,
        settings=SETTINGS,
    ),
)
