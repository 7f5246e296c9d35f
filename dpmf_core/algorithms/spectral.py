"""The one-shot spectral recommender (ours): one noisy second moment of the users' rows, its eigenvectors, and local ridge regressions.

A user's row, centred by her own mean and by private item offsets, is weighted by item popularity and scaled to norm 1. The sum of a a^T is
released once; everything after that is free: no steps, no composition, no sub-sampling, any rank. Its diagonal carries sampling, not taste,
and is dropped after the release. privacy.md, section 3, "One-shot spectral recommender".
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigsh, svds

from dpmf_core.algorithms.base import INSIDE, MOST_ITEMS, Algorithm, Array, Fit, Personal, Recommender, Streams, Watch, triangle, unwatched
from dpmf_core.algorithms.baselines import COUNTS, PUBLIC_FACTS, ReleasedBiases, bias_plan, denoised, release_biases
from dpmf_core.data import Ratings, Shape
from dpmf_core.kernels.moments import second_moment
from dpmf_core.privacy import NOTHING, Budget, Event, Gaussian, Guarantee, Noise, Repeat, Status, sequence

MOMENT, COLUMNS, PRODUCT = "item second moment", "columns of the item second moment", "second moment times subspace"
COUNTS_SHARE = 0.05  # of mu^2, where counts are all that is needed of the biases
COLUMNS_SHARE = 0.3  # of an iteration's mu^2, to find the subspace; the rest measures it
MOST_CELLS = 36_000_000  # of those columns: 288 MB
SPARE = 8  # columns of an iterated subspace beyond the rank


@dataclass(frozen=True)
class Rows:
    """Users' rows over the kept items, scaled to norm 1: `values` (n,) at `items` (n,), row u at `indptr[u]:indptr[u + 1]`."""

    indptr: Array
    items: Array
    values: Array
    n_items: int

    @classmethod
    def of(cls, data: Ratings, values: Array, kept: Array, weights: Array) -> "Rows":
        """values: (n_ratings,). kept: ascending item ids (n_kept,). weights: of the kept items (n_kept,). An empty row stays empty."""
        new = np.full(data.n_items, -1)
        new[kept] = np.arange(len(kept))
        chosen = np.flatnonzero(new[data.items] >= 0)
        users, items = data.users[chosen], new[data.items[chosen]]
        scaled = values[chosen].astype(np.float64) * weights[items]
        norms = np.sqrt(np.bincount(users, scaled**2, data.n_users))
        scaled *= np.where(norms > 0, INSIDE / np.maximum(norms, 1e-300), 0.0)[users]
        return cls(np.searchsorted(users, np.arange(data.n_users + 1)).astype(np.int64), items, scaled, len(kept))

    def moment(self) -> Array:
        """sum_u a_u a_u^T, (n_kept, n_kept). One user adds a matrix of Frobenius norm ||a||^2 <= 1."""
        return second_moment(self.indptr, self.items, self.values, self.n_items)

    def columns(self, chosen: Array) -> Array:
        """Some columns of the same matrix, (n_kept, len(chosen)). One user adds a times a part of a, of Frobenius norm at most 1."""
        A = csr_array((self.values, self.items, self.indptr), shape=(len(self.indptr) - 1, self.n_items))
        out = np.empty((self.n_items, len(chosen)))
        for start in range(0, len(chosen), 256):
            out[:, start : start + 256] = (A.T @ A[:, chosen[start : start + 256]]).toarray()
        return out

    def product(self, Q: Array) -> Array:
        """The same matrix times Q (n_kept, K) with orthonormal columns: one user adds a (a^T Q), of Frobenius norm ||a|| ||Q^T a|| <= 1."""
        A = csr_array((self.values, self.items, self.indptr), shape=(len(self.indptr) - 1, self.n_items))
        return np.asarray(A.T @ (A @ Q))


