"""The options of a run whose ratings in parts are read and added up by workers."""

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import click

from dpmf_core.errors import BadInput


def spread_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--spread` and `--scheduler`."""
    with_scheduler = click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="With --spread: a Dask scheduler, e.g. tls://host:8786.",
    )
    with_spread = click.option(
        "--spread",
        is_flag=True,
        help=(
            "For ratings in parts: workers read the parts and add them up, those of DPMF_SCHEDULER"
            " or --scheduler, else processes of this machine."
        ),
    )
    return with_spread(with_scheduler(command))


def spread_over(
    options: Mapping[str, Any], algorithm: str
) -> contextlib.AbstractContextManager[object]:
    """Where sums over ratings in parts are made, for as long as this is open. Raises BadInput."""
    if not options["spread"]:
        if options["scheduler"] is not None:
            raise BadInput("--scheduler goes with --spread, for ratings in parts.")
        return contextlib.nullcontext()
    from dpmf_core.jobs.part_workers import spread  # all of Dask's, which few runs need
    from dpmf_core.jobs.scheduler_security import Scheduler

    way = Scheduler.from_environment(options["scheduler"])
    return spread(options["dataset"], algorithm, way)
