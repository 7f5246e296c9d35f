"""`audit`: an attack beside the proof."""

import sys
from typing import Any

import click
from tqdm import tqdm

from dpmf_core import algorithms
from dpmf_core.cli.options import json_option, pairs, param_option
from dpmf_core.store import to_json
from dpmf_core.sweeps import typed


@click.command()
@click.option("--algorithm", required=True, metavar="ID", help="See `algorithms`.")
@click.option("--epsilon", type=float, help="Total privacy loss of the attacked runs; needed where the algorithm takes a budget.")
@click.option("--delta", type=float, default=1e-5, show_default=True)
@click.option("--runs", type=int, default=1000, show_default=True, help="Trainings, half of them with a canary.")
@click.option("--fault", default="none", show_default=True, metavar="none|small-noise|unlisted-release|no-clipping", help="A fault to plant.")
@click.option("--seed", type=int, default=0, show_default=True)
@param_option
@json_option
def audit(algorithm: str, epsilon: float | None, delta: float, runs: int, fault: str, seed: int, params: tuple[str, ...], as_json: bool) -> None:
    """A measured lower bound on epsilon beside the proven one, on a small simulated set with a worst-case user or sample."""
    from dpmf_core.audit import as_record
    from dpmf_core.audit import audit as attacked

    given: dict[str, Any] = typed(algorithms.find(algorithm), pairs(params, "--param"))
    with tqdm(total=runs, unit="run", file=sys.stderr, disable=None, leave=False) as bar:
        found = attacked(
            algorithm, epsilon=epsilon, delta=delta, runs=runs, seed=seed, fault=fault, parameters=given, told=lambda done, of: bar.update(done - bar.n)
        )
    click.echo(to_json(as_record(found)) if as_json else found.words)
