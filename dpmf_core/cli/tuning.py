"""`tune`: search over parameters on the validation split; the best, the table, the price."""

import contextlib
import sys
import time
from typing import Any

import click
from tqdm import tqdm

from dpmf_core import algorithms
from dpmf_core.base.documents import to_json
from dpmf_core.base.errors import BadInput, Cancelled
from dpmf_core.cli import accounts, output, tables
from dpmf_core.cli.arguments import pairs, split_list
from dpmf_core.cli.options import (
    RunCommand,
    algorithm_texts,
    require_known,
    run_choices,
    run_options,
    shape_of,
    with_told_delta,
)
from dpmf_core.cli.runs import measured
from dpmf_core.privacy.formatting import epsilon_text
from dpmf_core.privacy.selection import CHEAPEST, SHAPES
from dpmf_core.runs import data_access, specification
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.record import Run, provenance
from dpmf_core.runs.store import Store
from dpmf_core.runs.sweep import Method, typed_grid, typed_parameters
from dpmf_core.runs.tuning.private_selection import PrivateSelection, SelectionResult
from dpmf_core.runs.tuning.search import Search, Trial, price, table
from dpmf_core.runs.tuning.search_space import FRESH, Interval, TuneSpec, default_range, outcome

POLL = 0.05  # seconds


@click.command(cls=RunCommand)
@click.option(
    "--grid",
    "grids",
    multiple=True,
    metavar="NAME=V1,V2",
    help="Values to try, all of them; repeatable.",
)
@click.option(
    "--vary",
    "ranges",
    multiple=True,
    metavar="NAME[=LOW:HIGH[:log]]",
    help="A parameter for the sampler; without a range, around its default.",
)
@click.option(
    "--trials", type=int, default=40, show_default=True, help="Points that the sampler tries."
)
@click.option(
    "--draws",
    type=int,
    help=(
        "Draws of split and noise in each trial; their mean is its score.  [default: 3; in a"
        " private selection 1]"
    ),
)
@click.option("--no-prune", is_flag=True, help="Let every trial finish.")
@click.option(
    "--private-selection",
    "distribution",
    type=click.Choice(list(SHAPES)),
    is_flag=False,
    flag_value=CHEAPEST,
    help=(
        "Draw a random number of trials, --trials on average, from this distribution (the cheapest"
        " by default), and show only the best."
    ),
)
@click.option(
    "--score-noise",
    type=float,
    default=5.0,
    show_default=True,
    help="Noise multiplier of each trial's score in a private selection.",
)
@run_options("algorithm", "epsilon", "seed")
def tune(as_json: bool, **options: Any) -> None:
    """Search over parameters by validation ratings, and test the best.

    The best is compared with the recommended parameters over fresh draws, on test ratings. An
    interrupted search continues.
    """
    is_private = options["distribution"] is not None
    spec = _search_spec(options, 1 if is_private else 3)
    if is_private:
        names = ("distribution", "trials", "score_noise")
        settings = {name: options[name] for name in names}
        (selection,) = measured([PrivateSelection.parse(searches=(spec,), **settings)])
        _print_selection(selection, as_json)
    else:
        if as_json and not data_access.open_anywhere(spec.data).public:
            raise BadInput(
                "A search on private data chooses by raw errors, so its scores and its best"
                " parameters are for the screen. Leave --json out, or search with"
                " --private-selection."
            )
        _tell(spec, *_run_search(spec, options["trials"]), as_json)
    accounts.tell(spec.data.id)


def _search_spec(options: dict[str, Any], draws: int) -> TuneSpec:
    """The search that the options describe. draws: the default for a trial."""
    choices, name = run_choices(options), options["algorithm"]
    grids, ranges = options["grids"], options["ranges"]
    if bool(grids) == bool(ranges):
        raise BadInput(
            "tune needs either --grid NAME=V1,V2 for all points of a grid, or --vary NAME (with"
            " --trials N) for a sampler."
        )
    if draws == 1 and options["draws"] not in (None, 1):
        raise BadInput("In a private selection a trial is one training run. Leave --draws out.")
    if not float(choices["validation_fraction"]):
        choices["validation_fraction"] = 0.1
    kind = algorithms.find(name)
    fixed = typed_parameters(kind, algorithm_texts(options))
    choices = with_told_delta(choices, [name])
    run = specification.RunSpec.of(**choices, parameters=fixed)
    search = _grid(kind, grids) if grids else _ranges(run, ranges, shape_of(choices))
    return TuneSpec.parse(
        **{name: getattr(run, name) for name in ("data", "algorithm", "budget", "split", "seed")},
        fixed=fixed,
        search=search,
        draws=options["draws"] or draws,
        sampler="grid" if grids else "tpe",
        prune=not options["no_prune"],
    )


def _grid(kind: type[algorithms.Algorithm], grids: tuple[str, ...]) -> dict[str, Any]:
    texts = {name: split_list(value, "--grid") for name, value in pairs(grids, "--grid").items()}
    require_known([kind], texts)
    return dict(typed_grid([Method(algorithm=kind.id)], texts))


