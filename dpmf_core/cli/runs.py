"""`fit`, `sweep` and `warm`: the commands that compute."""

import csv
import io
import sys
import tempfile
from pathlib import Path
from typing import Any

import click
from tqdm import tqdm

from dpmf_core import algorithms, experiment, kernels
from dpmf_core.cli import show, spent
from dpmf_core.cli.options import belonging, budget, described, json_option, listed, numbers, pairs, run_options, shape_of, whole_numbers
from dpmf_core.compare import comparison
from dpmf_core.errors import BadInput, Cancelled
from dpmf_core.experiment import Progress, Run, RunSpec
from dpmf_core.noisy_errors import release
from dpmf_core.presets import PRESETS, find_preset
from dpmf_core.privacy import default_delta
from dpmf_core.spreadsheets import harmless_row
from dpmf_core.store import Damaged, Store, to_json
from dpmf_core.sweeps import METRICS, Method, Point, Summary, Sweep, rows, summaries, typed, typed_grid


@click.command()
@click.option("--algorithm", required=True, metavar="ID", help="See `algorithms`.")
@click.option("--epsilon", type=float, help="Total privacy loss of the run.")
@click.option("--seed", type=int, default=0, show_default=True)
@run_options
def fit(algorithm: str, epsilon: float | None, seed: int, as_json: bool, **options: Any) -> None:
    """One run, in this process and on all cores; kept in the store."""
    if not options["dataset"]:
        raise BadInput("fit needs --dataset: a catalogue id (see `datasets`) or the path of a ratings table.")
    kind = algorithms.find(algorithm)
    given = typed(kind, pairs(options["params"], "--param"))
    parts = described(options)
    spec = RunSpec.parse(**parts, algorithm=algorithm, parameters=given, budget=budget(options, epsilon, shape_of(parts).n_units), seed=seed)
    record = _stored_or_run(spec, Store()).record
    click.echo(to_json(record) if as_json else show.run(record))
    if not record["public"]:
        spent.tell(spec.data.id)


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
            bar.set_postfix({name: f"{value:.3f}" for name, value in progress.curves[-1].items() if name in ("test_rmse", "objective")}, refresh=False)
            bar.update(progress.step - bar.n)

        run = experiment.run(spec, report=tell)
    store.put(run)
    return run


@click.command()
@click.option("--algorithms", "names", metavar="A,B,C", help="Algorithm ids.")
@click.option("--epsilons", metavar="1,5,10", help="Total privacy losses; algorithms that release nothing run once.")
@click.option("--seeds", default="0", show_default=True, metavar="0-4", help="One run for each.")
@click.option("--grid", "grids", multiple=True, metavar="NAME=V1,V2", help="Values of a parameter to go through; repeatable.")
@click.option("--preset", metavar="ID", help="A figure of a source paper, at full size; then no other option says what to run. See `presets`.")
@click.option("--page-size", is_flag=True, help="The preset at the size of the Trade-off page: about a minute.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Every run as a row of this CSV file; of private data nothing raw.")
@click.option(
    "--noisy-errors",
    type=float,
    metavar="EPSILON",
    help="Of private ratings: release each run's held-out error into --out, with noise of this epsilon; all enter the account, at every call.",
)
@run_options
def sweep(
    names: str | None, epsilons: str | None, seeds: str, grids: tuple[str, ...], preset: str | None, page_size: bool, out: Path | None,
    noisy_errors: float | None, as_json: bool, **options: Any,
) -> None:  # fmt: skip
    """Many runs, in worker processes. What the store has is not computed again, so a sweep that was cut goes on."""
    if out is not None and not out.parent.is_dir():
        raise BadInput(f"--out: there is no folder {out.parent}. Make it first.")
    if noisy_errors is not None and out is None:
        raise BadInput("--noisy-errors goes with --out FILE, which holds them.")
    chosen = find_preset(preset) if preset else None
    points = chosen.points(not page_size) if chosen else _planned(names, epsilons, seeds, grids, options)
    finished, failures = _swept(points, Store())
    if out is not None:
        noisy = release(finished, noisy_errors) if noisy_errors is not None else {}
        _write_csv(out, rows(points, finished, noisy, noisy_errors))
    done = list(dict.fromkeys(point.key for point in points if point.key in finished))
    click.echo(to_json([finished[key].record for key in done]) if as_json else _table(points, finished))
    if chosen:
        click.echo(chosen.verdict(points, finished, not page_size).words, err=as_json)
    for data_id in dict.fromkeys(run.spec.data.id for run in finished.values() if not run.record["public"]):
        spent.tell(data_id)
    if failures:
        click.echo(f"{len(failures)} of {len(finished) + len(failures)} runs failed.", err=True)
        click.get_current_context().exit(2 if all(isinstance(failure, BadInput) for failure in failures) else 1)


@click.command()
@json_option
def presets(as_json: bool) -> None:
    """The figures of the source papers that `sweep --preset ID` makes again."""
    listed_ = [{"id": it.id, "title": it.title, "source": it.source, "words": it.words, "metric": it.metric} for it in PRESETS.values()]
    click.echo(to_json(listed_) if as_json else show.table(["id", "figure", "what it shows"], [[it["id"], it["source"], it["title"]] for it in listed_]))