@dataclass(frozen=True)
class Spectrum:
    """What is left of a released second moment: eigenvectors Q (n_kept, K), shrunk eigenvalues eta (K,) > 0.

    error: noise variance of an entry of Q eta.
    """

    Q: Array
    eta: Array
    error: float


def spectrum(M: Array, n_users: int, scale: float, most: int, shrinkage: float) -> Spectrum:
    """Eigenpairs above the noise of a released M (m, m), whose entries off the diagonal have noise of variance scale^2 / 2.

    A random symmetric matrix of entry variance v has its spectrum's edge at 2 sqrt(m v) (Wigner): v = scale^2 / 2 from privacy, and
    n / m^2 from sampling, as if unit rows were random. eta^2 = w^2 - (shrinkage edge)^2.
    """
    m = len(M)
    np.fill_diagonal(M, 0.0)
    if most < m - 1:
        w, Q = eigsh(M, k=most, which="LA", v0=np.ones(m))
    else:
        w, Q = np.linalg.eigh(M)
    return _shrunk(w[::-1][:most], Q[:, ::-1][:, :most], shrinkage**2 * 4 * m * (scale**2 / 2 + n_users / m**2), scale**2 / 2 + n_users / m**2)


def column_space(Y: Array, chosen: Array, most: int) -> Array:
    """Orthonormal Q (m, at most `most`): leading left singular vectors of noisy columns Y (m, c) of a symmetric matrix, whose diagonal is left out.

    Cells that were released twice, as ij and ji, are averaged.
    """
    Y = Y.copy()
    both = Y[chosen]
    Y[chosen] = (both + both.T) / 2
    Y[chosen, np.arange(len(chosen))] = 0.0
    if most < len(chosen):
        return np.asarray(svds(Y, k=most, v0=np.ones(len(chosen)))[0])
    return np.asarray(np.linalg.svd(Y, full_matrices=False)[0][:, :most])


def subspace_spectrum(Q: Array, Y: Array, n_users: int, scale: float, shrinkage: float, most: int | None = None) -> Spectrum:
    """The same from a noisy product Y = M Q + noise (m, K): its first singular pairs, those that M turns round left out."""
    m, K = Y.shape
    left, w, right = np.linalg.svd(Y, full_matrices=False)
    upright = np.einsum("ik,ik->k", left, Q @ right.T) > 0
    edge2 = scale**2 * (math.sqrt(m) + math.sqrt(K)) ** 2 + 4 * n_users / m
    return _shrunk(np.where(upright, w, 0.0)[:most], left[:, :most], shrinkage**2 * edge2, scale**2 + n_users / m**2)


def _shrunk(w: Array, Q: Array, edge2: float, error: float) -> Spectrum:
    eta = np.sqrt(np.maximum(w**2 - edge2, 0.0)) * (w > 0)
    return Spectrum(Q[:, eta > 0], eta[eta > 0], error)


def rating_factors(found: Spectrum, counts: Array, exponent: float, n_users: int) -> Array:
    """Item factors F (n_kept, K) whose users' factors are about standard normal.

    Entry ij of the moment grows with the users who rated both, about C_i C_j, and with both weights: M ~ h G G^T h, h = C^(1 + exponent).
    Each row of G = Q sqrt(eta) / h is pulled towards 0 by as much as the error of Q eta explains of it (Wiener).
    """
    h = counts ** (1 + exponent)
    error = found.error / found.eta**2
    gain = h[:, None] / (h[:, None] ** 2 + error * (h**2).sum())
    return np.asarray(math.sqrt(n_users * float((counts ** (2 * exponent)).mean())) * found.Q * np.sqrt(found.eta) * gain)


def least_signal(n_items: int) -> float:
    """n mu below which a second moment costs the offsets more than its factors bring.

    Chosen on MovieLens 1M and the cinema cut to 300 to 6,040 users and 100 to 3,706 items: factors begin to pay at 500 to 1,200 with 100 items, at 900
    to 1,800 with 400, at 1,300 to 1,600 with more.
    """
    return 1500.0 * n_items / (n_items + 35)