def _ranges(run: specification.RunSpec, ranges: tuple[str, ...], shape: Any) -> dict[str, Any]:
    names = {text.partition("=")[0].strip(): text.partition("=")[2] for text in ranges}
    kind = algorithms.find(run.algorithm)
    require_known([kind], names)
    recommendation = prepare(run, shape).algorithm
    return {
        name: _range(text) if text else default_range(kind, name, getattr(recommendation, name))
        for name, text in names.items()
    }


def _range(text: str) -> Interval:
    ends, log = text.removesuffix(":log").split(":"), text.endswith(":log")
    try:
        low, high = (float(end) for end in ends)
    except ValueError:
        raise BadInput(
            f"--vary takes NAME=LOW:HIGH or NAME=LOW:HIGH:log, e.g. rank=2:32. Got {text!r}."
        ) from None
    if not low < high:
        raise BadInput(f"--vary needs the lower end first, e.g. rank=2:32. Got {text!r}.")
    whole = all(end.strip().lstrip("+-").isdigit() for end in ends)
    return Interval(low=int(low) if whole else low, high=int(high) if whole else high, log=log)


def _run_search(spec: TuneSpec, trials: int) -> tuple[Search, dict[str, Run]]:
    from dpmf_core.jobs.engine import Engine

    with contextlib.closing(Engine(Store())) as engine:
        search = Search(spec, trials, engine)
        try:
            with tqdm(total=search.n_trials, unit="trial", file=sys.stderr, disable=None) as bar:
                while search.advance():
                    bar.update(search.n_settled - bar.n)
                    time.sleep(POLL)
            if search.failure or search.best is None:
                raise BadInput(search.failure or "Every trial failed.")
            jobs = {name: engine.submit(one) for name, one in spec.fresh(search.best.place).items()}
            return search, {name: job.result() for name, job in jobs.items()}
        except KeyboardInterrupt:
            search.cancel()
            raise Cancelled(
                "Interrupted. Finished trials are stored; the same command continues."
            ) from None


def _print_selection(selection: SelectionResult, as_json: bool) -> None:
    if as_json:
        click.echo(to_json(selection.export()))
        return
    if selection.score is None:
        click.echo("No trial was drawn, so nothing is released. That is a possible outcome too.")
    else:
        click.echo(
            "The winner: "
            + ", ".join(
                f"{name} = {tables.number(value)}" for name, value in selection.winner.items()
            )
        )
        click.echo(f"Its validation RMSE with noise: {selection.score:.4f}.")
        click.echo(selection.guarantee)
    click.echo(
        f"The whole selection: epsilon = {epsilon_text(selection.epsilon)} ({selection.terms})."
    )


def _tell(spec: TuneSpec, search: Search, fresh: dict[str, Run], as_json: bool) -> None:
    best, final, comparison = search.best, fresh["winner 0"], outcome(fresh, spec.metric)
    record, cost = final.record, _cost(spec, final, len(search.trials))
    if as_json:
        document = {
            "spec": spec.model_dump(mode="json"),
            "best": table([best])[0] if best else None,
            "trials": table(search.trials),
            "importance": search.importance(),
            "fresh": comparison.export() if comparison else None,
            "final": record.export(),
            "price": cost,
            **provenance(),
        }
        click.echo(to_json(document))
        return
    scored_trials = sorted(
        (trial for trial in search.trials if trial.score is not None),
        key=lambda trial: trial.score or 0.0,
    )
    click.echo(
        tables.table(
            ["trial", "score", "95%", *spec.search],
            [_line(trial, spec) for trial in scored_trials[:10]],
        )
    )
    n_stopped = sum(trial.state == "stopped" for trial in search.trials)
    click.echo(
        f"\n{len(scored_trials)} trials finished, {n_stopped} stopped early. Importance: "
        + ", ".join(f"{n} {v:.0%}" for n, v in search.importance().items())
    )
    click.echo(comparison.words if comparison else "")
    click.echo(f"The first of these draws: {output.sentence(record)}\n{output.privacy(record)}")
    if cost:
        public = "nothing, because the data are public. " if record.public else ""
        best_of = ", ".join(
            f"{name} {epsilon_text(value)}" for name, value in cost["best_of"].items()
        )
        click.echo(
            f"The cost of choosing: {public}On private data, one trial alone"
            f" {epsilon_text(cost['single'])}; all {len(search.trials)} trials shown"
            f" {epsilon_text(cost['all_shown'])}; only the best of a random number of trials, as"
            f" many on average: {best_of}. A trial is {spec.draws} training"
            f" run{'s' * (spec.draws > 1)}; the comparison trained {2 * FRESH} more."
        )


def _line(trial: Trial, spec: TuneSpec) -> list[str]:
    values = (trial.place.get(name) for name in spec.search)
    between = "-" if trial.interval is None else "{:.4f} to {:.4f}".format(*trial.interval)
    return [
        str(trial.number),
        f"{trial.score:.4f}",
        between,
        *(f"{value:.4g}" if isinstance(value, float) else str(value) for value in values),
    ]


def _cost(spec: TuneSpec, final: Run, trials: int) -> dict[str, Any] | None:
    from dataclasses import asdict

    from dpmf_core.privacy import normal_form

    if spec.budget is None:
        return None
    ready = prepare(final.spec, data_access.open_anywhere(spec.data).shape)
    if not normal_form(ready.plan) or not ready.guarantee.has_epsilon:
        return None
    return asdict(price(ready.plan, None, max(trials, 1), spec.budget, spec.draws))
