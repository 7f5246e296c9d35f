"""Mechanisms that reveal a unit completely with a small probability: private item sets and
counts.
"""

import math
from abc import ABC
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpmf_core.privacy.mechanisms import Gaussian, Mechanism


@dataclass(frozen=True)
class FailingGaussian(Gaussian, ABC):
    """Gaussian noise whose outcome shows, with a probability of at most `failure_probability`,
    something that only one unit brought.

    With u the unit that is added, the release is a function of a Gaussian release and of a coin
    that shows "failed" with probability p <= failure_probability where u takes part and never where
    they do not. So it costs no more than both together: Gaussian noise, and a loss that is infinite
    with probability p and log(1 - p) otherwise (with u against without), or -log(1 - p) (without u
    against with). When one unit replaces another there is a coin for each. Raises ValueError unless
    failure_probability is above 0 and below 1.
    """

    failure_probability: float = 0.0

    allows_groups: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.failure_probability < 1:
            raise ValueError(
                f"The 'failure_probability' of {type(self).__name__} must be above 0 and below 1."
                f" Got {self.failure_probability!r}."
            )

    @property
    def failure(self) -> float:
        return self.failure_probability

    @property
    def otherwise(self) -> Mechanism:
        return Gaussian(
            self.noise_multiplier, self.statistic, self.sensitivity, self.replace_one_factor
        )

    @staticmethod
    def renyi(alpha: float, z: float) -> float:
        return math.inf

    @staticmethod
    def privacy_loss(z: float, interval: float) -> Any:
        raise TypeError(
            "The loss of a release that may fail is infinite with the probability of failing:"
            " account its `otherwise` and add its `failure`."
        )


@dataclass(frozen=True)
class ThresholdedCounts(FailingGaussian):
    """Noisy counts of which only those above a threshold are shown, with their names: names that
    too few units bring stay unknown.

    Every unit spreads a vector of L2 norm at most 1 over at most `most` names: 1 / sqrt(t) on each
    of the t names that are theirs. Names that only they bring must not show. Where t of theirs are
    unknown to all others, each has a count of at most 1 / sqrt(t), and one of them shows with
    probability at most 1 - Phi((T - 1 / sqrt(t)) / sigma)^t. The threshold T makes that at most
    `failure_probability` for every t from 1 to `most` (Gopi, Gulhane, Kulkarni, Shen, Shokouhi &
    Yekhanin 2020, section 5; sensitivity 1).
    """

    mechanism: ClassVar[str] = "thresholded Gaussian"

    most: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (isinstance(self.most, int) and self.most >= 1):
            raise ValueError(
                f"The 'most' of {type(self).__name__} must be a whole number of at least 1. Got"
                f" {self.most!r}."
            )
        if self.sensitivity != 1.0:
            raise ValueError(f"Thresholded counts have sensitivity 1. Got {self.sensitivity!r}.")

    @property
    def threshold(self) -> float:
        """T = max over t of 1 / sqrt(t) + sigma Phi^-1((1 - failure_probability)^(1 / t))."""
        from scipy.special import ndtri  # loaded when first needed

        t = np.arange(1, self.most + 1)
        tail = -np.expm1(np.log1p(-self.failure_probability) / t)  # 1 - (1 - p)^(1 / t)
        return float((1 / np.sqrt(t) - self.noise_multiplier * ndtri(tail)).max())


@dataclass(frozen=True)
class PaddedCount(FailingGaussian):
    """A number of units with Gaussian noise, raised so that it falls below the truth with
    probability at most `failure_probability`; sensitivity 1.

    Then it can replace the true number: empty rows are added until the count is reached. Where it
    falls below, the run stops: with n rows in the smaller of two neighbouring worlds, the outcomes
    of at most n are the failure, and all others are the same function of the noisy count in both.
    """

    mechanism: ClassVar[str] = "padded Gaussian count"

    @property
    def padding(self) -> float:
        """By how much the count is raised."""
        from scipy.special import ndtri

        return -float(ndtri(self.failure_probability)) * self.noise_multiplier * self.sensitivity
