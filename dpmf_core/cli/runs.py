"""`fit` and `sweep`: the commands that compute runs."""

import contextlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from tqdm import tqdm

from dpmf_core.base.documents import to_json
from dpmf_core.base.errors import BadInput, Cancelled
from dpmf_core.base.paths import require_parent
from dpmf_core.base.progress import Progress, on_compiling
from dpmf_core.base.registry import find
from dpmf_core.cli import accounts, output, tables
from dpmf_core.cli.arguments import numbers, pairs, split_list, whole_numbers
from dpmf_core.cli.completion import algorithm_ids, figure_ids
from dpmf_core.cli.options import (
    RunCommand,
    algorithm_of,
    algorithm_texts,
    own_parameters,
    require_known,
    run_choices,
    run_options,
    shape_of,
    with_told_delta,
)
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.privacy.formatting import epsilon_text
from dpmf_core.runs import execution
from dpmf_core.runs.noisy_errors import release
from dpmf_core.runs.publishing.privacy_statement import ABOUT, check_about
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.spreadsheets import write_csv
from dpmf_core.runs.store import Store
from dpmf_core.runs.sweep import (
    Method,
    Point,
    Sweep,
    rows,
    summaries,
    typed_grid,
    typed_parameters,
)

if TYPE_CHECKING:
    from dpmf_core.papers.figures import Figure

NO_ITEM_FEATURES = (
    "{title} has no item features here, so it learns from ratings alone. If the data set has a"
    " public item table, add --item-features public."
)


