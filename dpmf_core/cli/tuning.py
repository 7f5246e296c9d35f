"""`tune`: search over parameters on the validation split; the best, the table, the price."""

import contextlib
import sys
import time
from dataclasses import asdict
from typing import Annotated, Any

import click
from tqdm import tqdm

from dpmf_core import algorithms
from dpmf_core.base.errors import BadInput, Cancelled
from dpmf_core.base.registry import find
from dpmf_core.cli import accounts, output
from dpmf_core.cli.options import Options, field_option, pairs, split_list
from dpmf_core.cli.run_options import (
    algorithm_of,
    run_choices,
    run_options,
    shape_of,
    with_told_delta,
)
from dpmf_core.cli.runs import measured
from dpmf_core.privacy import normal_form
from dpmf_core.privacy.formatting import epsilon_text
from dpmf_core.privacy.selection import CHEAPEST
from dpmf_core.runs import data_access
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.record import Run, provenance
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store
from dpmf_core.runs.sweep import Method, typed_grid, typed_parameters
from dpmf_core.runs.tuning.private_selection import PrivateSelection, SelectionResult
from dpmf_core.runs.tuning.search import Search, Trial, price, table
from dpmf_core.runs.tuning.search_space import (
    FRESH,
    Interval,
    SearchOutcome,
    TuneSpec,
    default_range,
    outcome,
)

POLL = 0.05  # seconds


class TuneOptions(Options):
    """The trials of a search, besides the parameters of its runs."""

    grid: Annotated[tuple[str, ...], "NAME=V1,V2"] = ()
    """Values to try, all of them."""
    vary: Annotated[tuple[str, ...], "NAME[=LOW:HIGH[:log]]"] = ()
    """A parameter for the sampler; without a range, around its default."""
    trials: int = 40
    """Points that the sampler tries."""
    draws: int | None = None
    """Draws of split and noise in each trial; their mean is its score.  [default: 3]"""
    no_prune: bool = False
    """Let every trial finish."""
    score_noise: float = 5.0
    """Noise multiplier of each trial's score in a private selection."""


@click.command()
@run_options(TuneOptions, "algorithm", "epsilon", "seed")
@field_option(
    "private_selection",
    PrivateSelection.model_fields["distribution"],
    default=None,
    show_default=False,
    is_flag=False,
    flag_value=CHEAPEST,
    help=(
        "Draw a random number of trials, --trials on average, from this distribution (the cheapest"
        " by default), and show only the best. A trial is one draw."
    ),
)
def tune(as_json: bool, private_selection: str | None, **options: Any) -> None:
    """Search over parameters by validation ratings, and test the best.

    The best is compared with the recommended parameters over fresh draws, on test ratings. An
    interrupted search continues.
    """
    spec = _search_spec(options, 3 if private_selection is None else 1)
    if private_selection is not None:
        facts = {"trials": options["trials"], "score_noise": options["score_noise"]}
        selection: SelectionResult
        (selection,) = measured(
            [PrivateSelection.parse(searches=(spec,), distribution=private_selection, **facts)]
        )
        output.show(as_json, selection.export(), _selection_words(selection))
    else:
        if as_json and not data_access.open_anywhere(spec.data).public:
            raise BadInput(
                "A search on private data chooses by raw errors, so its scores and its best"
                " parameters are for the screen. Leave --json out, or search with"
                " --private-selection."
            )
        _show(as_json, spec, *_run_search(spec, options["trials"]))
    accounts.tell(spec.data.id)


def _search_spec(options: dict[str, Any], draws: int) -> TuneSpec:
    """The search that the options describe. draws: the default for a trial."""
    (choices, texts), name = run_choices(options), options["algorithm"]
    grids, ranges = options["grid"], options["vary"]
    if bool(grids) == bool(ranges):
        raise BadInput(
            "tune needs either --grid NAME=V1,V2 for all points of a grid, or --vary NAME (with"
            " --trials N) for a sampler."
        )
    if draws == 1 and options["draws"] not in (None, 1):
        raise BadInput("In a private selection a trial is one training run. Leave --draws out.")
    if not float(choices["validation_fraction"]):
        choices["validation_fraction"] = 0.1
    fixed = typed_parameters(algorithm_of(name), texts)
    choices = with_told_delta(choices, [name])
    run = RunSpec.of(**choices, parameters=fixed)
    return TuneSpec.parse(
        **{name: getattr(run, name) for name in ("data", "algorithm", "budget", "split", "seed")},
        fixed=fixed,
        search=_grid(name, grids) if grids else _ranges(run, ranges, shape_of(choices)),
        draws=options["draws"] or draws,
        sampler="grid" if grids else "tpe",
        prune=not options["no_prune"],
    )


