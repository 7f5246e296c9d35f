"""`tune`: search over parameters on the validation split; the best, the table, the price."""

import contextlib
import time
from typing import Annotated, Any

import click

from dpmf_core.base.errors import BadInput, Cancelled
from dpmf_core.cli import account_commands, output
from dpmf_core.cli.run_commands import measured
from dpmf_core.cli.run_options import (
    algorithm_of,
    run_choices,
    run_options,
    shape_of,
    with_told_delta,
)
from dpmf_core.cli.shared_options import Options, field_option, pairs, split_list
from dpmf_core.privacy.selection import CHEAPEST
from dpmf_core.runs import data_access
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store
from dpmf_core.runs.sweep import Method, typed_grid, typed_parameters
from dpmf_core.runs.tuning.private_selection import PrivateSelection, SelectionResult
from dpmf_core.runs.tuning.search import Search
from dpmf_core.runs.tuning.search_outcome import (
    FOR_THE_SCREEN,
    SearchResult,
    search_spec,
)
from dpmf_core.runs.tuning.search_space import Interval, TuneSpec

POLL = 0.05  # seconds


class TuneOptions(Options):
    """The trials of a search, in addition to the parameters of its runs."""

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
        selection: SelectionResult
        (selection,) = measured(
            [
                PrivateSelection.parse(
                    searches=(spec,),
                    distribution=private_selection,
                    trials=options["trials"],
                    score_noise=options["score_noise"],
                )
            ]
        )
        output.show(as_json, selection.export(), str(selection))
    else:
        if as_json and not data_access.open_anywhere(spec.data).public:
            raise BadInput(FOR_THE_SCREEN)
        outcome = _run_search(spec, options["trials"])
        output.show(as_json, outcome.export() if as_json else None, str(outcome))
    account_commands.tell(spec.data.id)


def _search_spec(options: dict[str, Any], draws: int) -> TuneSpec:
    """The search that the options describe, by default with this number of draws in a trial."""
    choices, texts = run_choices(options)
    name = options["algorithm"]
    grids = options["grid"]
    ranges = options["vary"]
    if bool(grids) == bool(ranges):
        raise BadInput(
            "tune needs either --grid NAME=V1,V2 for all points of a grid, or --vary NAME (with"
            " --trials N) for a sampler."
        )
    if draws == 1 and options["draws"] not in (None, 1):
        raise BadInput(
            "In a private selection a trial is one training run. Leave --draws out."
        )
    if not float(choices["validation_fraction"]):
        choices["validation_fraction"] = 0.1
    fixed = typed_parameters(algorithm_of(name), texts)
    choices = with_told_delta(choices, [name])
    run = RunSpec.of(**choices, parameters=fixed)
    return search_spec(
        run,
        shape_of(choices),
        grid=_grid(name, grids),
        ranges=_ranges(ranges),
        draws=options["draws"] or draws,
        prune=not options["no_prune"],
    )


def _grid(algorithm: str, grids: tuple[str, ...]) -> dict[str, Any]:
    texts = {
        name: split_list(value, "--grid")
        for name, value in pairs(grids, "--grid").items()
    }
    return dict(typed_grid([Method(algorithm=algorithm)], texts))


def _ranges(texts: tuple[str, ...]) -> dict[str, Interval | None]:
    ranges = dict[str, Interval | None]()
    for text in texts:
        name, _, ends = text.partition("=")
        ranges[name] = _range(ends) if ends else None
    return ranges


def _range(text: str) -> Interval:
    ends = text.removesuffix(":log").split(":")
    log = text.endswith(":log")
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
    return Interval(
        low=low,
        high=high,
        log=log,
    )


def _run_search(spec: TuneSpec, trials: int) -> SearchResult:
    from dpmf_core.jobs.engine import Engine

    with contextlib.closing(Engine(Store())) as engine:
        search = Search(spec, trials, engine)
        try:
            with output.progress_bar(total=search.n_trials, unit="trial") as bar:
                while search.advance():
                    bar.update(search.n_settled - bar.n)
                    time.sleep(POLL)
            return SearchResult.of(search)
        except KeyboardInterrupt:
            search.cancel()
            raise Cancelled(
                "Interrupted. Finished trials are stored; the same command continues."
            ) from None
