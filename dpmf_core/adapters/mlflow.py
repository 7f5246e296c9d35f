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
    run_figures = figures_of(run)
    with mlflow.start_run(run_name=run_figures.name, nested=mlflow.active_run() is not None):
        mlflow.log_params(run_figures.parameters)
        mlflow.log_metrics(run_figures.figures)
        for step, figures in run_figures.curves:
            mlflow.log_metrics({f"by_step.{k}": v for k, v in figures.items()}, step=step)
