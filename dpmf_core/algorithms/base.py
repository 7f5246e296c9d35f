"""What every algorithm is: frozen parameters and two methods, `plan` and `fit`, with no state of its own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict

from dpmf_core import kernels
from dpmf_core.data import Ratings, Shape
from dpmf_core.errors import BadInput
from dpmf_core.privacy import NOT_PRIVATE, NOTHING, Budget, Event, Guarantee, Ledger, Noise

Array = npt.NDArray[Any]
INSIDE = 1 - 1e-6  # a clipped row stays inside its bound after rounding
MOST_ITEMS = 12_000  # of an item x item matrix held in full: 1.2 GB


@dataclass(frozen=True)
class Streams:
    """The named random streams of a run, apart from privacy noise.

    init: starting factors, public shape only. sampling: key for per-user hashed choices (`data.keyed_uniform`).
    """

    init: np.random.Generator
    sampling: int


class Watch(Protocol):
    """Told after every step; raises Cancelled when the run should stop."""

    def __call__(self, step: int, steps: int, model: Any) -> None: ...


def unwatched(step: int, steps: int, model: Any) -> None:
    """A watch that looks at nothing."""


@dataclass(frozen=True)
class Personal:
    """What each user computes from her own ratings and never shares: offsets (n_users,), factors (n_users, r)."""

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

    def _fields(self) -> Iterator[tuple[str, Any]]:
        return ((field.name, getattr(self, field.name)) for field in fields(self))


@dataclass(frozen=True)
class Recommender(Model):
    """The shared side of a fitted recommender, and the local step by which a user finds her own side.

    A rating is predicted as centre + user offset + item offset + u . v, clipped to `bounds`.
    centre: what everyone starts from. item_offsets: (n_items,). item_factors: (n_items, r).
    user_damping: pseudo-count of the user's offset; None leaves the offset out.
    ridge: of the user's least squares, times her number of ratings to the power `ridge_exponent`.
    unobserved_weight: lambda_0, the pull of all items towards 0 (implicit feedback).
    mended: the user's offset is fitted once more, together with her factor: her mean alone is off by what her tastes add to it.
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

    @property
    def shared(self) -> Mapping[str, Array]:
        """Everything that leaves the curator."""
        return {"centre": np.asarray(self.centre), **self.arrays}

    def residuals(self, ratings: Ratings) -> tuple[Array, Array]:
        """Each user's offset (n_users,), and every rating less centre and offsets (n_ratings,), float32."""
        left = ratings.values - np.float32(self.centre) - self.item_offsets.astype(np.float32)[ratings.items]
        offsets = np.zeros(ratings.n_users, np.float32)
        if self.user_damping is not None:
            offsets = user_means(ratings, left, self.user_damping)
        return offsets, left - offsets[ratings.users]

    def personal(self, history: Ratings) -> Personal:
        """Every user's own side from her own `history`; a user without ratings gets zeros."""
        offsets, left = self.residuals(history)
        V = self.item_factors  # (n_items, r)
        if not V.shape[1]:
            return Personal(offsets, np.zeros((history.n_users, 0), np.float32))
        ridge = self.ridge * np.maximum(np.diff(history.by_user), 1) ** self.ridge_exponent
        unit = np.float32(history.shape.half_range / 2)
        wider = np.column_stack([V, np.full(len(V), unit, np.float32)]) if self.mended else V
        base = self.unobserved_weight * (wider.T @ wider) if self.unobserved_weight else None
        if not self.mended:
            return Personal(offsets, kernels.solve_rows(history.by_user, history.items, left, V, ridge, base=base))
        U = kernels.solve_rows(history.by_user, history.items, left, wider, ridge, base=base)
        return Personal(offsets + unit * U[:, -1], np.ascontiguousarray(U[:, :-1]))

    def predict(self, personal: Personal, users: Array, items: Array) -> Array:
        """Predicted ratings (len(users),), float32, within bounds."""
        out = self.centre + personal.offsets[users] + self.item_offsets.astype(np.float32)[items]
        if self.item_factors.shape[1]:
            out = out + kernels.predict_pairs(personal.factors, self.item_factors, users, items)
        return np.asarray(np.clip(out, *self.bounds))

    def scores(self, personal: Personal, users: Array) -> Array:
        """What a user's list is ranked by, (len(users), n_items): not clipped, so that ties stay apart."""
        return np.asarray(self.item_offsets + personal.factors[users] @ self.item_factors.T)


