"""The spectral recommender (ours): eigenvectors of one noisy second moment, refined by gradients.

A user's row, centred by the user's mean and by private item offsets, is weighted by item popularity
and scaled to norm 1. The sum of a a^T is released once. Its eigenvectors are free, at any rank. Its
diagonal carries sampling, not taste, and is dropped after the release. Users solve local ridge
regressions with prior means that follow from which items they rated. A few noisy gradients refine
the factors. docs/PRIVACY.md, "Item second moment", "Attention moment", "Refining gradient".
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np

from dpmf_core.algorithms import item_lists, item_offsets, prior_means, refinement
from dpmf_core.algorithms.base import (
    MOST_ITEMS,
    Parameters,
    Recommender,
    Streams,
    triangle,
)
from dpmf_core.algorithms.baselines import ProvenForUsers
from dpmf_core.algorithms.item_moments import (
    MomentColumns,
    MomentTimesSubspace,
    RatedCounts,
    SecondMoment,
    kept_rows,
)
from dpmf_core.algorithms.local_columns import LOCAL_COLUMNS, with_local_columns
from dpmf_core.algorithms.parameters import (
    LEAST,
    LEAST_SHARE,
    choice,
    parameter,
    share_field,
)
from dpmf_core.algorithms.spectrum import (
    MomentNoise,
    Spectrum,
    column_space,
    factor_variances,
    items_that_pay,
    least_signal,
    rating_factors,
    spectrum,
    subspace_spectrum,
)
from dpmf_core.base.arrays import Array
from dpmf_core.curator import Curator, Held, Statistic, grid_step
from dpmf_core.data.ratings import Shape, most_rated
from dpmf_core.privacy import NOTHING, Budget, Event, Repeat, sequence

# share of an iteration's mu^2 that finds the subspace; the rest measures it
COLUMNS_SHARE = 0.3
# clip of what a user adds to a product: few rows lie further in a subspace
PRODUCT_CLIP = 0.5
MOST_CELLS = 36_000_000  # of those columns: 288 MB
SPARE = 8  # columns of an iterated subspace beyond the rank


class Spectral(ProvenForUsers):
    """Release private biases, the second moment of users' rows once, and noisy gradients.

    The rest is post-processing and local.
    """

    id = "spectral"
    colour = "vermilion"
    training_cost = 3
    is_usual_rival = True
    uses_item_features = True
    title = "Spectral"
    words = (
        "one noisy second moment of the items, its eigenvectors, each user's own ridge regression,"
        " and a few noisy gradients that refine them"
    )
    source = "ours, after Dwork et al. 2014, McSherry & Mironov 2009"
    model_type = item_lists.Projection
    version = 11

    rank: int = parameter(
        32,
        "rank r",
        "at most this many factors; factors below the noise are always dropped",
        (1, 512),
    )
    biases: bool = choice(
        True,
        "private item offsets first; off: rows are centred only by each user's own mean, and all"
        " items have equal weight",
    )
    bias_share: float = share_field(
        0.2, "budget share of biases", "of the total mu², for offsets and counts"
    )
    implicit: bool = parameter(
        False,
        "implicit feedback",
        "uses which items were rated, not their ratings: for lists (recall) rather than ratings",
    )
    release: Literal["covariance", "iteration", "none"] = choice(
        "covariance",
        "the whole second moment; some columns and products with the subspace they span: less"
        " memory; none: only offsets (lists: counts)",
    )
    rounds: int = parameter(
        1,
        None,
        "products with the subspace, after the columns; each costs budget",
        (1, 20),
    )
    items_kept: int = parameter(
        0,
        "items kept",
        "factors for this many items, by highest count; 0: as many as reduce the error",
        (0, 100_000),
    )
    taste: float = parameter(
        0.03,
        None,
        "expected share of a rating's variance in one factor; determines how many items get"
        " factors",
        (LEAST, 1),
    )
    popularity_exponent: float = parameter(
        0.25,
        "popularity exponent",
        "a row's entries are weighted by (noisy count)^exponent",
        (-1, 1),
    )
    shrinkage: float = parameter(
        0.9,
        None,
        "eigenvalues are reduced by this multiple of the edge of the noise's spectrum",
        (0, 2),
    )
    prediction_ridge: float = parameter(
        0.8,
        "prediction ridge",
        "of a user's own regression, until refined; for lists: of the items', in mean diagonal"
        " entries",
        (LEAST, 1e6),
    )
    refinement_steps: int = parameter(
        0, "refinement steps", "noisy gradients; each costs budget", (0, 50)
    )
    refinement_share: float = share_field(
        0.5, "refinement's share", "of the mu² left after biases and attention"
    )
    attention_share: float = parameter(
        0.0,
        "attention's share",
        "of the mu² left after biases, for users' prior means by which items they rated; 0:"
        " prior means of 0",
        (0, 1 - LEAST_SHARE),
    )
    local_columns: bool = LOCAL_COLUMNS

    @classmethod
    def recommend_for_budget(
        cls, shape: Shape, budget: Budget, parameters: Parameters
    ) -> Parameters:
        """Recommend from n, m, mu(epsilon, delta) and bounds alone.

        Constants were chosen on MovieLens 1M and the low-rank sets, and checked elsewhere.
        """
        signal = shape.n_users * budget.mu
        if parameters.get("implicit", shape.bounds == (0.0, 1.0)):
            return item_lists.recommended_lists(shape, signal)
        biases = parameters.get("biases", True)
        steps = parameters.get("refinement_steps", refinement.STEPS if biases else 0)
        is_too_noisy = biases and signal < least_signal(
            shape.n_items, refined=steps > 0
        )
        attends = biases and steps > 0 and signal >= prior_means.LEAST_SIGNAL
        n_carried = math.ceil((0.8 * signal) ** 0.75)
        is_large = min(n_carried, shape.n_items) > MOST_ITEMS
        if is_too_noisy:
            release = "none"
        elif is_large:
            release = "iteration"
        else:
            release = "covariance"
        return {
            "bias_share": min(
                0.8, max(0.1, 3 * shape.n_items / (3 * shape.n_items + signal))
            ),
            "rank": 32,
            "attention_share": prior_means.SHARE if attends else 0.0,
            "release": release,
            **(
                refinement.recommended_refinement(shape, signal, steps) if steps else {}
            ),
        }

    # -- what it spends ----------------------------------------------------------------------------

    @property
    def _share(self) -> float:
        """The share of mu^2 before the second moment; 1 without a second moment."""
        if self.release == "none":
            return 1.0
        if self.biases or self.implicit:
            return self.bias_share
        return 0.0

    @property
    def _steps(self) -> int:
        """Refinement steps: none of lists, or where there are no factors."""
        if self.implicit or self.release == "none":
            return 0
        return self.refinement_steps

    @property
    def _attention(self) -> float:
        """The share of the mu^2 left after biases for users' prior means."""
        has_factors = self.biases and not self.implicit and self.release != "none"
        if has_factors:
            return self.attention_share
        return 0.0

    @property
    def n_steps(self) -> int:
        return 1 + self._steps

    def statistics(self, shape: Shape) -> tuple[Statistic, ...]:
        if self._share:
            first: tuple[Statistic, ...] = (item_offsets.SumsAndCounts(),)
        else:
            first = ()
        if self.implicit:
            first = (RatedCounts(),)
        if self.release == "none":
            return first
        released: list[Statistic] = [*first]
        if self.release == "iteration":
            released += [MomentColumns(), self._products(shape)]
        else:
            released.append(SecondMoment())
        if self._attention:
            released.append(prior_means.AttentionMoment())
        if self._steps:
            released += refinement.STATISTICS
        return tuple(released)

    def _products(self, shape: Shape) -> MomentTimesSubspace:
        n_columns = min(self.rank + SPARE, shape.n_items)
        step = grid_step(1.0, shape.n_users, 2)
        return MomentTimesSubspace(PRODUCT_CLIP, math.sqrt(n_columns) * step)

    def plan(self, shape: Shape, level: float) -> Event:
        share = self._share
        first: Event = NOTHING
        if self.implicit:
            first = RatedCounts().event(level / math.sqrt(share))
        elif share:
            first = item_offsets.bias_plan(level, share)
        if self.release == "none":
            return first
        attention = (1 - share) * self._attention
        if self._steps:
            rest = (1 - share - attention) * self.refinement_share
        else:
            rest = 0.0
        last = refinement.refinement_plan(level, rest, self._steps)
        if attention:
            last = sequence(
                prior_means.AttentionMoment().event(level / math.sqrt(attention)), last
            )
        z = level / math.sqrt(1 - share - attention - rest)
        if self.release == "covariance":
            return sequence(first, SecondMoment().event(z), last)
        product = self._products(shape).event(
            z * math.sqrt(self.rounds / (1 - COLUMNS_SHARE))
        )
        columns = MomentColumns().event(z / math.sqrt(COLUMNS_SHARE))
        return sequence(first, columns, Repeat(product, self.rounds), last)

    def sizes(self, shape: Shape) -> dict[str, int]:
        n_kept = min(self.items_kept or shape.n_items, shape.n_items)
        most = prior_means.most_coordinates(shape, self.rank)
        return {
            SecondMoment.name: triangle(min(n_kept, MOST_ITEMS)),
            MomentColumns.name: min(n_kept * n_kept, max(n_kept, MOST_CELLS)),
            MomentTimesSubspace.name: n_kept * min(self.rank + SPARE, n_kept),
            prior_means.AttentionMoment.name: triangle(most),
            refinement.RefiningGradient.name: shape.n_items * (self.rank + 1),
        }

    # -- what it computes --------------------------------------------------------------------------

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Recommender]:
        if self.implicit:
            yield self._lists(curator)
        else:
            yield from self._ratings(curator)

    def _ratings(self, curator: Curator) -> Iterator[Recommender]:
        """F for the kept items, zero for the others; then the model after each refinement."""
        shape: Shape = curator.shape
        unit = shape.quarter_range
        n_items = shape.n_items
        if self._share:
            biases = item_offsets.release_biases(curator, unit=unit)
        else:
            biases = item_offsets.ReleasedBiases.unknown(n_items)
        ridge = self.prediction_ridge * unit**2
        model = Recommender.of_means(shape, item_offsets=biases.offsets, ridge=ridge)
        counts = biases.counts.expected
        if self.release == "none":
            yield self._with_columns(model, counts, shape)
            return
        kept_items = self._kept_items(curator, biases.counts)
        rows = curator.hold(
            kept_rows, model, kept_items, counts[kept_items] ** self.popularity_exponent
        )
        moment_spectrum = self._spectrum(curator, rows, counts[kept_items])
        F = np.zeros((n_items, len(moment_spectrum.eta)), np.float32)
        F[kept_items] = unit * rating_factors(
            moment_spectrum, counts[kept_items], self.popularity_exponent, shape.n_users
        )
        model = replace(model, item_factors=F, mended=True)
        displayed_model = self._with_columns(model, counts, shape)
        if self._attention:
            displayed_model = prior_means.with_prior_means(
                curator, displayed_model, counts
            )
        yield displayed_model
        if self._steps:
            variances, others = factor_variances(
                moment_spectrum,
                counts[kept_items],
                self.popularity_exponent,
                shape.n_users,
            )
            model = replace(displayed_model, local_columns=model.local_columns)
            estimate = refinement.Estimate.of(
                model, kept_items, variances, others, biases.variances
            )
            for _ in range(self._steps):
                estimate = refinement.refine(curator, estimate, displayed_model, counts)
                displayed_model = self._with_columns(estimate.model, counts, shape)
                yield displayed_model  # the same object: what users fit to it is found once

    def _with_columns(
        self, model: Recommender, counts: Array, shape: Shape
    ) -> Recommender:
        if not self.local_columns:
            return model
        return with_local_columns(model, counts if self._share else None, shape)

    def _lists(self, curator: Curator) -> Recommender:
        """Rank kept items by their regression on all others, other items below them by counts."""
        scale = curator.scale(RatedCounts())
        C = curator.release(RatedCounts())
        if self.release == "none":
            return item_lists.list_by_counts(curator.shape, C)
        noisy = item_offsets.NoisyCounts(C, scale)
        kept_items = self._kept_items(curator, noisy)
        counts = noisy.expected
        likes = item_lists.ItemLikes.of(
            kept_items, counts[kept_items], self.popularity_exponent
        )
        if self.release == "covariance":
            F = item_lists.liked_covariance(curator, likes, self.rank, self.shrinkage)
        else:
            rows = curator.hold(kept_rows, None, kept_items, likes.weights)
            moment_spectrum = self._spectrum(curator, rows, likes.counts)
            F = moment_spectrum.Q * np.sqrt(moment_spectrum.eta)
        return item_lists.list_by_regression(
            curator.shape, C, likes, F, self.prediction_ridge
        )

    def _kept_items(self, curator: Curator, counts: item_offsets.NoisyCounts) -> Array:
        """Ascending ids of the items with the largest noisy counts."""
        n_users = curator.shape.n_users
        n_items = curator.shape.n_items
        whole = self.release == "covariance"
        most = min(
            self.items_kept or n_items, MOST_ITEMS if whole else n_items, n_items
        )
        if self._share and not self.items_kept:
            if whole:
                scale = curator.scale(SecondMoment())
            else:
                scale = curator.scale(self._products(curator.shape)) * math.sqrt(2)
            sizes = np.sort(counts.expected)[::-1]
            q = self.popularity_exponent
            if self.implicit:
                most = min(
                    most, item_lists.items_carried(counts.expected, n_users, scale)
                )
            else:
                most = items_that_pay(sizes, n_users, scale, q, self.taste, most)
        return np.sort(most_rated(counts.values, most))

    def _spectrum(self, curator: Curator, rows: Held, counts: Array) -> Spectrum:
        """The spectrum above the noise of the released moment, for kept items with these counts."""
        n_users = curator.shape.n_users
        m = len(counts)
        share = counts ** (1 + 2 * self.popularity_exponent)
        # as popularity alone would make it: the true one is not released
        diagonal = n_users * share / share.sum()
        if self.release == "covariance":
            scale = curator.scale(SecondMoment())
            if curator.shape.n_items > refinement.MANY_ITEMS:
                noise = MomentNoise.uniform(m, n_users, scale)
            else:
                noise = MomentNoise.by_popularity(diagonal, n_users, scale)
            M = curator.release(SecondMoment(), rows, m)
            return spectrum(M, noise, min(self.rank, m), self.shrinkage)
        # the most counted tell most
        column_ids = np.sort(most_rated(counts, max(1, min(m, MOST_CELLS // m))))
        products = self._products(curator.shape)
        scale = curator.scale(products)
        Y = column_space(
            curator.release(MomentColumns(), rows, m, column_ids),
            column_ids,
            self.rank + SPARE,
        )
        for _ in range(self.rounds):
            Q, _ = np.linalg.qr(Y)
            Y = curator.release(products, rows, Q) - diagonal[:, None] * Q
        sampling = diagonal / math.sqrt(n_users)
        return subspace_spectrum(Q, Y, sampling, scale, self.shrinkage, self.rank)
