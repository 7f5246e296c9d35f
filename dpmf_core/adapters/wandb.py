"""Runs in Weights & Biases: `sweep(..., on_run=log_run)`, or `log_run(fit(...))`."""

from typing import Any

from dpmf_core.adapters.run_figures import figures_of
from dpmf_core.runs.record import Run

try:
    import wandb
except ImportError as error:
    raise ImportError("Logging to Weights & Biases needs it: pip install wandb.") from error


def log_run(run: Run, **options: Any) -> None:
    """Enters a run, with its curves, as a run of its own. options: of `wandb.init`, such as
    project and mode.
    """
    run_figures = figures_of(run)
    with wandb.init(
        name=run_figures.name, config=run_figures.parameters, reinit="create_new", **options
    ) as it:
        for step, figures in run_figures.curves:
            it.log({f"by_step.{k}": v for k, v in figures.items()}, step=step)
        it.summary.update(run_figures.figures)