def items_that_pay(counts: Array, n_users: int, scale: float, exponent: float, taste: float, most: int) -> int:
    """How many of the most counted items to keep: as many as maximise the share of ratings that factors can be expected to explain.

    Each item more carries signal and brings noise. With `taste`, the share of a rating's variance in one factor, the eigenvalue of the
    k most counted is about n taste sum(p^2 c^2q) / sum(p c^2q), p the chance that a user rated the item; the gain is Wiener's as above.
    counts: noisy, descending (n_items,). Uses released and public figures alone.
    """
    rated = max((counts.sum() / n_users) ** 2, 1.0)  # a user adds sqrt(her number of ratings) to the weighted counts
    p = np.minimum(counts * math.sqrt(rated) / n_users, 1.0)
    best, best_gain = 1, -math.inf
    for k in np.unique(np.geomspace(1, min(len(counts), most), 80).astype(int)):
        c, chance, h2 = counts[:k], p[:k], counts[:k] ** (2 + 2 * exponent)
        eta = n_users * taste * (chance**2 * c ** (2 * exponent)).sum() / (chance * c ** (2 * exponent)).sum()
        error = (scale**2 / 2 + n_users / k**2) / eta**2
        gain = float((c * h2 / (h2 + error * h2.sum())).sum())
        if gain > best_gain:
            best, best_gain = int(k), gain
    return best


@dataclass(frozen=True)
class Projection(Recommender):
    """A user's factor is the sum of what `probe` (n_items, K) holds for the items of her history, for lists; without a probe, a ridge regression."""

    probe: Array = field(default_factory=lambda: np.zeros((0, 0), np.float32))

    def personal(self, history: Ratings) -> Personal:
        if not self.probe.size:
            return super().personal(history)
        A = csr_array((history.values, history.items, history.by_user), shape=(history.n_users, history.n_items))
        return Personal(np.zeros(history.n_users, np.float32), np.asarray(A @ self.probe, np.float32))


