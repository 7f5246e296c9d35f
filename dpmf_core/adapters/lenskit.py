"""Private recommenders as components of LensKit (2025 or newer).

topn_pipeline(DPScorer(epsilon=2, bounds=(0.5, 5)), n=10) trains and recommends as with any scorer.
"""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict

from dpmf_core.algorithms import PrivateAlgorithm, find
from dpmf_core.estimators import PlainRecommender, PrivateRecommender

try:
    from lenskit.data import Dataset, ItemList, QueryInput, RecQuery
    from lenskit.pipeline import Component
    from lenskit.training import Trainable, TrainingOptions
except ImportError as error:
    raise ImportError(
        "The components for LensKit need it, 2025 or newer: pip install 'lenskit>=2025'."
    ) from error


class DPScorerConfig(BaseModel):
    """As the parameters of `PrivateRecommender`; without a promise where `method` has none, and
    epsilon, delta, relation and noise then mean nothing.
    """

    model_config = ConfigDict(extra="forbid")

    method: str = "spectral"
    epsilon: float = 1.0
    delta: float | None = None
    bounds: tuple[float, float] | None = None
    relation: Literal["add-remove", "replace-one"] = "add-remove"
    noise: Literal["continuous", "discrete"] = "continuous"
    parameters: dict[str, Any] = {}
    public: bool = False
    ledger: str | None = None


class DPScorer(Component[ItemList], Trainable):  # type: ignore[misc]  # LensKit may be absent
    """Scores items by predicted ratings, which are not clipped to the bounds so that ties stay
    apart.

    `recommender`, once trained, has guarantee_, epsilon_, delta_, ledger_ and account_. LensKit's
    seed is that of starting values, and of the noise on public data alone. A trained component
    holds the ratings of its users: it is private.
    """

    config: DPScorerConfig
    recommender: PrivateRecommender | PlainRecommender

    def train(self, data: Dataset, options: TrainingOptions | None = None) -> None:
        """Fit to a data set's ratings: a release, which enters the account. Raises BadInput."""
        options = options or TrainingOptions()
        if hasattr(self, "recommender") and not options.retrain:
            return
        parameters = self.config.model_dump()
        kind: Any = PrivateRecommender
        if not issubclass(find(self.config.method), PrivateAlgorithm):
            kind = PlainRecommender
            parameters = {
                name: parameters[name]
                for name in PlainRecommender().get_params()
                if name in parameters
            }
        recommender = kind(
            **parameters,
            items=list(data.items.ids()),
            random_state=None if options.rng is None else options.random_generator(),
        )
        table = data.interaction_table(format="pandas", fields=["rating"], original_ids=True)
        recommender.fit(table.rename(columns={"user_id": "user", "item_id": "item"}))
        recommender.model_ = replace(recommender.model_, bounds=(-np.inf, np.inf))
        self.recommender = recommender

    def __call__(self, query: QueryInput, items: ItemList) -> ItemList:
        """The items with a score each; nan for those that are not known. A user's side follows from
        the ratings in the query, else from those that she trained with. Raises BadInput.
        """
        rec_query = RecQuery.create(query)
        user = "" if rec_query.user_id is None else rec_query.user_id
        ids = items.ids()
        pairs = pd.DataFrame({"user": [user] * len(ids), "item": ids})
        is_known = pairs["item"].isin(self.recommender.items_).to_numpy()
        scores = np.full(len(ids), np.nan)
        if is_known.any():
            own = self._own_ratings(user, rec_query.history_items)
            scores[is_known] = self.recommender.predict(pairs[is_known], own=own)
        return ItemList(items, scores=scores)

    def _own_ratings(self, user: Any, history: ItemList | None) -> pd.DataFrame | None:
        """Ratings in a query as a frame, without those of unknown items."""
        ratings = None if history is None else history.field("rating")
        if history is None or ratings is None or not len(history):
            return None
        frame = pd.DataFrame({"user": user, "item": history.ids(), "rating": ratings})
        known_rows: pd.DataFrame = frame[frame["item"].isin(self.recommender.items_)]
        return known_rows if len(known_rows) else None
