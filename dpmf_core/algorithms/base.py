"""What every algorithm is: frozen parameters, `fit`, and what it releases; it has no state of
its own and holds no rows.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from dpmf_core.base.errors import BadInput
from dpmf_core.curator import Statistic
from dpmf_core.data.ratings import Ratings, Shape
from dpmf_core.privacy import NOT_PRIVATE, NOTHING, Budget, Event, Guarantee

if TYPE_CHECKING:
    from dpmf_core.kernels import RowSolver

Array = npt.NDArray[Any]
INSIDE = 1 - 1e-6  # a clipped row stays inside its bound after rounding
# the least positive parameter, and the least share of a budget: proofs are tried from these on
LEAST, LEAST_SHARE = 1e-6, 1e-3
MOST_ITEMS = 12_000  # of an item x item matrix held in full: 1.2 GB
# what parameters suit a method without noise: those of a budget whose noise is next to none
ALMOST_NO_NOISE = Budget(epsilon=1000.0, delta=1e-6)


@dataclass(frozen=True)
class Streams:
    """The named random streams of a run, apart from privacy noise.

    init: starting factors, public shape only. sampling: key for per-user hashed choices
    (`data.keyed_uniform`).
    """

    init: np.random.Generator
    sampling: int


@dataclass(frozen=True)
class Personal:
    """What each user computes from their own ratings and never shares: offsets (n_users,), factors
    (n_users, r + c), on what the model's `item_sides` hold.
    """

    offsets: Array
    factors: Array


@dataclass(frozen=True)
class Model:
    """A fitted model as named arrays and settings."""

    @property
    def arrays(self) -> dict[str, Array]:
        """The fields that are arrays, by name."""
        return {name: value for name, value in self._fields() if isinstance(value, np.ndarray)}

    @property
    def settings(self) -> dict[str, Any]:
        """The other fields, by name: with `arrays` all it takes to make this model again."""
        return {name: value for name, value in self._fields() if not isinstance(value, np.ndarray)}

    def __repr__(self) -> str:
        """In a line: arrays by their shapes."""
        shapes = [f"{name} {it.shape}" for name, it in self.arrays.items()]
        settings = [f"{name}={it!r}" for name, it in self.settings.items()]
        return f"{type(self).__name__}({', '.join([*shapes, *settings])})"

    def _fields(self) -> Iterator[tuple[str, Any]]:
        return ((each.name, getattr(self, each.name)) for each in fields(self))


@dataclass(frozen=True, repr=False)
class Recommender(Model):
    """The shared side of a fitted recommender, and the local step that computes a user's own side.

    A rating is predicted as centre + user offset + item offset + u . v, clipped to `bounds`, v the
    item's factors and local columns side by side.
    centre: what everyone starts from. item_offsets: (n_items,). item_factors: (n_items, r).
    user_damping: pseudo-count of the user's offset; None leaves the offset out.
    ridge: of the user's least squares, times the user's number of ratings to the power
    `ridge_exponent`.
    unobserved_weight: lambda_0, the pull of all items towards 0 (implicit feedback).
    mended: the user's offset is fitted again with the factor, because the mean alone includes the
    effect of tastes.
    local_columns: (n_items, c), or empty for none: released or public values. The user fits
    loadings on them; they are scaled to suit the factors' ridge.
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
    local_columns: Array = field(default_factory=lambda: np.zeros((0, 0), np.float32))

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
        """Whether anything is a user's own: an offset or factors."""
        return self.user_damping is not None or self.has_factors

    @property
    def is_bilinear(self) -> bool:
        """Whether it predicts and ranks as this class does, so that loops may do it themselves."""
        kind = type(self)
        return kind.predict is Recommender.predict and kind.scores is Recommender.scores

    @property
    def shared(self) -> Mapping[str, Array]:
        """Everything that leaves the curator."""
        return {"centre": np.asarray(self.centre), **self.arrays}

    def residuals(self, ratings: Ratings) -> tuple[Array, Array]:
        """Each user's offset (n_users,), and every rating less centre and offsets (n_ratings,),
        float32.
        """
        from dpmf_core import kernels  # compiled code is loaded when first needed

        return kernels.residuals(
            ratings.by_user,
            ratings.items,
            ratings.values,
            self.centre,
            self.item_offsets,
            self.user_damping,
        )

    def personal(self, history: Ratings) -> Personal:
        """Every user's own side from their own `history`; a user without ratings gets zeros.

        Cached with the history for the last model, because training and evaluation ask in turn.
        """
        if not self.has_user_sides:
            n = history.n_users
            return Personal(np.zeros(n, np.float32), np.zeros((n, 0), np.float32))
        from dpmf_core import kernels

        return history.cached_for(self, lambda: self.personal_by(kernels.solve_rows, history))

    def personal_by(self, solve: "RowSolver", history: Ratings) -> Personal:
        """The same with the least squares solved differently, as in training."""
        offsets, residuals = self.residuals(history)
        V = self.item_sides
        if not V.shape[1]:
            return Personal(offsets, np.zeros((history.n_users, 0), np.float32))
        ridge = self.ridge * np.maximum(np.diff(history.by_user), 1) ** self.ridge_exponent
        unit = np.float32(history.shape.half_range / 2)
        wider = np.column_stack([V, np.full(len(V), unit, np.float32)]) if self.mended else V
        base = self.unobserved_weight * (wider.T @ wider) if self.unobserved_weight else None
        if not self.mended:
            return Personal(
                offsets,
                solve(history.by_user, history.items, residuals, V, ridge, base=base),
            )
        U = solve(history.by_user, history.items, residuals, wider, ridge, base=base)
        return Personal(offsets + unit * U[:, -1], np.ascontiguousarray(U[:, :-1]))

    def with_loadings(self, history: Ratings, own: Personal) -> Personal:
        """The same, plus the user's regression on the local columns of what the `own` offset and
        factors (n_users, r) leave.
        """
        from dpmf_core import kernels

        L = self.local_columns
        if not L.shape[1]:
            return own
        plain = replace(self, local_columns=L[:, :0], bounds=(-np.inf, np.inf))
        residuals = history.values - plain.predict(own, history.users, history.items)
        unit = np.float32(history.shape.half_range / 2)
        columns = np.column_stack([L, np.full(len(L), unit, np.float32)])
        loadings = kernels.solve_rows(
            history.by_user, history.items, residuals, columns, self.ridge
        )
        return Personal(
            own.offsets + unit * loadings[:, -1], np.hstack([own.factors, loadings[:, :-1]])
        )

    def predict(self, personal: Personal, users: Array, items: Array) -> Array:
        """Predicted ratings (len(users),), float32, within bounds."""
        if not self.has_factors:  # nothing that takes compiled code
            a, b = personal.offsets, np.asarray(self.item_offsets, np.float32)
            predictions = np.float32(self.centre) + a[users] + b[items]
            return np.asarray(np.clip(predictions, *self.bounds), np.float32)
        from dpmf_core import kernels

        return kernels.predict_ratings(
            self.centre,
            personal.offsets,
            self.item_offsets,
            personal.factors,
            self.item_sides,
            users,
            items,
            self.bounds,
        )

    def scores(self, personal: Personal, users: Array) -> Array:
        """Scores that rank a user's list, (len(users), n_items): not clipped, to avoid ties."""
        values = personal.factors[users] @ self.item_sides.T
        values += self.item_offsets
        return np.asarray(values)


