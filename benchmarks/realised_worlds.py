"""Worlds for `benchmarks.realised`: everybody but one unit, and rows that she may have."""

import math
from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples

Row = np.ndarray  # of all items or features, NaN where she has none
LOW, HIGH = 1.0, 5.0


class World(Protocol):
    """Everybody but one unit, whose row is searched for."""

    columns: int

    def data_with(self, row: Row) -> Any:
        """The data with her row."""
        ...

    def rows(self, rng: np.random.Generator) -> Iterator[Row]:
        """Rows that may be the worst."""
        ...

    def along(self, model: Any) -> Iterator[Row]:
        """Rows that lie along what was learnt without her."""
        ...

    def variation(self, row: Row, rng: np.random.Generator) -> Row: ...

    def exchanges(self) -> Iterator[tuple[Row, Row]]:
        """Rows that have nothing in common, or are each other's opposite."""
        ...


class RatingsWorld:
    """kind: "mixed" tastes, "alike" (everybody rates all items, one high, one low) or "empty";
    half of the users have no rating.
    """

    def __init__(self, kind: str, users: int, columns: int) -> None:
        self.columns, self.users = columns, users
        rng = np.random.default_rng(7)
        is_rated = {
            "mixed": rng.random((users, columns)) < np.linspace(0.9, 0.1, columns),
            "alike": np.ones((users, columns), bool),
        }.get(kind)
        is_rated = np.zeros((users, columns), bool) if is_rated is None else is_rated
        is_rated[::2] = False
        values = (
            np.where(np.arange(columns) % 2, LOW, HIGH) + np.zeros((users, 1))
            if kind == "alike"
            else rng.uniform(LOW, HIGH, (users, columns))
        )
        self.others = (*np.nonzero(is_rated), values[is_rated])

    def data_with(self, row: Row) -> Ratings:
        own = np.flatnonzero(np.isfinite(row))
        users, items, values = self.others
        return Ratings.of(
            np.concatenate([np.zeros(len(own), int), users]),
            np.concatenate([own, items]),
            np.concatenate([row[own], values]),
            n_users=self.users,
            n_items=self.columns,
            bounds=(LOW, HIGH),
            public=True,
        )

    def rows(self, rng: np.random.Generator) -> Iterator[Row]:
        every = np.arange(self.columns)
        middle = (LOW + HIGH) / 2
        for spread in (HIGH - middle, 1.0):
            yield np.where(every % 2, middle - spread, middle + spread)
            yield np.where(every < self.columns // 2, middle - spread, middle + spread)
            yield np.where(every == 0, middle - spread, middle + spread)
        yield np.full(self.columns, HIGH)
        yield np.full(self.columns, LOW)
        for few in (1, 2, 5):
            yield np.where(every < few, np.where(every % 2, LOW, HIGH), np.nan)
            yield np.where(every >= self.columns - few, np.where(every % 2, LOW, HIGH), np.nan)
        for _ in range(4):
            yield np.where(
                rng.random(self.columns) < rng.random(),
                rng.choice([LOW, HIGH], self.columns),
                np.nan,
            )

    def along(self, model: Any) -> Iterator[Row]:
        for factor in model.item_factors.T[:3].astype(float):
            if np.isfinite(factor).all() and factor.any():
                yield (LOW + HIGH) / 2 + (HIGH - LOW) / 2 * factor / np.abs(factor).max()
                yield np.where(factor > 0, HIGH, LOW)

    def variation(self, row: Row, rng: np.random.Generator) -> Row:
        is_new = rng.random(self.columns) < rng.choice([1.5, 6.0]) / self.columns
        return np.where(
            is_new, rng.choice([LOW, HIGH, np.nan, rng.uniform(LOW, HIGH)], self.columns), row
        )

    def exchanges(self) -> Iterator[tuple[Row, Row]]:
        every = np.arange(self.columns)
        row = np.where(every % 2, LOW, HIGH)
        front = every < self.columns // 2
        yield row, LOW + HIGH - row
        yield np.full(self.columns, HIGH), np.full(self.columns, LOW)
        yield np.where(front, row, np.nan), np.where(front, np.nan, row)
        yield np.where(every == 0, HIGH, np.nan), np.where(every == self.columns - 1, LOW, np.nan)


class SamplesWorld:
    """kind: "mixed" samples, "alike" or "empty"; half of them empty."""

    def __init__(self, kind: str, samples: int, image: tuple[int, int]) -> None:
        self.columns, self.image = math.prod(image), image
        rng = np.random.default_rng(7)
        X = (
            rng.gamma(0.4, 1.0, (samples, self.columns))
            if kind == "mixed"
            else np.full((samples, self.columns), float(kind == "alike"))
        )
        X[::2] = 0
        self.X = X

    def data_with(self, row: Row) -> Samples:
        X = self.X.copy()
        X[0] = np.nan_to_num(row)
        return Samples.of(X, image=self.image, unit="image", public=True)

    def rows(self, rng: np.random.Generator) -> Iterator[Row]:
        every = np.arange(self.columns)
        yield from (
            np.ones(self.columns),
            np.where(every == 0, 1.0, 0.0),
            np.where(every == self.columns - 1, 1.0, 0.0),
        )
        yield from (
            np.where(every % 2, 1.0, 0.0),
            np.where(every % 2, 0.0, 1.0),
            np.where(every < 4, 1.0, 0.0),
            np.where(every == 0, 1e12, 1.0),
        )
        for _ in range(6):
            yield rng.gamma(0.3, 1.0, self.columns)

    def along(self, model: Any) -> Iterator[Row]:
        yield from (part for part in model.basis.astype(float) if part.any())

    def variation(self, row: Row, rng: np.random.Generator) -> Row:
        is_new = rng.random(self.columns) < rng.choice([1.5, 6.0]) / self.columns
        return np.where(
            is_new,
            rng.choice([0.0, 1.0, rng.random()], self.columns),
            np.nan_to_num(row) * 10 ** (0.3 * rng.standard_normal()),
        )

    def exchanges(self) -> Iterator[tuple[Row, Row]]:
        every = np.arange(self.columns)
        yield np.where(every % 2, 1.0, 0.0), np.where(every % 2, 0.0, 1.0)
        yield np.where(every == 0, 1.0, 0.0), np.where(every == self.columns - 1, 1.0, 0.0)
        yield np.where(every < 4, 1.0, 0.0), np.where(every < 4, 0.0, 1.0)
