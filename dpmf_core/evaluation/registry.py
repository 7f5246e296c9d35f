"""The registry of metrics. A new metric is one line: its sums over blocks, and their figure."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, Literal

import numpy as np

from dpmf_core.base import registry
from dpmf_core.base.arrays import Array
from dpmf_core.evaluation import coherence, part_metrics
from dpmf_core.evaluation.blocks import BlockQuestion
from dpmf_core.evaluation.evaluations import (
    RatingsEvaluation,
    SamplesEvaluation,
    TableEvaluation,
)
from dpmf_core.evaluation.metrics import (
    LIST_LENGTH,
    ErrorsByUser,
    ErrorSums,
    ListSums,
    divergence,
    group_sums,
    sums_by_user,
    unit_row_sums,
)

# a table: ratings that are factorised as samples
TaskKind = Literal["ratings", "samples", "table"]


@dataclass(frozen=True)
class Metric:
    """One figure of a finished run.

    Attributes
    ----------
    id : str
        Its name in a run's record.
    title : str
    tasks : tuple of TaskKind
        What is factorised. Each of `sums` takes an evaluation of any of these.
    figure : callable
        The figure of the sums over all blocks; None if the figure does not exist.
    sums : tuple of BlockQuestion
        Functions of one block's evaluation, added by +; None if the figure does not exist.
    larger_is_better : bool or None
        None if it describes a model and does not rank it.
    digits : int
        Printed decimals.
    """

    id: str
    title: str
    tasks: tuple[TaskKind, ...]
    figure: Callable[..., float | None]
    sums: tuple[BlockQuestion, ...]
    larger_is_better: bool | None = False
    digits: int = 3
    help: str = ""

    @property
    def ranks(self) -> bool:
        """Whether it ranks methods."""
        return self.larger_is_better is not None

    @property
    def sign(self) -> float:
        """The factor that makes smaller values better."""
        if self.larger_is_better:
            return -1.0
        return 1.0

    @property
    def floor(self) -> str:
        """The id under which the figure of the trivial predictor is stored, if it is computed."""
        return f"trivial_{self.id}"

    @property
    def label(self) -> str:
        """The title with a capital letter, as a heading or a choice."""
        return self.title[:1].upper() + self.title[1:]

    def text(self, value: float) -> str:
        return f"{value:.{self.digits}f}"


# ---- what is added up over blocks ----------------------------------------------------------------


def _errors(evaluation: Any, part: str, busy: bool = False) -> ErrorSums:
    """Errors of a part's ratings, of all users or only of the busiest tenth."""
    errors: ErrorsByUser = getattr(evaluation, part)
    if busy:
        return errors.among(evaluation.is_busy)
    return errors.among()


held_out, trained, validated = (
    partial(_errors, part=part)
    for part in ("test_errors", "train_errors", "validation_errors")
)
held_out_of_busy, trained_of_busy = (
    partial(_errors, part=part, busy=True) for part in ("test_errors", "train_errors")
)


def people(evaluation: RatingsEvaluation) -> Array:
    """Summed mean squared errors of people with test ratings, and the people (2,)."""
    return _over_people(evaluation, evaluation.test_errors)


def people_with_own_mean(evaluation: RatingsEvaluation) -> Array:
    return _over_people(evaluation, evaluation.own_mean_errors)


def people_with_constant(evaluation: RatingsEvaluation) -> Array:
    return _over_people(evaluation, evaluation.constant_errors)


def _over_people(evaluation: RatingsEvaluation, errors: ErrorsByUser) -> Array:
    return errors.over_people(evaluation.test.shape.half_range**2)


def unit_rows(evaluation: RatingsEvaluation | TableEvaluation) -> Array:
    return unit_row_sums(evaluation.train, evaluation.train_errors)


def lists(evaluation: RatingsEvaluation) -> ListSums:
    return evaluation.lists


def by_activity(evaluation: RatingsEvaluation) -> Array:
    """Test ratings and their squared errors, in groups of users (2, n_groups)."""
    history = evaluation.split.history
    test = evaluation.test
    sizes = history.user_counts
    ratings = test.user_counts
    squares = sums_by_user(test, evaluation.test_squares)
    return group_sums(sizes, ratings, squares, evaluation.facts.edges["activity"])


