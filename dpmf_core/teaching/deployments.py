"""Published uses of differential privacy, for comparison.

Their units, periods and places of noise differ, so their epsilons are not directly comparable.
"""

import tomllib
from dataclasses import dataclass
from importlib.resources import files

from dpmf_core.base.registry import by_id


@dataclass(frozen=True)
class Deployment:
    """One use of differential privacy, as its publisher describes it.

    Attributes
    ----------
    delta
        0 for pure differential privacy.
    unit
        What the guarantee protects.
    relation
        How neighbours differ, if the source states it.
    period
        The time that epsilon covers.
    address
        The address of the source.
    """

    id: str
    name: str
    epsilon: float
    delta: float
    unit: str
    relation: str
    period: str
    year: int
    source: str
    address: str


_CONTENT = tomllib.loads(
    files(__package__).joinpath("deployments.toml").read_text("utf-8")
)
DEPLOYMENTS = by_id(Deployment(**deployment) for deployment in _CONTENT["deployment"])
