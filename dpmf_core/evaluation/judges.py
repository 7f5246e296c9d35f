"""The evaluation of a fitted model: by held-out ratings, or by reconstructing clean samples.

All figures come from sums over blocks; data in memory are one block. Computed on raw data, never
released.
"""

from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np

from dpmf_core.algorithms import Algorithm
from dpmf_core.base.errors import BadInput
from dpmf_core.data.partitioned import PartitionedRatings, PartitionedTable
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples, of_ratings
from dpmf_core.data.splits import Split, SplitSpec
from dpmf_core.evaluation.blocks import (
    BlockQuestion,
    InMemory,
    InPartitions,
    SplitBlock,
    SplitBlocks,
    require_both,
)
from dpmf_core.evaluation.evaluations import (
    RatingsEvaluation,
    SamplesEvaluation,
    TableEvaluation,
)
from dpmf_core.evaluation.metrics import group_figures
from dpmf_core.evaluation.registry import (
    METRICS,
    TaskKind,
    by_activity,
    by_popularity,
    figures_of,
    questions_of,
)

MetricFigures = dict[str, float]
Buckets = dict[str, list[dict[str, float]]]
EVALUATIONS: dict[TaskKind, Any] = {
    "ratings": RatingsEvaluation,
    "samples": SamplesEvaluation,
    "table": TableEvaluation,
}
# the figures after a step, by their names in curves
POINTS: dict[TaskKind, dict[str, str]] = {
    "ratings": {
        "train_rmse": "training_rmse",
        "validation_rmse": "validation_rmse",
        "test_rmse": "rmse",
    },
    "samples": {"objective": "objective"},
    "table": {"objective": "objective", "test_rmse": "rmse"},
}
GROUPS: dict[str, BlockQuestion] = {
    "activity": by_activity,
    "popularity": by_popularity,
}


class Judge:
    """Judges models by blocks.

    Parameters
    ----------
    task : TaskKind
    blocks : SplitBlocks
    seed : int
        The split's seed. It draws the users whose lists are ranked.

    Raises
    ------
    BadInput
        If a split leaves nothing to train on or to test on.
    """

    def __init__(self, task: TaskKind, blocks: SplitBlocks, seed: int = 0) -> None:
        self._task = task
        self._blocks = blocks
        self._facts = EVALUATIONS[task].facts_of(blocks, seed)
        if task != "samples":
            require_both(self._facts.n_train, self._facts.n_test)
        self._metrics = {
            name: metric for name, metric in METRICS.items() if task in metric.tasks
        }
        self._groups = GROUPS if task == "ratings" else {}
        self._questions = (
            *questions_of(self._metrics.values()),
            *self._groups.values(),
        )
        self._last: partial[Any] = partial(EVALUATIONS[task], None, facts=self._facts)
        self._totals: dict[BlockQuestion, Any] = {}  # of the last model

    @property
    def train(self) -> Any:
        """The training data of an algorithm."""
        return self._blocks.train

    @property
    def words(self) -> str:
        """The evaluation data."""
        if self._task == "table":
            first = "ratings as samples, missing ratings as zeros; "
        else:
            first = ""
        return f"{first}{self._facts.words}"

    def point(self, model: Any) -> MetricFigures:
        """The figures after a step."""
        metrics = {name: METRICS[metric] for name, metric in POINTS[self._task].items()}
        if self._blocks.are_read_again:  # reading takes longer than answering
            self._ask(model, self._questions)
        totals = self._ask(model, questions_of(metrics.values()))
        return figures_of(metrics.items(), totals)

    def figures(self, model: Any) -> tuple[MetricFigures, Buckets]:
        """All figures of a finished model."""
        totals = self._ask(model, self._questions)
        buckets = {
            name: group_figures(self._facts.edges[name], totals[question])
            for name, question in self._groups.items()
        }
        return figures_of(self._metrics.items(), totals), buckets

    def _ask(
        self, model: Any, questions: tuple[BlockQuestion, ...]
    ) -> dict[BlockQuestion, Any]:
        """The answers over all blocks.

        Answers about the last model are cached, because the last point and the figures share them.
        """
        if self._last.args[0] is not model:
            self._last = partial(EVALUATIONS[self._task], model, facts=self._facts)
            self._totals = {}
        missing = [question for question in questions if question not in self._totals]
        if missing:
            answers = zip(*self._blocks.ask(self._last, missing), strict=True)
            for question, each in zip(missing, answers, strict=True):
                self._totals[question] = reduce(add, each)
        return self._totals


@dataclass(frozen=True)
class NoJudge:
    """Stands for a judge if nothing is held out: it computes no figures."""

    train: Any
    words: str = "no rating held out"

    def point(self, model: Any) -> MetricFigures:
        return {}

    def figures(self, model: Any) -> tuple[MetricFigures, Buckets]:
        return {}, {}


def by_split(task: TaskKind, split: Split, seed: int = 0) -> Judge:
    """Judge by the held-out ratings of a split, all in memory; a table also by all cells."""
    block = SplitBlock(np.arange(split.history.n_users), split)
    return Judge(
        task, InMemory(block, block.table if task == "table" else split.train), seed
    )


def by_partitions(
    task: TaskKind, ratings: PartitionedRatings, how: SplitSpec, seed: int = 0
) -> Judge:
    """`by_split` for ratings in partitions, one of which is in memory at a time.

    Raises
    ------
    BadInput
        On a split that looks at all ratings together.
    """
    return Judge(task, InPartitions(ratings, how, seed, table=task == "table"), seed)


def by_samples(samples: Samples) -> Judge:
    """Judge components by how well they explain the samples, without planted outliers."""
    return Judge("samples", InMemory(samples, samples))


def suits(kind: type[Algorithm], data: Any, name: str) -> None:
    """Raise BadInput if an algorithm cannot read the data.

    Ratings can be taken as samples, samples not as ratings.
    """
    if kind.task == "ratings" and not isinstance(data, Ratings | PartitionedRatings):
        raise BadInput(
            f"{kind.title} factorises ratings; {name} holds {data.unit}s. Use nmf, robust-nmf,"
            " dp-nmf or oneshot-nmf."
        )


def undivided(kind: type[Algorithm], data: Any, name: str) -> NoJudge:
    """`NoJudge` for training on all the data.

    Raises
    ------
    BadInput
        As `suits`.
    """
    suits(kind, data, name)
    if kind.task == "samples" and isinstance(data, Ratings | PartitionedRatings):
        return NoJudge(
            of_ratings(data) if isinstance(data, Ratings) else PartitionedTable(data)
        )
    return NoJudge(data)
