"""`fit`, `sweep` and `warm`: the commands that compute."""

import csv
import io
import itertools
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from dpmf_core import algorithms, experiment
from dpmf_core.cli import show
from dpmf_core.cli.options import belonging, budget, described, json_option, listed, numbers, pairs, parameters, run_options, shape_of, whole_numbers
from dpmf_core.compare import comparison
from dpmf_core.data import Shape
from dpmf_core.errors import BadInput, Cancelled
from dpmf_core.experiment import Progress, Run, RunSpec
from dpmf_core.privacy import default_delta
from dpmf_core.store import Damaged, Store, to_json


@click.command()
@click.option("--algorithm", required=True, metavar="ID", help="See `algorithms`.")
@click.option("--epsilon", type=float, help="Total privacy loss of the run.")
@click.option("--seed", type=int, default=0, show_default=True)
@run_options
def fit(algorithm: str, epsilon: float | None, seed: int, as_json: bool, **options: Any) -> None:
    """One run, in this process and on all cores; kept in the store."""
    kind = algorithms.find(algorithm)
    given = parameters(kind, pairs(options["params"], "--param"))
    parts = described(options)
    spec = RunSpec.parse(**parts, algorithm=algorithm, parameters=given, budget=budget(options, epsilon, shape_of(parts).n_users), seed=seed)
    record = _stored_or_run(spec, Store()).record
    click.echo(to_json(record) if as_json else show.run(record))


def _stored_or_run(spec: RunSpec, store: Store) -> Run:
    try:
        stored = store.get(experiment.run_key(spec, experiment.open_data(spec.data)))
    except Damaged:
        stored = None
    if stored is not None:
        return stored
    with tqdm(desc=spec.algorithm, unit="step", file=sys.stderr, disable=None, leave=False) as bar:

        def tell(progress: Progress) -> None:
            bar.total = progress.steps
            bar.set_postfix({name: f"{value:.3f}" for name, value in progress.curves[-1].items() if name == "test_rmse"}, refresh=False)
            bar.update(progress.step - bar.n)

        run = experiment.run(spec, report=tell)
    store.put(run)
    return run


@click.command()
@click.option("--algorithms", "names", required=True, metavar="A,B,C", help="Algorithm ids.")
@click.option("--epsilons", metavar="1,5,10", help="Total privacy losses; algorithms that release nothing run once.")
@click.option("--seeds", default="0", show_default=True, metavar="0-4", help="One run for each.")
@click.option("--grid", "grids", multiple=True, metavar="NAME=V1,V2", help="Values of a parameter to go through; repeatable.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Every run as a row of this CSV file.")
@run_options
def sweep(names: str, epsilons: str | None, seeds: str, grids: tuple[str, ...], out: Path | None, as_json: bool, **options: Any) -> None:
    """Many runs, in worker processes. What the store has is not computed again, so a sweep that was cut goes on."""
    specs = _planned(names, epsilons, seeds, grids, options)
    if out is not None and not out.parent.is_dir():
        raise BadInput(f"--out: there is no folder {out.parent}. Make it first.")
    records, failures = _swept(specs, Store())
    place = {to_json(spec.model_dump(mode="json")): at for at, spec in enumerate(specs)}
    records.sort(key=lambda record: place[to_json(record["spec"])])
    if out is not None:
        _write_csv(out, records)
    click.echo(to_json(records) if as_json else _table(records))
    if failures:
        click.echo(f"{len(failures)} of {len(specs)} runs failed.", err=True)
        click.get_current_context().exit(2 if all(isinstance(failure, BadInput) for failure in failures) else 1)


def _planned(names: str, epsilons: str | None, seeds: str, grids: tuple[str, ...], options: dict[str, Any]) -> list[RunSpec]:
    """Every specification of the sweep, checked before the first is run; seeds vary slowest, so that workers keep their split."""
    kinds = [algorithms.find(name) for name in listed(names, "--algorithms")]
    fixed = pairs(options["params"], "--param")
    varied = {name: listed(value, "--grid") for name, value in pairs(grids, "--grid").items()}
    belonging(kinds, {**fixed, **varied})
    losses = numbers(epsilons, "--epsilons") if epsilons else []
    parts = described(options)
    shape = shape_of(parts)
    common = budget(options, losses[0] if losses else None, shape.n_users)
    specs: dict[str, RunSpec] = {}
    for kind in kinds:
        for point in _points(kind, fixed, varied):
            base = RunSpec.parse(**parts, algorithm=kind.id, parameters=parameters(kind, point), budget=common)
            specs |= {spec.model_dump_json(): spec for spec in _over(base, losses, whole_numbers(seeds, "--seeds"))}
    ordered = sorted(specs.values(), key=lambda spec: spec.seed)
    _checked(ordered, shape)
    return ordered


