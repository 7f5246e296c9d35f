"""What the contract needs to know about a kind of data, one home for each kind.

A home has small worlds of one public shape; `empty` and `heavy` name special units of them. nobody:
the same shape with empty rows. lone: one unit, few columns. strangers: data sets of one public
shape that have nothing else in common. neighbours: (relation, D, D'), one unit removed, added or
replaced, among them duplicates of others, empty units and the worst cases. adversaries: only the
worst possible units. crowd: equal units, so that what is learned points where a further one lies.
others: a world in which every unit but one has changed.
"""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from dpmf_core.algorithms import REGISTRY, Algorithm
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples
from dpmf_core.testing import rating_worlds, sample_worlds

Data = Any
LOW, HIGH = rating_worlds.BOUNDS
EVERY_ITEM = list(range(rating_worlds.N_ITEMS))
# as far from its own mean as a row can be
TORN = [LOW if item % 2 else HIGH for item in EVERY_ITEM]


class OfRatings:
    """Small worlds of ratings."""

    name = "ratings"
    empty = rating_worlds.EMPTY
    heavy = rating_worlds.HEAVY
    worst: ClassVar[dict[str, tuple[list[int], list[float]]]] = {
        "loves everything": (EVERY_ITEM, [HIGH] * rating_worlds.N_ITEMS),
        "hates everything": (EVERY_ITEM, [LOW] * rating_worlds.N_ITEMS),
        "torn": (EVERY_ITEM, TORN),
        "torn the other way": (EVERY_ITEM, TORN[1:] + TORN[:1]),
        "one rating": ([rating_worlds.N_ITEMS - 1], [LOW]),
        "two at the ends": ([0, rating_worlds.N_ITEMS - 1], [LOW, HIGH]),
        "two at the other ends": ([0, rating_worlds.N_ITEMS - 1], [HIGH, LOW]),
        "indifferent": (EVERY_ITEM, [(LOW + HIGH) / 2] * rating_worlds.N_ITEMS),
        "duplicated and out of range": ([1, 1, 2, 2, 7], [1e9, LOW, -1e9, HIGH, 99.0]),
    }

    def world(self, seed: int = 0, skew: float = 1.0) -> Ratings:
        return rating_worlds.world(seed, skew=skew)

    def nobody(self) -> Ratings:
        return rating_worlds.of({})

    def lone(self) -> Ratings:
        return Ratings.of(
            [0, 0],
            [0, 2],
            [1, 5],
            n_users=1,
            n_items=3,
            bounds=(1, 5),
            public=True,
        )

    def strangers(self) -> Iterator[Ratings]:
        """They differ in number of ratings, popularity, heavy users, duplicates and range."""
        yield self.world(11, skew=0.0)
        yield self.world(12, skew=3.0)
        yield self.nobody()
        yield rating_worlds.of({0: ([rating_worlds.N_ITEMS - 1], [LOW])})
        yield rating_worlds.of(
            dict.fromkeys(range(rating_worlds.N_USERS), self.worst["loves everything"])
        )
        duplicated = self.worst["duplicated and out of range"]
        yield rating_worlds.of(
            dict.fromkeys(range(0, rating_worlds.N_USERS, 3), duplicated)
        )

    def neighbours(self, data: Ratings) -> Iterator[tuple[str, Ratings, Ratings]]:
        present = np.unique(data.users)
        with_row = rating_worlds.with_row
        for user in (self.heavy, present[0], present[-1], present[len(present) // 2]):
            yield "remove", data, with_row(data, int(user), [], [])
        for items, values in self.worst.values():
            yield "add", data, with_row(data, self.empty[0], items, values)
        same = data.only(data.users == self.heavy)
        first, second = self.empty
        yield (
            "add",
            data,
            with_row(data, second, same.items.tolist(), same.values.tolist()),
        )
        rows = list(self.worst.values())
        for one, other in zip(rows, rows[1:] + rows[:1], strict=True):
            yield "replace", with_row(data, first, *one), with_row(data, first, *other)
        yield "replace", data, with_row(data, self.heavy, *self.worst["torn"])

    def adversaries(self) -> Ratings:
        return rating_worlds.of(
            dict(enumerate(self.worst.values())), n_users=len(self.worst)
        )

    def crowd(self) -> Ratings:
        users = set(range(rating_worlds.N_USERS)) - set(self.empty)
        return rating_worlds.of(dict.fromkeys(sorted(users), (EVERY_ITEM, TORN)))

    def others(self, unit: int) -> Ratings:
        raw = rating_worlds.rows(99, skew=0.0)
        raw.pop(unit, None)
        if unit in (rows := rating_worlds.rows()):
            raw[unit] = rows[unit]
        return rating_worlds.of(raw)

    def own_row(self, model: Any, data: Ratings, unit: int) -> tuple[Any, ...]:
        return tuple(np.asarray(side[unit]) for side in self.own_rows(model, data))

    def own_rows(self, model: Any, data: Ratings) -> tuple[Any, ...]:
        personal = model.personal(data)
        return personal.offsets, personal.factors


class OfSamples:
    """Small worlds of documents or images. The unit is a row, or a person with all their rows.

    A person's rows may be equal, scattered and of any number.
    """

    last = sample_worlds.N_FEATURES - 1
    worst: ClassVar[dict[str, dict[int, float]]] = {
        "all features equal": dict.fromkeys(range(sample_worlds.N_FEATURES), 1.0),
        "first feature": {0: 3.0},
        "last feature": {last: 1e-20},
        "huge": dict.fromkeys(range(0, sample_worlds.N_FEATURES, 2), 1e15),
        "the other half": dict.fromkeys(range(1, sample_worlds.N_FEATURES, 2), 1e-9),
        "two at the ends": {0: 1.0, last: 1.0},
        "second": {1: 0.5},
        "front": dict.fromkeys(range(4), 2.0),
    }

    def __init__(self, images: bool, people: bool = False) -> None:
        self.images = images
        self.people = people
        self.name = "images" if images else "documents"
        if people:
            self.name += " of people"
        if people:
            special: Any = sample_worlds.PeopleWorld
        else:
            special = sample_worlds
        self.empty = special.EMPTY
        self.heavy = special.HEAVY

    def _rows(self, seed: int = 0, skew: float = 1.0) -> tuple[Any, Any]:
        """Rows (23, 18), and the unit of each (23,)."""
        if self.people:
            return sample_worlds.rows_and_people(seed, skew)
        return sample_worlds.table(seed, skew), np.arange(sample_worlds.N_SAMPLES)

    def _of(
        self, rows: Any, units: Any, n_people: int = sample_worlds.PeopleWorld.COUNT
    ) -> Samples:
        samples = sample_worlds.of(rows, self.images)
        if self.people:
            return samples.of_people(units, n_people)
        return samples

    def world(self, seed: int = 0, skew: float = 1.0) -> Samples:
        return self._of(*self._rows(seed, skew))

    def nobody(self) -> Samples:
        rows, units = self._rows()
        return self._of(0 * rows, units)

    def lone(self) -> Samples:
        rows = np.array([[1.0, 0.0, 5.0], [2.0, 1.0, 0.0]])
        if self.people:
            return self._of(rows, np.array([0, 0]), 1)
        return self._of(rows[:1], None)

    def strangers(self) -> Iterator[Samples]:
        """They differ in length, words, empty rows, scale, equal rows, and in who has which."""
        yield self.world(11, skew=0.0)
        yield self.world(12, skew=3.0)
        yield self.nobody()
        rows, units = self._rows(7)
        yield self._of(*sample_worlds.with_unit(0 * rows, units, 0, [{self.last: 7.0}]))
        yield self._of(rows, 0 * units + 3)
        yield self._of(
            np.ones_like(rows), np.arange(len(rows)) % sample_worlds.PeopleWorld.COUNT
        )
        yield self._of(1e9 * rows[:, ::-1], units)

    def _new_rows(self) -> list[list[dict[int, float]]]:
        """All that a unit may bring: one of the worst rows; a person many equal ones, or others."""
        worst = list(self.worst.values())
        single = [[row] for row in worst]
        if not self.people:
            return single
        repeated = [[worst[place]] * count for place, count in ((0, 6), (1, 5), (3, 2))]
        return [*single, *repeated, worst[:6], [worst[1], {}, worst[1]]]

    def neighbours(self, data: Samples) -> Iterator[tuple[str, Samples, Samples]]:
        rows = data.X if self.images else data.X.toarray()
        units = self._units(data)
        first, second = self.empty
        all_rows = self._new_rows()

        def but(
            unit: int, new: Any, start: tuple[Any, Any] = (rows, units)
        ) -> tuple[Any, Any]:
            return sample_worlds.with_unit(*start, unit, new)

        some = (self.heavy, 0, len(rows) - 2, len(rows) // 2)
        for unit in range(sample_worlds.PeopleWorld.COUNT) if self.people else some:
            yield "remove", data, self._of(*but(unit, []))
        for new in all_rows:
            yield "add", data, self._of(*but(first, new))
        same = [dict(enumerate(row)) for row in rows[units == self.heavy][:6]]
        yield "add", data, self._of(*but(second, same))
        for one, other in zip(all_rows, all_rows[1:] + all_rows[:1], strict=True):
            before = but(first, one)
            yield "replace", self._of(*before), self._of(*but(first, other, before))
        yield "replace", data, self._of(*but(self.heavy, all_rows[2]))

    def _units(self, data: Samples) -> Any:
        if data.people is None:
            return np.arange(len(data))
        return data.people

    def adversaries(self) -> Samples:
        brought = self._new_rows()
        units = np.repeat(np.arange(len(brought)), [len(rows) for rows in brought])
        rows = sample_worlds.dense([row for rows in brought for row in rows])
        return self._of(rows, units, len(brought))

    def crowd(self) -> Samples:
        rows, units = self._rows()
        rows[:] = 0
        rows[:, ::2] = 1.0
        rows[np.isin(units, self.empty)] = 0
        return self._of(rows, units)

    def others(self, unit: int) -> Samples:
        rows, units = self._rows()
        nobody = np.isin(units, (self.empty[1], 2))
        count = sample_worlds.PeopleWorld.COUNT
        other = np.where(nobody[:, None], 0.0, sample_worlds.table(99, skew=0.0))
        own = units == unit
        elsewhere = (units + 1) % count
        elsewhere = np.where(elsewhere == unit, (unit + 2) % count, elsewhere)
        return self._of(
            np.where(own[:, None], rows, other), np.where(own, unit, elsewhere)
        )

    def own_row(self, model: Any, data: Samples, unit: int) -> tuple[Any, ...]:
        own = self._units(data) == unit
        return tuple(np.asarray(side[own]) for side in self.own_rows(model, data))

    def own_rows(self, model: Any, data: Samples) -> tuple[Any, ...]:
        own = model.personal(data)
        if own.outliers is None:
            return (own.coefficients,)
        return (own.coefficients, own.outliers)


Home = OfRatings | OfSamples
RATINGS = OfRatings()
DOCUMENTS = OfSamples(images=False)
IMAGES = OfSamples(images=True)
DOCUMENTS_OF_PEOPLE = OfSamples(False, people=True)
IMAGES_OF_PEOPLE = OfSamples(True, people=True)


def homes_of(kind: type[Algorithm]) -> tuple[Home, ...]:
    if kind.task == "ratings":
        return (RATINGS,)
    return DOCUMENTS, IMAGES, DOCUMENTS_OF_PEOPLE, IMAGES_OF_PEOPLE


CASES: list[tuple[type[Algorithm], Home]] = [
    (kind, home) for kind in REGISTRY.values() for home in homes_of(kind)
]


def case_name(case: Any) -> str:
    kind, home = case
    return str(kind.id if home is RATINGS else f"{kind.id}, {home.name}")