def _grid(algorithm: str, grids: tuple[str, ...]) -> dict[str, Any]:
    texts = {name: split_list(value, "--grid") for name, value in pairs(grids, "--grid").items()}
    return dict(typed_grid([Method(algorithm=algorithm)], texts))


def _ranges(run: RunSpec, ranges: tuple[str, ...], shape: Any) -> dict[str, Any]:
    kind, recommendation = algorithms.find(run.algorithm), prepare(run, shape).algorithm
    search = {}
    for name, _, text in (range_.partition("=") for range_ in ranges):
        find(kind.model_fields, name, "parameter")
        default = getattr(recommendation, name)
        search[name] = _range(text) if text else default_range(kind, name, default)
    return search


def _range(text: str) -> Interval:
    ends, log = text.removesuffix(":log").split(":"), text.endswith(":log")
    whole = all(end.strip().lstrip("+-").isdigit() for end in ends)
    try:
        low, high = (int(end) if whole else float(end) for end in ends)
        if not low < high:
            raise ValueError(text)
    except ValueError:
        raise BadInput(
            "--vary takes NAME=LOW:HIGH or NAME=LOW:HIGH:log, the lower end first, e.g. rank=2:32."
            f" Got {text!r}."
        ) from None
    return Interval(low=low, high=high, log=log)


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


def _selection_words(selection: SelectionResult) -> str:
    parts = ["No trial was drawn, so nothing is released. That is a possible outcome too."]
    if selection.score is not None:
        winner = (f"{name} = {output.number(it)}" for name, it in selection.winner.items())
        parts = [
            f"The winner: {', '.join(winner)}",
            f"Its validation RMSE with noise: {selection.score:.4f}.",
            selection.floor_words,
            str(selection.guarantee),
        ]
    terms = selection.terms.replace("δ", "delta")
    cost = f"epsilon = {epsilon_text(selection.epsilon)} ({terms})"
    return "\n".join([*parts, f"The whole selection: {cost}."])


def _show(as_json: bool, spec: TuneSpec, search: Search, fresh: dict[str, Run]) -> None:
    comparison, final = outcome(fresh, spec.metric), fresh["winner 0"]
    cost = _cost(spec, final, len(search.trials))
    document = {
        "spec": spec.model_dump(mode="json"),
        "best": table([search.best])[0] if search.best else None,
        "trials": table(search.trials),
        "importance": search.importance(),
        "fresh": comparison.export() if comparison else None,
        "final": final.record.export(),
        "price": cost,
        **provenance(),
    }
    output.show(as_json, document, _words(spec, search, comparison, final, cost))


def _words(
    spec: TuneSpec,
    search: Search,
    comparison: SearchOutcome | None,
    final: Run,
    cost: dict[str, Any] | None,
) -> str:
    record, n_trials = final.record, len(search.trials)
    scored = sorted((it.score, it.number, it) for it in search.trials if it.score is not None)
    n_stopped = sum(trial.state == "stopped" for trial in search.trials)
    importance = ", ".join(f"{name} {it:.0%}" for name, it in search.importance().items())
    lines = [_line(score, trial, spec) for score, _, trial in scored[:10]]
    parts = [
        output.table(["trial", "score", "95%", *spec.search], lines),
        f"\n{len(scored)} trials finished, {n_stopped} stopped early. Importance: {importance}",
        comparison.words if comparison else "",
        f"The first of these draws: {output.sentence(record)}\n{output.privacy(record)}",
    ]
    if cost:
        public = "nothing, because the data are public. " if record.public else ""
        best_of = ", ".join(f"{name} {epsilon_text(it)}" for name, it in cost["best_of"].items())
        parts.append(
            f"The cost of choosing: {public}On private data, one trial alone"
            f" {epsilon_text(cost['single'])}; all {n_trials} trials shown"
            f" {epsilon_text(cost['all_shown'])}; only the best of a random number of trials, as"
            f" many on average: {best_of}. A trial is {spec.draws} training"
            f" run{'s' * (spec.draws > 1)}; the comparison trained {2 * FRESH} more."
        )
    return "\n".join(parts)


def _line(score: float, trial: Trial, spec: TuneSpec) -> list[str]:
    values = (trial.place.get(name) for name in spec.search)
    between = "-" if trial.interval is None else "{:.4f} to {:.4f}".format(*trial.interval)
    texts = (f"{value:.4g}" if isinstance(value, float) else str(value) for value in values)
    return [str(trial.number), f"{score:.4f}", between, *texts]


def _cost(spec: TuneSpec, final: Run, n_trials: int) -> dict[str, Any] | None:
    if spec.budget is None:
        return None
    ready = prepare(final.spec, data_access.open_anywhere(spec.data).shape)
    if not normal_form(ready.plan) or not ready.guarantee.has_epsilon:
        return None
    return asdict(price(ready.plan, None, max(n_trials, 1), spec.budget, spec.draws))
