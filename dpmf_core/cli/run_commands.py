"""`fit` and `sweep`: the commands that compute runs."""

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import click
from pydantic import Field

from dpmf_core.base.errors import BadInput, Cancelled
from dpmf_core.base.paths import require_parent
from dpmf_core.base.progress import Progress, on_compiling
from dpmf_core.base.registry import find
from dpmf_core.cli import account_commands, output
from dpmf_core.cli.run_options import (
    algorithm_of,
    run_choices,
    run_options,
    shape_of,
    with_told_delta,
)
from dpmf_core.cli.shared_options import (
    Options,
    numbers,
    pairs,
    split_list,
    whole_numbers,
)
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.privacy.formatting import epsilon_text
from dpmf_core.runs import execution
from dpmf_core.runs.conclusions import conclusions_of, share_text
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.measured_fall import check_epsilon
from dpmf_core.runs.measurements import Measured, Point
from dpmf_core.runs.noisy_errors import release
from dpmf_core.runs.publishing.privacy_statement import ABOUT, check_about
from dpmf_core.runs.record import Run
from dpmf_core.runs.references import judging_metrics
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.spreadsheet_text import write_csv
from dpmf_core.runs.store import Store
from dpmf_core.runs.stored_charges import stored_or_computed
from dpmf_core.runs.sweep import Method, Sweep, rows, typed_grid, typed_parameters


class FitOptions(Options):
    """What happens to a run, in addition to the parameters of `RunSpec`."""

    folder: Path | None = Field(None, alias="save")
    """Write the model to a new folder for publication, with a card and a privacy statement."""
    about: Annotated[tuple[str, ...], "NAME=TEXT"] = Field(
        (),
        description=f"With --save, what only the publisher knows: {', '.join(ABOUT)}.",
    )
    measure: Annotated[float | None, "EPSILON"] = None
    """Then measure what the model brought: the fall of the held-out error, a person. On private
    data it is released with noise of this epsilon, which enters the account."""


