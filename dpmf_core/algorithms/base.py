"""What every algorithm is: frozen parameters, a `fit` method, and a plan of its releases.

An algorithm has no state and holds no rows.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import ConfigDict

from dpmf_core.base.arrays import Array
from dpmf_core.base.errors import BadInput
from dpmf_core.base.frozen import Frozen
from dpmf_core.curator import Statistic
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.privacy import NOT_PRIVATE, NOTHING, Budget, Event, Guarantee

Parameters = dict[str, Any]  # of an algorithm, by name
INSIDE = 1 - 1e-6  # keeps a clipped row inside its bound after rounding
MOST_ITEMS = 12_000  # for an item x item matrix held in full: 1.2 GB
# a method without noise takes the parameters for a budget with almost no noise
ALMOST_NO_NOISE = Budget(epsilon=1000.0, delta=1e-6)


@dataclass(frozen=True)
class Streams:
    """The named random streams of a run, apart from privacy noise.

    Attributes
    ----------
    init : numpy.random.Generator
        Draws starting factors, from the public shape.
    sampling : int
        The key of each user's hashed choices (`data.keyed_uniform`).
    """

    init: np.random.Generator
    sampling: int


@dataclass(frozen=True)
class Personal:
    """What each user computes from their own ratings and never shares.

    Attributes
    ----------
    offsets : (n_users,)
    factors : (n_users, r + c)
        On the model's `item_sides`.
    """

    offsets: Array
    factors: Array


def no_matrix() -> Array:
    """The default of a matrix that a model need not have."""
    return np.zeros((0, 0), np.float32)


@dataclass(frozen=True)
class Model:
    """A fitted model as named arrays and settings."""

    @property
    def arrays(self) -> dict[str, Array]:
        """The fields that are arrays, by name."""
        return {
            name: value
            for name, value in self._fields()
            if isinstance(value, np.ndarray)
        }

    @property
    def shared(self) -> Mapping[str, Array]:
        """Everything that leaves the curator."""
        return self.arrays

    @property
    def settings(self) -> dict[str, Any]:
        """The other fields, by name; with `arrays` they suffice to rebuild this model."""
        return {
            name: value
            for name, value in self._fields()
            if not isinstance(value, np.ndarray)
        }

    def __repr__(self) -> str:
        """One line, with arrays by their shapes."""
        shapes = [f"{name} {array.shape}" for name, array in self.arrays.items()]
        settings = [f"{name}={value!r}" for name, value in self.settings.items()]
        return f"{type(self).__name__}({', '.join([*shapes, *settings])})"

    def _fields(self) -> Iterator[tuple[str, Any]]:
        return ((each.name, getattr(self, each.name)) for each in fields(self))


@dataclass(frozen=True, repr=False)
class Recommender(Model):
    """The shared side of a fitted recommender, and the local step that finds a user's own side.

    A rating is predicted as centre + user offset + item offset + u . v, clipped to `bounds`, where
    v holds the item's factors and local columns.

    Attributes
    ----------
    centre : float
        The prediction before offsets and factors.
    item_offsets : (n_items,)
    item_factors : (n_items, r)
    user_damping : float or None
        Pseudo-count of the user's offset; None for no user offsets.
    ridge, ridge_exponent : float
        The user's least squares has ridge times (number of ratings)^ridge_exponent.
    unobserved_weight : float
        lambda_0, the pull of all items towards 0 (implicit feedback).
    mended : bool
        Whether the user's offset is fitted again with the factor, because the mean alone includes
        the effect of tastes.
    local_columns : (n_items, c)
        Released or public values, may be empty. Users fit loadings on them; they are scaled to suit
        the factors' ridge.
    averages : bool
        Whether the one local column marks items that users predict by the average of their own
        ratings, which is their loading on it.
    attention, attention_line : (n_items, r + c + 1), (2, r + c + 1)
        What `prior_means` are linear in: each rated item, and a constant and the logarithm of the
        number of ratings. Empty if prior means are 0.
    """

    bounds: tuple[float, float]
    centre: float
    item_offsets: Array
    item_factors: Array
    user_damping: float | None = None
    ridge: float = 1.0
    ridge_exponent: float = 0.0
    unobserved_weight: float = 0.0
    mended: bool = False
    local_columns: Array = field(default_factory=no_matrix)
    averages: bool = False
    attention: Array = field(default_factory=no_matrix)
    attention_line: Array = field(default_factory=no_matrix)

    @classmethod
    def of_means(cls, shape: Shape, **parts: Any) -> Self:
        """A model that predicts mid-range and each user's own mean, with other parts if given."""
        means: dict[str, Any] = {
            "centre": shape.mid_range,
            "item_offsets": np.zeros(shape.n_items, np.float32),
            "item_factors": np.zeros((shape.n_items, 0), np.float32),
            "user_damping": 0.0,
        }
        return cls(bounds=shape.bounds, **(means | parts))

    @property
    def item_sides(self) -> Array:
        """Item factors and local columns side by side (n_items, r + c)."""
        if not self.local_columns.shape[1]:
            return self.item_factors
        return np.hstack([self.item_factors, self.local_columns])

    @property
    def has_factors(self) -> bool:
        """Whether users' factors enter predictions, with latent or public columns."""
        return bool(self.item_factors.shape[1] or self.local_columns.shape[1])

    @property
    def has_user_sides(self) -> bool:
        """Whether users have anything of their own: an offset or factors."""
        return self.user_damping is not None or self.has_factors

    @property
    def is_bilinear(self) -> bool:
        """Whether it predicts and ranks by this class's formula, so compiled loops may do it."""
        kind = type(self)
        return kind.predict is Recommender.predict and kind.scores is Recommender.scores

    @property
    def shared(self) -> Mapping[str, Array]:
        return {"centre": np.asarray(self.centre), **self.arrays}

    def residuals(self, ratings: Ratings) -> tuple[Array, Array]:
        """Each user's offset (n_users,), and each rating minus centre and offsets, float32."""
        from dpmf_core import kernels  # compiled code is loaded when first needed

        rows = ratings.by_user, ratings.items, ratings.values
        return kernels.residuals(
            *rows, self.centre, self.item_offsets, self.user_damping
        )

    def personal(self, history: Ratings) -> Personal:
        """Every user's own side from their `history`; zeros for a user without ratings.

        The last model's result is cached with the history, because training and evaluation both
        ask for it.
        """
        if not self.has_user_sides:
            n = history.n_users
            return Personal(np.zeros(n, np.float32), np.zeros((n, 0), np.float32))
        from dpmf_core import kernels

        return history.cached_for(
            self, lambda: self.personal_by(kernels.solve_rows, history)
        )

    def personal_by(self, solve: Callable[..., Array], history: Ratings) -> Personal:
        """Every user's own side, with the least squares of `kernels.solve_rows` by `solve`."""
        if self.averages:
            plain = replace(
                self, local_columns=self.local_columns[:, :0], averages=False
            )
            own = plain.personal_by(solve, history)
            average = user_means(history, history.values - np.float32(self.centre))
            return Personal(own.offsets, np.column_stack([own.factors, average]))
        offsets, residuals = self.residuals(history)
        V = self.item_sides
        if not V.shape[1]:
            return Personal(offsets, np.zeros((history.n_users, 0), np.float32))
        ridge = self.ridge * np.maximum(history.user_counts, 1) ** self.ridge_exponent

        def solved(sides: Array) -> Array:
            if self.unobserved_weight:
                pull = self.unobserved_weight * (sides.T @ sides)
            else:
                pull = None
            return solve(
                history.by_user, history.items, residuals, sides, ridge, base=pull
            )

        if not self.mended:
            return Personal(offsets, solved(V))
        unit = np.float32(history.shape.quarter_range)
        wider = np.column_stack([V, np.full(len(V), unit, np.float32)])
        if not self.attention.size:
            U = solved(wider)
        else:
            from dpmf_core import kernels

            prior = self.prior_means(history)
            residuals -= kernels.predict_pairs(
                prior, wider, history.users, history.items
            )
            U = prior + solved(wider)
        return Personal(offsets + unit * U[:, -1], np.ascontiguousarray(U[:, :-1]))

    def prior_means(self, history: Ratings) -> Array:
        """Prior means (n_users, r + c + 1) of users' factors, loadings and mended offset.

        They are linear in which items a user rated; 0 for a user without ratings.
        """
        counts = history.user_counts[:, None]
        constant, slope = self.attention_line
        means = rated_shares(history).astype(np.float32) @ self.attention
        means += constant
        means += np.log1p(counts, dtype=np.float32) * slope
        return np.asarray(means * (counts > 0), np.float32)

    def with_loadings(self, history: Ratings, own: Personal) -> Personal:
        """Add to factors (n_users, r) the user's regression of the rest on the local columns."""
        from dpmf_core import kernels

        L = self.local_columns
        if not L.shape[1]:
            return own
        plain = replace(self, local_columns=L[:, :0], bounds=(-np.inf, np.inf))
        residuals = history.values - plain.predict(own, history.users, history.items)
        unit = np.float32(history.shape.quarter_range)
        columns = np.column_stack([L, np.full(len(L), unit, np.float32)])
        loadings = kernels.solve_rows(
            history.by_user, history.items, residuals, columns, self.ridge
        )
        return Personal(
            own.offsets + unit * loadings[:, -1],
            np.hstack([own.factors, loadings[:, :-1]]),
        )

    def predict(self, personal: Personal, users: Array, items: Array) -> Array:
        """Predicted ratings (len(users),), float32, within bounds."""
        if not self.has_factors:  # this needs no compiled code
            a = personal.offsets
            b = np.asarray(self.item_offsets, np.float32)
            predictions = np.float32(self.centre) + a[users] + b[items]
            return np.asarray(np.clip(predictions, *self.bounds), np.float32)
        from dpmf_core import kernels

        offsets = self.centre, personal.offsets, self.item_offsets
        factors = personal.factors, self.item_sides
        return kernels.predict_ratings(*offsets, *factors, users, items, self.bounds)

    def scores(self, personal: Personal, users: Array) -> Array:
        """Scores that rank a user's list, (len(users), n_items); not clipped, to avoid ties."""
        values = personal.factors[users] @ self.item_sides.T
        values += self.item_offsets
        return values