def by_popularity(evaluation: RatingsEvaluation) -> Array:
    """Test ratings and their squared errors, in groups of items (2, n_groups)."""
    test = evaluation.test
    facts = evaluation.facts
    squares = test.item_sums(evaluation.test_squares)
    return group_sums(
        facts.popularity, test.item_counts, squares, facts.edges["popularity"]
    )


def _over_rows(errors: Array) -> Array:
    """The sum of errors, and the number of rows."""
    return np.array([errors.sum(), len(errors)])


def row_errors(evaluation: SamplesEvaluation) -> Array:
    return _over_rows(evaluation.errors)


def source_errors(evaluation: SamplesEvaluation) -> Array:
    """Errors of rows scaled to maximum 1, as in Saha & Imtiaz 2022."""
    return _over_rows(evaluation.errors * part_metrics.source_scale(evaluation.samples))


def mean_row_errors(evaluation: SamplesEvaluation) -> Array:
    """Errors of the mean row as the only component."""
    return _over_rows(
        part_metrics.errors_of_row(evaluation.samples, evaluation.facts.mean)
    )


def outlier_cells(evaluation: SamplesEvaluation) -> Array | None:
    return part_metrics.outlier_cells(evaluation.samples, evaluation.own)


def true_parts_match(evaluation: SamplesEvaluation) -> float | None:
    parts = evaluation.samples.parts
    if parts is None:
        return None
    return part_metrics.match(parts, evaluation.model.basis)


def topic_coherence(evaluation: SamplesEvaluation) -> float | None:
    samples = evaluation.samples
    if samples.vocabulary is None or samples.unit != "document":
        return None
    topics = coherence.top_words(evaluation.model.basis, samples.vocabulary)
    return coherence.coherence(
        [[word for word, _ in topic] for topic in topics], samples
    )


# ---- figures of these sums -----------------------------------------------------------------------

RMSE, MAE, COUNT, COVERAGE = map(attrgetter, ("rmse", "mae", "count", "coverage"))


def mean_over_lists(name: str) -> Callable[[ListSums], float | None]:
    """The mean of a metric over users; None also with too few items for such lists."""
    return lambda sums: sums.mean(name) if len(sums.is_listed) >= LIST_LENGTH else None


def ratio(sums: Array) -> float | None:
    if sums[1]:
        return float(sums[0] / sums[1])
    return None


def root_of_ratio(sums: Array) -> float | None:
    if sums[1]:
        return math.sqrt(sums[0] / sums[1])
    return None


def smaller_root(sums: Array, other_sums: Array) -> float | None:
    roots = root_of_ratio(sums), root_of_ratio(other_sums)
    return min((root for root in roots if root is not None), default=None)


def as_it_is(value: float) -> float:
    return value


# ---- the registry --------------------------------------------------------------------------------

R: tuple[TaskKind, ...] = ("ratings",)
S: tuple[TaskKind, ...] = ("samples",)
T: tuple[TaskKind, ...] = ("table",)

