"""The questions of one fit to its curator, and the answers that other rows would give.

A statistic is a sum over units of what `add` makes of each, so what one unit moves is its own
answer. No second fit is needed, and a unit may be as adversarial as possible.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpmf_core.algorithms import Algorithm, Streams
from dpmf_core.curator.curator import NoisyCurator
from dpmf_core.curator.people import Held, Key, Step, in_memory, split_units
from dpmf_core.curator.statistic import Array, Block, Range, Statistic, Totals
from dpmf_core.privacy.noise import Noise


@dataclass(frozen=True)
class Question:
    """One release: a statistic, its noise scale, the shared values, and its parts."""

    statistic: Statistic
    scale: float
    shared: tuple[Any, ...]
    ranges: tuple[Range, ...] | None = None

    @property
    def parts(self) -> list[dict[str, Range]]:
        return [{}] if self.ranges is None else [{"at": at} for at in self.ranges]


@dataclass
class QuestionRecord:
    """All questions of a fit, and how stored states were made. model: the fit's last."""

    shape: Any
    questions: list[Question] = field(default_factory=list)
    steps: dict[Key, tuple[Step, tuple[Any, ...]]] = field(default_factory=dict)
    model: Any = None

    def totals(
        self, question: Question, block: Block, cached: dict[Key, Any] | None = None
    ) -> list[Totals]:
        """What the rows of a block add to the sums, part by part.

        cached: states of this block for earlier questions.
        """
        states = {} if cached is None else cached

        def state_of(part: Any) -> Any:
            if not isinstance(part, Held):
                return part
            if part.key not in states:
                step, before = self.steps[part.key]
                states[part.key] = step(block, *[state_of(earlier) for earlier in before])
            return states[part.key]

        own, sums = [state_of(part) for part in question.shared], []
        for at in question.parts:
            totals = question.statistic.empty(self.shape, *question.shared, **at)
            question.statistic.add(block, totals, *own, **at)
            sums.append(totals)
        return sums

    def answer(
        self, question: Question, block: Block, cached: dict[Key, Any] | None = None
    ) -> Array:
        """The totals as they would be released: a symmetric matrix counts in full."""
        parts = [
            question.statistic.assemble(totals, *question.shared, **at).ravel()
            for totals, at in zip(self.totals(question, block, cached), question.parts, strict=True)
        ]
        return np.concatenate(parts)


class ListeningCurator(NoisyCurator):
    """Answers as any curator does, and records its questions."""

    def __init__(self, data: Any, noise: Noise, assumptions: Sequence[str] = ()) -> None:
        super().__init__(in_memory(data), noise, assumptions)
        self.record = QuestionRecord(data.shape)

    def release(self, statistic: Statistic, *shared: Any) -> Array:
        self.record.questions.append(Question(statistic, self.scale(statistic), shared))
        return super().release(statistic, *shared)

    def release_parts(self, statistic: Statistic, ranges: Sequence[Range], *shared: Any) -> Any:
        question = Question(statistic, self.scale(statistic), shared, tuple(ranges))
        self.record.questions.append(question)
        return super().release_parts(statistic, ranges, *shared)

    def hold(self, step: Step, *shared: Any) -> Held:
        local_state = super().hold(step, *shared)
        self.record.steps[local_state.key] = (step, shared)
        return local_state


def ask(algorithm: Algorithm, data: Any, *, level: float = 1.0, seed: int = 0) -> QuestionRecord:
    """The questions of an algorithm about these data."""
    noise = Noise(algorithm.plan(data.shape, level), np.random.SeedSequence(seed))
    curator = ListeningCurator(data, noise, algorithm.guarantee().assumptions)
    rng = Streams(np.random.default_rng([seed, 1]), seed + 2)
    for model in algorithm.fit(curator, rng):
        curator.record.model = model
    return curator.record


def single_units(data: Any, n_units: int) -> list[Block]:
    """Every unit of `data` as a block of its own, one of a population of `n_units`."""
    units = [np.array([unit]) for unit in range(data.shape.n_units)]
    blocks = split_units({"train": data}, units)
    return [Block(block.ids % n_units, block.tables, n_units) for block in blocks]
