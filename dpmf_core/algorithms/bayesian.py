"""Bayesian matrix factorisation by Gibbs sampling, without privacy [Salakhutdinov & Mnih 2008].

Users and items have factors and an offset with a Gaussian prior. The mean of the prior is linear in
side information [Simm et al. 2015, Macau]: which items a user rated, which users rated an item, and
public item features if the data have any. Rendle, Zhang & Koren 2019 show that knowing who rated
what is worth more than a better optimiser. It enters by the leading singular vectors of its matrix,
scaled by the roots of the counts on both sides. Predictions are averaged over draws from the
posterior.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import wishart

from dpmf_core import kernels
from dpmf_core.algorithms.base import (
    Algorithm,
    Personal,
    Recommender,
    Streams,
    no_matrix,
    rated_shares,
)
from dpmf_core.algorithms.local_columns import scaled
from dpmf_core.algorithms.parameters import parameter
from dpmf_core.base.arrays import Array
from dpmf_core.curator import OpenCurator
from dpmf_core.data.ratings import Ratings

# prior precision of the mean of all rows, relative to that of their residuals
INTERCEPT = 2.0
GAMMA = 0.5  # shape and rate of the priors of scalar precisions
SPREAD = 0.1  # standard deviation of the starting factors
# the most draws in each model before the last; they serve only the error curve
BETWEEN = 4
PASSES = 4  # of the power iteration for the singular vectors
MOST_SIDES = 255  # factors and offset of a row that fit the kernel's tiles


@dataclass(frozen=True)
class PosteriorDraws(Recommender):
    """Draws of the items' side, each with the prior of a user's side.

    For each draw, a user's side is its posterior mean given the user's own ratings. A prediction is
    the mean over draws. Values are in quarters of the rating range. S is the number of draws, r the
    rank and F the number of a user's features.

    Attributes
    ----------
    item_factors : (n_items, S r)
        Draw after draw.
    draw_offsets : (n_items, S)
        Offsets of items.
    loadings : (n_items, K)
        What each rated item adds to a user's features.
    links : (S, F, r + 1)
        The prior mean of a user's factors and offset, by features.
    precisions : (S, r + 1, r + 1)
        The precision of a user's side around its prior mean.
    noise_precisions : (S,)
    mean_log_count : float
        The mean over training users of log(number of ratings).
    """

    draw_offsets: Array = field(default_factory=no_matrix)
    loadings: Array = field(default_factory=no_matrix)
    links: Array = field(default_factory=lambda: np.zeros((0, 0, 0)))
    precisions: Array = field(default_factory=lambda: np.zeros((0, 0, 0)))
    noise_precisions: Array = field(default_factory=lambda: np.zeros(0))
    mean_log_count: float = 0.0

    def personal(self, history: Ratings) -> Personal:
        return history.cached_for(self, lambda: self._posterior_means(history))

    def _posterior_means(self, history: Ratings) -> Personal:
        unit = np.float32(history.shape.quarter_range)
        draws = len(self.links)
        values = (history.values - np.float32(self.centre)) / unit
        features = user_features(history, self.loadings, self.mean_log_count)
        sides = [self._side(history, values, features, draw) for draw in range(draws)]
        offsets = unit * np.mean(
            [side[:, -1] for side in sides], axis=0, dtype=np.float32
        )
        factors = np.hstack([side[:, :-1] for side in sides]) * (unit / draws)
        return Personal(np.asarray(offsets), factors)

    def _side(
        self, history: Ratings, values: Array, features: Array, draw: int
    ) -> Array:
        """Posterior means (n_users, r + 1) of users' factors and offsets, given one draw."""
        r = self.links.shape[2] - 1
        V = self.item_factors[:, draw * r : (draw + 1) * r]
        prior = (features @ self.links[draw]).astype(np.float32)
        at_prior = _products(
            prior, np.column_stack([V, self.draw_offsets[:, draw]]), history
        )
        # in coordinates that make the prior's covariance the identity
        root = np.linalg.cholesky(np.linalg.inv(self.precisions[draw])).astype(
            np.float32
        )
        columns = np.column_stack([V, np.ones(len(V), np.float32)]) @ root
        rows = history.by_user, history.items, values - at_prior
        deviation = kernels.solve_rows(*rows, columns, 1 / self.noise_precisions[draw])
        return np.asarray(prior + deviation @ root.T)


