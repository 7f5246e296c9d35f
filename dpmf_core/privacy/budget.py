"""The budget of a run: epsilon, delta, relation, calibration, kind of noise."""

import math
from enum import StrEnum
from typing import Any, Self

from pydantic import ConfigDict, Field, model_serializer, model_validator

from dpmf_core.base.errors import BadInput
from dpmf_core.base.frozen import Frozen
from dpmf_core.privacy.gaussian import gaussian_mu
from dpmf_core.privacy.mechanisms import Relation

NEEDS_DELTA = (
    "delta = 0 needs noise with a pure epsilon, such as Laplace noise, which this method or rule"
    " does not use. Give a delta below 1/n, such as 1e-6."
)


class NoiseKind(StrEnum):
    """The kind of noise. NONE is the same algorithm without noise, and has no budget."""

    CONTINUOUS = "continuous"
    DISCRETE = "discrete"
    NONE = "none"


class Calibration(StrEnum):
    """The rule that sets the noise multiplier for a budget."""

    EXACT = "exact"
    SOURCE = "source"


class Budget(Frozen):
    """What a run may spend: (epsilon, delta)-DP for one unit under a neighbouring relation."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    epsilon: float = Field(
        ge=1e-4,
        le=1000,
        allow_inf_nan=False,
        title="ε",
    )
    """total privacy loss of the run; smaller is more private"""
    delta: float = Field(
        ge=0,
        lt=0.5,
        allow_inf_nan=False,
        title="δ",
        description=(
            "slack of the bound P ≤ e^ε P′ + δ on every set of results; keep it below 1/n; 0 only"
            " for methods without Gaussian noise"
        ),
    )
    relation: Relation = Field(Relation.ADD_REMOVE, title="neighbouring relation")
    calibration: Calibration = Calibration.EXACT
    """exact: just enough noise for ε; source: as much as the source's own rule requires"""

    noise: NoiseKind = Field(
        NoiseKind.CONTINUOUS,
        description=(
            "continuous: floating-point; discrete: exact, with statistics rounded to a grid; none:"
            " the same method without noise, without privacy and without ε"
        ),
    )

    @model_validator(mode="after")
    def _is_spent_on_noise(self) -> Self:
        if self.noise is NoiseKind.NONE:
            raise ValueError("noise=none has no budget: leave out epsilon and delta")
        return self

    @model_serializer(mode="wrap")
    def _serialise(self, whole: Any) -> dict[str, Any]:
        """Leave out the default noise, so runs keep their identity as more kinds are added."""
        fields: dict[str, Any] = whole(self)
        if fields.get("noise") == NoiseKind.CONTINUOUS:
            del fields["noise"]
        return fields

    @property
    def mu(self) -> float:
        """The budget's Gaussian-DP parameter.

        Raises
        ------
        BadInput
            If delta is 0.
        """
        if not self.delta:
            raise BadInput(NEEDS_DELTA)
        return gaussian_mu(self.epsilon, self.delta)


class AccountBudget(Budget):
    """The total budget of one private data set, with delta above 0."""

    delta: float = Field(
        gt=0,
        lt=0.5,
        allow_inf_nan=False,
        title="δ",
    )

    allow_unprotected: bool = False
    """allow work that has no epsilon for a row of the data"""


def default_delta(n_users: int) -> float:
    """1 / (10 n), rounded down to one digit."""
    exponent = math.floor(math.log10(1 / (10 * n_users)) + 1e-9)
    return float(f"{math.floor(1 / (10 * n_users) / 10.0**exponent + 1e-9)}e{exponent}")