def _points(kind: type[algorithms.Algorithm], fixed: dict[str, str], varied: dict[str, list[str]]) -> Iterator[dict[str, str]]:
    """The parameter settings of one algorithm: those it has of the fixed ones, and every combination of the varied ones it has."""
    own = {name: values for name, values in varied.items() if name in kind.model_fields}
    for values in itertools.product(*own.values()):
        yield {name: value for name, value in fixed.items() if name in kind.model_fields} | dict(zip(own, values, strict=True))


def _over(base: RunSpec, epsilons: list[float], seeds: list[int]) -> Iterator[RunSpec]:
    if epsilons:
        return experiment.grid(base, [base.algorithm], epsilons, seeds)
    return (RunSpec.parse(**(base.model_dump() | {"seed": seed})).canonical() for seed in seeds)


def _checked(specs: list[RunSpec], shape: Shape) -> None:
    """Raises BadInput for the first run that could not start."""
    for text in dict.fromkeys(spec.model_copy(update={"seed": 0}).model_dump_json() for spec in specs):
        experiment.prepare(RunSpec.model_validate_json(text), shape)


def _swept(specs: list[RunSpec], store: Store) -> tuple[list[dict[str, Any]], list[Exception]]:
    """Records of the runs that finished, and what went wrong with the others. Raises Cancelled on Ctrl-C."""
    from dpmf_core.engine import Engine

    records: list[dict[str, Any]] = []
    failures: list[Exception] = []
    engine = Engine.from_environment(store)
    try:
        with tqdm(total=len(specs), unit="run", file=sys.stderr, disable=None) as bar:
            for spec, outcome in engine.sweep(specs):
                bar.update()
                if isinstance(outcome, Run):
                    records.append(outcome.record)
                else:
                    failures.append(outcome)
                    click.echo(f"{spec.algorithm}, seed {spec.seed}: {outcome}", err=True)
    except KeyboardInterrupt:
        raise Cancelled(f"Interrupted. {len(records)} of {len(specs)} runs are finished and kept; the same command goes on from there.") from None
    finally:
        engine.close()
    return records, failures


def _row(record: dict[str, Any]) -> dict[str, Any]:
    spec = record["spec"]
    nominal = (spec["budget"] or {}).get("epsilon")
    settings = {f"param.{name}": value for name, value in spec["parameters"].items()}
    budgeted = {"epsilon": nominal, "exact_epsilon": record["epsilon"]["exact"], "delta": record["delta"]}
    figures = {**record["metrics"], "fit_seconds": record["seconds"]["fit"]}
    return {"dataset": spec["data"]["id"], "algorithm": spec["algorithm"], **budgeted, "seed": spec["seed"], **settings, **figures, "key": record["key"]}


def _write_csv(path: Path, records: list[dict[str, Any]]) -> None:
    """Every run as a row; the file is there in whole or not at all."""
    rows = [_row(record) for record in records]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in rows for name in row)))
    writer.writeheader()
    writer.writerows(rows)
    try:
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.", delete=False, encoding="utf-8", newline="") as aside:
            aside.write(text.getvalue())
        Path(aside.name).replace(path)
    except OSError as error:
        raise BadInput(f"--out: {path} cannot be written ({error.strerror}).") from error


def _table(records: list[dict[str, Any]]) -> str:
    """Medians over seeds for every algorithm, setting and epsilon."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for record in records:
        spec = record["spec"]
        setting = ", ".join(f"{name}={value}" for name, value in spec["parameters"].items())
        groups.setdefault((spec["algorithm"], setting, (spec["budget"] or {}).get("epsilon")), []).append(record["metrics"])
    shown = [name for name in ("rmse", "mae", "recall_at_20", "ndcg_at_20") if any(name in metrics for group in groups.values() for metrics in group)]
    rows = [[name, setting or "-", show.number(epsilon, 2), len(group), *_medians(group, shown)] for (name, setting, epsilon), group in groups.items()]
    head = ["algorithm", "parameters", "epsilon", "seeds", *(show.METRICS[name] for name in shown)]
    return show.table(head, rows) + "\n(medians over seeds)" if rows else "No run finished."


def _medians(group: list[dict[str, Any]], shown: list[str]) -> list[str]:
    return [show.number(statistics.median(values), 4) if (values := [m[name] for m in group if m.get(name) is not None]) else "-" for name in shown]


@click.command()
@json_option
def warm(as_json: bool) -> None:
    """Compile the kernels and compute what the first page shows, so that a class starts at once."""
    store, shape = Store(), shape_of({"data": {"id": "cinema"}})
    main = RunSpec.parse(data={"id": "cinema"}, algorithm="dpals", budget={"epsilon": 5.0, "delta": default_delta(shape.n_users)})
    done = []
    for name, spec in comparison(main).items():
        record = _stored_or_run(spec, store).record
        done.append({"key": record["key"], "run": name, "algorithm": spec.algorithm, "rmse": record["metrics"]["rmse"], "cached": record["cached"]})
    click.echo(to_json(done) if as_json else "\n".join(f"{run['run']} ({run['algorithm']}): RMSE {show.number(run['rmse'])}" for run in done))
