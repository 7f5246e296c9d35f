"""A mechanism as somebody adds one: one class, nothing else."""

import math
from typing import Any, ClassVar

import numpy as np

from dpmf_core.privacy.mechanisms import AdditiveNoise


class ToyLogistic(AdditiveNoise):
    """Logistic noise, density e^-x / (1 + e^-x)^2: its logarithm changes by at most 1 for each unit
    of x, so that one release is 1 / z-private without a delta; the sensitivity is in L1 norm.
    """

    mechanism: ClassVar[str] = "toy logistic"

    @staticmethod
    def draw(
        generator: np.random.Generator, out: Any, scale: float, step: float
    ) -> None:
        out[:] = generator.logistic(size=len(out))
        out *= scale

    @staticmethod
    def log_density(noise: Any) -> float:
        return float((-np.abs(noise) - 2 * np.log1p(np.exp(-np.abs(noise)))).sum()) + (
            len(noise) * 2 * math.log(2)
        )

    @staticmethod
    def pure_epsilon(z: float) -> float:
        return 1 / z

    @staticmethod
    def renyi(alpha: float, z: float) -> float:
        """min(1 / z, alpha / 2 of its square) (Bun & Steinke 2016, Prop. 3.3)."""
        return min(1 / z, alpha / (2 * z * z))

    @staticmethod
    def privacy_loss(z: float, interval: float) -> Any:
        """Dominated by randomised response (Kairouz, Oh & Viswanath 2015)."""
        from dp_accounting.pld import common, privacy_loss_distribution

        return privacy_loss_distribution.from_privacy_parameters(
            common.DifferentialPrivacyParameters(1 / z, 0.0),
            value_discretization_interval=interval,
        )
