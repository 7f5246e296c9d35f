"""The questions of one fit to its curator, and instruments that replace what answers them.

A statistic is a sum over units of what `add` makes of each, so what one unit moves is its own
answer. No second fit is needed, and a unit may be as adversarial as possible.

Algorithms do not notice the instruments. `Recorder` notes every exact statistic and what was
released for it. With the log of an earlier run it hands out what that run released, so both runs
take the same path and only the statistics can differ. `Blindfold` hands out noise alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpmf_core.algorithms import Algorithm, Streams, train
from dpmf_core.base.arrays import Array
from dpmf_core.curator.curator import NoisyCurator
from dpmf_core.curator.people import Held, Key, Step, in_memory, split_units
from dpmf_core.curator.statistic import Block, Range, Statistic, Totals
from dpmf_core.privacy import Event
from dpmf_core.privacy.events import Ledger
from dpmf_core.privacy.noise import Noise
from dpmf_core.privacy.noise_log import LoggedNoise, LoggedRelease, ReleaseLog


@dataclass(frozen=True)
class ProbeQuestion:
    """One release: a statistic, its noise scale, and the shared values of each part."""

    statistic: Statistic
    scale: float
    parts: Sequence[tuple[Any, ...]]


@dataclass
class QuestionRecord:
    """All questions of a fit, and how stored states were made.

    Attributes
    ----------
    model
        The last model of the fit.
    """

    shape: Any
    questions: list[ProbeQuestion] = field(default_factory=list)
    steps: dict[Key, tuple[Step, tuple[Any, ...]]] = field(default_factory=dict)
    model: Any = None

    def totals(self, question: ProbeQuestion, block: Block) -> list[Totals]:
        """What the rows of a block add to the sums, part by part."""
        states: dict[Key, Any] = {}

        def state_of(part: Any) -> Any:
            if not isinstance(part, Held):
                return part
            if part.key not in states:
                step, before = self.steps[part.key]
                states[part.key] = step(
                    block, *[state_of(earlier) for earlier in before]
                )
            return states[part.key]

        sums = []
        for shared in question.parts:
            totals = question.statistic.empty(self.shape, *shared)
            own = [state_of(value) for value in shared]
            question.statistic.add(block, totals, *own)
            sums.append(totals)
        return sums

    def answer(self, question: ProbeQuestion, block: Block) -> Array:
        """The totals as they would be released: a symmetric matrix counts in full."""
        sums = zip(self.totals(question, block), question.parts, strict=True)
        return np.concatenate(
            [
                question.statistic.assemble(totals, *shared).ravel()
                for totals, shared in sums
            ]
        )


class ListeningCurator(NoisyCurator):
    """Answers as any curator does, and records its questions."""

    def __init__(
        self, data: Any, noise: Noise, assumptions: Sequence[str] = ()
    ) -> None:
        super().__init__(in_memory(data), noise, assumptions)
        self.record = QuestionRecord(data.shape)

    def release(self, statistic: Statistic, *shared: Any) -> Array:
        self.record.questions.append(
            ProbeQuestion(statistic, self.scale(statistic), [shared])
        )
        return super().release(statistic, *shared)

    def release_parts(
        self, statistic: Statistic, ranges: Sequence[Range], *shared: Any
    ) -> Any:
        parts = [(*shared, at) for at in ranges]
        question = ProbeQuestion(statistic, self.scale(statistic), parts)
        self.record.questions.append(question)
        return super().release_parts(statistic, ranges, *shared)

    def hold(self, step: Step, *shared: Any) -> Held:
        local_state = super().hold(step, *shared)
        self.record.steps[local_state.key] = (step, shared)
        return local_state


def ask(
    algorithm: Algorithm, data: Any, *, level: float = 1.0, seed: int = 0
) -> QuestionRecord:
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


class _SymmetricRelease(LoggedRelease):
    """Refuses a matrix with a skew part, which would leave without noise."""

    def symmetric(self, part: Array) -> Array:
        tilt = np.abs(part - np.swapaxes(part, -1, -2)).max(initial=0.0)
        assert tilt == 0, (
            f"{self.leaf.statistic}: not symmetric by {tilt}; what is skew leaves without noise"
        )
        return super().symmetric(part)


class Recorder(LoggedNoise):
    """Noise that records what is released."""

    release_type = _SymmetricRelease


class Blindfold(Recorder):
    """Noise that releases no statistic, only noise."""

    def hand_out(self, entry: ReleaseLog, part: Array, noise: Array) -> Array:
        return part * 0 + noise


@dataclass(frozen=True)
class ProbeOutcome:
    """A fitted model, its ledger and its releases."""

    model: Any
    ledger: Ledger
    log: list[ReleaseLog]
    init_state: Any  # of the stream of starting values, after the fit

    @property
    def shared(self) -> dict[str, Array]:
        return {name: np.asarray(array) for name, array in self.model.shared.items()}


def fit(
    algorithm: Algorithm, data: Any, noise: Recorder, seed: int = 0
) -> ProbeOutcome:
    init = np.random.default_rng([seed, 1])
    model = train(algorithm, data, noise, Streams(init, seed + 2))
    return ProbeOutcome(model, noise.ledger, noise.log, init.bit_generator.state)


def as_planned(event: Event) -> Event:
    """The algorithm's plan; tests of other noise replace this function."""
    return event


def record(
    algorithm: Algorithm, data: Any, *, level: float = 1.0, seed: int = 0
) -> ProbeOutcome:
    plan = as_planned(algorithm.plan(data.shape, level))
    return fit(algorithm, data, Recorder(plan, np.random.SeedSequence(seed)), seed)


def blind(
    algorithm: Algorithm, data: Any, *, level: float = 1.0, seed: int = 0
) -> ProbeOutcome:
    plan = as_planned(algorithm.plan(data.shape, level))
    return fit(algorithm, data, Blindfold(plan, np.random.SeedSequence(seed)), seed)


def replay(
    algorithm: Algorithm,
    data: Any,
    before: ProbeOutcome,
    *,
    level: float = 1.0,
    seed: int = 0,
) -> ProbeOutcome:
    plan = as_planned(algorithm.plan(data.shape, level))
    return fit(
        algorithm, data, Recorder(plan, np.random.SeedSequence(0), before.log), seed
    )


def pairs(
    first: ProbeOutcome, second: ProbeOutcome
) -> Iterator[tuple[ReleaseLog, ReleaseLog]]:
    """The releases of two runs side by side.

    Order, shapes, scales and declared sensitivities must agree.
    """
    assert [entry.heading for entry in first.log] == [
        entry.heading for entry in second.log
    ]
    yield from zip(first.log, second.log, strict=True)
