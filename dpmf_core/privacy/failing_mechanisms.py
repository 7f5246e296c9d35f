"""Mechanisms that may reveal a unit with a small probability: private item sets and counts."""

import math
from abc import ABC
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpmf_core.privacy.mechanisms import Gaussian, Mechanism


@dataclass(frozen=True)
class FailingGaussian(Gaussian, ABC):
    """Gaussian noise that may reveal something only one unit brought.

    The probability is at most `failure_probability`. With u the unit that is added, the release is
    a function of a Gaussian release and of a coin. The coin shows "failed" with probability p <=
    failure_probability if u takes part, and never if u does not. So the release costs no more than
    the Gaussian noise and the coin together. The coin's loss, with u against without, is infinite
    with probability p and log(1 - p) otherwise. Without u against with, it is -log(1 - p). If one
    unit replaces another, each has a coin.

    Raises
    ------
    ValueError
        Unless `failure_probability` is above 0 and below 1.
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
            self.noise_multiplier,
            self.statistic,
            self.sensitivity,
            self.replace_one_factor,
        )

    @staticmethod
    def renyi(alpha: float, z: float) -> float:
        return math.inf

    @staticmethod
    def privacy_loss(z: float, interval: float) -> Any:
        raise TypeError(
            "A release that may fail has an infinite privacy loss with its probability of failing."
            " Account its `otherwise` and add its `failure`."
        )


@dataclass(frozen=True)
class ThresholdedCounts(FailingGaussian):
    """Noisy counts, shown with their names only where they pass a threshold.

    Names that too few units bring stay unknown. Every unit spreads a vector of L2 norm at most 1
    over at most `most` names: 1 / sqrt(t) on each of its t names. Names that only this unit brings
    must not show. If t of its names are unknown to all others, each of them has a count of at most
    1 / sqrt(t). One of them shows with probability at most 1 - Phi((T - 1 / sqrt(t)) / sigma)^t.
    The threshold T makes that at most `failure_probability` for every t from 1 to `most` (Gopi,
    Gulhane, Kulkarni, Shen, Shokouhi & Yekhanin 2020, section 5; sensitivity 1).
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
            raise ValueError(
                f"Thresholded counts have sensitivity 1. Got {self.sensitivity!r}."
            )

    @property
    def threshold(self) -> float:
        """T = max over t of 1 / sqrt(t) + sigma Phi^-1((1 - failure_probability)^(1 / t))."""
        from scipy.special import ndtri  # loaded when first needed

        t = np.arange(1, self.most + 1)
        tail = -np.expm1(np.log1p(-self.failure_probability) / t)  # 1 - (1 - p)^(1 / t)
        return float((1 / np.sqrt(t) - self.noise_multiplier * ndtri(tail)).max())


@dataclass(frozen=True)
class PaddedCount(FailingGaussian):
    """A noisy number of units, raised so that it is rarely below the truth (sensitivity 1).

    It is below the truth with probability at most `failure_probability`. Otherwise it can replace
    the true number, because empty rows are added until the count is reached. If it is below, the
    run stops. With n rows in the smaller of two neighbouring data sets, outcomes of at most n are
    the failure, and all others are the same function of the noisy count in both.
    """

    mechanism: ClassVar[str] = "padded Gaussian count"

    @property
    def padding(self) -> float:
        """The number that is added to the count."""
        from scipy.special import ndtri

        return (
            -float(ndtri(self.failure_probability))
            * self.noise_multiplier
            * self.sensitivity
        )
