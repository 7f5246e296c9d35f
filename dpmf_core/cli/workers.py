"""`workers check`: the workers of a scheduler elsewhere."""

import dataclasses

import click

from dpmf_core.cli.tables import json_option, table
from dpmf_core.errors import BadInput, words_of
from dpmf_core.jobs.scheduler_security import Scheduler
from dpmf_core.jobs.worker_conditions import Condition, conditions
from dpmf_core.runs.installation import current_installation
from dpmf_core.runs.store import to_json

REFUSES = 1  # exit code where a worker would refuse work


@click.group()
def workers() -> None:
    """The workers of the scheduler that DPMF_SCHEDULER names."""


@workers.command()
@json_option
@click.pass_context
def check(context: click.Context, as_json: bool) -> None:
    """Versions, memory and data of each worker, and whether it would compute what this machine
    asks for; exit code 1 where one would not, or there is none.
    """
    way = Scheduler.from_environment()
    if way is None:
        raise BadInput(
            "DPMF_SCHEDULER names no scheduler, so dpmf starts its own workers, with its own code."
        )
    by_worker = conditions(way)
    problems = {name: _problem(it) for name, it in by_worker.items()}
    if as_json:
        click.echo(to_json([_row(name, by_worker[name], problems[name]) for name in by_worker]))
    else:
        head = ["worker", "dpmf", "Python", "memory", "data sets", "computes"]
        rows = [[name, *_cells(it), problems[name] or "yes"] for name, it in by_worker.items()]
        click.echo(table(head, rows) if rows else f"There are no workers at {way.address}.")
        click.echo(
            f"Asked from dpmf {current_installation().dpmf}, {_short(current_installation().code)}."
        )
    if not by_worker or any(problems.values()):
        context.exit(REFUSES)


def _problem(condition: Condition | Exception) -> str:
    if isinstance(condition, Exception):
        return f"it cannot say what it has: {words_of(condition)}"
    return condition.problem


def _cells(condition: Condition | Exception) -> list[str]:
    if isinstance(condition, Exception):
        return ["-"] * 4
    it = condition.installed
    version = f"{it.dpmf}, {_short(it.code)}"
    return [version, it.python, f"{condition.memory:,.0f} MB", str(len(condition.data))]


def _short(code: str) -> str:
    return f"code {code[:8]}"


def _row(name: str, condition: Condition | Exception, problem: str) -> dict[str, object]:
    parts = {} if isinstance(condition, Exception) else dataclasses.asdict(condition)
    return {"worker": name, **parts, "problem": problem}