# fmt: off
METRICS: dict[str, Metric] = registry.by_id((
    Metric("rmse", "RMSE", R + T, RMSE, (held_out,),
           help="root mean squared error of test ratings"),
    Metric("mae", "MAE", R, MAE, (held_out,), help="mean absolute error of test ratings"),
    Metric("person_rmse", "RMSE, a person", R, root_of_ratio, (people,), None,
           help="root mean over people of their mean squared error of test ratings, which counts as"
                " the square of half the range at most"),
    Metric("trivial_person_rmse", "RMSE, a person, without a model", R, smaller_root,
           (people_with_own_mean, people_with_constant), None,
           help="the same of the better of each person's own mean and one constant for everyone,"
                " the mean of people's means"),
    Metric("test_ratings", "held-out ratings", R, COUNT, (held_out,), None, 0),
    Metric("recall_at_20", "Recall@20", R, mean_over_lists("recall"), (lists,), True,
           help="share of a user's liked held-out items (at most 20) that are among their 20 best"),
    Metric("ndcg_at_20", "NDCG@20", R, mean_over_lists("ndcg"), (lists,), True,
           help="the same, with more weight on higher positions in the list"),
    Metric("rare_recall_at_20", "Recall@20 of rare items", R, mean_over_lists("rare_recall"),
           (lists,), True, help="Recall@20 of the half of the items with the fewest ratings"),
    Metric("coverage", "coverage", R, COVERAGE, (lists,), None,
           help="share of the items that appear in at least one user's list of 20"),
    Metric("validation_rmse", "validation RMSE", R, RMSE, (validated,),
           help="root mean squared error on a validation split, used to choose parameters"),
    Metric("kl", "KL divergence, nats", R, divergence, (trained, held_out), None,
           help="between training errors and held-out errors (Balu & Furon 2016, eq. 19)"),
    Metric("kl_top_users", "KL divergence of the busiest tenth, nats", R, divergence,
           (trained_of_busy, held_out_of_busy), None, help="the same for the most active users"),
    Metric("objective", "objective", S + T, ratio, (row_errors,), digits=4,
           help="half the mean squared distance between a row of norm 1 and its reconstruction"),
    Metric("trivial_objective", "objective of the mean row", S + T, ratio, (mean_row_errors,), None,
           4, help="the objective of a single part, the mean row"),
    Metric("objective_source", "objective, source's scale", S + T, ratio, (source_errors,),
           digits=4, help="for rows scaled to a maximum of 1 (Saha & Imtiaz 2022)"),
    Metric("parts_match", "match with the true parts", S, as_it_is, (true_parts_match,), True,
           help="mean cosine with the true parts of simulated data"),
    Metric("outlier_precision", "outlier precision", S, part_metrics.precision, (outlier_cells,),
           True, help="share of the detected outlier cells that were planted"),
    Metric("outlier_recall", "outlier recall", S, part_metrics.recall, (outlier_cells,), True,
           help="share of the planted outlier cells that were detected"),
    Metric("outlier_f1", "outlier F1", S, part_metrics.f1, (outlier_cells,), True,
           help="harmonic mean of the outliers' precision and recall"),
    Metric("coherence", "TC-W2V coherence", S, as_it_is, (topic_coherence,), True,
           help="how close a topic's top words are in a Word2Vec space of the documents"),
    Metric("training_rmse", "RMSE of training ratings", R + T, RMSE, (trained,), None,
           help="root mean squared error of the training ratings"),
    Metric("unit_row_rmse", "RMSE, rows of norm 1", R + T, root_of_ratio, (unit_rows,), None, 4,
           help="of training ratings, each divided by the L2 norm of its user's row (Saha & Imtiaz"
                " 2022, Table 4)"),
))
# fmt: on

# the metrics after each step
CURVES = {
    "train_rmse": "train RMSE",
    "validation_rmse": "validation RMSE",
    "test_rmse": "held-out RMSE",
    "objective": "objective",
}


def find(metric_id: str) -> Metric:
    """The metric of this id.

    Raises
    ------
    BadInput
        If the id is unknown. The message lists the known ones.
    """
    return registry.find(METRICS, metric_id, "metric")


def title_of(name: str) -> str:
    """The title of a metric or a curve; names of other versions stay as they are."""
    if name in METRICS:
        return METRICS[name].title
    return CURVES.get(name, name.replace("_", " "))


def questions_of(metrics: Iterable[Metric]) -> tuple[BlockQuestion, ...]:
    """The sums that these metrics need, each once."""
    return tuple(
        dict.fromkeys(question for metric in metrics for question in metric.sums)
    )


def figures_of(
    metrics: Iterable[tuple[str, Metric]], totals: Mapping[BlockQuestion, Any]
) -> dict[str, float]:
    """The figures of these metrics that exist, by the given names, from the totals of `sums`."""
    figures: dict[str, float] = {}
    for name, metric in metrics:
        sums = [totals[question] for question in metric.sums]
        if any(total is None for total in sums):
            value = None
        else:
            value = metric.figure(*sums)
        if value is not None and math.isfinite(value):
            figures[name] = value
    return figures


def weak_reference(
    title: str,
    figure: float,
    floors: Mapping[str, float],
    metric: Metric = METRICS["rmse"],
) -> str:
    """A sentence if a method without privacy is no better than the best trivial predictor, else ''.

    Parameters
    ----------
    title : str
    figure : float
    floors : mapping
        The figures of the trivial predictors by title.
    metric : Metric
    """
    if not floors:
        return ""
    best = min(floors, key=lambda name: metric.sign * floors[name])
    if metric.sign * figure < metric.sign * floors[best]:
        return ""
    return (
        f"{title}, which is not private, is no better than {best} here ({metric.title}"
        f" {metric.text(figure)} against {metric.text(floors[best])}): it learns little from these"
        " data, so it does not show what privacy costs."
    )
