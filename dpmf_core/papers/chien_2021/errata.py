"""Corrections of Chien et al. 2021, private alternating least squares, and of its public code."""

import math

from scipy.optimize import brentq

from dpmf_core.papers import source_noise
from dpmf_core.papers.chien_2021.bounds import frobenius
from dpmf_core.papers.clauses import line
from dpmf_core.papers.erratum import Means, Values
from dpmf_core.papers.results import recorded_result
from dpmf_core.papers.theory import Place
from dpmf_core.privacy import Budget, Event, Gaussian, Relation, Repeat, calibrate, sequence
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.privacy.accounting import rdp_source
from dpmf_core.privacy.events import normal_form
from dpmf_core.privacy.gaussian import gaussian_epsilon

DELTA = 1e-5
STATED = Budget(epsilon=1.0, delta=DELTA)
TOO_LONG = 2.0  # a factor, in clip norms
MEAN_RATINGS = 50  # k of the private mean
FEW_ITEMS = 10_000.0
CODE_RATINGS, CODE_STEPS = 100, 2  # k and T for MovieLens 10M at epsilon 1
CODE_LARGEST = 3.0  # rating less the mean of about 3.5, on a scale from .5 to 5


def both_releases() -> Values:
    """Account Theorem 1 at a nominal epsilon of 1, with both and with one release of a step."""
    both = source_noise.chien(1.0, DELTA).event
    (grams, steps), _ = normal_form(both)
    one = Repeat(grams, steps)
    by_rule = (rdp_source(event, DELTA, Relation.ADD_REMOVE) for event in (both, one))
    return 1.0, exactly(both, DELTA), *by_rule, exactly(one, DELTA)


def _step(gram: float, side: float, level: float) -> Event:
    """Return one step's releases, which a user moves `gram` and `side` times their sensitivity."""
    return sequence(Gaussian(level / gram), Gaussian(level / side))


def clip() -> Values:
    """Account for a factor that the listing's clip leaves too long."""
    level = calibrate(lambda at: _step(1.0, 1.0, at), STATED)
    lengths = [clip(1.0, 1 / TOO_LONG) * TOO_LONG for clip in (max, min)]
    costs = (exactly(_step(length**2, length, level), DELTA) for length in lengths)
    return 1.0, *costs, *lengths


def mean_of_ratings() -> Values:
    """Account noise for one rating of a user whose k ratings all move both totals."""
    level = calibrate(lambda at: _step(1.0, 1.0, at), STATED)
    ratio = MEAN_RATINGS / math.sqrt(MEAN_RATINGS)
    return 1.0, exactly(_step(ratio, ratio, level), DELTA), ratio


def public_code() -> Values:
    """Compare the public code's steps as its accountant counts them with what ratings move."""

    def steps(level: float, largest: float) -> Event:
        each = level / math.sqrt(CODE_RATINGS)
        step = sequence(Gaussian(level), Gaussian(each), Gaussian(each / largest))
        return Repeat(step, CODE_STEPS)

    level = calibrate(lambda at: steps(at, 1.0), STATED)
    return 1.0, *(exactly(steps(level, largest), DELTA) for largest in (CODE_LARGEST, 1.0))


def users_of_theorem_2(n_items: float, error: float = 0.1) -> float:
    """Return the users for which Theorem 2's bound is `error`; log^3 n ratings each; C = 1."""

    def gap(log_n: float) -> float:
        n = math.exp(log_n)
        at = Place(n, n_items, share=math.log(n) ** 3 / n_items)
        return math.log(frobenius(at) / error)

    return math.exp(brentq(gap, math.log(1e3), math.log(1e15)))


def remark_6() -> Values:
    """Compare the factors by which four times the items raise the number of users.

    They are by Remark 6, by Theorem 2, and in proportion to m sqrt(m).
    """
    few, many = (users_of_theorem_2(m) for m in (FEW_ITEMS, 4 * FEW_ITEMS))
    return 4.0, many / few, 8.0


def noise_of_the_start() -> Values:
    """Account the start of Remark 2 with Theorem 1's sigma, for k ratings and for one."""
    k, steps = 50, 5
    sigma = math.sqrt(2 * k * steps * (1 - math.log(DELTA)))
    return 1.0, gaussian_epsilon(k / sigma, DELTA), gaussian_epsilon(1 / sigma, DELTA)


def highest_error() -> Values:
    """Compare ALS without privacy on a tenth of the films and on all, as recorded for Fig. 5."""
    recorded = recorded_result("chien-fig5")
    assert recorded is not None, "the record comes with the package"
    by_share = line(recorded.measured, "ALS", "frequent_fraction")
    return 1.0, by_share[1.0] / by_share[0.1], by_share[0.1], by_share[1.0]


MEANS: dict[str, Means] = {
    "chien-theorem-1": both_releases,
    "chien-clip": clip,
    "chien-private-mean": mean_of_ratings,
    "chien-code": public_code,
    "chien-remark-6": remark_6,
    "chien-start": noise_of_the_start,
    "chien-highest-rmse": highest_error,
}
