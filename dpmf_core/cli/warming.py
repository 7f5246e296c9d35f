"""`warm`: compute beforehand what the pages show first."""

from collections.abc import Mapping
from typing import Any

import click

from dpmf_core import algorithms
from dpmf_core.cli import tables
from dpmf_core.cli.runs import stored_or_run
from dpmf_core.cli.tables import json_option
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.jobs import first_views
from dpmf_core.kernels.readiness import ready
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.store import Store, to_json


@click.command()
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Every page's runs, including documents and images: some minutes.",
)
@json_option
def warm(every: bool, as_json: bool) -> None:
    """Compute beforehand what the Explore page shows first.

    This compiles the kernels and runs every epsilon of the page's grid, so that a class starts
    without waiting. With --all it does so for every page.
    """
    ready()
    pages = first_views.runs_of_pages()
    specs = first_views.cheapest_first() if every else pages["explore"]
    store, rows = Store(), []
    for spec in specs:
        record = stored_or_run(spec, store).record
        name = "rmse" if algorithms.find(spec.algorithm).task == "ratings" else "objective"
        rows.append(
            {
                "key": record.key,
                "dataset": spec.data.id,
                "algorithm": spec.algorithm,
                "epsilon": spec.budget.epsilon if spec.budget else None,
                "seed": spec.seed,
                "metric": name,
                "value": record.metrics[name],
                "cached": record.cached,
            }
        )
    click.echo(to_json(rows) if as_json else "\n".join(_line(run) for run in rows))


def _line(run: Mapping[str, Any]) -> str:
    """A run in words."""
    at = "" if run["epsilon"] is None else f" at ε = {budget_text(run['epsilon'])}"
    figure = f"{METRICS[run['metric']].title} {tables.number(run['value'])}"
    return f"{run['algorithm']} on {run['dataset']}{at}, seed {run['seed']}: {figure}"
