"""A choice among methods on private data themselves: a private selection, of which the winner and
its noisy error leave.
"""

from typing import Any

import numpy as np
from pydantic import Field

from dpmf_core import algorithms
from dpmf_core.algorithms import Algorithm
from dpmf_core.choosing.answer import Answer
from dpmf_core.choosing.question import Question
from dpmf_core.data.splits import SplitSpec
from dpmf_core.errors import BadInput
from dpmf_core.privacy import Budget, Status
from dpmf_core.privacy.groups import of_group
from dpmf_core.privacy.selection import price_of_choosing
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import DataSpec, RunSpec, Value, file_of
from dpmf_core.tuning.private_selection import PrivateSelection

AMONG, TRIALS = 4, 8.0  # methods, and trials on average
VALIDATION = 0.1  # share of the ratings that trials are scored by


class MethodSelection(PrivateSelection):
    """One private selection among methods, each with its recommended parameters.

    methods: ids, drawn uniformly. training: the budget of each trial's training.
    """

    data_set: DataSpec
    methods: tuple[str, ...] = Field(min_length=2)
    training: Budget
    seed: int = Field(0, ge=0, lt=2**62)

    def check(self) -> None:
        super().check()
        for kind in self.kinds:
            promise = kind().guarantee()
            if promise.status is not Status.PROVEN or promise.unit != "user":
                raise BadInput(
                    f"{kind.title} is not proven for a whole person, so choosing it has no price."
                )

    @property
    def data(self) -> DataSpec:
        return self.data_set

    @property
    def kinds(self) -> tuple[type[Algorithm], ...]:
        return tuple(algorithms.find(name) for name in self.methods)

    @property
    def budget(self) -> Budget:
        return self.training

    @property
    def typical(self) -> RunSpec:
        return self._run(self.methods[-1], self.seed)

    def _seed(self) -> int:
        return self.seed

    def _trial_run(self, rng: np.random.Generator, seed: int) -> RunSpec:
        return self._run(self.methods[int(rng.integers(len(self.methods)))], seed)

    def _run(self, method: str, seed: int) -> RunSpec:
        return RunSpec.parse(
            data=self.data_set,
            algorithm=method,
            budget=self.training,
            split=SplitSpec(validation_fraction=VALIDATION, judged="validation"),
            seed=seed,
        )

    def _choice(self, winner: Run) -> dict[str, Value]:
        return {"method": winner.spec.algorithm}

    def export(self, public: bool) -> dict[str, Any]:
        spec = self.model_dump(mode="json")
        if not public:
            spec["data_set"]["id"] = file_of(spec["data_set"]["id"])
        return spec

    def group_price(self, size: int) -> float:
        """Epsilon of the whole for a group of so many people, at the budget's delta."""
        event = of_group(self.trial_event, size)
        price = price_of_choosing(event, self.trials, self.training.delta, self.training.relation)
        return price.best_of[self.distribution]


def among_the_best(question: Question, answer: Answer, data: DataSpec) -> MethodSelection | None:
    """Among the best methods at the answer's epsilon; None where there are not two, or no noisy
    figure compares them.
    """
    best = answer.best
    if best is None or question.goal != "ratings":
        return None
    methods = tuple(place.method for place in answer.at(best.epsilon)[:AMONG])
    if len(methods) < 2:
        return None
    return selection(question, data, methods, best.epsilon, TRIALS)


def selection(
    question: Question, data: DataSpec, methods: tuple[str, ...], epsilon: float, trials: float
) -> MethodSelection:
    """Among these methods, each trained so that whom it must protect has `epsilon`, on `data`.

    Raises BadInput.
    """
    budget = Budget(
        epsilon=question.of_one(epsilon), delta=question.delta, relation=question.relation
    )
    return MethodSelection.parse(
        data_set=data,
        methods=methods,
        training=budget,
        distribution="geometric",  # the logarithmic law costs less, and often tries one alone
        trials=trials,
        seed=question.seed,
    )