def rated_shares(ratings: Ratings) -> Any:
    """1 / sqrt(number of the user's ratings) for each rated item, a sparse (n_users, n_items)."""
    counts = ratings.user_counts
    return ratings.matrix(np.repeat(1 / np.sqrt(np.maximum(counts, 1)), counts))


def finite(values: Array) -> Array:
    """The values, with 0 for those that are not finite."""
    return np.where(np.isfinite(values), values, 0.0)


def clip_factors(norms: Array, bound: float) -> Array:
    """What rows of these norms are multiplied by, so that none is longer than the bound."""
    return np.minimum(1.0, bound * INSIDE / np.maximum(norms, 1e-300))


def unit_factors(norms: Array) -> Array:
    """What rows of these norms are multiplied by, so that all but those of norm 0 have norm 1."""
    return np.where(norms > 0, INSIDE / np.maximum(norms, 1e-300), 0.0)


def user_means(ratings: Ratings, values: Array, damping: float = 0.0) -> Array:
    """sum / (count + damping) of each user's values, float32 (n_users,); 0 without ratings."""
    from dpmf_core import kernels

    sums = kernels.segment_sums(ratings.by_user, values)
    counts = ratings.user_counts + damping
    return np.asarray(sums / np.maximum(counts, 1e-9), np.float32)