class Spectral(Algorithm):
    """Private biases, then one release of the second moment of users' rows; the rest is post-processing and local."""

    id: ClassVar[str] = "spectral"
    title: ClassVar[str] = "One-shot spectral"
    words: ClassVar[str] = "one noisy second moment of the items, its eigenvectors, and each user's own ridge regression"
    source: ClassVar[str] = "ours, after Dwork et al. 2014 (Analyze Gauss) and McSherry & Mironov 2009"
    fitted: ClassVar[type] = Projection
    version: ClassVar[int] = 2

    rank: int = Field(32, ge=1, le=512, title="rank r", description="at most so many factors; those below the noise are dropped anyway")
    biases: bool = Field(True, description="private item offsets first; off: rows centred by each user's own mean alone, all items weighted alike")
    bias_share: float = Field(0.2, gt=0, lt=1, title="budget share of biases", description="of the total mu², for offsets and counts")
    implicit: bool = Field(False, title="implicit feedback", description="what was rated counts, not how high: for lists (recall) rather than ratings")
    release: Literal["covariance", "iteration", "none"] = Field(
        "covariance",
        description="the whole second moment; some columns and products with the subspace they span: less memory; none: offsets (lists: counts) alone",
    )
    rounds: int = Field(1, ge=1, le=20, description="products with the subspace, after the columns; each is paid for")
    items_kept: int = Field(0, ge=0, le=100_000, title="items kept", description="factors for so many most counted items; 0: as many as pay")
    taste: float = Field(0.03, gt=0, le=1, description="expected share of a rating's variance in one factor; steers how many items pay")
    popularity_exponent: float = Field(0.25, ge=-1, le=1, title="popularity exponent", description="a row's entries are weighted by (noisy count)^exponent")
    shrinkage: float = Field(0.9, ge=0, le=2, description="eigenvalues lose so much of the edge of the noise's spectrum")
    prediction_ridge: float = Field(0.8, gt=0, le=1e6, title="prediction ridge", description="of a user's own regression; for lists: of the spectrum")

    @classmethod
    def recommend(cls, shape: Shape, budget: Budget | None, given: Mapping[str, Any]) -> dict[str, Any]:
        """From n, m, mu(epsilon, delta) and bounds alone; constants were chosen on MovieLens 1M and the low-rank sets, and checked elsewhere."""
        if budget is None:
            return {"rank": min(32, shape.n_items)}
        signal, implicit = shape.n_users * budget.mu, bool(given.get("implicit", shape.bounds == (0.0, 1.0)))
        drowned = not implicit and given.get("biases", True) and signal < least_signal(shape.n_items)
        carried = math.ceil((0.8 * signal) ** 0.75)
        lists = {"implicit": True, "rank": min(64, shape.n_items), "popularity_exponent": -0.2, "prediction_ridge": 1.0, "items_kept": min(carried, 100_000)}
        return {
            "bias_share": min(0.8, max(0.1, 3 * shape.n_items / (3 * shape.n_items + signal))),
            "rank": min(32, shape.n_items),
            "release": "none" if drowned else "iteration" if min(carried, shape.n_items) > MOST_ITEMS else "covariance",
            **(lists if implicit else {}),
        }

    # -- what it spends ----------------------------------------------------------------------------------------------

    @property
    def _share(self) -> float:
        """Of mu^2, before the second moment: all of it where there is none."""
        if self.release == "none":
            return 1.0
        if self.implicit:
            return COUNTS_SHARE
        return self.bias_share if self.biases else 0.0

    def plan(self, shape: Shape, level: float) -> Event:
        share = self._share
        first: Event = NOTHING
        if self.implicit:
            first = Gaussian(level / math.sqrt(share), COUNTS, 1.0, math.sqrt(2))
        elif share:
            first = bias_plan(level, share)
        if self.release == "none":
            return first
        z = level / math.sqrt(1 - share)
        if self.release == "covariance":
            return sequence(first, Gaussian(z, MOMENT, 1.0, math.sqrt(2)))
        product = Gaussian(z * math.sqrt(self.rounds / (1 - COLUMNS_SHARE)), PRODUCT, 1.0, math.sqrt(2))
        return sequence(first, Gaussian(z / math.sqrt(COLUMNS_SHARE), COLUMNS, 1.0, math.sqrt(2)), Repeat(product, self.rounds))

    def coordinates(self, statistic: str, shape: Shape) -> int:
        kept = min(self.items_kept or shape.n_items, shape.n_items)
        own = {MOMENT: triangle(min(kept, MOST_ITEMS)), COLUMNS: min(kept * kept, max(kept, MOST_CELLS)), PRODUCT: kept * min(self.rank + SPARE, kept)}
        return own.get(statistic, super().coordinates(statistic, shape))

    def guarantee(self) -> Guarantee:
        return Guarantee(Status.PROVEN, taken_as_public=PUBLIC_FACTS)

    # -- what it computes --------------------------------------------------------------------------------------------

    def fit(self, data: Ratings, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        model = self._lists(data, noise) if self.implicit else self._ratings(data, noise)
        watch(1, 1, model)
        return Fit(model, noise.spent)

    def _ratings(self, data: Ratings, noise: Noise) -> Recommender:
        """F for the kept items, zero for the others."""
        unit = data.shape.half_range / 2
        released = release_biases(data, noise, unit=unit) if self._share else ReleasedBiases(np.zeros(data.n_items, np.float32), np.ones(data.n_items), 0.0)
        model = Recommender(data.bounds, data.shape.mid_range, released.offsets, np.zeros((data.n_items, 0), np.float32), 0.0, self.prediction_ridge)
        if self.release == "none":
            return model
        counts = denoised(released.counts, released.count_noise)
        kept = self._kept(data.shape, released.counts, counts, noise)
        rows = Rows.of(data, model.residuals(data)[1], kept, counts[kept] ** self.popularity_exponent)
        found = self._spectrum(rows, counts[kept], data.n_users, noise)
        F = np.zeros((data.n_items, len(found.eta)), np.float32)
        F[kept] = unit * rating_factors(found, counts[kept], self.popularity_exponent, data.n_users)
        return replace(model, item_factors=F, ridge=self.prediction_ridge * unit**2, mended=True)

    def _lists(self, data: Ratings, noise: Noise) -> Recommender:
        """Scores x B with B = Q d Q^T, d = eta / (eta + ridge n/m): the denoised moment's item-item regression, unseen items after the kept by their counts."""
        n_u = np.maximum(np.diff(data.by_user), 1)
        pen = noise.release(COUNTS, sensitivity=1.0, size=data.n_items)
        C = pen.vector(np.bincount(data.items, (INSIDE / np.sqrt(n_u))[data.users], data.n_items))  # one user adds a vector of norm below 1
        place = np.argsort(np.argsort(C, kind="stable"), kind="stable") / data.n_items
        offsets = place - data.n_items  # below any score of a kept item
        if self.release == "none":
            return Recommender(data.bounds, 0.0, offsets.astype(np.float32), np.zeros((data.n_items, 0), np.float32))
        counts = denoised(C, pen.scale)
        kept = self._kept(data.shape, C, counts, noise)
        weights = counts[kept] ** self.popularity_exponent
        found = self._spectrum(Rows.of(data, np.ones(len(data)), kept, weights), counts[kept], data.n_users, noise)
        d = found.eta / (found.eta + self.prediction_ridge * data.n_users / len(kept))
        V, probe = (np.zeros((data.n_items, len(d)), np.float32) for _ in range(2))
        V[kept], probe[kept] = found.Q, weights[:, None] * found.Q * d / np.abs(weights).max()
        offsets[kept] = 1e-6 * place[kept]
        return Projection(data.bounds, 0.0, offsets.astype(np.float32), V, probe=probe)

    def _kept(self, shape: Shape, released: Array, counts: Array, noise: Noise) -> Array:
        """Ascending ids of the items with the largest noisy counts."""
        most = min(self.items_kept or shape.n_items, MOST_ITEMS if self.release == "covariance" else shape.n_items, shape.n_items)
        if not self.items_kept:
            leaf = noise.planned(MOMENT if self.release == "covariance" else PRODUCT)
            scale = leaf.noise_multiplier * leaf.sensitivity * (1 if self.release == "covariance" else math.sqrt(2))
            most = items_that_pay(np.sort(counts)[::-1], shape.n_users, scale, self.popularity_exponent, self.taste, most) if self._share else most
        return np.sort(np.argsort(-released, kind="stable")[:most])

    def _spectrum(self, rows: Rows, counts: Array, n_users: int, noise: Noise) -> Spectrum:
        if self.release == "covariance":
            pen = noise.release(MOMENT, sensitivity=1.0, size=rows.n_items * (rows.n_items + 1) // 2)
            return spectrum(pen.symmetric(rows.moment()), n_users, pen.scale, min(self.rank, rows.n_items), self.shrinkage)
        share = counts ** (1 + 2 * self.popularity_exponent)
        diagonal = n_users * share / share.sum()  # as popularity alone would make it: the true one is not released
        chosen = np.sort(np.argsort(-counts, kind="stable")[: max(1, min(rows.n_items, MOST_CELLS // rows.n_items))])  # the most counted tell most
        first = noise.release(COLUMNS, sensitivity=1.0, size=rows.n_items * len(chosen))
        Y = column_space(first.vector(rows.columns(chosen)), chosen, self.rank + SPARE)
        for _ in range(self.rounds):
            Q, _ = np.linalg.qr(Y)
            pen = noise.release(PRODUCT, sensitivity=1.0, size=Q.size)
            Y = pen.vector(rows.product(Q)) - diagonal[:, None] * Q
        return subspace_spectrum(Q, Y, n_users, pen.scale, self.shrinkage, self.rank)
