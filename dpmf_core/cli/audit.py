"""`audit`: attacks on proofs."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from tqdm import tqdm

from dpmf_core.base.documents import to_json
from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import require_parent
from dpmf_core.cli import tables
from dpmf_core.cli.arguments import GroupedCommand, own_param_option, pairs
from dpmf_core.cli.completion import algorithm_ids, dataset_ids
from dpmf_core.cli.options import algorithm_of
from dpmf_core.cli.runs import measured
from dpmf_core.cli.tables import json_option
from dpmf_core.data import Data
from dpmf_core.runs.data_access import open_data
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.spreadsheets import write_csv
from dpmf_core.runs.sweep import typed_parameters

if TYPE_CHECKING:  # it loads the compiled kernels
    from dpmf_core.evaluation.audit.membership_inference import Audit

IN_TABLE = (
    *("algorithm", "fault", "unit", "proven", "lost by canary"),
    *("pair test", "error rates", "at least"),
)


@click.command(cls=GroupedCommand)
@click.option("--algorithm", metavar="ID", help="See `algorithms`.", shell_complete=algorithm_ids)
@click.option(
    "--every",
    is_flag=True,
    help="Audit every algorithm with a proof, and the planted faults, in worker processes.",
)
@click.option(
    "--epsilon",
    type=float,
    help="Total privacy loss of the attacked runs; needed if the algorithm takes a budget.",
)
@click.option("--delta", type=float, default=1e-5, show_default=True)
@click.option(
    "--runs",
    type=int,
    default=1000,
    show_default=True,
    help="Training runs, half of them with a canary.",
)
@click.option(
    "--fault",
    default="none",
    show_default=True,
    metavar="ID",
    help="A planted fault: none, small-noise, unlisted-release, no-clipping or exact-start.",
)
@click.option(
    "--unit",
    metavar="user|rating|value",
    help="What the canary is. Default: the unit that the algorithm protects.",
)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With --every: write each audit as a row of this CSV file.",
)
@click.option(
    "--dataset",
    metavar="ID|PATH",
    shell_complete=dataset_ids,
    help="Attack on these data, with a canary in them, instead of a simulated set.",
)
@click.option(
    "--user",
    type=int,
    help="With --dataset: the canary is this user (document, image), from 0, removed.",
)
@own_param_option
@json_option
def audit(
    algorithm: str | None,
    every: bool,
    epsilon: float | None,
    params: tuple[str, ...],
    out: Path | None,
    dataset: str | None,
    user: int | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Attack an algorithm and print the measured epsilon next to the proven one.

    The attack uses a small simulated set with a worst-case user or sample, or your data.
    """
    if every == (algorithm is not None):
        raise BadInput("audit needs --algorithm ID, or --every for all that is proved.")
    if dataset is None and user is not None:
        raise BadInput("--user needs a data set: add --dataset.")
    if out is not None and not every:
        raise BadInput("--out needs --every, whose table it holds. Add --every or leave --out out.")
    if every:
        if dataset is not None:
            raise BadInput("--every uses simulated sets. Leave --dataset out.")
        if params or options["fault"] != "none" or options["unit"]:
            raise BadInput(
                "--every attacks each algorithm with its defaults, and each fault once. Leave"
                " --param, --fault and --unit out."
            )
        if out is not None:
            require_parent(out, "--out")
        _all(epsilon, options, out, as_json)
        return
    from dpmf_core.evaluation.audit.audit_table import as_record
    from dpmf_core.evaluation.audit.own_data import RAW

    parameters: dict[str, Any] = typed_parameters(
        algorithm_of(str(algorithm)), pairs(params, "--param")
    )
    options |= {"epsilon": epsilon, "parameters": parameters}
    data = None if dataset is None else _audit_data(dataset, str(algorithm), as_json)
    with tqdm(total=options["runs"], unit="run", file=sys.stderr, disable=None, leave=False) as bar:
        result = _run_audit(
            str(algorithm), data, user, lambda count, _: bar.update(count - bar.n), options
        )
    lines = _lines(result) + ([] if data is None or data.public else ["", RAW])
    click.echo(to_json(as_record(result)) if as_json else "\n".join(lines))


def _audit_data(dataset: str, algorithm: str, as_json: bool) -> Data:
    """The data to attack on. Raises BadInput if raw figures of private data would leave as JSON."""
    data = open_data(RunSpec.parse(data={"id": dataset}, algorithm=algorithm).data)
    if as_json and not data.public:
        raise BadInput("An audit of private data is for the screen only. Leave --json out.")
    return data


def _run_audit(
    algorithm: str,
    data: Data | None,
    user: int | None,
    progress: Callable[[int, int], None],
    options: dict[str, Any],
) -> "Audit":
    from dpmf_core.evaluation.audit.membership_inference import audit as on_simulated_data
    from dpmf_core.evaluation.audit.own_data import audit_on

    if data is None:
        return on_simulated_data(algorithm, tell=progress, **options)
    unit = options.pop("unit")
    if unit not in (None, "user"):
        raise BadInput(
            f"On given data the canary is a whole user. Got the unit {unit!r}. Leave --unit out."
        )
    return audit_on(data, algorithm, user=user, tell=progress, **options)


def _lines(result: "Audit") -> list[str]:
    """The sentence, then every figure with its meaning."""
    rows = [[figure.name, figure.words, figure.meaning] for figure in result.figures]
    return [
        result.words,
        "",
        tables.table(["", "epsilon", "what it means"], rows),
        "",
        f"The canary: {result.canary}. {result.rule}",
    ]


def _all(epsilon: float | None, options: dict[str, Any], out: Path | None, as_json: bool) -> None:
    """Print the table of proofs, faults, and what attacks find."""
    from dpmf_core.evaluation.audit.audit_table import as_record, table_specs

    if epsilon is None:
        raise BadInput("audit --every needs --epsilon, the budget of every attacked run.")
    specs = table_specs(epsilon, options["delta"], options["runs"], options["seed"])
    audits: list[Audit] = list(measured(specs, "audit"))
    rows = [_row(it) for it in audits]
    cells = [[tables.number(row[name], 2) for name in IN_TABLE] for row in rows]
    words = tables.table(IN_TABLE, cells)
    click.echo(to_json([as_record(it) for it in audits]) if as_json else words)
    if out is not None:
        write_csv(out, rows)


def _row(result: "Audit") -> dict[str, Any]:
    """An audit as a row of the table; lower bounds are rounded down."""
    from dpmf_core.evaluation.audit.canaries import rounded

    spec = result.spec

    def bound_by(rule: str) -> float | None:
        return max(
            (rounded(test.epsilon) for test in result.tests if test.rule == rule),
            default=None,
        )

    return {
        "algorithm": spec.algorithm,
        "fault": spec.fault,
        "unit": result.unit,
        "status": str(result.guarantee.status),
        "threshold": spec.parameters.get("threshold"),
        "proven": result.proven,
        "planned mu": result.planned_mu,
        "realised mu": result.realised_mu,
        "lost by canary": result.lost_epsilon,
        "pair test": bound_by("pair test"),
        "error rates": bound_by("error rates"),
        "at least": rounded(result.lower),
        "by": result.best.attack,
        "runs": spec.runs,
        "broken": result.broken,
    }
