"""Bounds of Chien et al. 2021: Theorem 2 as printed, with its logarithms, and Table 1.

n users, m items. mu is the incoherence of the matrix, kappa its condition number, r its rank, p the
share of entries that are observed. Logarithms are natural. Universal constants are left out.
"""

import math
from dataclasses import replace

from dpmf_core.papers.bounds import Bound, Place, PrintedTable
from dpmf_core.papers.methods import DPALS
from dpmf_core.papers.theory import PLACES, bound_claims

C21 = "Chien et al. 2021"
THEOREM_2 = f"{C21}, Theorem 2"
ERROR = r"\|\mathbf{M} - \widehat{\mathbf{U}}^T (\widehat{\mathbf{V}}^T)^\top\|"
FROBENIUS_QUOTE = (
    rf"${ERROR}_F \leq C \cdot \frac{{\sqrt{{m}} \log(1/\delta)}}{{\varepsilon \cdot n}} \cdot"
    r" \frac{\kappa \gamma}{\sqrt{p}} \|\mathbf{M}\|_F$"
)
LARGEST_QUOTE = (
    rf"${ERROR}_\infty \leq C \cdot \frac{{m \log(1/\delta)}}{{\varepsilon \cdot n}} \cdot"
    r" \frac{\kappa \gamma}{\sqrt{p}} \cdot \frac{\mu^2 r \|\mathbf{M}\|_2}{\sqrt{mn}}$"
)


def gamma(at: Place) -> float:
    """Return gamma = kappa^6 mu^3 r^2 sqrt(m) log^2(kappa n) for kappa = mu = r = 1."""
    return math.sqrt(at.items) * math.log(at.users) ** 2


def frobenius(at: Place) -> float:
    """Return Theorem 2's bound on the relative Frobenius error for kappa = mu = r = 1.

    It is sqrt(m) log(1/delta) / (eps n) times kappa gamma / sqrt(p).
    """
    noise = math.sqrt(at.items) * math.log(1 / at.delta) / (at.epsilon * at.users)
    return noise * gamma(at) / math.sqrt(at.share)


def largest_entry(at: Place) -> float:
    """Return the bound on the largest error of an entry, over mu^2 r ||M||_2 / sqrt(mn)."""
    return math.sqrt(at.items) * frobenius(at)


def least_share(at: Place, rank: int = 1) -> float:
    """Return the share of entries that Theorem 2 requires: mu^6 kappa^12 r^6 log^3 n / m."""
    return rank**6 * math.log(at.users) ** 3 / at.items


def least_users(at: Place) -> float:
    """Return the users that Theorem 2 requires: sqrt(p) n >= gamma log(1/delta) / eps."""
    return gamma(at) * math.log(1 / at.delta) / (at.epsilon * math.sqrt(at.share))


def noise_of_a_step(at: Place, steps: int) -> float:
    """Return alpha, by which Lemma 4 lets Err(V*, V) grow in a step, for rank 1."""
    logs = math.log(at.users) * math.sqrt(at.items)
    return logs * steps * math.log(1 / at.delta) / (math.sqrt(at.share) * at.users * at.epsilon)


FROBENIUS = Bound(
    id="dpals",
    title="DPALS",
    algorithm="dpals",
    source=THEOREM_2,
    quote=FROBENIUS_QUOTE,
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
    needs=(
        "ε < ln(1/δ), p ≥ μ⁶κ¹²r⁶ log³n / m, √p n ≥ C γ log(1/δ) / ε (the text read here sets"
        " the root over p n; only √p n gives the order of n in Table 1), a start within C / (κ² r²"
        " ln n) of the true factors, and the parameters k = C m p log n, T = log(μκn/ε), σ ="
        " C √(kT ln(1/δ)) / ε, Γᵤ = C μ σ₁ √r / √n, Γ_M = μ² r σ₁ / √(mn), λ = 0"
    ),
)
BOUNDS = (FROBENIUS,)


def out_of_reach(full: bool) -> str:
    """Return why the paper's own synthetic data, of rank 5, are outside the theorem."""
    at = replace(PLACES["users"], users=5_000)
    share = least_share(at, rank=5)
    return (
        "Theorem 2 asks for a share p of observed entries of at least μ⁶κ¹²r⁶ log³n / m. For r = 5,"
        f" m = {at.items:,.0f} and n = {at.users:,.0f} that is {share:,.0f} even with μ = κ = 1,"
        " and a share is at most 1: no data of these sizes meet it. The theorem also asks for"
        " ε < ln(1/δ) = 11.5."
    )


CLAIMS = bound_claims(
    FROBENIUS, DPALS, lambda axis, _: (3, 6) if axis == "items" else (), limits=out_of_reach
)

TABLE_1 = PrintedTable(
    title="Sample complexity for a constant Frobenius error",
    place="Table 1",
    rows={
        "Trace norm, not private (Candès & Recht 2009) *": (
            "n above m; log² n ratings a user; poly(n, m) iterations"
        ),
        "ALS, not private (Jain et al. 2013) *": (
            "n above m; log² n ratings a user; polylog(n, m) iterations"
        ),
        "Private SVD (McSherry & Mironov 2009) *": "none is given",
        "Private SGLD (Liu et al. 2015)": "none is given",
        "Private Frank-Wolfe (Jain et al. 2018)": (
            "n above m^(5/4); √m ratings a user; poly(n, m) iterations"
        ),
        "Private ALS (this work) *": "n above m; log³ n ratings a user; polylog(n, m) iterations",
    },
    note=(
        "Orders without polylogarithms in n, m and 1/δ; ratings are of one user. * assumes an"
        " incoherent matrix. Private ALS needs the start of Theorem 2; with that of Remark 2 it"
        " needs n above m√m. Theorem 2's bound as printed needs m√m for private ALS with log³n"
        " ratings a user: see the corrections."
    ),
)
COST = PrintedTable(
    title="What one step costs",
    place="section 3.2",
    rows={
        "ALS": "O(|Ω'| r² + m r³) for the item step, and similarly for the user step",
        "Private ALS": (
            "the same order; forming the noise adds O(m r²), and the projection O(m r³)"
        ),
        "Private Frank-Wolfe": ("O(m² + |Ω'| k); O(Γ (m + |Ω'|)) with a stochastic approximation"),
    },
    note="Ω' are the sampled ratings and r is the rank. The paper names only an order; times of the"
    " programs here are in docs/RESULTS.md.",
)
REMARK_7 = PrintedTable(
    title="m private linear regressions with common features, by one step of DPALS",
    place="Remark 7",
    rows={
        "One step of private ALS": "excess empirical risk √m / (ε n), up to logarithms",
        "Lower bound for m = O(1) (Smith et al. 2017)": "1 / (ε n), up to logarithms",
    },
    note="From this the paper conjectures that the error of private ALS is tight in m and ε n.",
)
TABLES = (TABLE_1, COST, REMARK_7)