@click.command()
@run_options(FitOptions, "algorithm", "epsilon", "seed", "curve_points")
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
def fit(
    folder: Path | None,
    about: tuple[str, ...],
    measure: float | None,
    spread: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    choices, texts = run_choices(options)
    name = options["algorithm"]
    kind = algorithm_of(name)
    parameters = typed_parameters(kind, texts)
    facts = _about_what_is_saved(name, folder, about)
    if measure is not None:
        check_epsilon(measure)
    with contextlib.ExitStack() as stack:
        if spread is not None:
            from dpmf_core.jobs import partition_sums  # few runs need it

            stack.enter_context(partition_sums.spread(options["dataset"], name, spread))
        spec = RunSpec.of(**with_told_delta(choices, [name]), parameters=parameters)
        if kind.needs_item_features and spec.data.item_features == "none":
            output.note(
                f"{kind.title} learns from ratings alone here. If the data set has a public item"
                " table, add --item-features public."
            )
        run = stored_or_computed(spec, Store(), measure, compute=with_bar)
    output.show(as_json, run.record.export(), output.run(run.record))
    if folder is not None:
        # loads every algorithm's model
        from dpmf_core.runs.publishing.saving import (
            save,
        )

        model_folder = save(run, folder, about=facts)
        output.note(
            f"The model is in {model_folder}; MODEL_CARD.md there describes it."
        )
    if not run.record.public:
        account_commands.tell(spec.data.id)


def _about_what_is_saved(
    algorithm: str, folder: Path | None, texts: tuple[str, ...]
) -> dict[str, str]:
    """The publisher's facts. Raises BadInput, before any cost, if the model cannot be saved."""
    about = pairs(texts, "--about")
    if folder is not None:
        from dpmf_core.runs.publishing import saving  # loads every algorithm's model

        saving.require_saveable(algorithm)
        saving.require_free(folder)
        check_about(about)
    elif about:
        raise BadInput(
            "--about needs --save FOLDER, whose privacy statement holds it. Add --save."
        )
    return about


def with_bar(spec: RunSpec, **where: Any) -> Run:
    """The run, computed with a progress bar."""
    name = spec.algorithm
    with output.progress_bar(desc=name, unit="step", leave=False) as bar:

        def tell(progress: Progress) -> None:
            part = ""
            if progress.part is not None:
                part = ", part {} of {}".format(*progress.part)
            bar.set_description(name + part, refresh=False)
            curve = progress.curves[-1] if progress.curves else {}
            figures = {
                name: f"{curve[name]:.3f}"
                for name in ("test_rmse", "objective")
                if name in curve
            }
            bar.set_postfix(figures, refresh=False)
            bar.total = progress.steps
            bar.update(progress.step - bar.n)

        with on_compiling(
            lambda: bar.set_description(f"{name}: compiling kernels, once")
        ):
            return execution.run(spec, report=tell, **where)


class SweepCommandOptions(Options):
    """The runs of a sweep, in addition to what they have in common."""

    algorithms: Annotated[str | None, "A,B,C"] = None
    """Algorithm ids."""
    epsilons: Annotated[str | None, "1,5,10"] = None
    """Total privacy losses; algorithms that release nothing run once."""
    seeds: Annotated[str, "0-4"] = "0"
    """One run for each."""
    grid: Annotated[tuple[str, ...], "NAME=V1,V2"] = ()
    """Values of a parameter to try."""
    preset: Annotated[str | None, "ID"] = None
    """A published figure or a table of ours, instead of other options. See `papers`."""
    out: Path | None = None
    """Write every run as a row of this CSV, without raw figures of private data."""
    noisy_errors: Annotated[float | None, "EPSILON"] = None
    """For private ratings: release each run's held-out error into --out, with noise of this
    epsilon; all enter the account, at every call."""


@click.command()
@run_options(SweepCommandOptions)
def sweep(
    out: Path | None, noisy_errors: float | None, as_json: bool, **options: Any
) -> None:
    """Compute many runs in worker processes.

    Stored runs are not computed again, so an interrupted sweep continues.
    """
    if out is not None:
        require_parent(out, "--out")
    elif noisy_errors is not None:
        raise BadInput("--noisy-errors needs --out FILE, which holds them. Add --out.")
    figure = None
    if options["preset"]:
        from dpmf_core.papers.registry import FIGURES  # slow to load, needed only here

        figure = find(FIGURES, options["preset"], "figure")
    if figure is None:
        points = _points(options)
    else:
        points = figure.points()
    runs, failures = finish(points)
    if out is not None:
        if noisy_errors is None:
            noisy = {}
        else:
            noisy = release(runs, noisy_errors)
        write_csv(out, rows(points, runs, noisy, noisy_errors))
    keys = dict.fromkeys(point.key for point in points if point.key in runs)
    records = [runs[key].record for key in keys]
    words = [_table(Draws.of_runs(points, runs)), *_conclusions(points, runs)]
    output.show(as_json, [record.export() for record in records], "\n".join(words))
    if figure is not None:
        click.echo(figure.verdict(points, runs).words, err=as_json)
    for data_id in dict.fromkeys(
        record.spec.data.id for record in records if not record.public
    ):
        account_commands.tell(data_id)
    if failures:
        output.note(f"{len(failures)} of {len(runs) + len(failures)} runs failed.")
        is_input = all(isinstance(failure, BadInput) for failure in failures)
        click.get_current_context().exit(2 if is_input else 1)


def _points(options: dict[str, Any]) -> list[Point]:
    """Every run of the sweep, checked before the first one starts."""
    if not options["algorithms"]:
        raise BadInput("sweep needs --algorithms, or --preset ID (see `papers`).")
    choices, fixed = run_choices(options)
    names = split_list(options["algorithms"], "--algorithms")
    methods = tuple(
        Method(algorithm=algorithm_of(name).id, label=name) for name in names
    )
    grid = {name: [value] for name, value in fixed.items()}
    for name, values in pairs(options["grid"], "--grid").items():
        grid[name] = split_list(values, "--grid")
    if options["epsilons"]:
        epsilons = numbers(options["epsilons"], "--epsilons")
    else:
        epsilons = []
    choices["epsilon"] = next(iter(epsilons), None)
    spec = Sweep.of(
        with_told_delta(choices, names),
        methods=methods,
        epsilons=tuple(epsilons),
        seeds=tuple(whole_numbers(options["seeds"], "--seeds")),
        grid=typed_grid(methods, grid),
    )
    return spec.points_on(shape_of(choices))


def finish(points: Iterable[Point]) -> tuple[dict[str, Run], list[Exception]]:
    """Finished runs by `Point.key`, and the errors of the others.

    Raises Cancelled on Ctrl-C.
    """
    from dpmf_core.jobs.engine import Engine

    specs = list({point.key: point.spec for point in points}.values())
    runs: dict[str, Run] = {}
    failures: list[Exception] = []
    bar = output.progress_bar(total=len(specs), unit="run")
    try:
        with contextlib.closing(Engine(Store())) as engine, bar:
            for spec, outcome in engine.sweep(specs):
                bar.update()
                if isinstance(outcome, Run):
                    runs[spec.model_dump_json()] = outcome
                else:
                    failures.append(outcome)
                    output.note(f"{spec.algorithm}, seed {spec.seed}: {outcome}")
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
        jobs = [engine.submit(spec) for spec in specs]
        for job in output.progress_bar(jobs, unit=unit, disable=not unit or None):
            yield job.result()


def _table(table: Draws) -> str:
    """Medians over seeds for every method, grid point and epsilon, and the share kept."""
    by_metric = [table.by(metric.id) for metric in METRICS.values() if metric.ranks]
    judgements = [judgement for judgement in by_metric if judgement.measured]
    if not judgements:
        return "No run finished."
    medians = [
        {_place(one): one.median for one in judgement.measured}
        for judgement in judgements
    ]
    widest = max(judgements, key=lambda judgement: len(judgement.measured))
    main = _main_metric(table)
    shares: dict[tuple[Any, ...], float | None] = {}
    if main is not None:
        judged = table.by(main)
        shares = {_place(one): judged.shown_share(one) for one in judged.measured}
    body = []
    for one in widest.measured:
        place = _place(one)
        grid = ", ".join(f"{name}={value}" for name, value in one.grid.items()) or "-"
        share = shares.get(place)
        kept = "-" if share is None else share_text(share)
        values = [output.number(of_metric.get(place), 4) for of_metric in medians]
        body.append(
            [one.label, grid, epsilon_text(one.epsilon), len(one.draws), *values, kept]
        )
    titles = [judgement.metric.title for judgement in judgements]
    head = ["algorithm", "parameters", "epsilon", "seeds", *titles, "kept"]
    return f"{output.table(head, body)}\n(medians over seeds)"


def _place(one: Measured) -> tuple[Any, ...]:
    return one.label, one.epsilon, tuple(one.grid.items())


def _titled(point: Point) -> Point:
    """The point with its method's title in place of its id; figures have labels of their own."""
    is_id = point.label == point.spec.algorithm
    if is_id:
        return replace(point, label=point.spec.kind.title)
    return point


def _main_metric(table: Draws) -> str | None:
    """The metric that judges the runs; None without one."""
    for row in table.rows:
        for name in judging_metrics(row.point.spec.data):
            if row.figure(name) is not None:
                return name
    return None


def _conclusions(points: Iterable[Point], runs: dict[str, Run]) -> list[str]:
    """Sentences on the best proven method at each epsilon; none on private data."""
    table = Draws.of_runs([_titled(point) for point in points], runs)
    metric = _main_metric(table)
    if metric is None:
        return []
    units = (
        run.record.guarantee.unit
        for run in runs.values()
        if run.spec.budget is not None
    )
    return conclusions_of(table.by(metric), next(units, "user"))
