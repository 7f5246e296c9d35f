"""Collective factorisation: ratings and a public table of items share the items' factors.

M (n_users x n_items) ~ U V^T and F (n_items x n_features) ~ V W^T. Only M is private: what F adds
to the items' least squares is public and costs nothing. Curmei, Krichene, Zhang & Sundararajan 2023
[C23], after Singh & Gordon 2008. Privacy: docs/PRIVACY.md, "Collective factorisation".
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from dpmf_core.algorithms.als import ALS, Rows
from dpmf_core.algorithms.base import Array, Recommender
from dpmf_core.algorithms.dpals import DPALS, Systems
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.privacy import Budget

FEATURE_WEIGHT: float = Field(
    1.0,
    ge=0,
    le=1e4,
    title="feature weight α",
    description="how many ratings of the item one feature counts as",
)
ROUNDS = 4  # of item and feature factors in turn, on the same noisy statistics
FEATURE_RIDGE = 1e-3  # of the feature factors, in mean squares of an item factor's entry, per item


class CMF(ALS):
    """ALS whose item factors also fit a public table of items; without a table it is ALS. Not
    private.
    """

    id: ClassVar[str] = "cmf"
    needs_item_features: ClassVar[bool] = True
    title: ClassVar[str] = "CMF"
    words: ClassVar[str] = "ALS whose item factors also fit public features of the items"
    source: ClassVar[str] = "Singh & Gordon 2008; Curmei et al. 2023"
    version: ClassVar[int] = 1

    feature_weight: float = FEATURE_WEIGHT

    def asks_sums_alone(self) -> bool:
        return False

    def _beside_ratings(self, rows: Rows, model: Recommender, data: Ratings) -> Rows:
        """Ratings, and every feature as one further user who has rated all items with it."""
        F = centred_features(data.shape, np.arange(data.n_items))
        m, f = F.shape
        if not self.feature_weight or not f:
            return rows
        root = np.float32(math.sqrt(self.feature_weight))
        W = np.zeros((f, rows.factors.shape[1]), np.float32)  # a feature has no offset
        W[:, : self.rank] = root * feature_factors(model.item_factors, F)
        after = np.repeat(rows.starts[1:], f)
        further = np.tile(np.arange(len(rows.factors), len(rows.factors) + f), m)
        return Rows(
            rows.starts + f * np.arange(m + 1),
            np.insert(rows.columns, after, further),
            np.insert(rows.values, after, (root * F).ravel()),
            np.concatenate([rows.factors, W]),
        )


class DPCMF(DPALS):
    """DPALS whose item factors also fit a public table of items; without a table it is DPALS."""

    id: ClassVar[str] = "dp-cmf"
    needs_item_features: ClassVar[bool] = True
    title: ClassVar[str] = "DP-CMF"
    words: ClassVar[str] = "DPALS whose item factors also fit public features of the items"
    source: ClassVar[str] = "Curmei et al. 2023"
    version: ClassVar[int] = 3
    training_cost: ClassVar[int] = 10
    is_usual_rival: ClassVar[bool] = False
    twin: ClassVar[str] = "cmf"

    feature_weight: float = FEATURE_WEIGHT

    @classmethod
    def recommend(
        cls, shape: Shape, budget: Budget | None, parameters: Mapping[str, Any]
    ) -> dict[str, Any]:
        """As DPALS, but with factors for every item, for the table speaks of those that few have
        rated; and the more noise there is, the more features weigh. Constants were chosen on
        MovieLens 1M and 100K and the simulated cinema.
        """
        defaults = super().recommend(shape, budget, parameters)
        if budget is None:
            return defaults
        return defaults | {
            "rank": min(shape.n_items, max(4, defaults["rank"])),
            "frequent_fraction": 1.0,
            "feature_weight": min(1000.0, 3 / budget.mu**2),
        }

    def _solve_items(
        self,
        systems: Iterable[Systems],
        ridge: Array,
        base: Array | None,
        shape: Shape,
        kept_items: Array,
    ) -> Array:
        blocks = list(systems)
        V = super()._solve_items(blocks, ridge, base, shape, kept_items)
        F = centred_features(shape, kept_items)
        if not self.feature_weight or not F.shape[1]:
            return V
        for _ in range(ROUNDS):
            W = feature_factors(V, F)
            pull = self.feature_weight * (F @ W)
            with_features = (
                Systems(it.items, it.H, it.w + pull[slice(*it.items)]) for it in blocks
            )
            both = self.feature_weight * (W.T @ W) + (0 if base is None else base)
            V = super()._solve_items(with_features, ridge, both, shape, kept_items)
        return V


def centred_features(shape: Shape, kept_items: Array) -> Array:
    """The public table of the kept items (n_kept, n_features), float32: columns less their mean,
    all over one scale, so that an entry varies as much as a rating does.
    """
    if shape.item_features is None:
        return np.zeros((len(kept_items), 0), np.float32)
    F = shape.item_features.values[kept_items].astype(np.float64)
    F -= F.mean(axis=0)
    scale = np.sqrt(np.mean(F**2)) if F.size else 0.0
    return np.asarray(F * (shape.half_range / 2 / max(scale, 1e-12)), np.float32)


def feature_factors(V: Array, F: Array) -> Array:
    """W (n_features, r): every feature's ridge regression on the item factors."""
    moment = V.T.astype(np.float64) @ V
    ridge = FEATURE_RIDGE * np.trace(moment) / len(moment) + 1e-12
    solution = np.linalg.solve(moment + ridge * np.eye(len(moment)), V.T @ F)
    return np.asarray(solution.T, np.float32)