class Algorithm(Frozen):
    """Frozen parameters of one algorithm; subclasses add fields and `fit`.

    Attributes
    ----------
    id, title, words, source : str
        Command-line name, display name, one line of description, citation.
    version : int
        Part of every cache key; raise it when results change.
    version_without_noise : int
        Added to it for runs without noise; raise it when only their parameters change.
    exact_settings : Mapping
        Parameters for runs without noise that differ from those of a budget with almost no noise,
        chosen on validation ratings (benchmarks/results/utility.md).
    task : str
        What it factorises: "ratings" (shapes and data of `data.ratings`) or "samples".
    model_type : type
        What `fit` yields.
    colour, marker : str
        Its lines and points in every figure; without a colour a private algorithm gets its own.
    training_cost : int
        Rank of its training time among private algorithms; quick ones run first.
    is_usual_rival, is_trivial : bool
        Whether comparisons try it by default, because it is the best somewhere or well known; and
        whether it is drawn as a trivial baseline.
    uses_item_features, needs_item_features : bool
        Whether it learns from a public item table, and whether it is another algorithm without one.
    trusts_nobody : bool
        Whether every user adds noise, so that no curator is trusted.
    adds_noise : bool
        Whether its releases have noise; False for what `without_noise` returns.
    """

    model_config = ConfigDict(allow_inf_nan=False)

    id: ClassVar[str]
    title: ClassVar[str]
    words: ClassVar[str]
    source: ClassVar[str]
    version: ClassVar[int] = 1
    version_without_noise: ClassVar[int] = 0
    exact_settings: ClassVar[Parameters] = {}
    task: ClassVar[Literal["ratings", "samples"]] = "ratings"
    model_type: ClassVar[type] = Recommender
    colour: ClassVar[str] = ""
    marker: ClassVar[str] = "circle"
    training_cost: ClassVar[int] = 100
    is_usual_rival: ClassVar[bool] = False
    uses_item_features: ClassVar[bool] = False
    needs_item_features: ClassVar[bool] = False
    is_trivial: ClassVar[bool] = False
    trusts_nobody: ClassVar[bool] = False
    adds_noise: ClassVar[bool] = True

    @classmethod
    def recommend(
        cls, shape: Any, budget: Budget | None, parameters: Parameters
    ) -> Parameters:
        """Parameters that suit a public shape, a budget and the given parameters.

        Parameters that are absent keep their field's default.
        """
        settings: Parameters = {}
        if budget is not None:
            settings = cls.recommend_for_budget(shape, budget, parameters)
        rank = cls.model_fields.get("rank")
        if rank is not None and settings.get("rank", rank.default) > shape.n_items:
            return settings | {"rank": shape.n_items}
        return settings

    @classmethod
    def recommend_for_budget(
        cls, shape: Any, budget: Budget, parameters: Parameters
    ) -> Parameters:
        """The same with a budget, where a rank may be larger than the number of items."""
        return {}

    @classmethod
    def recommend_without_noise(cls, shape: Any, parameters: Parameters) -> Parameters:
        """The parameters for exact sums.

        They are those of a budget with almost no noise, except for `exact_settings`.
        """
        settings = {
            **cls.recommend(shape, ALMOST_NO_NOISE, parameters),
            **cls.exact_settings,
        }
        if "rank" in settings:
            settings["rank"] = min(settings["rank"], shape.n_items)
        return settings

    def check(self, shape: Any) -> None:
        """Raise BadInput if parameters do not fit the public shape."""
        rank = getattr(self, "rank", 0)
        if rank > shape.n_items:
            raise BadInput(
                f"The 'rank' parameter of {self.title} must be at most the number of items,"
                f" {shape.n_items}. Got {rank}."
            )

    def plan(self, shape: Any, level: float) -> Event:
        """What `fit` will release at a level (noise over sensitivity).

        How the releases share the budget is set by parameters.
        """
        return NOTHING

    def coordinates(self, statistic: str, shape: Any) -> int:
        """The most coordinates that one release of a statistic has, by public values."""
        return max(shape.n_items if isinstance(shape, Shape) else shape.n_features, 2)

    def source_level(self, shape: Any, budget: Budget) -> float:
        """The level of the source's own calibration for a nominal budget.

        Raises
        ------
        BadInput
            If the source has no calibration.
        """
        raise BadInput(
            f"{self.title} has no calibration from its source. Use --calibration exact."
        )

    def guarantee(self) -> Guarantee:
        return NOT_PRIVATE

    def asks_sums_alone(self) -> bool:
        """Whether `fit`, if it has no guarantee, needs exact sums only and no rows."""
        return False

    def guarantee_of_run(self, shape: Any, level: float) -> Guarantee:
        """The guarantee, with figures that follow from a run's public shape and noise level."""
        return self.guarantee()

    @property
    def n_steps(self) -> int:
        """The most steps after which `fit` yields a model."""
        return getattr(self, "steps", 1)

    def fit(self, curator: Any, rng: Streams) -> Iterator[Any]:
        """Yield the model after each step; the last is the result, and may come once more.

        Parameters
        ----------
        curator : Curator
            If nothing is proved for these parameters (`guarantee`), it is an `OpenCurator`, which
            also gives rows.
        rng : Streams
        """
        raise NotImplementedError


