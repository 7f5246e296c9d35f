"""DPALS and Ada-DPALS: alternating least squares with noise on the item side, which is released.

M (n_users x n_items) ~ U V^T. A user's row u solves a ridge regression on the shared V and stays
with the user (joint DP). Only the item side is released. Chien et al. 2021 [C21], Krichene et al.
2023 [K23]. Statistics: item_systems.py. Proofs: docs/PRIVACY.md, "Item Grams" and "Item right-hand
sides".
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar

import numpy as np

from dpmf_core import kernels
from dpmf_core.algorithms.als import random_start
from dpmf_core.algorithms.base import Parameters, PrivateAlgorithm, Recommender, Streams
from dpmf_core.algorithms.baselines import private_mean
from dpmf_core.algorithms.dpals_plan import MOST_OF_A_USER, DPALSPlan, few_ratings
from dpmf_core.algorithms.item_moments import SecondMoment, kept_rows
from dpmf_core.algorithms.item_offsets import NoisyCounts, release_biases
from dpmf_core.algorithms.item_systems import (
    EntryRule,
    RarityWeights,
    UserMoment,
    item_entries,
    user_factors,
)
from dpmf_core.algorithms.local_columns import with_local_columns
from dpmf_core.algorithms.parameters import parameter
from dpmf_core.algorithms.spectrum import (
    MomentNoise,
    nearest_psd,
    rating_factors,
    spectrum,
)
from dpmf_core.algorithms.svd import capped_ratings, top_directions
from dpmf_core.base.arrays import Array
from dpmf_core.base.hashing import draw_key
from dpmf_core.curator import Curator, Held, grid_step, on_disjoint_groups
from dpmf_core.data.ratings import Shape, most_rated
from dpmf_core.privacy import Budget

BLOCK_BYTES = 64 << 20  # of Grams held together


class DPALS(DPALSPlan):
    """Private ALS: each step releases noisy Gram matrices and right-hand sides of the items.

    [C21, Alg. 1, with the corrections of docs/PRIVACY.md, "Chien et al. 2021"].
    """

    id = "dpals"
    colour = "blue"
    training_cost = 8
    is_usual_rival = True
    uses_item_features = True
    title = "DPALS"
    words = "alternating least squares with noisy item statistics; user factors are never shared"
    source = "Chien et al. 2021"
    version = 10
    version_without_noise = 1
    exact_settings: ClassVar[Parameters] = {
        "steps": 20,
        "ratings_per_user": MOST_OF_A_USER,
        "regularisation": 100.0,
        "rating_clip": 0.5,
    }

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Recommender]:
        shape: Shape = curator.shape
        model, counts = self._start_model(curator, rng)
        kept_items = self._kept_items(shape, None if counts is None else counts.values)
        V = self._start(curator, model, counts, kept_items, rng)
        ridge = self._item_ridge(counts, kept_items)
        own_share = 1 / self.steps if self.resample else 1.0  # [C21, Alg. 1, line 14]
        for step, (step_curator, entries) in enumerate(
            self._step_curators(curator, model, counts, kept_items, rng.sampling)
        ):
            training = replace(
                model,
                item_factors=V,
                ridge=self.user_regularisation,
                mended=False,
            )
            key = draw_key(rng.sampling, 2 * step + 1)
            U = step_curator.hold(
                user_factors, self.clip_norm, training, own_share, key
            )
            V = np.zeros_like(V)
            V[kept_items] = self._item_step(step_curator, U, entries, ridge, kept_items)
            model = replace(
                model,
                item_factors=V * np.float32(self.clip_norm / math.sqrt(self.rank)),
            )
            yield self._with_columns(model, counts, shape)
            if self.orthonormalise:
                V = orthonormal(V)
            else:
                V = model.item_factors

    def _step_curators(
        self,
        curator: Curator,
        model: Recommender,
        counts: NoisyCounts | None,
        kept_items: Array,
        key: int,
    ) -> Iterator[tuple[Curator, Held]]:
        """The users of each step, and their entries in the item step."""
        noisy_counts = None if counts is None else counts.values
        shared = (self.entry_rule(curator.shape), model, noisy_counts, kept_items)
        if self.disjoint_users:
            for group in on_disjoint_groups(curator, self.steps):
                yield group, group.hold(item_entries, *shared, key)
        elif self.resample:  # [C21, Alg. 1, line 7]
            for step in range(self.steps):
                yield (
                    curator,
                    curator.hold(item_entries, *shared, draw_key(key, 2 * step)),
                )
        else:
            entries = curator.hold(item_entries, *shared, key)
            yield from itertools.repeat((curator, entries), self.steps)

    def _with_columns(
        self, model: Recommender, counts: NoisyCounts | None, shape: Shape
    ) -> Recommender:
        """Add local columns to the factors, if users have offsets.

        With a global mean, items without factors get the user's average [C21, section 5.1].
        """
        if (
            not self.biases
            and self.centring == "global"
            and self._n_kept(shape) < shape.n_items
        ):
            without_factors = ~model.item_factors.any(axis=1, keepdims=True)
            column = np.asarray(without_factors, np.float32)
            return replace(model, local_columns=column, averages=True)
        if not self.local_columns or model.user_damping is None:
            return model
        expected = None if counts is None else counts.expected
        return with_local_columns(model, expected, shape)

    def _start_model(
        self, curator: Curator, rng: Streams
    ) -> tuple[Recommender, NoisyCounts | None]:
        """The model before factors, and noisy item counts if anything depends on them."""
        shape: Shape = curator.shape
        model = Recommender.of_means(
            shape,
            ridge=self.prediction_ridge,
            unobserved_weight=self.unobserved_weight,
            mended=not self.unobserved_weight,
        )
        if self.biases:
            biases = release_biases(curator, unit=shape.quarter_range)
            model = replace(model, item_offsets=biases.offsets)
            return model, biases.counts
        if self.centring != "user":
            if self.centring == "global":
                centre = private_mean(curator)
            else:
                centre = 0.0
            model = replace(
                model,
                centre=centre,
                user_damping=None,
                mended=False,
            )
        if not self._needs_counts:
            return model, None
        statistic = self._own_counts(shape)
        noise = curator.scale(statistic)
        entries = curator.hold(capped_ratings, self.ratings_per_user, rng.sampling)
        return model, NoisyCounts(curator.release(statistic, entries), noise)

    def _kept_items(self, shape: Shape, counts: Array | None) -> Array:
        """Ascending ids of the items that have factors: those with the largest noisy counts."""
        if counts is None:
            return np.arange(shape.n_items)
        return np.sort(most_rated(counts, self._n_kept(shape)))

    def _item_ridge(self, counts: NoisyCounts | None, kept_items: Array) -> Array:
        ridge = self.regularisation * self.clip_norm**2 * np.ones(len(kept_items))
        if counts is not None:
            ridge *= (
                np.maximum(counts.values[kept_items], 1.0)
                ** self.regularisation_exponent
            )
        return ridge

    def entry_rule(self, shape: Shape) -> EntryRule:
        """The ratings that enter the item step, and their weights."""
        rarest = self.sampling == "adaptive"
        return EntryRule(self.ratings_per_user, self._rating_clip(shape), rarest)

    def _start(
        self,
        curator: Curator,
        model: Recommender,
        counts: NoisyCounts | None,
        kept_items: Array,
        rng: Streams,
    ) -> Array:
        """Starting item factors (n_items, r) with orthonormal columns."""
        V = random_start(rng, curator.shape.n_items, self.rank)
        if self.start == "random":
            return V
        V[:] = 0
        F = orthonormal(self._directions(curator, model, counts, kept_items))
        # there may be fewer columns than the rank: few items are kept, or few factors stand out
        V[kept_items, : F.shape[1]] = F
        return V

    def _directions(
        self,
        curator: Curator,
        model: Recommender,
        counts: NoisyCounts | None,
        kept_items: Array,
    ) -> Array:
        """Item factors (n_kept, at most rank) from one noisy second moment of rows of norm 1.

        They are eigenvectors, or the factors of the spectral algorithm.
        """
        spectral = self.start == "spectral"
        most = min(self.rank, len(kept_items))
        level = np.ones(len(kept_items))
        if spectral and counts is not None:
            level = counts.expected[kept_items]
        noise = curator.scale(SecondMoment())
        rows = curator.hold(kept_rows, model, kept_items, level**0.25)
        moment = curator.release(SecondMoment(), rows, len(kept_items))
        np.fill_diagonal(moment, 0.0)  # the diagonal shows popularity rather than taste
        if not spectral:
            return top_directions(moment, most)
        n_users = curator.shape.n_users
        uniform = MomentNoise.uniform(len(moment), n_users, noise)
        return rating_factors(
            spectrum(moment, uniform, most, 0.9), level, 0.25, n_users
        )

    def _item_step(
        self, curator: Curator, U: Held, entries: Held, ridge: Array, kept_items: Array
    ) -> Array:
        """Factors of the kept items (n_kept, r) from noisy statistics [C21, Alg. 1, lines 8-12]."""
        r = self.rank
        m = len(kept_items)
        grams, right_sides = self._item_statistics(curator.shape)
        base = None
        if self.unobserved_weight:
            K = curator.release(UserMoment(self.clip_norm), U, r)
            base = (self.unobserved_weight * nearest_psd(K)).astype(np.float32)
        # the edge of the noise's spectrum (Wigner)
        ridge = ridge + self.noise_ridge * curator.scale(grams) * math.sqrt(2 * r)
        ranges = item_ranges(m, r)
        H = curator.release_parts(grams, ranges, entries, U, r)
        w = curator.release_parts(right_sides, ranges, entries, U, r)
        V = np.empty((m, r), np.float32)
        for (at, noisy_H), (_, noisy_w) in zip(H, w, strict=True):
            # (P(H_j + G_j) + lambda I + lambda_0 K)^-1 (w_j + g_j)
            systems = (noisy_H.astype(np.float32), noisy_w.astype(np.float32))
            some = slice(*at)
            V[some] = kernels.solve_psd(
                *systems, ridge[some], base=base, project=self.psd
            )
        return V


class AdaDPALS(DPALS):
    """DPALS with all ratings, where rarer items weigh more [K23].

    A user's weights keep the total of DPALS.
    """

    id = "ada-dpals"
    colour = "sky"
    marker = "square"
    training_cost = 9
    is_usual_rival = True
    title = "Ada-DPALS"
    words = "DPALS that uses every rating, weighted by the rarity of its item"
    source = "Krichene et al. 2023"
    version_without_noise = 2
    exact_settings: ClassVar[Parameters] = {
        **DPALS.exact_settings,
        "regularisation": 200.0,
    }

    rarity_exponent: float = parameter(
        0.5, "rarity exponent μ′", "weight ∝ (noisy item count)^-μ′", (0, 1)
    )

    @property
    def _needs_counts(self) -> bool:
        return not self.biases

    @classmethod
    def recommend_for_budget(
        cls, shape: Shape, budget: Budget, parameters: Parameters
    ) -> Parameters:
        """Those of DPALS, with few ratings per user: here k only sets the total of the weights."""
        settings = super().recommend_for_budget(shape, budget, parameters)
        return settings | {"ratings_per_user": few_ratings(shape)}

    def source_level(self, shape: Shape, budget: Budget) -> float:
        """Raise BadInput: [K23] states no noise in closed form."""
        return PrivateAlgorithm.source_level(self, shape, budget)

    def entry_rule(self, shape: Shape) -> EntryRule:
        return RarityWeights(
            self.ratings_per_user,
            self._rating_clip(shape),
            exponent=self.rarity_exponent,
            root_entries=self._root_entries(shape),
        )

    def _gram_rounding(self, shape: Shape) -> float:
        """docs/PRIVACY.md, "Lemmas", 8: sqrt(w) u is rounded once more."""
        root_k = self._root_entries(shape)
        step = (
            grid_step(math.sqrt(root_k) * self.clip_norm, shape.n_users, 2)
            / self.clip_norm
        )
        spread = self._n_kept(shape) / root_k**2
        return float(8 * math.sqrt(self.rank) * step * spread**0.25)


def item_ranges(m: int, r: int) -> list[tuple[int, int]]:
    """Ranges of items whose Grams are held together."""
    size = max(1, BLOCK_BYTES // (8 * r * r))
    return [(start, min(m, start + size)) for start in range(0, m, size)]


def orthonormal(V: Array) -> Array:
    """V (V^T V)^(-1/2): the nearest matrix with orthonormal columns; zero directions stay zero."""
    values, Q = np.linalg.eigh(V.T.astype(np.float64) @ V)
    inverse_root = np.where(
        values > values.max(initial=0.0) * 1e-12,
        1 / np.sqrt(np.maximum(values, 1e-300)),
        0.0,
    )
    return np.asarray(V @ (Q * inverse_root @ Q.T), np.float32)
