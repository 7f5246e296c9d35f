"""Private data: ratings, samples, and their preparation before an algorithm sees them."""

from dpmf_core.data.partitioned import PartitionedRatings
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples

Data = Ratings | Samples  # in memory
AnyData = Data | PartitionedRatings
__all__ = ["AnyData", "Data", "PartitionedRatings", "Ratings", "Samples"]
