"""What every run of our private non-negative factorisation does otherwise than Algorithm 2.

It holds also with the source's noise, start and step of W.
"""

from collections.abc import Callable

from dpmf_core.papers.clauses import Results
from dpmf_core.papers.deviations import read_deviations

_DEPARTURES = "; ".join(
    deviation.ours
    for deviation in read_deviations(__package__)["dp-nmf"]
    if deviation.every_run
)
DEPARTS = f"DP-NMF departs from Algorithm 2: it {_DEPARTURES}."


def with_departures(
    remark: Callable[[Results], str] = lambda results: "",
) -> Callable[[Results], str]:
    """A claim's remark that also names what every run of it does otherwise."""
    return lambda results: " ".join(filter(None, (remark(results), DEPARTS)))
