"""What choosing costs: the best of a random number of private trials (Papernot & Steinke 2022), beside one trial and beside all of them composed.

The theorem asks that the number of trials is drawn from its distribution, configurations at random, that scores are private within each trial,
and that nothing but the winner is shown. It is evaluated by `dp_accounting` on the Renyi curve of one trial.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpmf_core.privacy.accounting import UnsupportedEvent, epsilon
from dpmf_core.privacy.events import Event, Gaussian, Laplace, Leaf, Relation, Repeat, normal_form

SHAPES: dict[str, float] = {"poisson": math.inf, "geometric": 1.0, "logarithmic": 0.0}


@dataclass(frozen=True)
class Price:
    """single: epsilon of one trial, exactly; single_renyi: by the Renyi curve. best_of: by distribution of the number of trials.
    all_shown: about `mean` trials composed."""

    mean: float
    delta: float
    single: float
    single_renyi: float
    best_of: dict[str, float]
    all_shown: float


def price_of_choosing(event: Event, mean: float, delta: float, relation: Relation = Relation.ADD_REMOVE) -> Price:
    """event: everything that one trial releases, its score included. mean: of the number of trials, at least 1.

    Raises UnsupportedEvent for posterior samples, ValueError where mean is below 1.
    """
    from dp_accounting import dp_event
    from dp_accounting.rdp import RdpAccountant

    if not mean >= 1:
        raise ValueError(f"The mean number of trials must be at least 1. Got {mean}.")
    one = dp_event.ComposedDpEvent([_their_event(leaf, count, relation) for leaf, count in normal_form(event)])

    def renyi(asked: Any) -> float:
        accountant = RdpAccountant()
        accountant.compose(asked)
        return float(accountant.get_epsilon(delta))

    best_of = {name: renyi(dp_event.RepeatAndSelectDpEvent(one, mean, shape)) for name, shape in SHAPES.items()} if mean > 1 else {}
    return Price(mean, delta, epsilon(event, delta, relation), renyi(one), best_of, epsilon(Repeat(event, math.ceil(mean)), delta, relation))


def _their_event(leaf: Leaf, count: int, relation: Relation) -> Any:
    from dp_accounting import dp_event

    multiplier = leaf.noise_multiplier / (leaf.replace_one_factor if relation is Relation.REPLACE_ONE else 1.0)
    if isinstance(leaf, Gaussian):
        return dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(multiplier), count)
    if isinstance(leaf, Laplace):
        return dp_event.SelfComposedDpEvent(dp_event.LaplaceDpEvent(multiplier), count)
    raise UnsupportedEvent("The price of choosing is known for Gaussian and Laplace noise, not for posterior samples.")


def number_of_trials(distribution: str, mean: float, rng: np.random.Generator) -> int:
    """How many trials a private selection makes, drawn at random; 0 is possible for `poisson` alone, and then nothing is released."""
    if distribution == "poisson":
        return int(rng.poisson(mean))
    if distribution == "geometric":
        return int(rng.geometric(1 / mean))
    gamma = _logarithmic(mean)
    return int(rng.logseries(1 - gamma))


def _logarithmic(mean: float) -> float:
    """The parameter gamma of the logarithmic distribution on 1, 2, ... with this mean: (1 / gamma - 1) / log(1 / gamma) (Papernot & Steinke 2022, Def. 1)."""
    from scipy.optimize import brentq

    return float(brentq(lambda gamma: (1 / gamma - 1) / math.log(1 / gamma) - mean, 1e-12, 1 - 1e-9)) if mean > 1 + 1e-6 else 1 - 1e-9
