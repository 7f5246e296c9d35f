"""Corrections of Chien et al. 2021, private alternating least squares, and of its public code."""

import math

from scipy.optimize import brentq

from dpmf_core.papers import source_noise
from dpmf_core.papers.bounds import Place
from dpmf_core.papers.chien_2021.bounds import frobenius
from dpmf_core.papers.clauses import line
from dpmf_core.papers.erratum import Comparison, Erratum, Reading, Status, nominal
from dpmf_core.papers.results import recorded_result
from dpmf_core.privacy import Budget, Event, Gaussian, Relation, Repeat, calibrate, sequence
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.privacy.events import normal_form
from dpmf_core.privacy.gaussian import gaussian_epsilon
from dpmf_core.privacy.renyi import rdp_source

DELTA = 1e-5
STATED = Budget(epsilon=1.0, delta=DELTA)
TOO_LONG = 2.0  # a factor, in clip norms
MEAN_RATINGS = 50  # k of the private mean
FEW_ITEMS = 10_000.0
CODE_RATINGS, CODE_STEPS = 100, 2  # k and T for MovieLens 10M at epsilon 1
CODE_LARGEST = 3.0  # rating less the mean of about 3.5, on a scale from .5 to 5


def both_releases() -> Comparison:
    """Account Theorem 1 at a nominal epsilon of 1, with one and with both releases of a step."""
    noise = source_noise.chien(1.0, DELTA)
    (grams, steps), _ = normal_form(noise.event)
    one = Repeat(grams, steps)
    rule = Relation.ADD_REMOVE
    return Comparison(
        nominal(1.0),
        Reading("exact, both releases of a step", exactly(noise.event, DELTA), "ε = {:.4f}"),
        (
            *(
                Reading(f"by its own rule, {name}", rdp_source(event, DELTA, rule), "ε = {:.3f}")
                for name, event in (("both releases", noise.event), ("one release", one))
            ),
            Reading("exact, one release", exactly(one, DELTA), "ε = {:.4f}"),
        ),
    )


def _step(gram: float, side: float, level: float) -> Event:
    """Return one step's releases, which a user moves `gram` and `side` times their sensitivity."""
    return sequence(Gaussian(level / gram), Gaussian(level / side))


def clip() -> Comparison:
    """Account for a factor that the listing's clip leaves too long."""
    level = calibrate(lambda at: _step(1.0, 1.0, at), STATED)
    by_max = max(1.0, 1 / TOO_LONG) * TOO_LONG
    by_min = min(1.0, 1 / TOO_LONG) * TOO_LONG
    with_max, with_min = (
        exactly(_step(length**2, length, level), DELTA) for length in (by_max, by_min)
    )
    return Comparison(
        nominal(1.0),
        Reading("exact, clipped with max as printed", with_max),
        (
            Reading("exact, clipped with min", with_min),
            Reading("length after max, in clip norms", by_max, "{:.1f}"),
            Reading("length after min, in clip norms", by_min, "{:.1f}"),
        ),
    )


def mean_of_ratings() -> Comparison:
    """Account noise for one rating of a user whose k ratings all move both totals."""
    level = calibrate(lambda at: _step(1.0, 1.0, at), STATED)
    ratio = MEAN_RATINGS / math.sqrt(MEAN_RATINGS)
    lost_epsilon = exactly(_step(ratio, ratio, level), DELTA)
    more = Reading("μ that they move, over what is counted", ratio, "{:.2f}")
    return Comparison(nominal(1.0), Reading("lost by one user", lost_epsilon), (more,))


def public_code() -> Comparison:
    """Compare the public code's steps as its accountant counts them with what ratings move."""

    def steps(level: float, largest: float) -> Event:
        each = level / math.sqrt(CODE_RATINGS)
        step = sequence(Gaussian(level), Gaussian(each), Gaussian(each / largest))
        return Repeat(step, CODE_STEPS)

    level = calibrate(lambda at: steps(at, 1.0), STATED)
    return Comparison(
        nominal(1.0),
        Reading("exact, ratings up to 3 from the mean", exactly(steps(level, CODE_LARGEST), DELTA)),
        (Reading("exact, ratings clipped to 1", exactly(steps(level, 1.0), DELTA)),),
    )