def user_means(ratings: Ratings, values: Array, damping: float = 0.0) -> Array:
    """sum / (count + damping) of each user's values, float32 (n_users,); 0 for a user without ratings."""
    sums = np.bincount(ratings.users, values, ratings.n_users)
    return (sums / np.maximum(np.diff(ratings.by_user) + damping, 1e-9)).astype(np.float32)


@dataclass(frozen=True)
class Fit:
    """A finished fit: the shared model (a `Recommender`, or `Parts`), and what its noise spent."""

    model: Any
    spent: Ledger = ()


class Algorithm(BaseModel):
    """Frozen parameters of one algorithm; subclasses add fields, `plan` and `fit`.

    id: command-line name. source: citation. version: part of every cache key; raise it when results change.
    task: what it factorises; shapes and data are then those of `data` or of `samples`. fitted: what `fit` returns. twin: id of the same method without privacy.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    id: ClassVar[str]
    title: ClassVar[str]
    words: ClassVar[str]
    source: ClassVar[str]
    version: ClassVar[int] = 1
    task: ClassVar[Literal["ratings", "samples"]] = "ratings"
    fitted: ClassVar[type] = Recommender
    twin: ClassVar[str] = "als"

    @classmethod
    def recommend(cls, shape: Any, budget: Budget | None, given: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters that suit a public shape, a budget and the parameters given; anything absent keeps its field's default."""
        rank = cls.model_fields.get("rank")
        return {"rank": shape.n_items} if rank is not None and rank.default > shape.n_items else {}

    def check(self, shape: Any) -> None:
        """Raises BadInput where parameters do not fit the public shape."""
        rank = getattr(self, "rank", 0)
        if rank > shape.n_items:
            raise BadInput(f"The 'rank' parameter of {self.title} must be at most the number of items, {shape.n_items}. Got {rank}.")

    def plan(self, shape: Any, level: float) -> Event:
        """What `fit` will release, at `level` = noise over sensitivity; relative allocations are parameters."""
        return NOTHING

    def coordinates(self, statistic: str, shape: Any) -> int:
        """How many coordinates one release of a statistic has, at most, by public figures: unless overridden one for every item or feature."""
        return max(shape.n_items if isinstance(shape, Shape) else shape.n_features, 2)

    def source_level(self, shape: Any, budget: Budget) -> float:
        """The level that the source's own calibration gives for a nominal budget. Raises BadInput where it has none."""
        raise BadInput(f"{self.title} has no calibration of its own source. Use --calibration exact.")

    def guarantee(self) -> Guarantee:
        return NOT_PRIVATE

    def guarantee_of_run(self, shape: Any, level: float) -> Guarantee:
        """The same, where its words hold figures that follow from a run's public shape and noise level."""
        return self.guarantee()

    def fit(self, data: Any, *, noise: Noise, rng: Streams, watch: Watch = unwatched) -> Fit:
        raise NotImplementedError


def triangle(size: int) -> int:
    """Coordinates of a symmetric matrix with so many rows."""
    return size * (size + 1) // 2


def fits_in_memory(algorithm: Algorithm, shape: Shape, instead: str = "--top-items") -> None:
    """Raises BadInput where an item x item matrix would be too large."""
    if shape.n_items > MOST_ITEMS:
        raise BadInput(f"{algorithm.title} holds an item x item matrix: at most {MOST_ITEMS:,} items. Got {shape.n_items:,}. Use {instead}.")