class BMF(Algorithm):
    """Draws users' and items' factors in turn from their posterior, and averages. Not private."""

    id = "bmf"
    title = "Bayesian MF"
    words = (
        "Bayesian matrix factorisation that also uses which items each user rated, "
        "without privacy"
    )
    source = "Salakhutdinov & Mnih 2008; Simm et al. 2015; Rendle, Zhang & Koren 2019"
    model_type = PosteriorDraws
    uses_item_features = True

    rank: int = parameter(31, "rank r", "number of latent factors", (1, MOST_SIDES - 1))
    steps: int = parameter(
        80, "sweeps T", "successive draws of all factors", (1, 10_000)
    )
    draws: int = parameter(
        16,
        "draws S",
        "how many sweeps of the last three quarters are averaged for predictions",
        (1, 200),
    )
    attention: int = parameter(
        64,
        "attention K",
        "singular vectors of the user x item pattern of ratings, as side information; 0: none",
        (0, 500),
    )

    def fit(self, curator: OpenCurator, rng: Streams) -> Iterator[PosteriorDraws]:
        data = curator.rows
        chain = _Chain(data, self.rank, self.attention, rng)
        kept: list[_Draw] = []
        last_steps = self._kept_steps()
        for step in range(1, self.steps + 1):
            draw = chain.sweep()
            if step in last_steps:
                kept.append(draw)
            latest = kept or [draw]
            yield chain.model(latest if step == self.steps else latest[-BETWEEN:])

    def _kept_steps(self) -> frozenset[int]:
        """Steps spread evenly over the later three quarters, the last one included."""
        first = self.steps // 4 + 1
        count = min(self.draws, self.steps - first + 1)
        return frozenset(
            np.linspace(self.steps, first, count).round().astype(int).tolist()
        )


@dataclass(frozen=True)
class _Draw:
    """What a prediction needs of one sweep, as in `PosteriorDraws`."""

    items: Array  # (n_items, r + 1), the offset last
    link: Array
    precision: Array
    noise_precision: float


class GibbsSide:
    """The rows of users or of items, (n, r + 1), their offset last, and their prior.

    Given the rows U, features F and the prior's precision P of a row, the links B are matrix
    normal. Their mean is (F'F + D)^-1 F'U, and their covariances are (F'F + D)^-1 and P^-1. Given U
    and B, P is Wishart.
    """

    def __init__(self, features: Array, r: int, rng: Streams) -> None:
        self.rng = rng
        self.features = features
        self.rows = np.zeros((len(features), r + 1), np.float32)
        self.rows[:, :r] = SPREAD * rng.init.standard_normal((len(features), r))
        self.link = np.zeros((features.shape[1], r + 1))
        self.precision = np.eye(r + 1)
        self._products = features.T @ features
        self._shrinkage = np.ones(features.shape[1])
        self._shrinkage[0] = INTERCEPT

    def draw_prior(self) -> None:
        """Draw the precision, the links and the pull of these towards 0, each given the rest."""
        U = self.rows.astype(np.float64)
        F = self.features
        D = self._shrinkage
        rng = self.rng
        size = U.shape[1]
        left = U - F @ self.link
        scatter = np.eye(size) + left.T @ left + (self.link.T * D) @ self.link
        self.precision = np.atleast_2d(
            wishart.rvs(
                size + len(U) + len(D), np.linalg.inv(scatter), random_state=rng.init
            )
        )
        root = np.linalg.cholesky(self._products + np.diag(D))
        spread = np.linalg.solve(np.linalg.cholesky(self.precision).T, np.eye(size)).T
        mean = np.linalg.solve(root.T, np.linalg.solve(root, F.T @ U))
        self.link = (
            mean
            + np.linalg.solve(root.T, rng.init.standard_normal(mean.shape)) @ spread
        )
        free = self.link[1:]
        if len(free):
            pull = float(np.sum((free @ self.precision) * free))
            D[1:] = rng.init.gamma(GAMMA + free.size / 2, 1 / (GAMMA + pull / 2))

    def draw_rows(
        self, starts: Array, others: Array, values: Array, noise: float, V: Array
    ) -> None:
        """Draw every row given its values and the others' rows V, (n_others, r + 1)."""
        rng = self.rng
        columns = V.copy()
        columns[:, -1] = 1
        rows = (starts, others, values - V[others, -1])
        linear = self.features @ self.link
        prior = self.precision, linear @ self.precision
        normals = rng.init.standard_normal(self.rows.shape, np.float32)
        self.rows = kernels.draw_rows(*rows, columns, noise, *prior, normals)


