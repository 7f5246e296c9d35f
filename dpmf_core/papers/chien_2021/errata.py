"""Errata of Chien et al. 2021, private alternating least squares, and of its public code."""

import math

from dpmf_core.papers import source_noise
from dpmf_core.papers.chien_2021 import private_mean
from dpmf_core.papers.erratum import (
    Comparison,
    Erratum,
    Reading,
    Status,
    epsilon_form,
    nominal,
)
from dpmf_core.privacy import Budget, Event, Gaussian, Relation, Repeat, calibrate, sequence
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.privacy.events import normal_form
from dpmf_core.privacy.gaussian import gaussian_epsilon
from dpmf_core.privacy.renyi import rdp_source

C21 = "Chien et al. 2021"
DELTA = 1e-5
TOO_LONG = 2.0  # a factor, in clip norms
CODE_RATINGS, CODE_STEPS = 100, 2  # k and T for MovieLens 10M at epsilon 1
CODE_LARGEST = 3.0  # rating less the mean of about 3.5, on a scale from .5 to 5


def both_releases() -> Comparison:
    """Theorem 1 at a nominal epsilon of 1, with one release of a step counted and with both."""
    noise = source_noise.chien(1.0, DELTA)
    (grams, steps), _ = normal_form(noise.event)
    one = Repeat(grams, steps)
    rule = Relation.ADD_REMOVE
    return Comparison(
        nominal(1.0),
        Reading("exact, both releases of a step", exactly(noise.event, DELTA), epsilon_form(4)),
        (
            Reading(
                "by its own rule, both releases",
                rdp_source(noise.event, DELTA, rule),
                epsilon_form(3),
            ),
            Reading("by its own rule, one release", rdp_source(one, DELTA, rule), epsilon_form(3)),
            Reading("exact, one release", exactly(one, DELTA), epsilon_form(4)),
        ),
    )


def _step(gram: float, side: float, level: float) -> Event:
    """One step's releases, for a user who moves them `gram` and `side` times their sensitivity."""
    return sequence(Gaussian(level / gram), Gaussian(level / side))


def clip() -> Comparison:
    """What a factor costs that the listing's clip leaves too long."""
    budget = Budget(epsilon=1.0, delta=DELTA)
    level = calibrate(lambda at: _step(1.0, 1.0, at), budget)
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
    """The private mean's noise for epsilon 1, and what a replay finds that one user moved."""
    source, enough = (
        private_mean.replayed_mu(noise, 1.0, DELTA) for noise in ("one count", "every count")
    )
    return Comparison(
        nominal(1.0),
        Reading("lost by one user, replayed", gaussian_epsilon(source, DELTA)),
        (
            Reading(
                "lost with noise for all her ratings, replayed", gaussian_epsilon(enough, DELTA)
            ),
            Reading("μ that she moves, over what is counted", source / enough, "{:.2f}"),
        ),
    )


def public_code() -> Comparison:
    """The public code's steps as its accountant counts them, and as ratings move them."""

    def steps(level: float, largest: float) -> Event:
        each = level / math.sqrt(CODE_RATINGS)
        step = sequence(Gaussian(level), Gaussian(each), Gaussian(each / largest))
        return Repeat(step, CODE_STEPS)

    level = calibrate(lambda at: steps(at, 1.0), Budget(epsilon=1.0, delta=DELTA))
    return Comparison(
        nominal(1.0),
        Reading("exact, ratings up to 3 from the mean", exactly(steps(level, CODE_LARGEST), DELTA)),
        (Reading("exact, ratings clipped to 1", exactly(steps(level, 1.0), DELTA)),),
    )


ERRATA = (
    Erratum(
        id="chien-theorem-1",
        title="Each step releases two statistics, one is counted",
        source=C21,
        place="Theorem 1",
        status=Status.ERROR,
        statement="T steps with noise σ are (α, αρ²)-RDP with ρ² = kT/(2σ²).",
        holds="Gram matrices and right-hand sides are both released with noise σ, so ρ² = kT/σ²."
        " The source's conversion from RDP is loose and hides most of the gap: accounted exactly,"
        " its noise costs a little more than stated.",
        section="Both releases of a step",
        means=both_releases,
        settings="σ of the theorem for ε = 1 at δ = 1e-5, per user, add/remove; the same for any k"
        " and T.",
    ),
    Erratum(
        id="chien-clip",
        title="The clip of the listing takes the maximum",
        source=C21,
        place="Algorithm 1, clip",
        status=Status.ERROR,
        statement="clip(u, c) multiplies u by max(1, c/‖u‖).",
        holds="It must be min. With max a long factor stays long and a short one is made longer."
        " The proof uses min, and the authors' public code has it.",
        section="Clip of the listing",
        means=clip,
        settings="One step, noise for ε = 1 at δ = 1e-5, and a user whose factor is twice as long"
        " as the clip norm.",
    ),
    Erratum(
        id="chien-private-mean",
        title="The private mean has noise for one count",
        source=C21,
        place="Section 5.2",
        status=Status.ERROR,
        statement="The sum of ratings gets noise of variance kΓ²σ², their number kσ², where a user"
        " has at most k ratings within Γ.",
        holds="These two are single numbers. One user moves them by up to kΓ and k, not √k times:"
        " the noise must have variances k²Γ²σ² and k²σ². The √k is right for a vector with"
        " one entry an item.",
        section="Noise of the private mean",
        means=mean_of_ratings,
        stored_figures=("ε = 1", "ε = 9.36"),
        settings="k = 50; both totals together for ε = 1 at δ = 1e-5. Releases of a world without"
        " one user are replayed on the world with her.",
    ),
    Erratum(
        id="chien-code",
        title="Noise of the public code does not grow with ratings",
        source=C21,
        place="public implementation, item step",
        status=Status.ERROR,
        statement="Right-hand sides get noise of σ times the bound of a factor; ratings are centred"
        " and not clipped.",
        holds="A rating of size M moves a right-hand side by M times the factor. The noise must be"
        " scaled by the largest rating, and ratings clipped to it. That both releases of a step are"
        " counted is right there.",
        section="Noise of the public code",
        means=public_code,
        settings="k = 100, T = 2, equal noise on all statistics, for ε = 1 at δ = 1e-5; ratings"
        " from .5 to 5 less a mean of 3.5. The item steps alone.",
    ),
)
