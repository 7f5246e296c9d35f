"""`fit` and `sweep`: the commands that compute."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from tqdm import tqdm

from dpmf_core import algorithms
from dpmf_core.cli import accounts, output, tables
from dpmf_core.cli.options import (
    algorithm_of,
    budget,
    numbers,
    require_known,
    run_options,
    shape_of,
    spec_parts,
    split_list,
    whole_numbers,
)
from dpmf_core.cli.privacy_options import pairs
from dpmf_core.cli.room import warn_of
from dpmf_core.cli.spreading import spread_options, spread_over
from dpmf_core.errors import BadInput, Cancelled
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.paths import require_parent
from dpmf_core.runs import execution
from dpmf_core.runs.execution import Progress
from dpmf_core.runs.lookup import find_stored_run
from dpmf_core.runs.noisy_errors import release
from dpmf_core.runs.publishing.privacy_statement import ABOUT, check_about
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.spreadsheets import write_csv
from dpmf_core.runs.store import Store, to_json
from dpmf_core.runs.sweep import (
    Method,
    Point,
    Summary,
    Sweep,
    rows,
    summaries,
    typed_grid,
    typed_parameters,
)

if TYPE_CHECKING:
    from dpmf_core.papers.figures import Figure

NO_ITEM_FEATURES = (
    "{title} is given no item features, so it learns from ratings alone. Where the data set has a"
    " public item table, add --item-features public."
)


@click.command()
@click.option("--algorithm", required=True, metavar="ID", help="See `algorithms`.")
@click.option("--epsilon", type=float, help="Total privacy loss of the run.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--curve-points",
    type=int,
    default=12,
    show_default=True,
    help="Most points of the error by step; judging takes most of the time of many runs.",
)
@click.option(
    "--save",
    "folder",
    type=click.Path(path_type=Path),
    help=(
        "A new folder for the model as it can be published: items' factors, a card, a privacy"
        " statement."
    ),
)
@click.option(
    "--about",
    "abouts",
    multiple=True,
    metavar="NAME=TEXT",
    help=f"For --save, what only the publisher knows: {', '.join(ABOUT)}; repeatable.",
)
@spread_options
@run_options
def fit(
    algorithm: str,
    epsilon: float | None,
    seed: int,
    curve_points: int,
    folder: Path | None,
    abouts: tuple[str, ...],
    as_json: bool,
    **options: Any,
) -> None:
    """One run, in this process and on all cores; kept in the store."""
    if not options["dataset"]:
        raise BadInput(
            "fit needs --dataset: a catalogue id (see `datasets`) or the path of a ratings table."
        )
    warn_of(options["dataset"])
    kind = algorithm_of(algorithm)
    parameters = typed_parameters(kind, pairs(options["params"], "--param"))
    about, parts = _about_what_is_saved(algorithm, folder, abouts), spec_parts(options)
    with spread_over(options, algorithm):
        spec = RunSpec.parse(
            **parts,
            algorithm=algorithm,
            parameters=parameters,
            budget=budget(options, epsilon, shape_of(parts).n_units, [algorithm]),
            seed=seed,
            curve_points=curve_points,
        )
        if kind.needs_item_features and spec.data.item_features == "none":
            click.echo(NO_ITEM_FEATURES.format(title=kind.title), err=True)
        run = stored_or_run(spec, Store())
    record = run.record
    click.echo(to_json(record.export()) if as_json else output.run(record))
    if folder is not None:
        from dpmf_core.runs.publishing.saving import save  # knows every algorithm's model

        model_folder = save(run, folder, about=about)
        click.echo(
            f"The model is saved in {model_folder}; MODEL_CARD.md there says more.", err=True
        )
    if not record.public:
        accounts.tell(spec.data.id)


def _about_what_is_saved(
    algorithm: str, folder: Path | None, texts: tuple[str, ...]
) -> dict[str, str]:
    """What the publisher states. Raises BadInput on a model that cannot be saved, before it costs
    privacy.
    """
    if folder is None:
        if texts:
            raise BadInput("--about goes with --save FOLDER, whose privacy statement holds it.")
        return {}
    from dpmf_core.runs.publishing import saving  # knows every algorithm's model

    saving.require_saveable(algorithm)
    saving.require_free(folder)
    about = pairs(texts, "--about")
    check_about(about)
    return about


def stored_or_run(spec: RunSpec, store: Store) -> Run:
    """The run, which is in the store then; a bar tells its progress."""
    if (stored_run := find_stored_run(spec, store)) is not None:
        return stored_run
    with tqdm(desc=spec.algorithm, unit="step", file=sys.stderr, disable=None, leave=False) as bar:

        def tell(progress: Progress) -> None:
            bar.total = progress.steps
            bar.set_postfix(
                {
                    name: f"{value:.3f}"
                    for curve in progress.curves[-1:]
                    for name, value in curve.items()
                    if name in ("test_rmse", "objective")
                },
                refresh=False,
            )
            if progress.part is not None:
                bar.set_description("{}, part {} of {}".format(spec.algorithm, *progress.part))
            bar.update(progress.step - bar.n)

        run = execution.run(spec, report=tell)
    store.put(run)
    return run


@click.command()
@click.option("--algorithms", "names", metavar="A,B,C", help="Algorithm ids.")
@click.option(
    "--epsilons",
    metavar="1,5,10",
    help="Total privacy losses; algorithms that release nothing run once.",
)
@click.option("--seeds", default="0", show_default=True, metavar="0-4", help="One run for each.")
@click.option(
    "--grid",
    "grids",
    multiple=True,
    metavar="NAME=V1,V2",
    help="Values of a parameter to go through; repeatable.",
)
@click.option(
    "--preset",
    metavar="ID",
    help=(
        "A published figure or a table of ours, at full size; then no other option says what to"
        " run. See `papers`."
    ),
)
@click.option(
    "--page-size",
    is_flag=True,
    help="The figure at the size of its page: about a minute.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Every run as a row of this CSV file; of private data nothing raw.",
)
@click.option(
    "--noisy-errors",
    type=float,
    metavar="EPSILON",
    help=(
        "Of private ratings: release each run's held-out error into --out, with noise of this"
        " epsilon; all enter the account, at every call."
    ),
)
@run_options
def sweep(
    names: str | None,
    epsilons: str | None,
    seeds: str,
    grids: tuple[str, ...],
    preset: str | None,
    page_size: bool,
    out: Path | None,
    noisy_errors: float | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Many runs, in worker processes.

    What the store has is not computed again, so a sweep that was cut goes on.
    """
    if out is not None:
        require_parent(out, "--out")
    if noisy_errors is not None and out is None:
        raise BadInput("--noisy-errors goes with --out FILE, which holds them.")
    figure = _figure(preset) if preset else None
    points = (
        figure.points(not page_size) if figure else _points(names, epsilons, seeds, grids, options)
    )
    runs, failures = finish(points, Store())
    if out is not None:
        noisy = release(runs, noisy_errors) if noisy_errors is not None else {}
        write_csv(out, rows(points, runs, noisy, noisy_errors))
    keys = list(dict.fromkeys(point.key for point in points if point.key in runs))
    records = [runs[key].record for key in keys]
    click.echo(
        to_json([record.export() for record in records]) if as_json else _table(points, runs)
    )
    if figure:
        click.echo(figure.verdict(points, runs, not page_size).words, err=as_json)
    for data_id in dict.fromkeys(
        run.spec.data.id for run in runs.values() if not run.record.public
    ):
        accounts.tell(data_id)
    if failures:
        click.echo(f"{len(failures)} of {len(runs) + len(failures)} runs failed.", err=True)
        click.get_current_context().exit(
            2 if all(isinstance(failure, BadInput) for failure in failures) else 1
        )