class _Chain:
    """A Gibbs sampler of users' and items' sides and of the noise around predictions."""

    def __init__(self, data: Ratings, r: int, attention: int, rng: Streams) -> None:
        self.data = data
        self.rng = rng
        self.unit = np.float32(data.shape.quarter_range)
        if len(data):
            self.centre = float(data.values.mean(dtype=np.float64))
        else:
            self.centre = 0.0
        self.values = (data.values - np.float32(self.centre)) / self.unit
        self.starts, self.order = data.by_item
        self.loadings, vectors = _attention(data, attention, rng)
        counts = np.log1p(data.user_counts)
        self.mean_log_count = float(counts.mean())
        users = user_features(data, self.loadings, self.mean_log_count)
        self.users = GibbsSide(users, r, rng)
        self.items = GibbsSide(_item_features(data, vectors), r, rng)
        self.noise_precision = 1.0

    def sweep(self) -> _Draw:
        """Draw everything once."""
        data = self.data
        users = self.users
        items = self.items
        users.draw_prior()
        noise = self.noise_precision
        users.draw_rows(data.by_user, data.items, self.values, noise, items.rows)
        items.draw_prior()
        by_item = self.starts, data.users[self.order], self.values[self.order]
        items.draw_rows(*by_item, noise, users.rows)
        left = self.values - _products(users.rows, items.rows, data)
        squares = float(np.sum(left.astype(np.float64) ** 2))
        self.noise_precision = float(
            self.rng.init.gamma(GAMMA + len(data) / 2, 1 / (GAMMA + squares / 2))
        )
        return _Draw(items.rows, users.link, users.precision, self.noise_precision)

    def model(self, draws: list[_Draw]) -> PosteriorDraws:
        offsets = np.column_stack([draw.items[:, -1] for draw in draws])
        return PosteriorDraws(
            bounds=self.data.bounds,
            centre=self.centre,
            item_offsets=self.unit * offsets.mean(axis=1, dtype=np.float32),
            item_factors=np.hstack([draw.items[:, :-1] for draw in draws]),
            draw_offsets=offsets,
            loadings=self.loadings,
            links=np.stack([draw.link for draw in draws]),
            precisions=np.stack([draw.precision for draw in draws]),
            noise_precisions=np.array([draw.noise_precision for draw in draws]),
            mean_log_count=self.mean_log_count,
        )


def _products(U: Array, V: Array, data: Ratings) -> Array:
    """u . v + a + b for every rating; the offsets a and b are the last columns of U and V."""
    sides = U[:, -1], V[:, -1], U[:, :-1], V[:, :-1]
    return kernels.predict_ratings(
        0.0, *sides, data.users, data.items, (-np.inf, np.inf)
    )


def user_features(history: Ratings, loadings: Array, mean_log_count: float) -> Array:
    """1, a user's attention and the logarithm of their number of ratings, (n_users, K + 2)."""
    counts = history.user_counts
    return np.column_stack(
        [
            np.ones(len(counts)),
            rated_shares(history) @ loadings,
            np.log1p(counts) - mean_log_count,
        ]
    )


def _attention(data: Ratings, count: int, rng: Streams) -> tuple[Array, Array]:
    """Loadings of items on a user's features, and the items' own features, both (n_items, K).

    They come from the leading singular vectors of the matrix of who rated what.
    """
    from sklearn.utils.extmath import randomized_svd  # slow to load

    count = min(count, data.n_users, data.n_items)
    if not count:
        return (np.zeros((data.n_items, 0)),) * 2
    per_user = data.user_counts
    root = 1 / np.sqrt(np.maximum(data.item_counts, 1))
    weights = (
        np.repeat(1 / np.sqrt(np.maximum(per_user, 1)), per_user) * root[data.items]
    )
    seed = int(rng.init.integers(2**31))
    _, values, vectors = randomized_svd(
        data.matrix(weights), count, n_iter=PASSES, random_state=seed
    )
    own = vectors.T * values * np.sqrt(data.n_items)
    return vectors.T * (root * np.sqrt(data.n_users))[:, None], own


def _item_features(data: Ratings, vectors: Array) -> Array:
    """1, an item's attention, the log of its number of ratings, and its public features."""
    counts = np.log1p(data.item_counts)
    columns = [np.ones(data.n_items), vectors, counts - counts.mean()]
    if (table := data.item_features) is not None:
        equal = np.ones(data.n_items)
        columns += [scaled(table.categories, equal), scaled(table.numbers, equal)]
    return np.column_stack(columns)
