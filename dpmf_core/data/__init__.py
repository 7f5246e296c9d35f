"""Private data in memory: ratings, samples, and what may be done to them before an algorithm
sees them.
"""

from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples

Data = Ratings | Samples

__all__ = ["Data", "Ratings", "Samples"]
