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
        given = self.config.model_dump()
        kind: Any = PrivateRecommender
        if not issubclass(find(self.config.method), PrivateAlgorithm):
            kind = PlainRecommender
            given = {name: given[name] for name in PlainRecommender().get_params() if name in given}
        made = kind(
            **given,
            items=list(data.items.ids()),
            random_state=None if options.rng is None else options.random_generator(),
        )
        table = data.interaction_table(format="pandas", fields=["rating"], original_ids=True)
        made.fit(table.rename(columns={"user_id": "user", "item_id": "item"}))
        made.model_ = replace(made.model_, bounds=(-np.inf, np.inf))
        self.recommender = made

    def __call__(self, query: QueryInput, items: ItemList) -> ItemList:
        """The items with a score each; nan for those that are not known. A user's side follows from
        the ratings in the query, else from those that she trained with. Raises BadInput.
        """
        asked = RecQuery.create(query)
        user = "" if asked.user_id is None else asked.user_id
        ids = items.ids()
        pairs = pd.DataFrame({"user": [user] * len(ids), "item": ids})
        known = pairs["item"].isin(self.recommender.items_).to_numpy()
        scores = np.full(len(ids), np.nan)
        if known.any():
            own = self._brought(user, asked.history_items)
            scores[known] = self.recommender.predict(pairs[known], own=own)
        return ItemList(items, scores=scores)

    def _brought(self, user: Any, history: ItemList | None) -> pd.DataFrame | None:
        """Ratings in a query as a frame, without those of unknown items."""
        ratings = None if history is None else history.field("rating")
        if history is None or ratings is None or not len(history):
            return None
        frame = pd.DataFrame({"user": user, "item": history.ids(), "rating": ratings})
        kept: pd.DataFrame = frame[frame["item"].isin(self.recommender.items_)]
        return kept if len(kept) else None
