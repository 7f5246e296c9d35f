"""What every estimator does with its algorithm: plan, charge the account, draw, train."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from dpmf_core import algorithms
from dpmf_core.algorithms import Algorithm, Streams
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples
from dpmf_core.kernels import single_threaded_blas
from dpmf_core.privacy import Budget, Guarantee, Noise, NoiseKind, calibrate, normal_form
from dpmf_core.privacy.accounts import charging
from dpmf_core.privacy.events import Event
from dpmf_core.privacy.odometer import Charge
from dpmf_core.runs.specification import refuse_budget

RandomState = int | np.random.RandomState | np.random.Generator | None


@dataclass(frozen=True)
class ReleasePlan:
    """What a fit will release and may claim, before it is made. budget: None without privacy."""

    algorithm: Algorithm
    budget: Budget | None
    plan: Event
    guarantee: Guarantee

    def charge(self, name: str) -> Charge:
        """What the fit of the estimator `name` enters in the account of private data."""
        title = f"{name}, {self.algorithm.title}"
        return Charge.of(title, self.plan, self.guarantee, self.budget)


def prepare(
    method: str, parameters: dict[str, Any], data: Ratings | Samples, budget: Budget | None
) -> ReleasePlan:
    """The plan of a method from the public shape of the data. Raises BadInput."""
    if budget is not None:
        refuse_budget([method], epsilon=budget.epsilon)
    shape = data.shape
    algorithm = algorithms.build(method, parameters, shape, budget)
    kind = budget.noise if budget else NoiseKind.CONTINUOUS
    plan_at = algorithms.plan_by_level(algorithm, shape, kind)
    level = calibrate(plan_at, budget) if budget else 1.0
    guarantee = algorithm.guarantee_of_run(shape, level).assuming(*data.assumptions)
    if isinstance(data, Samples):
        guarantee = guarantee.of(data.privacy_unit)
    return ReleasePlan(algorithm, budget, plan_at(level), guarantee)


def train(
    release_plan: ReleasePlan,
    data: Ratings | Samples,
    name: str,
    random_state: RandomState,
    ledger: str | None,
) -> tuple[Any, Noise]:
    """The fitted model and the noise that it drew, charged before to the account of the data.

    random_state seeds starting values, and on public data the noise; on others that has a secret
    key. Raises BadInput where a budget does not allow the charge: then nothing is drawn.
    """
    noise_seed, start = _seeds(random_state)
    rng = Streams(np.random.default_rng(start), int(start.generate_state(1)[0]))
    # the same result whatever the number of threads
    charge = release_plan.charge(name)
    with charging(data, charge, ledger, in_hand=True) as permit, single_threaded_blas:
        noise = permit.noise(release_plan.plan, noise_seed if data.public else None)
        model = algorithms.train(release_plan.algorithm, data, noise, rng)
    assert noise.ledger == normal_form(release_plan.plan)
    return model, noise


def _seeds(
    random_state: RandomState,
) -> tuple[np.random.SeedSequence | None, np.random.SeedSequence]:
    """The noise's seed, None for a secret key, and that of starting values."""
    if random_state is None:
        return None, np.random.SeedSequence()
    if isinstance(random_state, np.random.Generator):
        seed = int(random_state.integers(2**31 - 1))
    else:
        seed = int(check_random_state(random_state).randint(2**31 - 1))
    noise, start = np.random.SeedSequence(seed).spawn(2)
    return noise, start