def _points(
    names: str | None,
    epsilons: str | None,
    seeds: str,
    grids: tuple[str, ...],
    options: dict[str, Any],
) -> list[Point]:
    """Every run of the sweep, checked before the first is made."""
    if not names or not options["dataset"]:
        raise BadInput(
            f"sweep needs {'--dataset' if names else '--algorithms'}: give --dataset and"
            " --algorithms, or --preset ID (see `papers`)."
        )
    kinds = [algorithm_of(name) for name in split_list(names, "--algorithms")]
    fixed = pairs(options["params"], "--param")
    grid = {name: split_list(value, "--grid") for name, value in pairs(grids, "--grid").items()}
    require_known(kinds, {**fixed, **grid})
    methods = tuple(
        Method(algorithm=kind.id, parameters=_own(kind, fixed), label=kind.id) for kind in kinds
    )
    losses = numbers(epsilons, "--epsilons") if epsilons else []
    parts = spec_parts(options)
    shape = shape_of(parts)
    ids = [kind.id for kind in kinds]
    common = budget(options, losses[0] if losses else None, shape.n_units, ids) or {}
    sweep_spec = Sweep.parse(
        **parts,
        methods=methods,
        epsilons=tuple(losses),
        seeds=tuple(whole_numbers(seeds, "--seeds")),
        grid=typed_grid(methods, grid),
        **{name: value for name, value in common.items() if name != "epsilon"},
    )
    return sweep_spec.points_on(shape)