def user_means(ratings: Ratings, values: Array, damping: float = 0.0) -> Array:
    """sum / (count + damping) of each user's values, float32 (n_users,); 0 for a user without
    ratings.
    """
    from dpmf_core import kernels

    sums = kernels.segment_sums(ratings.by_user, values)
    return (sums / np.maximum(np.diff(ratings.by_user) + damping, 1e-9)).astype(np.float32)


class Algorithm(BaseModel):
    """Frozen parameters of one algorithm; subclasses add fields and `fit`.

    id: command-line name. source: citation. version: part of every cache key; raise it when results
    change.
    task: what it factorises; shapes and data are then those of `data` or of `samples`.
    model_type: of what `fit` yields. twin: id of the same method without privacy.

    How it stands among its rivals:
    colour: of its lines in every figure, by name; '' gives a private one a colour of its own.
    marker: of its points, where rivals share the colour.
    training_cost: rank of its training time among private rivals; the quick ones are run first.
    is_usual_rival: whether it is shown next to every private run, unless all are.
    uses_item_features: whether it learns from a public item table, where it is given one.
    needs_item_features: whether without one it is another algorithm.
    is_trivial: whether it is a trivial baseline, and drawn as such.
    trusts_nobody: whether every user adds noise, so that no curator is trusted.
    adds_noise: whether what it releases has noise; not in what `without_noise` makes of it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    id: ClassVar[str]
    title: ClassVar[str]
    words: ClassVar[str]
    source: ClassVar[str]
    version: ClassVar[int] = 1
    task: ClassVar[Literal["ratings", "samples"]] = "ratings"
    model_type: ClassVar[type] = Recommender
    twin: ClassVar[str] = "als"
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
        cls, shape: Any, budget: Budget | None, parameters: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Parameters that suit a public shape, a budget and the parameters given; anything
        absent keeps its field's default.
        """
        rank = cls.model_fields.get("rank")
        return {"rank": shape.n_items} if rank is not None and rank.default > shape.n_items else {}

    @classmethod
    def recommend_without_noise(cls, shape: Any, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The same for exact sums: unless overridden, of a budget whose noise is next to none."""
        return cls.recommend(shape, ALMOST_NO_NOISE, parameters)

    def check(self, shape: Any) -> None:
        """Raises BadInput where parameters do not fit the public shape."""
        rank = getattr(self, "rank", 0)
        if rank > shape.n_items:
            raise BadInput(
                f"The 'rank' parameter of {self.title} must be at most the number of items,"
                f" {shape.n_items}. Got {rank}."
            )

    def plan(self, shape: Any, level: float) -> Event:
        """What `fit` will release, at `level` = noise over sensitivity; relative allocations
        are parameters.
        """
        return NOTHING

    def coordinates(self, statistic: str, shape: Any) -> int:
        """How many coordinates one release of a statistic has, at most, by public figures."""
        return max(shape.n_items if isinstance(shape, Shape) else shape.n_features, 2)

    def source_level(self, shape: Any, budget: Budget) -> float:
        """The level that the source's own calibration gives for a nominal budget.

        Raises BadInput where it has none.
        """
        raise BadInput(f"{self.title} has no calibration from its source. Use --calibration exact.")

    def guarantee(self) -> Guarantee:
        return NOT_PRIVATE

    def asks_sums_alone(self) -> bool:
        """Whether `fit`, where it promises nothing, asks for exact sums and reads no rows."""
        return False

    def guarantee_of_run(self, shape: Any, level: float) -> Guarantee:
        """The same, where its words hold figures that follow from a run's public shape and
        noise level.
        """
        return self.guarantee()

    @property
    def n_steps(self) -> int:
        """After how many steps `fit` yields a model, at most."""
        return getattr(self, "steps", 1)

    def fit(self, curator: Any, rng: Streams) -> Iterator[Any]:
        """Yields the model after each step; the last one is the result, and may come once more than
        there are steps.

        curator: a `Curator`; where nothing is proved for these parameters (`guarantee`), an
        `OpenCurator`, which also hands out rows.
        """
        raise NotImplementedError


class PrivateAlgorithm(Algorithm):
    """An algorithm that releases statistics with noise, so that it takes a budget."""

    def statistics(self, shape: Any) -> tuple[Statistic, ...]:
        """What `fit` asks the curator for, by public figures; the plan is built from these."""
        return ()

    def coordinates(self, statistic: str, shape: Any) -> int:
        """Unless overridden as many as the statistic says for every item or feature."""
        each = max(
            (it.per_item for it in self.statistics(shape) if it.name == statistic), default=1
        )
        return each * super().coordinates(statistic, shape)


def triangle(size: int) -> int:
    """Coordinates of a symmetric matrix with so many rows."""
    return size * (size + 1) // 2


def fits_in_memory(algorithm: Algorithm, shape: Shape, instead: str = "--top-items") -> None:
    """Raises BadInput where an item x item matrix would be too large."""
    if shape.n_items > MOST_ITEMS:
        raise BadInput(
            f"{algorithm.title} holds an item x item matrix: at most {MOST_ITEMS:,} items."
            f" Got {shape.n_items:,}. Use {instead}."
        )
