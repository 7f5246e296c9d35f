"""`audit`: an attack beside the proof."""

import csv
import sys
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from dpmf_core import algorithms
from dpmf_core.cli import show
from dpmf_core.cli.options import json_option, pairs, param_option
from dpmf_core.errors import BadInput
from dpmf_core.spreadsheets import harmless_row
from dpmf_core.store import Store, to_json
from dpmf_core.sweeps import typed


@click.command()
@click.option("--algorithm", metavar="ID", help="See `algorithms`.")
@click.option("--every", is_flag=True, help="Every algorithm with a proof, and the planted faults, in worker processes.")
@click.option("--epsilon", type=float, help="Total privacy loss of the attacked runs; needed where the algorithm takes a budget.")
@click.option("--delta", type=float, default=1e-5, show_default=True)
@click.option("--runs", type=int, default=1000, show_default=True, help="Trainings, half of them with a canary.")
@click.option("--fault", default="none", show_default=True, metavar="ID", help="none, small-noise, unlisted-release, no-clipping or exact-start: planted.")
@click.option("--unit", metavar="user|rating|value", help="What the canary is. Default: what the algorithm protects.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Of --every: each audit as a row of this CSV file.")
@param_option
@json_option
def audit(algorithm: str | None, every: bool, epsilon: float | None, params: tuple[str, ...], out: Path | None, as_json: bool, **asked: Any) -> None:
    """A measured lower bound on epsilon beside the proven one, on a small simulated set with a worst-case user or sample."""
    if every == (algorithm is not None):
        raise BadInput("audit needs --algorithm ID, or --every for all that is proved.")
    if every:
        _all(epsilon, asked, out, as_json)
        return
    from dpmf_core.audit import as_record
    from dpmf_core.audit import audit as attacked

    given: dict[str, Any] = typed(algorithms.find(str(algorithm)), pairs(params, "--param"))
    with tqdm(total=asked["runs"], unit="run", file=sys.stderr, disable=None, leave=False) as bar:
        found = attacked(str(algorithm), told=lambda done, of: bar.update(done - bar.n), epsilon=epsilon, parameters=given, **asked)
    click.echo(to_json(as_record(found)) if as_json else "\n".join(_lines(found)))


def _lines(found: Any) -> list[str]:
    """The sentence, then every figure with its meaning."""
    rows = [[figure.name, figure.words, figure.meaning] for figure in found.figures]
    return [found.words, "", show.table(["", "epsilon", "what it means"], rows), "", f"The canary: {found.canary}. {found.rule}"]


def _all(epsilon: float | None, asked: dict[str, Any], out: Path | None, as_json: bool) -> None:
    """The table of proofs and what an attack finds, and of faults."""
    from dpmf_core.audit import as_record, table_specs
    from dpmf_core.engine import Engine

    if epsilon is None:
        raise BadInput("audit --every needs --epsilon: what every attacked run may spend.")
    engine = Engine.from_environment(Store())
    records = []
    try:
        jobs = [engine.measure(spec) for spec in table_specs(epsilon, asked["delta"], asked["runs"], asked["seed"])]
        for job in tqdm(jobs, unit="audit", file=sys.stderr, disable=None):
            records.append(as_record(job.result()))
    finally:
        engine.close()
    rows = [_row(it) for it in records]
    if out is not None:
        with out.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(harmless_row(rows[0])))
            writer.writeheader()
            writer.writerows(map(harmless_row, rows))
    names = ["algorithm", "fault", "unit", "proven", "lost by canary", "pair test", "error rates", "at least"]
    cells = [[f"{row[name]:.2f}" if isinstance(row[name], float) else str(row[name] or "-") for name in names] for row in rows]
    click.echo(to_json(records) if as_json else show.table(names, cells))


def _row(record: dict[str, Any]) -> dict[str, Any]:
    """An audit as a row of the table; lower bounds are rounded down."""
    from dpmf_core.canaries import rounded

    def shown(rule: str) -> float | None:
        return max((rounded(test["epsilon"]) for test in record["tests"] if test["rule"] == rule), default=None)

    return {
        "algorithm": record["algorithm"], "fault": record["fault"], "unit": record["unit"], "status": record["status"],
        "threshold": record["parameters"].get("threshold"), "proven": record["proven"], "planned mu": record["planned_mu"],
        "realised mu": record["realised_mu"], "lost by canary": record["realised_epsilon"], "pair test": shown("pair test"),
        "error rates": shown("error rates"), "at least": rounded(record["lower"]), "by": record["by"], "runs": record["runs"], "broken": record["broken"],
    }  # fmt: skip