def _own(kind: type[algorithms.Algorithm], texts: dict[str, str]) -> dict[str, Any]:
    """Those of the given parameters that the algorithm has, in their types."""
    return typed_parameters(
        kind, {name: value for name, value in texts.items() if name in kind.model_fields}
    )


def finish(points: list[Point], store: Store) -> tuple[dict[str, Run], list[Exception]]:
    """Finished runs by `Point.key`, and what went wrong with the others.

    Raises Cancelled on Ctrl-C.
    """
    from dpmf_core.jobs.engine import Engine

    specs = list({point.key: point.spec for point in points}.values())
    runs: dict[str, Run] = {}
    failures: list[Exception] = []
    engine = Engine.from_environment(store)
    try:
        with tqdm(total=len(specs), unit="run", file=sys.stderr, disable=None) as bar:
            for spec, outcome in engine.sweep(specs):
                bar.update()
                if isinstance(outcome, Run):
                    runs[spec.model_dump_json()] = outcome
                else:
                    failures.append(outcome)
                    click.echo(f"{spec.algorithm}, seed {spec.seed}: {outcome}", err=True)
    except KeyboardInterrupt:
        raise Cancelled(
            f"Interrupted. {len(runs)} of {len(specs)} runs are finished and kept; the same"
            " command goes on from there."
        ) from None
    finally:
        engine.close()
    return runs, failures


def _figure(preset: str) -> "Figure":
    from dpmf_core.papers.registry import find_figure  # all of them, which are for `sweep` alone

    return find_figure(preset)


def _table(points: list[Point], runs: dict[str, Run]) -> str:
    """Medians over seeds for every method, grid point and epsilon."""
    medians = {
        metric.id: {_place(it): it for it in summaries(points, runs, metric.id)}
        for metric in METRICS.values()
        if metric.ranks
    }
    metrics = [metric for metric, groups in medians.items() if groups]
    body = [
        [
            it.label,
            ", ".join(f"{name}={value}" for name, value in it.grid.items()) or "-",
            tables.epsilon(it.epsilon),
            len(it.draws),
            *(
                tables.number(medians[metric][place].median, 4) if place in medians[metric] else "-"
                for metric in metrics
            ),
        ]
        for place, it in max(medians.values(), key=len).items()
    ]
    head = [
        "algorithm",
        "parameters",
        "epsilon",
        "seeds",
        *(METRICS[name].title for name in metrics),
    ]
    return tables.table(head, body) + "\n(medians over seeds)" if body else "No run finished."


def _place(it: Summary) -> tuple[Any, ...]:
    return it.label, it.epsilon, tuple(it.grid.items())
