"""Bounds of Chien et al. 2021: Theorem 2 as printed, with its logarithms. n users, m items.

The incoherence mu, the condition number kappa and the rank r are left out where they are factors:
they are the same along every axis here.
"""

import math

from dpmf_core.papers.bounds import Bound, Place
from dpmf_core.papers.methods import DPALS
from dpmf_core.papers.theory_claims import bound_claims

C21 = "Chien et al. 2021"


def frobenius(at: Place) -> float:
    """Theorem 2's second claim for kappa = 1, without its constant: sqrt(m) log(1/delta) / (eps n)
    times gamma / sqrt(p), gamma = sqrt(m) log^2 n.
    """
    gamma = math.sqrt(at.items) * math.log(at.users) ** 2
    noise = math.sqrt(at.items) * math.log(1 / at.delta) / (at.epsilon * at.users)
    return noise * gamma / math.sqrt(at.share)


FROBENIUS = Bound(
    id="dpals",
    title="DPALS",
    algorithm="dpals",
    source=f"{C21}, Theorem 2",
    quote="with probability $\\geq 1 - 1/n^{10}$",
    statement=(
        "the relative Frobenius error is at most C √m log(1/δ) / (ε n) · κγ / √p, where γ is"
        " C κ⁶ μ³ r² √m log²(κ n)"
    ),
    formula=(
        r"\frac{\|M - \hat U \hat V^\top\|_F}{\|M\|_F} \le C\,\frac{\sqrt m\,\log(1/\delta)}"
        r"{\epsilon\, n} \cdot \frac{\kappa\gamma}{\sqrt p}, \qquad"
        r" \gamma = C \kappa^6 \mu^3 r^2 \sqrt m\, \log^2(\kappa n)"
    ),
    error=frobenius,
    ratings=lambda at: math.log(at.users) ** 3,
    needs=(
        "ε < ln(1/δ), p ≥ μ⁶κ¹²r⁶ log³n / m, √p n ≥ C γ log(1/δ) / ε, and a start close to the true"
        " factors"
    ),
)
BOUNDS = (FROBENIUS,)
CLAIMS = bound_claims(FROBENIUS, DPALS, (3, 6))
