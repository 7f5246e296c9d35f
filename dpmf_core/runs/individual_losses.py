"""What single units lost in a run: individual accounting after Feldman & Zrnic 2021 and Koskela,
Tobaben & Honkela 2023.

A run's mu is made for the worst unit. What a unit moved over the noise, composed over all releases,
is her own. It is a function of private rows and of what they made of the run, so it is for the
curator's eyes: no record, file or result holds it. And it is no promise: that would need a filter
that stops at a bound set before.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from dpmf_core.algorithms import Algorithm
from dpmf_core.curator.people import split_units
from dpmf_core.curator.questions import ListeningCurator
from dpmf_core.data.hashing import keyed_uniform
from dpmf_core.errors import BadInput
from dpmf_core.privacy import Event, Noise, normal_form
from dpmf_core.privacy.gaussian import all_gaussian, gaussian_epsilon, mu
from dpmf_core.runs.planning import prepared_for
from dpmf_core.runs.specification import RunSpec

SAMPLE_SIZE = 200  # units, drawn at random


@dataclass(frozen=True)
class Bin:
    """Units whose mu is at most a share of the run's, and above the bin before: what that is as
    an epsilon, and how many they are.
    """

    share: float
    epsilon: float
    units: int


@dataclass(frozen=True)
class IndividualLosses:
    """mu (n_units,) of units drawn at random, for adding or removing each; the run's, and the
    delta at which epsilons are said.
    """

    mu: npt.NDArray[np.float64]
    bound: float
    delta: float

    @property
    def epsilons(self) -> npt.NDArray[np.float64]:
        """(n_units,)."""
        return np.array([gaussian_epsilon(float(mu), self.delta) for mu in self.mu])

    def histogram(self, bins: int = 10) -> list[Bin]:
        """Bins of equal width from 0 to the run's mu."""
        shares = np.linspace(0.0, 1.0, bins + 1)[1:]
        # rounding may put who moved all that is allowed a digit above it
        places = np.searchsorted(shares, np.minimum(self.mu / self.bound, 1.0))
        counts = np.bincount(places, minlength=bins)
        return [
            Bin(float(share), gaussian_epsilon(float(share) * self.bound, self.delta), int(count))
            for share, count in zip(shares, counts, strict=True)
        ]


def listening_curator(algorithm: Algorithm, data: Any, noise: Noise) -> ListeningCurator:
    """A curator of one fit that can be asked afterwards what each unit moved."""
    return ListeningCurator(data, noise, algorithm.guarantee().assumptions)


def require_individual(spec: RunSpec, data: Any) -> None:
    """Raises BadInput where a run has no individual losses."""
    if not spec.data.releases_shape:
        ready = prepared_for(spec, data)
        gaussian = normal_form(ready.plan) and all_gaussian(ready.plan)
        if gaussian and ready.guarantee.has_epsilon:
            return
    raise BadInput(
        "Individual losses are of runs with a proof, a declared shape and continuous Gaussian noise"
        " alone. This run is none of them."
    )


def individual_losses(
    curator: ListeningCurator, data: Any, plan: Event, spec: RunSpec
) -> IndividualLosses:
    """Of at most `SAMPLE_SIZE` units. data: what the curator was opened on. plan: what it
    released.
    """
    n_units = data.shape.n_units
    budget = spec.canonical().budget
    assert budget is not None  # it releases something
    sample = np.argsort(keyed_uniform(spec.seed, np.arange(n_units)), kind="stable")[:SAMPLE_SIZE]
    blocks = split_units({"train": data}, [np.array([unit]) for unit in sample])
    return IndividualLosses(
        np.array([curator.record.total_shift(block) for block in blocks]), mu(plan), budget.delta
    )
