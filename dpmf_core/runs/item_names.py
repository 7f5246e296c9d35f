"""What a run knows of its items without anybody's rating: ids, titles, public features."""

from dataclasses import dataclass
from typing import Self

from dpmf_core.data.item_features import ItemFeatures
from dpmf_core.data.partitioned import PartitionedRatings
from dpmf_core.data.ratings import Ratings


@dataclass(frozen=True)
class ItemNames:
    """ids: one an item, each once. titles: of public data, where they are not the ids. features:
    the items' public table, where there is one.
    """

    ids: tuple[str, ...]
    titles: tuple[str, ...] = ()
    features: ItemFeatures | None = None

    @classmethod
    def of(cls, ratings: Ratings | PartitionedRatings) -> Self:
        """Ids as they are in the data; of public data without ids their titles, else numbers from
        0. A title in private data is what one person's row says, so none is told.
        """
        titles = (ratings.titles or ()) if ratings.public else ()
        if ratings.labels is not None and len(set(ratings.labels)) == ratings.n_items:
            ids = ratings.labels
        elif titles and len(set(titles)) == ratings.n_items:
            ids = titles
        else:
            ids = tuple(map(str, range(ratings.n_items)))
        return cls(ids, titles if titles != ids else (), ratings.item_features)