def users_of_theorem_2(n_items: float, error: float = 0.1) -> float:
    """Return the users for which Theorem 2's bound is `error`; log^3 n ratings each; C = 1."""

    def gap(log_n: float) -> float:
        n = math.exp(log_n)
        at = Place(n, n_items, share=math.log(n) ** 3 / n_items)
        return math.log(frobenius(at) / error)

    return math.exp(brentq(gap, math.log(1e3), math.log(1e15)))


def remark_6() -> Comparison:
    """Compare the factors by which four times the items raise the number of users."""
    few, many = (users_of_theorem_2(m) for m in (FEW_ITEMS, 4 * FEW_ITEMS))
    return Comparison(
        Reading("by Remark 6, n in proportion to m", 4.0, "{:.1f} times the users"),
        Reading("by Theorem 2, log³n ratings each", many / few, "{:.1f} times the users"),
        (Reading("n in proportion to m√m, without logarithms", 8.0, "{:.1f} times the users"),),
    )


def noise_of_the_start() -> Comparison:
    """Account the start of Remark 2 with Theorem 1's sigma, and with enough for a row."""
    k, steps = 50, 5
    sigma = math.sqrt(2 * k * steps * (1 - math.log(DELTA)))
    return Comparison(
        nominal(1.0),
        Reading("exact, the start alone with σ of Theorem 1", gaussian_epsilon(k / sigma, DELTA)),
        (
            Reading(
                "exact, a row of one rating, which that noise is for",
                gaussian_epsilon(1 / sigma, DELTA),
            ),
        ),
    )


def highest_error() -> Comparison:
    """Compare ALS without privacy on a tenth of the films and on all, as recorded for Fig. 5."""
    recorded = recorded_result("chien-fig5", "page")
    assert recorded is not None, "the record comes with the package"
    by_share = line(recorded.measured, "ALS", "frequent_fraction")
    return Comparison(
        Reading("factors for a tenth of the films", by_share[0.1], "RMSE {:.3f}"),
        Reading("factors for all films", by_share[1.0], "RMSE {:.3f}"),
    )