@click.command(cls=RunCommand)
@click.option(
    "--save",
    "folder",
    type=click.Path(path_type=Path),
    help=(
        "Write the model to a new folder for publication: items' factors, a card, a privacy"
        " statement."
    ),
)
@click.option(
    "--about",
    "abouts",
    multiple=True,
    metavar="NAME=TEXT",
    help=f"With --save, what only the publisher knows: {', '.join(ABOUT)}; repeatable.",
)
@click.option(
    "--spread",
    is_flag=False,
    flag_value="local",
    metavar="[ADDRESS]",
    help=(
        "For ratings in partitions: let processes of this machine read them and add them up, or the"
        " workers of the Dask scheduler at an address such as tls://host:8786."
    ),
)
@run_options("algorithm", "epsilon", "seed", "curve_points")
def fit(
    folder: Path | None,
    abouts: tuple[str, ...],
    spread: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    choices, name = run_choices(options), options["algorithm"]
    kind = algorithm_of(name)
    parameters = typed_parameters(kind, algorithm_texts(options))
    about = _about_what_is_saved(name, folder, abouts)
    with _spread_over(spread, options["dataset"], name):
        spec = RunSpec.of(**with_told_delta(choices, [name]), parameters=parameters)
        if kind.needs_item_features and spec.data.item_features == "none":
            click.echo(NO_ITEM_FEATURES.format(title=kind.title), err=True)
        run = stored_or_run(spec, Store())
    record = run.record
    click.echo(to_json(record.export()) if as_json else output.run(record))
    if folder is not None:
        from dpmf_core.runs.publishing.saving import save  # loads every algorithm's model

        model_folder = save(run, folder, about=about)
        click.echo(f"The model is in {model_folder}; MODEL_CARD.md there describes it.", err=True)
    if not record.public:
        accounts.tell(spec.data.id)


def _spread_over(
    where: str | None, dataset: str, algorithm: str
) -> contextlib.AbstractContextManager[object]:
    """Let workers compute sums over partitions while this is open. Raises BadInput."""
    if where is None:
        return contextlib.nullcontext()
    from dpmf_core.jobs.partitions import spread  # few runs need it

    return spread(dataset, algorithm, where)


def _about_what_is_saved(
    algorithm: str, folder: Path | None, texts: tuple[str, ...]
) -> dict[str, str]:
    """The publisher's facts. Raises BadInput, before any cost, if the model cannot be saved."""
    if folder is None:
        if texts:
            raise BadInput(
                "--about needs --save FOLDER, whose privacy statement holds it. Add --save."
            )
        return {}
    from dpmf_core.runs.publishing import saving  # loads every algorithm's model

    saving.require_saveable(algorithm)
    saving.require_free(folder)
    about = pairs(texts, "--about")
    check_about(about)
    return about


def stored_or_run(spec: RunSpec, store: Store) -> Run:
    """The run, from the store or computed with a progress bar and stored."""
    if (stored_run := store.whole(spec)) is not None:
        return stored_run
    with tqdm(desc=spec.algorithm, unit="step", file=sys.stderr, disable=None, leave=False) as bar:

        def tell(progress: Progress) -> None:
            bar.set_description(spec.algorithm, refresh=False)
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

        with on_compiling(
            lambda: bar.set_description(f"{spec.algorithm}: compiling kernels, once")
        ):
            run = execution.run(spec, report=tell)
    store.put(run)
    return run


@click.command(cls=RunCommand)
@click.option(
    "--algorithms",
    "names",
    metavar="A,B,C",
    help="Algorithm ids.",
    shell_complete=algorithm_ids,
)
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
    help="Values of a parameter to try; repeatable.",
)
@click.option(
    "--preset",
    metavar="ID",
    shell_complete=figure_ids,
    help=(
        "A published figure or a table of ours at full size; no other option then chooses runs. See"
        " `papers`."
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
    help="Write every run as a row of this CSV file, without raw figures of private data.",
)
@click.option(
    "--noisy-errors",
    type=float,
    metavar="EPSILON",
    help=(
        "For private ratings: release each run's held-out error into --out, with noise of this"
        " epsilon; all enter the account, at every call."
    ),
)
@run_options()
def sweep(out: Path | None, noisy_errors: float | None, as_json: bool, **options: Any) -> None:
    """Compute many runs in worker processes.

    Stored runs are not computed again, so an interrupted sweep continues.
    """
    if out is not None:
        require_parent(out, "--out")
    if noisy_errors is not None and out is None:
        raise BadInput("--noisy-errors needs --out FILE, which holds them. Add --out.")
    figure, full = _figure(options["preset"]), not options["page_size"]
    points = _points(options) if figure is None else figure.points(full)
    runs, failures = finish(points, Store())
    if out is not None:
        noisy = release(runs, noisy_errors) if noisy_errors is not None else {}
        write_csv(out, rows(points, runs, noisy, noisy_errors))
    keys = list(dict.fromkeys(point.key for point in points if point.key in runs))
    records = [runs[key].record for key in keys]
    click.echo(
        to_json([record.export() for record in records]) if as_json else _table(points, runs)
    )
    if figure is not None:
        click.echo(figure.verdict(points, runs, full).words, err=as_json)
    for data_id in dict.fromkeys(it.spec.data.id for it in records if not it.public):
        accounts.tell(data_id)
    if failures:
        click.echo(f"{len(failures)} of {len(runs) + len(failures)} runs failed.", err=True)
        click.get_current_context().exit(
            2 if all(isinstance(failure, BadInput) for failure in failures) else 1
        )


def _points(options: dict[str, Any]) -> list[Point]:
    """Every run of the sweep, checked before the first one starts."""
    if not options["names"]:
        raise BadInput("sweep needs --algorithms, or --preset ID (see `papers`).")
    choices = run_choices(options)
    kinds = [algorithm_of(name) for name in split_list(options["names"], "--algorithms")]
    fixed = algorithm_texts(options)
    grids = pairs(options["grids"], "--grid")
    grid = {name: split_list(value, "--grid") for name, value in grids.items()}
    require_known(kinds, {**fixed, **grid})
    methods = tuple(
        Method(algorithm=kind.id, parameters=own_parameters(kind, fixed), label=kind.id)
        for kind in kinds
    )
    epsilons = numbers(options["epsilons"], "--epsilons") if options["epsilons"] else []
    choices["epsilon"] = next(iter(epsilons), None)
    spec = Sweep.of(
        with_told_delta(choices, [kind.id for kind in kinds]),
        methods=methods,
        epsilons=tuple(epsilons),
        seeds=tuple(whole_numbers(options["seeds"], "--seeds")),
        grid=typed_grid(methods, grid),
    )
    return spec.points_on(shape_of(choices))


def finish(points: list[Point], store: Store) -> tuple[dict[str, Run], list[Exception]]:
    """Finished runs by `Point.key`, and the errors of the others.

    Raises Cancelled on Ctrl-C.
    """
    from dpmf_core.jobs.engine import Engine

    specs = list({point.key: point.spec for point in points}.values())
    runs: dict[str, Run] = {}
    failures: list[Exception] = []
    bar = tqdm(total=len(specs), unit="run", file=sys.stderr, disable=None)
    try:
        with contextlib.closing(Engine(store)) as engine, bar:
            for spec, outcome in engine.sweep(specs):
                bar.update()
                if isinstance(outcome, Run):
                    runs[spec.model_dump_json()] = outcome
                else:
                    failures.append(outcome)
                    click.echo(f"{spec.algorithm}, seed {spec.seed}: {outcome}", err=True)
    except KeyboardInterrupt:
        raise Cancelled(
            f"Interrupted. {len(runs)} of {len(specs)} runs are finished and stored; the same"
            " command continues."
        ) from None
    return runs, failures


def measured(specs: Iterable[Any], unit: str = "") -> Iterator[Any]:
    """Measurements of worker processes in this order; with a unit, a bar counts them."""
    from dpmf_core.jobs.engine import Engine

    with contextlib.closing(Engine(Store())) as engine:
        jobs = [engine.measure(spec) for spec in specs]
        for job in tqdm(jobs, unit=unit, file=sys.stderr, disable=None if unit else True):
            yield job.result()


def _figure(preset: str | None) -> "Figure | None":
    if not preset:
        return None
    from dpmf_core.papers.registry import FIGURES  # slow to load, needed only for `sweep`

    return find(FIGURES, preset, "figure")


def _table(points: list[Point], runs: dict[str, Run]) -> str:
    """Medians over seeds for every method, grid point and epsilon."""
    medians = {
        metric: {(it.label, it.epsilon, *it.grid.items()): it for it in groups}
        for metric in METRICS.values()
        if metric.ranks and (groups := summaries(points, runs, metric.id))
    }
    if not medians:
        return "No run finished."
    body = []
    for place, it in max(medians.values(), key=len).items():
        values = [groups[place].median if place in groups else None for groups in medians.values()]
        grid = ", ".join(f"{name}={value}" for name, value in it.grid.items()) or "-"
        facts = [it.label, grid, epsilon_text(it.epsilon), len(it.draws)]
        body.append([*facts, *(tables.number(value, 4) for value in values)])
    head = ["algorithm", "parameters", "epsilon", "seeds", *(metric.title for metric in medians)]
    return tables.table(head, body) + "\n(medians over seeds)"
