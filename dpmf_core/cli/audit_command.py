"""`audit`: attacks on proofs."""

from pathlib import Path
from typing import Annotated, Any

import click

from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import require_parent
from dpmf_core.base.progress import Progress
from dpmf_core.cli import output
from dpmf_core.cli.data_options import on_data
from dpmf_core.cli.run_commands import measured
from dpmf_core.cli.run_options import algorithm_of
from dpmf_core.cli.shared_options import (
    Decorator,
    Options,
    field_option,
    pairs,
    with_options,
)
from dpmf_core.evaluation.audit import membership_inference, own_data
from dpmf_core.evaluation.audit.audit_table import table_specs
from dpmf_core.evaluation.audit.canaries import rounded
from dpmf_core.evaluation.audit.membership_inference import Audit, AuditSpec
from dpmf_core.runs.data_access import open_data
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.spreadsheet_text import write_csv
from dpmf_core.runs.sweep import typed_parameters

IN_TABLE = (
    "algorithm",
    "fault",
    "unit",
    "proven",
    "lost by canary",
    "pair test",
    "error rates",
    "at least",
)


def _ask(name: str, **changes: Any) -> Decorator:
    return field_option(name, AuditSpec.model_fields[name], **changes)


class AuditOptions(Options):
    """What is attacked, in addition to the fields of `AuditSpec`."""

    algorithm: Annotated[str | None, "ID"] = None
    """See `algorithms`."""
    every: bool = False
    """Audit every algorithm with a proof, and the planted faults, in worker processes."""
    out: Path | None = None
    """With --every: write each audit as a row of this CSV file."""
    dataset: Annotated[str | None, "ID|PATH"] = None
    """Attack on these data, with a canary in them, instead of a simulated set."""
    user: int | None = None
    """With --dataset: the canary is this user (document, image), from 0, removed."""
    param: Annotated[tuple[str, ...], "NAME=VALUE"] = ()
    """A parameter of the algorithm."""


@click.command()
@on_data("dataset", without=("user",))
@with_options(AuditOptions)
@_ask("epsilon")
@_ask("delta")
@_ask("runs")
@_ask(
    "fault",
    metavar="ID",
    help="A planted fault: none, small-noise, unlisted-release, no-clipping or exact-start.",
)
@_ask("unit", help="What the canary is. Default: the unit that the algorithm protects.")
@_ask("seed")
@output.json_option
def audit(
    algorithm: str | None,
    every: bool,
    out: Path | None,
    dataset: str | None,
    user: int | None,
    param: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """Attack an algorithm and print the measured epsilon next to the proven one.

    The attack uses a small simulated set with a worst-case user or sample, or your data.
    """
    if every == (algorithm is not None):
        raise BadInput("audit needs --algorithm ID, or --every for all that is proved.")
    if out is not None and not every:
        raise BadInput(
            "--out needs --every, whose table it holds. Add --every or leave --out out."
        )
    if dataset is None and user is not None:
        raise BadInput("--user needs a data set: add --dataset.")
    if algorithm is not None:
        texts = pairs(param, "--param")
        options["parameters"] = typed_parameters(algorithm_of(algorithm), texts)
        result = _audit_one(algorithm, dataset, user, options, as_json)
        output.show(as_json, result.to_dict() if as_json else None, str(result))
        return
    if dataset is not None or param or options["fault"] != "none" or options["unit"]:
        raise BadInput(
            "--every attacks each algorithm with its defaults on a simulated set, and each"
            " fault once. Leave --dataset, --param, --fault and --unit out."
        )
    _show_table(options, out, as_json)


def _audit_one(
    algorithm: str,
    dataset: str | None,
    user: int | None,
    options: dict[str, Any],
    as_json: bool,
) -> Audit:
    """The audit of one algorithm, on a simulated set or on given data."""
    with output.progress_bar(total=options["runs"], unit="run", leave=False) as bar:

        def report(progress: Progress) -> None:
            bar.update(progress.step - bar.n)

        if dataset is None:
            return membership_inference.audit(algorithm, report=report, **options)
        data = open_data(DataSpec(id=dataset))
        if as_json and not data.public:
            raise BadInput(
                "An audit of private data is for the screen only. Omit --json."
            )
        if options.pop("unit") not in (None, "user"):
            raise BadInput(
                "On given data the canary is a whole user. Leave --unit out."
            )
        return own_data.audit_on(
            data,
            algorithm,
            user=user,
            report=report,
            **options,
        )


def _show_table(options: dict[str, Any], out: Path | None, as_json: bool) -> None:
    """Print the table of proofs, faults, and what attacks find."""
    if out is not None:
        require_parent(out, "--out")
    if options["epsilon"] is None:
        raise BadInput(
            "audit --every needs --epsilon, the budget of every attacked run."
        )
    specs = table_specs(
        options["epsilon"],
        options["delta"],
        options["runs"],
        options["seed"],
    )
    audits: list[Audit] = list(measured(specs, "audit"))
    rows = [_row(audit) for audit in audits]
    cells = [[output.number(row[name], 2) for name in IN_TABLE] for row in rows]
    output.show(
        as_json, [one.to_dict() for one in audits], output.table(IN_TABLE, cells)
    )
    if out is not None:
        write_csv(out, rows)


def _row(result: Audit) -> dict[str, Any]:
    """An audit as a row of the table; lower bounds are rounded down."""
    spec = result.spec
    bounds = {
        rule: max(
            (rounded(test.epsilon) for test in result.tests if test.rule == rule),
            default=None,
        )
        for rule in ("pair test", "error rates")
    }
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
        **bounds,
        "at least": rounded(result.lower),
        "by": result.best.attack,
        "runs": spec.runs,
        "broken": result.broken,
    }
