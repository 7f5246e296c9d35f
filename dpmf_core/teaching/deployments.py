"""Published uses of differential privacy, for comparison.

Their units, periods and places of noise differ, so their epsilons are not directly comparable.
"""

from dpmf_core.base.frozen import Frozen
from dpmf_core.base.registry import by_id
from dpmf_core.teaching.text_files import content_of


class Deployment(Frozen):
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


DEPLOYMENTS = by_id(
    map(Deployment.model_validate, content_of("deployments")["deployment"])
)
