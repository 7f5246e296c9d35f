"""What a user's own ratings and a public item table say together: the floor that a private
recommender with item features must beat, for nothing is released.
"""

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from dpmf_core.algorithms.base import Algorithm, Recommender, Streams
from dpmf_core.algorithms.baselines import PUBLIC_FACTS
from dpmf_core.algorithms.local_columns import with_local_columns
from dpmf_core.curator import Curator
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy import Guarantee, Status


class OwnContent(Algorithm):
    """Each user's own ridge regression on the public item features; without any, her mean."""

    id: ClassVar[str] = "content"
    colour: ClassVar[str] = "grey"
    marker: ClassVar[str] = "diamond"
    is_trivial: ClassVar[bool] = True
    needs_item_features: ClassVar[bool] = True
    uses_item_features: ClassVar[bool] = True
    title: ClassVar[str] = "Own content"
    words: ClassVar[str] = (
        "each user's own regression on public item features; nobody's data reaches anybody else"
    )
    source: ClassVar[str] = "trivial predictor"

    def guarantee(self) -> Guarantee:
        return Guarantee(Status.PROVEN, taken_as_public=PUBLIC_FACTS)

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Recommender]:
        shape: Shape = curator.shape
        nothing = np.zeros(shape.n_items, np.float32)
        no_factors = np.zeros((shape.n_items, 0), np.float32)
        model = Recommender(shape.bounds, shape.mid_range, nothing, no_factors, 0.0)
        yield with_local_columns(model, None, shape)
