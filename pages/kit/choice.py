"""What is chosen in the sidebar: the run that it describes, and relatives of it."""

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

from dpmf_core.data.ratings import ITEM_SET_IS_PUBLIC, Shape
from dpmf_core.data.samples import VOCABULARY_IS_PUBLIC, WORDS_ARE_PUBLIC, SampleShape
from dpmf_core.runs.specification import RunSpec
from pages.kit import data_sets
from pages.kit.page_table import DataKind


@dataclass(frozen=True)
class Choice:
    """What the sidebar says, by the names of a run's parameters."""

    dataset: str
    algorithm: str
    epsilon: float
    delta: float
    seed: int = 0
    calibration: str = "exact"
    noise: str = "continuous"
    row_count: str = "given"  # where it is private, so is which items or words there are
    item_features: str = "none"
    top_items: int | None = None
    most_words: int | None = None

    @cached_property
    def entry(self) -> Any:
        """The data set in the catalogue, or of the session."""
        return data_sets.find(self.dataset)

    @cached_property
    def kind(self) -> DataKind:
        return data_sets.kind_of(self.entry)

    @cached_property
    def shape(self) -> Any:
        """The public shape, without opening the data."""
        entry = self.entry
        if self.kind == "ratings":
            n_items = min(self.top_items or entry.n_items, entry.n_items)
            return Shape(entry.n_users, n_items, entry.bounds)
        n_features = min(self.most_words or entry.n_features, entry.n_features)
        return SampleShape(entry.n_samples, n_features, entry.image, entry.n_people)

    @property
    def kept_items(self) -> int | None:
        """How many of the most rated items are kept; None for all."""
        return self.top_items if self.shape.n_items < self.entry.n_items else None

    @property
    def known_features(self) -> str:
        """What algorithms may know of the items: the public table, where there is one."""
        return self.item_features if self.entry.item_features else "none"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What is assumed of the data, and of the columns that are kept by exact counts."""
        is_exact = self.row_count == "given"
        if self.kind == "ratings":
            item_set = (ITEM_SET_IS_PUBLIC,) if self.kept_items and is_exact else ()
            return (*self.entry.assumptions, *item_set)
        learned = self.kind == "documents" and self.entry.kind != "simulated"
        fewer = is_exact and self.most_words is not None and self.most_words < self.entry.n_features
        words = (WORDS_ARE_PUBLIC,) * learned + (VOCABULARY_IS_PUBLIC,) * fewer
        others = (it for it in self.entry.assumptions if it != WORDS_ARE_PUBLIC)
        return tuple(dict.fromkeys((*words, *others)))

    @property
    def assumptions_of_hashed_words(self) -> tuple[str, ...]:
        """As `assumptions`, where words are folded into buckets: nothing is learned from them."""
        learned = (WORDS_ARE_PUBLIC, VOCABULARY_IS_PUBLIC)
        return tuple(it for it in self.assumptions if it not in learned)

    def spec(
        self,
        algorithm: str | None = None,
        parameters: dict[str, Any] | None = None,
        data: dict[str, Any] | None = None,
        **changes: Any,
    ) -> RunSpec:
        """The run that is chosen, or a relative of it; data: how samples are prepared.

        Raises BadInput.
        """
        choices = asdict(self) | (data or {}) | changes
        if self.kind == "ratings":
            choices |= {"top_items": self.kept_items, "item_features": self.known_features}
        if self.row_count == "private" and self.kind != "images":
            choices["item_choice"] = "private"
        choices |= {"algorithm": algorithm or self.algorithm, "parameters": parameters or {}}
        spec = RunSpec.of(**choices)
        return spec if self.kind == "ratings" else spec.canonical()
