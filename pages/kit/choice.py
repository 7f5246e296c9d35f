"""What is chosen in the sidebar: the run that it describes, and relatives of it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import dpmf_datasets as datasets
from dpmf_core.data.ratings import ITEM_SET_IS_PUBLIC, Shape
from dpmf_core.data.samples import VOCABULARY_IS_PUBLIC, WORDS_ARE_PUBLIC, SampleShape
from dpmf_core.runs.specification import RunSpec
from pages.kit import data_sets
from pages.kit.page_table import DataKind


def shape_fields(shape_is: str, kind: DataKind = "ratings") -> dict[str, str]:
    """What a run's data say of a shape that is released; nothing where it is given."""
    if shape_is == "given":
        return {}
    return {"row_count": "private"} | ({} if kind == "images" else {"item_choice": "private"})


@dataclass(frozen=True)
class Choice:
    """What the sidebar says: everything a run needs except advanced parameters."""

    data: str
    top_items: int | None
    algorithm: str
    epsilon: float
    delta: float
    seed: int
    calibration: str
    noise: str = "continuous"
    shape_is: str = "given"
    features: str = "none"

    @cached_property
    def entry(self) -> datasets.Entry:
        data_set: datasets.Entry = data_sets.find(self.data)
        return data_set

    @cached_property
    def shape(self) -> Shape:
        """The public shape, without opening the data."""
        return Shape(
            self.entry.n_users,
            min(self.top_items or self.entry.n_items, self.entry.n_items),
            self.entry.bounds,
        )

    @property
    def kept_items(self) -> int | None:
        """How many of the most rated items are kept; None for all."""
        return self.top_items if self.shape.n_items < self.entry.n_items else None

    @property
    def item_features(self) -> str:
        """What algorithms may know of the items: the public table, where there is one and it is
        chosen.
        """
        return self.features if self.entry.item_features else "none"

    @property
    def assumptions(self) -> tuple[str, ...]:
        return self.entry.assumptions + (
            (ITEM_SET_IS_PUBLIC,) if self.kept_items and self.shape_is == "given" else ()
        )

    def spec(
        self, algorithm: str | None = None, parameters: dict[str, Any] | None = None, **changes: Any
    ) -> RunSpec:
        """The run that is chosen, or a relative of it. Raises BadInput."""
        budget = {
            "epsilon": changes.get("epsilon", self.epsilon),
            "delta": self.delta,
            "calibration": changes.get("calibration", self.calibration),
            "noise": self.noise,
        }
        return RunSpec.parse(
            data={
                "id": self.data,
                "top_items": self.kept_items,
                "item_features": self.item_features,
                **shape_fields(self.shape_is),
            },
            algorithm=algorithm or self.algorithm,
            parameters=parameters or {},
            budget=budget,
            seed=changes.get("seed", self.seed),
        )


@dataclass(frozen=True)
class SampleChoice:
    """What the sidebar says on a page about documents or images."""

    data: str
    most_words: int | None
    algorithm: str
    epsilon: float
    delta: float
    seed: int
    calibration: str
    noise: str = "continuous"
    shape_is: str = "given"

    @cached_property
    def entry(self) -> datasets.SampleEntry:
        data_set: datasets.SampleEntry = data_sets.find(self.data)
        return data_set

    @property
    def shape(self) -> SampleShape:
        """The public shape, without opening the data."""
        entry = self.entry
        return SampleShape(
            entry.n_samples,
            min(self.most_words or entry.n_features, entry.n_features),
            entry.image,
            entry.n_people,
        )

    def assumptions(self, hashed: bool) -> tuple[str, ...]:
        """What the words assume: only an invented vocabulary, or a hashed one, learns nothing
        from documents.
        """
        words_chosen = (
            self.most_words is not None
            and self.most_words < self.entry.n_features
            and self.shape_is == "given"
        )
        words_learned = self.entry.holds == "documents" and self.entry.kind != "simulated"
        words = (
            ()
            if hashed
            else (WORDS_ARE_PUBLIC,) * words_learned + (VOCABULARY_IS_PUBLIC,) * words_chosen
        )
        return tuple(
            dict.fromkeys(
                (*words, *(it for it in self.entry.assumptions if it != WORDS_ARE_PUBLIC))
            )
        )

    def spec(
        self,
        algorithm: str | None = None,
        parameters: dict[str, Any] | None = None,
        data: dict[str, Any] | None = None,
        **changes: Any,
    ) -> RunSpec:
        """The run that is chosen, or a relative of it. Raises BadInput."""
        budget = {
            "epsilon": changes.get("epsilon", self.epsilon),
            "delta": self.delta,
            "calibration": changes.get("calibration", self.calibration),
            "noise": self.noise,
        }
        return RunSpec.parse(
            data={
                "id": self.data,
                "most_words": self.most_words,
                **shape_fields(self.shape_is, self.entry.holds),
                **(data or {}),
            },
            algorithm=algorithm or self.algorithm,
            parameters=parameters or {},
            budget=budget,
            seed=changes.get("seed", self.seed),
        ).canonical()
