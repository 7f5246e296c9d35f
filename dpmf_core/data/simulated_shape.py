"""The shape of ratings that are simulated, and its id."""

from dataclasses import dataclass
from typing import Self
from urllib.parse import parse_qsl

LARGEST_BOUND = 1e9


@dataclass(frozen=True)
class SimulatedShape:
    """Public or declared facts about ratings, such as `users=943&items=1682&each=106&bounds=1,5`.

    Attributes
    ----------
    n_users, n_items : int
    each : float
        The number of ratings of a person, on average.
    bounds : tuple of float
    step : float or None
        The step of the scale from its lower bound, if declared.
    """

    n_users: int
    n_items: int
    each: float
    bounds: tuple[float, float]
    step: float | None = None

    @classmethod
    def read(cls, text: str) -> Self:
        """The shape that a text describes.

        Other facts in the text are whole numbers of a subclass.

        Raises
        ------
        KeyError, TypeError, ValueError
            If a fact is missing, unknown or not a number.
        """
        facts = dict(parse_qsl(text))
        low, high = map(float, facts.pop("bounds").split(","))
        step = facts.pop("step", None)
        return cls(
            int(facts.pop("users")),
            int(facts.pop("items")),
            float(facts.pop("each")),
            (low, high),
            None if step is None else float(step),
            **{name: int(fact) for name, fact in facts.items()},
        )

    @property
    def text(self) -> str:
        low, high = self.bounds
        text = (
            f"users={self.n_users}&items={self.n_items}&each={self.each:.6g}"
            f"&bounds={low:.12g},{high:.12g}"
        )
        if self.step is None:
            return text
        return f"{text}&step={self.step:.12g}"

    @property
    def has_scale(self) -> bool:
        """Whether ratings can have these bounds and this step."""
        low, high = self.bounds
        if not -LARGEST_BOUND <= low < high <= LARGEST_BOUND:
            return False
        return self.step is None or 0 < self.step <= high - low