def _planned(names: str | None, epsilons: str | None, seeds: str, grids: tuple[str, ...], options: dict[str, Any]) -> list[Point]:
    """Every run of the sweep, checked before the first is made."""
    if not names or not options["dataset"]:
        raise BadInput(f"sweep needs {'--dataset' if names else '--algorithms'}: give --dataset and --algorithms, or --preset ID (see `presets`).")
    kinds = [algorithms.find(name) for name in listed(names, "--algorithms")]
    fixed = pairs(options["params"], "--param")
    varied = {name: listed(value, "--grid") for name, value in pairs(grids, "--grid").items()}
    belonging(kinds, {**fixed, **varied})
    methods = tuple(Method(algorithm=kind.id, parameters=_own(kind, fixed), label=kind.id) for kind in kinds)
    losses = numbers(epsilons, "--epsilons") if epsilons else []
    parts = described(options)
    shape = shape_of(parts)
    common = budget(options, losses[0] if losses else None, shape.n_units) or {}
    asked = Sweep(
        **parts, methods=methods, epsilons=tuple(losses), seeds=tuple(whole_numbers(seeds, "--seeds")), grid=typed_grid(methods, varied),
        **{name: value for name, value in common.items() if name != "epsilon"},
    )  # fmt: skip
    asked.check(shape)
    return asked.points()


def _own(kind: type[algorithms.Algorithm], texts: dict[str, str]) -> dict[str, Any]:
    """Those of the given parameters that the algorithm has, in their types."""
    return typed(kind, {name: value for name, value in texts.items() if name in kind.model_fields})


def _swept(points: list[Point], store: Store) -> tuple[dict[str, Run], list[Exception]]:
    """Finished runs by `Point.key`, and what went wrong with the others. Raises Cancelled on Ctrl-C."""
    from dpmf_core.engine import Engine

    specs = list({point.key: point.spec for point in points}.values())
    finished: dict[str, Run] = {}
    failures: list[Exception] = []
    engine = Engine.from_environment(store)
    try:
        with tqdm(total=len(specs), unit="run", file=sys.stderr, disable=None) as bar:
            for spec, outcome in engine.sweep(specs):
                bar.update()
                if isinstance(outcome, Run):
                    finished[spec.model_dump_json()] = outcome
                else:
                    failures.append(outcome)
                    click.echo(f"{spec.algorithm}, seed {spec.seed}: {outcome}", err=True)
    except KeyboardInterrupt:
        raise Cancelled(f"Interrupted. {len(finished)} of {len(specs)} runs are finished and kept; the same command goes on from there.") from None
    finally:
        engine.close()
    return finished, failures


def _write_csv(path: Path, table: list[dict[str, Any]]) -> None:
    """Every run as a row; the file is there in whole or not at all."""
    table = [harmless_row(row) for row in table]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for row in table for name in row)))
    writer.writeheader()
    writer.writerows(table)
    try:
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}.", delete=False, encoding="utf-8", newline="") as aside:
            aside.write(text.getvalue())
        Path(aside.name).chmod(0o644)
        Path(aside.name).replace(path)
    except OSError as error:
        raise BadInput(f"--out: {path} cannot be written ({error.strerror}).") from error


def _table(points: list[Point], finished: dict[str, Run]) -> str:
    """Medians over seeds for every method, grid point and epsilon."""
    found = {metric: {_place(it): it for it in summaries(points, finished, metric)} for metric in METRICS}
    shown = [metric for metric, groups in found.items() if groups and metric in show.METRICS]
    body = [
        [it.label, ", ".join(f"{name}={value}" for name, value in it.grid.items()) or "-", show.epsilon(it.epsilon), len(it.draws),
         *(show.number(found[metric][place].median, 4) if place in found[metric] else "-" for metric in shown)]
        for place, it in max(found.values(), key=len).items()
    ]  # fmt: skip
    head = ["algorithm", "parameters", "epsilon", "seeds", *(show.METRICS[name] for name in shown)]
    return show.table(head, body) + "\n(medians over seeds)" if body else "No run finished."


def _place(it: Summary) -> tuple[Any, ...]:
    return it.label, it.epsilon, tuple(it.grid.items())


@click.command()
@json_option
def warm(as_json: bool) -> None:
    """Compile the kernels and compute what the first page shows, so that a class starts at once."""
    kernels.ready()
    store, shape = Store(), shape_of({"data": {"id": "cinema"}})
    main = RunSpec.parse(data={"id": "cinema"}, algorithm="dpals", budget={"epsilon": 5.0, "delta": default_delta(shape.n_units)})
    done = []
    for name, spec in comparison(main, shape).runs.items():
        record = _stored_or_run(spec, store).record
        done.append({"key": record["key"], "run": name, "algorithm": spec.algorithm, "rmse": record["metrics"]["rmse"], "cached": record["cached"]})
    click.echo(to_json(done) if as_json else "\n".join(f"{run['run']} ({run['algorithm']}): RMSE {show.number(run['rmse'])}" for run in done))