ERRATA = (
    Erratum(
        id="chien-theorem-1",
        title="Each step releases two statistics but counts one",
        place="Theorem 1",
        status=Status.ERROR,
        statement="T steps with noise σ are (α, αρ²)-RDP with ρ² = kT/(2σ²).",
        holds="Gram matrices and right-hand sides are both released with noise σ, so ρ² = kT/σ²."
        " The source's conversion from RDP is loose and hides most of the gap: by exact"
        " accounting, its noise costs a little more than stated.",
        section="Both releases of a step",
        means=both_releases,
        settings="σ of the theorem for ε = 1 at δ = 1e-5, per user, add/remove; the same for any k"
        " and T.",
        quote=r"$(\alpha, \alpha\rho^2)$-joint RDP with $\rho^2 = \frac{kT}{2\sigma^2}$",
    ),
    Erratum(
        id="chien-clip",
        title="Formula and text of the clip differ",
        place="Algorithm 1, clip",
        status=Status.AMBIGUOUS,
        statement="clip(u, c) is u · max(1, c/‖u‖), the projection of u on a ball of radius c.",
        holds="The text is right: the projection is u · min(1, c/‖u‖), as in the authors' public"
        " code. With the printed max a long factor stays long and a short one becomes longer.",
        section="Clip of the listing",
        means=clip,
        settings="One step, noise for ε = 1 at δ = 1e-5, and a user whose factor is twice as long"
        " as the clip norm.",
        quote=(
            r"$\text{clip}(u, c) = u \cdot \max(1, c/\|u\|_2)$, i.e., the projection of u on an ℓ_2"
            " ball of radius c"
        ),
    ),
    Erratum(
        id="chien-private-mean",
        title="The private mean's noise covers only one count",
        place="Section 5.2",
        status=Status.ERROR,
        statement="The sum of ratings gets noise of variance kΓ²σ², their number kσ², for at most"
        " k ratings per user within Γ.",
        holds="Both are single numbers. One user moves them by up to kΓ and k, not √k times: the"
        " noise needs variances k²Γ²σ² and k²σ². The √k is right for a vector with one entry per"
        " item.",
        section="Noise of the private mean",
        means=mean_of_ratings,
        settings="k = 50; both totals together for ε = 1 at δ = 1e-5.",
        quote=r"$\tilde{m} = \frac{\sum_{(i,j) \in \Omega} M_{ij} + \mathcal{N}(0, k\Gamma^2 M"
        r" \sigma^2)}{|\Omega| + \mathcal{N}(0, k\sigma^2)}$ guarantees"
        r" $(\alpha, \alpha/\sigma^2)$-RDP",
    ),
    Erratum(
        id="chien-code",
        title="The public code's noise does not grow with ratings",
        place="public implementation, item step",
        status=Status.ERROR,
        statement="Right-hand sides get noise of σ times the bound of a factor; ratings are"
        " centred but not clipped.",
        holds="A rating of size M moves a right-hand side by M times the factor. The noise must"
        " scale with the largest rating, and ratings must be clipped to it. This concerns only the"
        " code: Algorithm 1 of the paper clips and scales correctly (lines 1 and 9), and the code"
        " correctly counts both releases of a step.",
        section="Noise of the public code",
        means=public_code,
        settings="k = 100, T = 2, equal noise on all statistics, for ε = 1 at δ = 1e-5; ratings"
        " from .5 to 5 minus a mean of 3.5. Only the item steps.",
    ),
    Erratum(
        id="chien-remark-6",
        title="Two orders of the number of users",
        place="Remark 6",
        status=Status.AMBIGUOUS,
        statement="For a relative error ζ, DPALS requires n ≥ C m / (ζ ε) users; Table 1 has n"
        " above m with log³n ratings each.",
        holds="Theorem 2's bound on the Frobenius error has √m γ / √p. With log³n ratings each, p"
        " = log³n / m, so it requires n of order m√m / (ζ ε), as section 1 states. The proof"
        " sketch bounds the distance of the factors by α, which has one √m less and gives the m of"
        " Remark 6 and Table 1. One bound cannot have both orders. Table 1's caption attributes"
        " m√m to the start of Remark 2; that has no 1/ζ, so it does not explain section 1. Here"
        " Theorem 2 is tested as printed.",
        section="Users of Remark 6",
        means=remark_6,
        settings="Theorem 2's bound with its logarithms, C = 1, for an error of .1 at ε = 10 and"
        " δ = 1e-5; 10,000 and 40,000 items.",
        quote=r"DPALS requires $n \geq \frac{Cm}{\zeta\varepsilon}$",
    ),
    Erratum(
        id="chien-start",
        title="The start's noise covers one rating, if σ is that of Theorem 1",
        place="Remark 2",
        status=Status.AMBIGUOUS,
        statement="The start releases P(M)ᵀP(M) with noise of standard deviation σ Γ_M² on each"
        " entry; the remark does not say which σ.",
        holds="A row of k ratings within Γ_M moves P(M)ᵀP(M) by up to k Γ_M² in Frobenius norm:"
        " the noise multiplier is σ/k. With the σ of Theorem 1 the start alone costs more than the"
        " whole stated ε. Theorem 1 is about a random start and does not include it. Our version"
        " scales rows to norm 1 and counts the release.",
        section="Noise of the start",
        means=noise_of_the_start,
        settings="σ of Theorem 1 for ε = 1 at δ = 1e-5, k = 50, T = 5; only the start's release.",
        quote=r"a symmetric Gaussian matrix with standard deviation $\sigma \Gamma_{\mathbf{M}}^2$",
    ),
    Erratum(
        id="chien-highest-rmse",
        title='"Highest RMSE" seems to mean lowest',
        place="section 6.3",
        status=Status.AMBIGUOUS,
        statement="Without privacy, ALS has its highest RMSE when trained on all movies.",
        holds="The sentence contrasts it with private models, which gain from fewer movies; that"
        " requires the lowest RMSE. Measured on MovieLens 1M, it is the lowest.",
        section="The highest RMSE",
        means=highest_error,
        settings="The recorded runs of Fig. 5 at page size: MovieLens 1M, rank 16.",
        quote="we get the highest RMSE by training on all movies",
    ),
)