class PrivateAlgorithm(Algorithm):
    """An algorithm that releases statistics with noise, so that it takes a budget.

    Attributes
    ----------
    source_epsilon_of : str
        What the epsilon of the source's own rule is for, such as each statistic of each step; '' if
        it is meant for the whole run.
    whole_triangle : bool
        Whether the source's own noise on a symmetric matrix has its full deviation off the
        diagonal.
    """

    source_epsilon_of: ClassVar[str] = ""
    whole_triangle: ClassVar[bool] = False

    def statistics(self, shape: Any) -> tuple[Statistic, ...]:
        """The statistics that `fit` asks for, by public values; the plan is built from them."""
        return ()

    def sizes(self, shape: Any) -> dict[str, int]:
        """The coordinates of the statistics that have others than by default, by name."""
        return {}

    def coordinates(self, statistic: str, shape: Any) -> int:
        """By default a triangle of items or features, or that many for each of them."""
        n = super().coordinates(statistic, shape)
        own = self.sizes(shape)
        if statistic in own:
            return own[statistic]
        sizes = []
        for candidate in self.statistics(shape):
            if candidate.name == statistic:
                sizes.append(
                    triangle(n) if candidate.symmetric else candidate.per_item * n
                )
        return max(sizes, default=n)


def triangle(size: int) -> int:
    """The coordinates of a symmetric matrix with `size` rows."""
    return size * (size + 1) // 2


def fits_in_memory(
    algorithm: Algorithm, shape: Shape, instead: str = "--top-items"
) -> None:
    """Raise BadInput if an item x item matrix would be too large."""
    if shape.n_items > MOST_ITEMS:
        raise BadInput(
            f"{algorithm.title} holds an item x item matrix, for at most {MOST_ITEMS:,} items."
            f" Got {shape.n_items:,}. Use {instead}."
        )
