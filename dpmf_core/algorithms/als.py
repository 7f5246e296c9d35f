"""Alternating least squares, and its private forms DPALS and Ada-DPALS.

M (n_users x n_items) ~ U V^T. A user's row u solves her own ridge regression on the shared V and stays with her
(joint DP); only the item side is released. Chien et al. 2021 [C21], Krichene et al. 2023 [K23]; privacy.md, section 3.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from dpmf_core import kernels
from dpmf_core.algorithms.base import Algorithm, Array, Fit, Recommender, Streams, Watch, triangle, unwatched
from dpmf_core.algorithms.baselines import (
    COUNTS,
    PUBLIC_FACTS,
    bias_plan,
    damped_biases,
    denoised,
    noise_scale,
    private_mean,
    private_mean_plan,
    release_biases,
    share_of_biases,
)
from dpmf_core.algorithms.spectral import Rows, rating_factors, spectrum
from dpmf_core.algorithms.svd import top_directions
from dpmf_core.data import Ratings, Shape, keyed_uniform, rank_within_user
from dpmf_core.privacy import Budget, Event, Gaussian, Guarantee, Noise, Repeat, Status, sequence

GRAMS, RIGHT_SIDES, SECOND_MOMENT = "item Grams", "item right-hand sides", "user second moment"
START = "item second moment"
BLOCK_BYTES = 64 << 20  # Grams held at a time
PLENTY = 50.0  # ratings for each user and item, from which on factors alone find the offsets too
RIDGE, BIAS_DAMPING = 0.08, 5.0


def random_start(rng: Streams, m: int, r: int) -> Array:
    """Item factors with orthonormal columns, (m, r): random, so free."""
    V, _ = np.linalg.qr(rng.init.standard_normal((m, r)))
    return np.asarray(V, np.float32)


class ALS(Algorithm):
    """Least squares over users and items in turn. Not private."""

    id: ClassVar[str] = "als"
    title: ClassVar[str] = "ALS"
    words: ClassVar[str] = "alternating least squares without privacy"
    source: ClassVar[str] = "Zhou et al. 2008; Hu, Koren & Volinsky 2008"
    version: ClassVar[int] = 2

    rank: int = Field(16, ge=1, le=512, title="rank r", description="number of latent factors")
    steps: int = Field(10, ge=1, le=200, title="steps T", description="user and item half-steps")
    regularisation: float = Field(0.0, ge=0, le=1e6, title="ridge λ", description="pull of factors towards 0; 0: by how many ratings users and items have")
    regularisation_exponent: float = Field(1.0, ge=0, le=1, title="λ's exponent", description="λ is multiplied by (number of ratings)^exponent")
    biases: Literal["auto", "off", "first", "joint"] = Field(
        "auto",
        description="damped mean, item and user offsets before the factors: never, once, or fitted anew together with them; auto: joint where ratings are few",
    )
    unobserved_weight: float = Field(0.0, ge=0, le=100, title="λ₀", description="pull of every unobserved cell towards 0, for recall tasks")

    def fit(self, data: Ratings, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        biases, joint = self._biases(data), self._biases(data) == "joint"
        centre, b = (0.0, np.zeros(data.n_items, np.float32)) if biases == "off" else damped_biases(data, BIAS_DAMPING)
        damping, weight = None if biases == "off" else BIAS_DAMPING, self._ridge(data)
        V = random_start(rng, data.n_items, self.rank)
        model = Recommender(data.bounds, centre, b, V, damping, weight, self.regularisation_exponent, self.unobserved_weight, mended=joint)
        starts, order = data.by_item
        ridge = weight * np.maximum(np.diff(starts), 1) ** self.regularisation_exponent
        left, unit = data.values - np.float32(centre) - b[data.items], np.float32(data.shape.half_range / 2)
        for step in range(self.steps):
            own = model.personal(data)
            U = np.column_stack([own.factors, np.full(data.n_users, unit)]) if joint else own.factors
            base = self.unobserved_weight * (U.T @ U) if self.unobserved_weight else None
            wanted = (left - own.offsets[data.users])[order]
            V = kernels.solve_rows(starts, data.users[order], wanted, U, ridge, base=base)
            if joint:
                model = replace(model, item_offsets=b + unit * V[:, -1])
            model = replace(model, item_factors=np.ascontiguousarray(V[:, : self.rank]))
            watch(step + 1, self.steps, model)
        return Fit(model)

    def _biases(self, data: Ratings) -> str:
        """Where ratings are few, what is seldom rated falls to 0 without offsets. Likes, all of one value, have none."""
        if self.biases != "auto":
            return self.biases
        return "off" if self.unobserved_weight or data.bounds == (0.0, 1.0) or ratings_per_row(data) >= PLENTY else "joint"

    def _ridge(self, data: Ratings) -> float:
        """Stronger where ratings are few: chosen on MovieLens 1M cut to some items or users; checked on 100K and the cinema."""
        return self.regularisation or RIDGE * max(1.0, PLENTY / max(ratings_per_row(data), 1.0)) ** (2 / 3)


def ratings_per_row(data: Ratings) -> float:
    """Ratings for each user and each item: what there is to know for what there is to find."""
    return len(data) / (data.n_users + data.n_items)


@dataclass(frozen=True)
class Contributions:
    """The entries that reach the item step, sorted by item: at most k a user, or weighted so that they weigh as much.

    starts: (n_kept + 1,). raters: users. values: clipped residuals. weights: w_ij or None. kept: item ids (n_kept,).
    """

    starts: Array
    raters: Array
    values: Array
    weights: Array | None
    kept: Array


class DPALS(Algorithm):
    """Private ALS: per step, noisy Gram matrices and right-hand sides of the items [C21, Alg. 1, with the corrections of privacy.md]."""

    id: ClassVar[str] = "dpals"
    title: ClassVar[str] = "DPALS"
    words: ClassVar[str] = "alternating least squares with noisy item statistics; user factors stay with their owners"
    source: ClassVar[str] = "Chien et al. 2021"
    version: ClassVar[int] = 4

    rank: int = Field(8, ge=1, le=512, title="rank r", description="number of latent factors")
    steps: int = Field(3, ge=1, le=50, title="steps T", description="item steps; each is paid for")
    clip_norm: float = Field(1.0, gt=0, le=1e3, title="user clip norm Γᵤ", description="largest L2 norm of a user's factor in the item step")
    rating_clip: float = Field(0.75, gt=0, le=2, title="rating clip Γ_M", description="largest centred rating, in half-ranges of the rating scale")
    ratings_per_user: int = Field(50, ge=1, le=100_000, title="ratings per user k", description="how many of a user's ratings enter the item step")
    sampling: Literal["uniform", "adaptive"] = Field("uniform", description="which k: any, or those of the rarest items by noisy counts")
    regularisation: float = Field(1.0, gt=0, le=1e6, title="item ridge λ", description="pull of item factors towards 0, in units of Γᵤ²")
    regularisation_exponent: float = Field(0.0, ge=0, le=1, title="λ's exponent", description="λ is multiplied by (noisy item count)^exponent")
    noise_ridge: float = Field(
        0.5, ge=0, le=100, title="noise ridge", description="further pull towards 0, in multiples of the largest eigenvalue of the Grams' noise"
    )
    user_regularisation: float = Field(0.1, gt=0, le=1e6, title="user ridge", description="of a user's own least squares during training")
    prediction_ridge: float = Field(0.8, gt=0, le=1e6, title="prediction ridge", description="of a user's own least squares on the final factors")
    biases: bool = Field(True, description="private item offsets first, factors on what they leave over")
    bias_share: float = Field(0.2, gt=0, lt=1, title="budget share of biases", description="of the total mu²")
    centring: Literal["none", "user", "global"] = Field("user", description="without biases: subtract nothing, the user's own mean, or a noisy global mean")
    frequent_fraction: float = Field(1.0, gt=0, le=1, title="frequent items β", description="factors only for this share of the items, by noisy counts")
    psd: bool = Field(True, title="PSD projection", description="project noisy Gram matrices onto the positive semi-definite cone")
    orthonormalise: bool = Field(True, description="orthonormal item factors between steps")
    unobserved_weight: float = Field(0.0, ge=0, le=100, title="λ₀", description="pull of unobserved cells towards 0, with a noisy second moment of users")
    start: Literal["random", "private-svd", "spectral"] = Field(
        "random", description="random factors are free; eigenvectors of a noisy second moment are a release; spectral: shrunk and scaled by noisy counts"
    )
    start_share: float = Field(0.2, gt=0, lt=1, title="budget share of the start", description="of what biases and counts leave, unless the start is random")
    gram_share: float = Field(0.5, gt=0, lt=1, title="budget share of Grams", description="of each step, against the right-hand sides")

    @classmethod
    def recommend(cls, shape: Shape, budget: Budget | None, given: Mapping[str, Any]) -> dict[str, Any]:
        """Defaults from public quantities alone: n, m and mu(epsilon, delta).

        n mu is the signal that all users give over the noise of one release. It carries (0.8 n mu)^(3/4) items, and a factor for
        every 6 users' worth of it an item. Small budgets go to the biases. Constants were chosen on MovieLens 1M and checked elsewhere.
        """
        if budget is None:
            return super().recommend(shape, budget, given)
        signal = shape.n_users * budget.mu
        kept = min(shape.n_items, max(1, math.ceil((0.8 * signal) ** 0.75)))
        biases = given.get("biases", True)
        share = {"bias_share": share_of_biases(shape, budget)} if biases else {}
        return share | {
            "rank": min(32, kept, max(1, round(signal / (6 * kept)))),
            "steps": 2 if given.get("start") == "spectral" else 5, "start_share": 0.5,
            "ratings_per_user": min(100, max(10, shape.n_items // 4)), "frequent_fraction": kept / shape.n_items,
            "regularisation": 10.0, "noise_ridge": 1.2, "user_regularisation": 0.05,
            "rating_clip": 0.4 if biases else 0.6, "gram_share": 0.15 if biases else 0.3, "prediction_ridge": 0.2 if biases else 0.45,
        }  # fmt: skip

    # -- what it spends ----------------------------------------------------------------------------------------------

    @property
    def _needs_counts(self) -> bool:
        """Counts of their own: biases bring theirs."""
        steered = self.sampling == "adaptive" or self.frequent_fraction < 1 or self.regularisation_exponent > 0
        return steered and not self.biases

    @property
    def _own_counts_share(self) -> float:
        return 0.05 if self._needs_counts else 0.0

    @property
    def _centre_share(self) -> float:
        return 0.02 if self.centring == "global" and not self.biases else 0.0

    def _n_kept(self, shape: Shape) -> int:
        return max(1, min(shape.n_items, math.ceil(self.frequent_fraction * shape.n_items)))

    def _rating_clip(self, shape: Shape) -> float:
        return self.rating_clip * shape.half_range

    def _root_entries(self, shape: Shape) -> float:
        """sqrt(min(k, items that have factors)): a user is in no more Grams than there are, and both numbers are public. By so much of Γᵤ² her k entries
        move all Grams together, and by so much of Γᵤ Γ_M the right-hand sides."""
        return math.sqrt(min(self.ratings_per_user, self._n_kept(shape)))

    def _root_counted(self, shape: Shape) -> float:
        """As much she moves the counts of all items."""
        return math.sqrt(min(self.ratings_per_user, shape.n_items))

    def plan(self, shape: Shape, level: float) -> Event:
        G_u, G_M, root_k = self.clip_norm, self._rating_clip(shape), self._root_entries(shape)
        left = 1.0 - (self.bias_share if self.biases else 0.0) - self._own_counts_share - self._centre_share

        def z(share: float) -> float:
            return level / math.sqrt(share)

        parts: list[Event] = [bias_plan(level, self.bias_share)] if self.biases else []
        if self._centre_share:
            parts.append(private_mean_plan(z(self._centre_share)))
        if self._needs_counts:
            parts.append(Gaussian(z(self._own_counts_share), COUNTS, self._root_counted(shape), math.sqrt(2)))
        if self.start != "random":
            parts.append(Gaussian(z(left * self.start_share), START, 1.0, math.sqrt(2)))
            left *= 1 - self.start_share
        moment = 0.1 if self.unobserved_weight else 0.0
        step = [Gaussian(z(left * moment / self.steps), SECOND_MOMENT, G_u**2, math.sqrt(2))] if moment else []
        left *= (1 - moment) / self.steps
        step.append(Gaussian(z(left * self.gram_share), GRAMS, root_k * G_u**2, math.sqrt(2)))
        step.append(Gaussian(z(left * (1 - self.gram_share)), RIGHT_SIDES, root_k * G_u * G_M, 2.0))
        return sequence(*parts, Repeat(sequence(*step), self.steps))

    def coordinates(self, statistic: str, shape: Shape) -> int:
        r = self.rank
        own = {START: triangle(shape.n_items), SECOND_MOMENT: triangle(r), GRAMS: shape.n_items * triangle(r), RIGHT_SIDES: shape.n_items * r}
        return own.get(statistic, super().coordinates(statistic, shape))

    def source_level(self, shape: Shape, budget: Budget) -> float:
        """[C21] Thm. 1 with sigma = sqrt(2kT(eps + ln(1/delta)))/eps, whose releases truly cost mu^2 = 2kT/sigma^2."""
        return math.sqrt(budget.epsilon - math.log(budget.delta)) / budget.epsilon

    def guarantee(self) -> Guarantee:
        return Guarantee(Status.PROVEN, taken_as_public=PUBLIC_FACTS)

    # -- what it computes --------------------------------------------------------------------------------------------

    def fit(self, data: Ratings, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        model, counts = self._centred(data, noise, rng)
        entries = self._contributions(data, model, counts, rng)
        V = self._start(data, model, entries, counts, noise, rng)
        ridge = self.regularisation * self.clip_norm**2 * np.ones(len(entries.kept))
        if counts is not None:
            ridge *= np.maximum(counts[entries.kept], 1.0) ** self.regularisation_exponent
        for step in range(self.steps):
            training = replace(model, item_factors=V, ridge=self.user_regularisation, mended=False)
            U = self._clipped(training.personal(data).factors)
            solved = self._item_step(U, entries, ridge, data.shape, noise)
            V = np.zeros_like(V)
            V[entries.kept] = solved
            model = replace(model, item_factors=V * np.float32(self.clip_norm / math.sqrt(self.rank)))
            watch(step + 1, self.steps, model)
            V = orthonormal(V) if self.orthonormalise else model.item_factors
        return Fit(model, noise.spent)

    def _centred(self, data: Ratings, noise: Noise, rng: Streams) -> tuple[Recommender, Array | None]:
        """The model before factors, and noisy item counts where anything is steered by them."""
        zeros = np.zeros(data.n_items, np.float32)
        model = Recommender(
            data.bounds, data.shape.mid_range, zeros, np.zeros((data.n_items, 0), np.float32), 0.0, self.prediction_ridge, 0.0, self.unobserved_weight,
            mended=not self.unobserved_weight,
        )  # fmt: skip
        if self.biases:
            released = release_biases(data, noise, unit=data.shape.half_range / 2)
            return replace(model, item_offsets=released.offsets), released.counts
        if self.centring == "none":
            model = replace(model, centre=0.0, user_damping=None, mended=False)
        elif self.centring == "global":
            model = replace(model, centre=private_mean(data, noise), user_damping=None, mended=False)
        if not self._needs_counts:
            return model, None
        place = rank_within_user(data, keyed_uniform(rng.sampling, data.users, data.items))
        counted = np.bincount(data.items[place < self.ratings_per_user], minlength=data.n_items).astype(float)
        return model, noise.vector(COUNTS, counted, sensitivity=self._root_counted(data.shape))

    def _contributions(self, data: Ratings, model: Recommender, counts: Array | None, rng: Streams) -> Contributions:
        """At most k entries a user, of the kept items, chosen by her own row and by released counts alone."""
        _, left = model.residuals(data)
        G_M = np.float32(self._rating_clip(data.shape))
        kept = np.arange(data.n_items) if counts is None else np.sort(np.argsort(-counts, kind="stable")[: self._n_kept(data.shape)])
        new = np.full(data.n_items, -1)
        new[kept] = np.arange(len(kept))
        frequent = new[data.items] >= 0
        chosen = np.flatnonzero(frequent)[self._chosen(data.only(frequent), counts, rng)]
        order = chosen[np.argsort(data.items[chosen], kind="stable")]
        starts = np.searchsorted(new[data.items[order]], np.arange(len(kept) + 1)).astype(np.int64)
        weights = self._weights(data, chosen, order, counts)
        return Contributions(starts, data.users[order], left[order].clip(-G_M, G_M), weights, kept)

    def _chosen(self, data: Ratings, counts: Array | None, rng: Streams) -> Array:
        """Mask over the ratings: each user's k by a keyed draw, or her k rarest by noisy counts."""
        key = keyed_uniform(rng.sampling, data.users, data.items)
        if self.sampling == "adaptive" and counts is not None:
            key = counts[data.items] + 1e-9 * key
        return np.asarray(rank_within_user(data, key) < self.ratings_per_user)

    def _weights(self, data: Ratings, chosen: Array, order: Array, counts: Array | None) -> Array | None:
        """w_ij of the entries, in item order; None weighs each as 1."""
        return None

    def _start(self, data: Ratings, model: Recommender, entries: Contributions, counts: Array | None, noise: Noise, rng: Streams) -> Array:
        """Starting item factors (n_items, r) with orthonormal columns."""
        V = random_start(rng, data.n_items, self.rank)
        if self.start == "random":
            return V
        _, left = model.residuals(data)
        V[:] = 0
        F = orthonormal(self._directions(data, left, entries.kept, counts, noise))
        V[entries.kept, : F.shape[1]] = F  # fewer columns than the rank where fewer items are kept, or fewer factors stand out
        return V

    def _directions(self, data: Ratings, residuals: Array, kept: Array, counts: Array | None, noise: Noise) -> Array:
        """Item factors (n_kept, at most rank) of one noisy second moment of rows of norm 1: eigenvectors, or the one-shot spectral method's."""
        spectral = self.start == "spectral"
        level = denoised(counts, noise_scale(noise, COUNTS))[kept] if spectral and counts is not None else np.ones(len(kept))
        pen = noise.release(START, sensitivity=1.0, size=len(kept) * (len(kept) + 1) // 2)
        moment = pen.symmetric(Rows.of(data, residuals, kept, level**0.25).moment())
        np.fill_diagonal(moment, 0.0)  # it carries popularity rather than taste
        if not spectral:
            return top_directions(moment, min(self.rank, len(kept)))
        return rating_factors(spectrum(moment, data.n_users, pen.scale, min(self.rank, len(kept)), 0.9), level, 0.25, data.n_users)

    def _clipped(self, U: Array) -> Array:
        """Rows within the clip norm; [C21] prints max where min is meant. What overflowed counts as 0: one NaN would show in every sum."""
        U = np.where(np.isfinite(U), U, np.float32(0))
        norms = np.linalg.norm(U.astype(np.float64), axis=1, keepdims=True)
        return np.asarray(U * np.minimum(1.0, self.clip_norm * (1 - 1e-6) / np.maximum(norms, 1e-30)), np.float32)

    def _item_step(self, U: Array, entries: Contributions, ridge: Array, shape: Shape, noise: Noise) -> Array:
        """V_j = (P(H_j + G_j) + lambda I + lambda_0 K)^-1 (w_j + g_j) for every kept item, block by block [C21, Alg. 1, lines 8-12]."""
        G_u, G_M, root_k, r, m = self.clip_norm, self._rating_clip(shape), self._root_entries(shape), self.rank, len(entries.kept)
        U = U.astype(np.float64)  # in float32, rounding the sums of others adds up to three quarters to what one of a million users moves
        base = None
        if self.unobserved_weight:
            K = noise.symmetric(SECOND_MOMENT, U.T @ U, sensitivity=G_u**2)
            base = (self.unobserved_weight * nearest_psd(K)).astype(np.float32)
        H_release = noise.release(GRAMS, sensitivity=root_k * G_u**2, size=m * r * (r + 1) // 2)
        w_release = noise.release(RIGHT_SIDES, sensitivity=root_k * G_u * G_M, size=m * r)
        ridge = ridge + self.noise_ridge * H_release.scale * math.sqrt(2 * r)  # the edge of the noise's spectrum (Wigner)
        V = np.empty((m, r), np.float32)
        for start, stop in _blocks(m, r):
            H, w = kernels.normal_equations(entries.starts, entries.raters, entries.values, U, start, stop, weights=entries.weights)
            noisy_H, noisy_w = H_release.symmetric(H).astype(np.float32), w_release.vector(w).astype(np.float32)
            V[start:stop] = kernels.solve_psd(noisy_H, noisy_w, ridge[start:stop], base=base, project=self.psd)
        return V


class AdaDPALS(DPALS):
    """DPALS without sub-sampling: all ratings enter, rarer items weigh more, and a user's weights keep the same total [K23]."""

    id: ClassVar[str] = "ada-dpals"
    title: ClassVar[str] = "Ada-DPALS"
    words: ClassVar[str] = "DPALS in which every rating counts, weighted by the rarity of its item"
    source: ClassVar[str] = "Krichene et al. 2023"

    rarity_exponent: float = Field(0.5, ge=0, le=1, title="rarity exponent μ′", description="weight ∝ (noisy item count)^-μ′")

    @property
    def _needs_counts(self) -> bool:
        return not self.biases

    def _chosen(self, data: Ratings, counts: Array | None, rng: Streams) -> Array:
        return np.ones(len(data), bool)

    def _weights(self, data: Ratings, chosen: Array, order: Array, counts: Array | None) -> Array | None:
        """w_ij proportional to max(noisy count_j, 1)^-mu', scaled so that sum_j w_ij^2 = min(k, items that have factors) for every user [K23, section 3]."""
        assert counts is not None  # _needs_counts, or biases
        raw = np.maximum(counts, 1.0) ** -self.rarity_exponent
        squares = np.bincount(data.users[chosen], raw[data.items[chosen]] ** 2, data.n_users)
        scale = self._root_entries(data.shape) / np.sqrt(np.maximum(squares, 1e-300)) * (1 - 1e-6)
        return (raw[data.items[order]] * scale[data.users[order]]).astype(np.float32)


def _blocks(m: int, r: int) -> Iterator[tuple[int, int]]:
    size = max(1, BLOCK_BYTES // (8 * r * r))
    return ((start, min(m, start + size)) for start in range(0, m, size))


def orthonormal(V: Array) -> Array:
    """V (V^T V)^(-1/2): the nearest matrix with orthonormal columns; directions that vanished stay at zero."""
    values, Q = np.linalg.eigh(V.T.astype(np.float64) @ V)
    inverse_root = np.where(values > values.max(initial=0.0) * 1e-12, 1 / np.sqrt(np.maximum(values, 1e-300)), 0.0)
    return np.asarray(V @ (Q * inverse_root @ Q.T), np.float32)


def nearest_psd(A: Array) -> Array:
    """The projection of a symmetric matrix (r, r) onto the positive semi-definite cone."""
    values, Q = np.linalg.eigh(A)
    return np.asarray((Q * np.maximum(values, 0)) @ Q.T)
