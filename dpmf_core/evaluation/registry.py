"""The registry of metrics: a new one is a function of an evaluation, and one line here."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from dpmf_core.errors import BadInput, closest
from dpmf_core.evaluation import coherence, part_metrics
from dpmf_core.evaluation.error_sums import unit_row_sums
from dpmf_core.evaluation.evaluations import RatingsEvaluation, SamplesEvaluation, TableEvaluation
from dpmf_core.registry import by_id

Task = Literal["ratings", "samples", "table"]  # a table: ratings that are factorised as samples
Compute = Callable[[Any], float | None]


@dataclass(frozen=True)
class Metric:
    """One figure of a finished run.

    id: its name in a run's record.
    tasks: what is factorised; `compute` takes the evaluation of any of these.
    compute: the figure; None where there is none.
    larger_is_better: None where it describes a model and does not rank it.
    digits: decimals that are printed.
    """

    id: str
    title: str
    tasks: tuple[Task, ...]
    compute: Compute
    larger_is_better: bool | None = False
    digits: int = 3
    help: str = ""

    @property
    def ranks(self) -> bool:
        """Whether one method is better than another by it."""
        return self.larger_is_better is not None

    @property
    def sign(self) -> float:
        """Times this, smaller is better."""
        return -1.0 if self.larger_is_better else 1.0

    @property
    def label(self) -> str:
        """The title with a capital letter, as a heading or a choice."""
        return self.title[:1].upper() + self.title[1:]

    def text(self, value: float) -> str:
        return f"{value:.{self.digits}f}"


# ---- figures -------------------------------------------------------------------------------------


def held_out_rmse(evaluation: RatingsEvaluation | TableEvaluation) -> float:
    return evaluation.test_errors.among().rmse


def held_out_mae(evaluation: RatingsEvaluation) -> float:
    return evaluation.test_errors.among().mae


def validation_rmse(evaluation: RatingsEvaluation) -> float | None:
    sums = evaluation.validation_errors.among()
    return sums.rmse if sums.count else None


def held_out_ratings(evaluation: RatingsEvaluation) -> int:
    return len(evaluation.test)


def of_ranking(name: str) -> Compute:
    def compute(evaluation: RatingsEvaluation) -> float | None:
        return evaluation.ranking.get(name)

    return compute


def of_divergences(name: str) -> Compute:
    def compute(evaluation: RatingsEvaluation) -> float | None:
        return evaluation.divergences.get(name)

    return compute


def of_recovery(name: str) -> Compute:
    def compute(evaluation: SamplesEvaluation) -> float | None:
        return evaluation.recovery.get(name)

    return compute


def objective(evaluation: SamplesEvaluation) -> float:
    return float(evaluation.errors.mean())


def trivial_objective(evaluation: SamplesEvaluation) -> float:
    return part_metrics.trivial_objective(evaluation.samples)


def objective_source(evaluation: SamplesEvaluation) -> float:
    return float(evaluation.scaled_errors.mean())


def parts_match(evaluation: SamplesEvaluation) -> float | None:
    parts = evaluation.samples.parts
    return None if parts is None else part_metrics.match(parts, evaluation.model.basis)


def topic_coherence(evaluation: SamplesEvaluation) -> float | None:
    samples = evaluation.samples
    if samples.vocabulary is None or samples.unit != "document":
        return None
    topics = coherence.top_words(evaluation.model.basis, samples.vocabulary)
    return coherence.coherence([[word for word, _ in topic] for topic in topics], samples)


def training_rmse(evaluation: RatingsEvaluation | TableEvaluation) -> float | None:
    sums = evaluation.train_errors.among()
    return sums.rmse if sums.count else None


def unit_row_rmse(evaluation: RatingsEvaluation | TableEvaluation) -> float | None:
    squares, n_rated = unit_row_sums(evaluation.train, evaluation.train_errors)
    return math.sqrt(squares / n_rated) if n_rated else None


# ---- the registry --------------------------------------------------------------------------------

R: tuple[Task, ...] = ("ratings",)
S: tuple[Task, ...] = ("samples",)
T: tuple[Task, ...] = ("table",)

# fmt: off
METRICS: dict[str, Metric] = by_id((
    Metric("rmse", "RMSE", R + T, held_out_rmse, help="root mean squared error of test ratings"),
    Metric("mae", "MAE", R, held_out_mae, help="mean absolute error of test ratings"),
    Metric("test_ratings", "held-out ratings", R, held_out_ratings, None, 0),
    Metric("recall_at_20", "Recall@20", R, of_ranking("recall_at_20"), True,
           help="liked held-out items that are among a user's 20 best, of those that could be"),
    Metric("ndcg_at_20", "NDCG@20", R, of_ranking("ndcg_at_20"), True,
           help="the same, where what stands higher in the list counts more"),
    Metric("rare_recall_at_20", "Recall@20 of rare items", R, of_ranking("rare_recall_at_20"), True,
           help="Recall@20 of the half of the items with the fewest ratings"),
    Metric("coverage", "coverage", R, of_ranking("coverage"), None,
           help="share of the items that are in anybody's list of 20"),
    Metric("validation_rmse", "validation RMSE", R, validation_rmse,
           help="root mean squared error on a validation split, by which parameters are chosen"),
    Metric("kl", "KL divergence, nats", R, of_divergences("kl"), None,
           help="of the errors in training from those held out (Balu & Furon 2016, eq. 19)"),
    Metric("kl_top_users", "KL divergence of the busiest tenth, nats", R,
           of_divergences("kl_top_users"), None, help="the same for the most active users"),
    Metric("objective", "objective", S + T, objective, digits=4,
           help="half the mean squared distance of a row of norm 1 from its explanation"),
    Metric("trivial_objective", "objective of the mean row", S + T, trivial_objective, None, 4,
           help="the objective of a single part, the mean row"),
    Metric("objective_source", "objective, source's scale", S + T, objective_source, digits=4,
           help="of rows that are scaled to maximum 1 (Saha & Imtiaz 2022)"),
    Metric("parts_match", "match with the true parts", S + T, parts_match, True,
           help="mean cosine with the parts that simulated data were made of"),
    Metric("outlier_precision", "outlier precision", S + T, of_recovery("outlier_precision"), True,
           help="share of the cells set apart that had been planted"),
    Metric("outlier_recall", "outlier recall", S + T, of_recovery("outlier_recall"), True,
           help="share of the planted cells that were set apart"),
    Metric("outlier_f1", "outlier F1", S + T, of_recovery("outlier_f1"), True,
           help="harmonic mean of the outliers' precision and recall"),
    Metric("coherence", "TC-W2V coherence", S, topic_coherence, True,
           help="how near the top words of a topic lie in a Word2Vec space of the documents"),
    Metric("training_rmse", "RMSE of training ratings", R + T, training_rmse, None,
           help="root mean squared error of the ratings that were learned from"),
    Metric("unit_row_rmse", "RMSE, rows of norm 1", R + T, unit_row_rmse, None, 4,
           help="of training ratings, each divided by the L2 norm of its user's row (Saha & Imtiaz"
                " 2022, Table 4)"),
))
# fmt: on

# what is looked at after each step
CURVES = {
    "train_rmse": "train RMSE",
    "validation_rmse": "validation RMSE",
    "test_rmse": "held-out RMSE",
    "objective": "objective",
}


def find(metric_id: str) -> Metric:
    """The metric of this id. Raises BadInput naming the known ones."""
    if metric_id not in METRICS:
        raise BadInput(
            f"There is no metric {metric_id!r}.{closest(metric_id, METRICS)} Known:"
            f" {', '.join(METRICS)}."
        )
    return METRICS[metric_id]


def title_of(name: str) -> str:
    """Of a metric or a curve; another version's as it is called."""
    if name in METRICS:
        return METRICS[name].title
    return CURVES.get(name, name.replace("_", " "))


def evaluate(task: Task, evaluation: Any) -> dict[str, float]:
    """Every figure of this kind of task that the evaluation has, by the metric's id."""
    figures: dict[str, float] = {}
    for metric in METRICS.values():
        value = metric.compute(evaluation) if task in metric.tasks else None
        if value is not None:
            figures[metric.id] = value
    return figures
