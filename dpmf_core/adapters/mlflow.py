"""Runs in MLflow: `sweep(..., on_run=log_run)`, or `log_run(fit(...))`."""

from dpmf_core.adapters.run_figures import figures_of
from dpmf_core.runs.record import Run

try:
    import mlflow
except ImportError as error:
    raise ImportError("Logging to MLflow needs it: pip install mlflow.") from error


def log_run(run: Run) -> None:
    """Enters a run, with its curves, as one of the active experiment; within an active run as one
    below it.
    """
    found = figures_of(run)
    with mlflow.start_run(run_name=found.name, nested=mlflow.active_run() is not None):
        mlflow.log_params(found.parameters)
        mlflow.log_metrics(found.figures)
        for step, figures in found.curves:
            mlflow.log_metrics({f"by_step.{k}": v for k, v in figures.items()}, step=step)
