"""`dpmf.tune`: search over the parameters of an algorithm, and what choosing them costs."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Unpack

import pandas as pd

from dpmf_core.api.loading import Source
from dpmf_core.api.names import NoiseName, RelationName, SplitChoice
from dpmf_core.api.options import SweepOptions
from dpmf_core.api.training import one_run, run_on
from dpmf_core.base.errors import BadInput
from dpmf_core.data import AnyData
from dpmf_core.data.catalogue import lent
from dpmf_core.data.frames import Bounds
from dpmf_core.data.report import Outside
from dpmf_core.runs.data_access import open_anywhere
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec, Value
from dpmf_core.runs.store import Store
from dpmf_core.runs.tuning.private_selection import PrivateSelection, SelectionResult
from dpmf_core.runs.tuning.search import Search
from dpmf_core.runs.tuning.search_outcome import (
    SearchResult,
    best_of,
    search_spec,
    selection_text,
)
from dpmf_core.runs.tuning.search_space import Interval, TuneSpec

VaryRange = tuple[float, float] | tuple[float, float, Literal["log"]] | None
Ranges = Iterable[str] | Mapping[str, VaryRange]
SelectionName = Literal["logarithmic", "geometric", "poisson", "binomial"]


@dataclass(frozen=True, eq=False)
class Tuning:
    """The best parameters of a search, and how this is known. `tune` returns it.

    Printed it is what the command `tune` prints.

    Parameters
    ----------
    outcome
        The search with its trials, or the result of a private selection.

    Examples
    --------
    >>> import dpmf
    >>> tuning = dpmf.tune("cinema-small", "bias", grid={"damping": [1.0, 20.0]}, draws=1)
    >>> sorted(tuning.parameters)
    ['damping']
    >>> model = dpmf.fit("cinema-small", "bias", parameters=tuning.parameters, keep=False)
    """

    outcome: SearchResult | SelectionResult

    def __str__(self) -> str:
        if isinstance(self.outcome, SearchResult):
            return str(self.outcome)
        return selection_text(self.outcome)

    def __repr__(self) -> str:
        return f"<Tuning: {self.parameters}>"

    @property
    def parameters(self) -> dict[str, Value]:
        """The best parameters, for `fit(..., parameters=...)`; empty if no trial was drawn."""
        if isinstance(self.outcome, SearchResult):
            return self.outcome.best.place
        return dict(self.outcome.winner)

    @property
    def score(self) -> float | None:
        """The best validation error; of a private selection with noise."""
        if isinstance(self.outcome, SearchResult):
            return self.outcome.best.score
        return self.outcome.score

    @property
    def epsilon(self) -> float | None:
        """The epsilon of a whole private selection; None for an open search, which has none."""
        if isinstance(self.outcome, SearchResult):
            return None
        return self.outcome.epsilon

    def frame(self) -> pd.DataFrame:
        """One row per trial, or the only one that a private selection shows."""
        if isinstance(self.outcome, SearchResult):
            return self.outcome.frame()
        return pd.DataFrame([{"score": self.outcome.score, **self.outcome.winner}])

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON has it: what `dpmf tune --json` prints."""
        if isinstance(self.outcome, SearchResult):
            return self.outcome.to_dict()
        return self.outcome.export()


def tune(
    data: Source,
    algorithm: str,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    grid: Mapping[str, Sequence[Value]] | None = None,
    vary: Ranges = (),
    trials: int = 40,
    draws: int | None = None,
    private_selection: SelectionName | None = None,
    score_noise: float = 5.0,
    bounds: Bounds | None = None,
    split: SplitChoice = "random",
    seed: int = 0,
    relation: RelationName = "add-remove",
    noise: NoiseName = "continuous",
    parameters: Mapping[str, Any] | None = None,
    columns: Mapping[str, str] | None = None,
    outside: Outside | None = None,
    missing: float | Sequence[float] | None = None,
    ledger: str | Path | None = None,
    **options: Unpack[SweepOptions],
) -> Tuning:
    """Search over parameters by validation ratings, and test the best.

    The best is compared with the recommended parameters over fresh draws, on test ratings. On
    private data every trial enters the account, and the choice is by raw errors, which no epsilon
    covers: use `private_selection` there. An interrupted search on data with an id or a path
    continues.

    Parameters
    ----------
    data
        A catalogue id, a path, or data in memory; see `load`.
    algorithm
        An id of `algorithms`.
    epsilon
        The total privacy loss of each training; private algorithms need it.
    delta
        The slack of the bound, below 1/n. By default 1/(10 n) for n people, rounded down.
    grid
        Values of parameters to try, all combinations. Give either `grid` or `vary`.
    vary
        Parameters for the sampler: names, whose range is around the recommended value, or a mapping
        from names to (low, high), to (low, high, "log"), or to None for that range.
    trials
        Points that the sampler tries; in a private selection their mean number.
    draws
        Draws of split and noise in each trial, 3 by default; their mean is its score. In a private
        selection it is one.
    private_selection
        Draw a random number of trials from this distribution, and return only the best. The price
        of the whole enters the account of private data.
    score_noise
        Noise multiplier of each trial's score in a private selection.
    bounds
        The lowest and highest possible rating of a file or of data in memory.
    split
        How ratings are held out; see `fit`. A tenth is for validation, unless
        `validation_fraction` is given.
    seed
        Of the first split and noise, and of the sampler.
    relation
        Which data sets are neighbours: "add-remove" or "replace-one".
    noise
        "continuous", "discrete" or "none"; see `fit`.
    parameters
        The parameters that do not vary, by name.
    columns
        The columns by role: user, item, rating, time, and for a file title.
    outside
        What to do with a rating outside the bounds.
    missing
        The values that mean "not rated".
    ledger
        The file of the account that runs on private data enter; see `fit`.
    **options
        Every other parameter of a run, and facts of a file.

    Returns
    -------
    Tuning
        `parameters` are the best ones, `frame()` has the trials, and it prints as the command does.

    Raises
    ------
    BadInput
        If the search cannot be made, or a budget does not allow it.

    Examples
    --------
    >>> import dpmf
    >>> choices = {"epsilon": 2.0, "grid": {"prior_deviation": [0.2, 0.4]}, "draws": 1}
    >>> tuning = dpmf.tune("cinema-small", "private-bias", **choices)
    >>> len(tuning.frame())
    2
    """
    if private_selection is not None and draws not in (None, 1):
        raise BadInput(
            "In a private selection a trial is one training run. Leave draws out."
        )
    if not options.get("validation_fraction"):
        options["validation_fraction"] = 0.1
    choices = {
        **options,
        "epsilon": epsilon,
        "delta": delta,
        "bounds": bounds,
        "split": split,
        "seed": seed,
        "relation": relation,
        "noise": noise,
        "parameters": parameters or {},
        "columns": columns,
        "outside": outside,
        "missing": missing,
    }
    run, own_data = run_on(data, algorithm, choices)
    at_hand = (
        contextlib.nullcontext() if own_data is None else lent(run.data.id, own_data)
    )
    with at_hand, contextlib.closing(Store()) as store:
        spec = search_spec(
            run,
            open_anywhere(run.data).shape,
            grid=_grid(grid, vary),
            ranges=_ranges(vary),
            draws=1 if private_selection else draws or 3,
            prune=False,  # a run in this process is over when its error by step is known
        )
        if private_selection is None:
            return Tuning(_searched(spec, trials, _Bench(own_data, ledger, store)))
        return Tuning(
            _selected(spec, private_selection, trials, score_noise, own_data, ledger)
        )


def _grid(
    grid: Mapping[str, Sequence[Value]] | None, vary: Ranges
) -> dict[str, tuple[Value, ...]]:
    """The values of a grid. Raises BadInput unless there is either a grid or ranges."""
    if bool(grid) == bool(vary):
        raise BadInput(
            "tune needs either a grid, as in grid={'rank': [2, 4]}, or parameters for a sampler, as"
            " in vary=['rank']."
        )
    values = dict[str, tuple[Value, ...]]()
    for name, choices in (grid or {}).items():
        if isinstance(choices, str) or not isinstance(choices, Iterable):
            raise BadInput(
                f"The grid must hold a list of values for '{name}', e.g. {{'rank': [2, 4]}}. Got"
                f" {choices!r}."
            )
        values[name] = tuple(choices)
    return values


def _ranges(vary: Ranges) -> dict[str, Interval | None]:
    """The ranges for a sampler. Raises BadInput on one that is not a range."""
    if not isinstance(vary, Mapping):
        names = (vary,) if isinstance(vary, str) else vary
        return dict.fromkeys(names)
    return {
        name: None if ends is None else _interval(name, ends)
        for name, ends in vary.items()
    }


def _interval(name: str, ends: Any) -> Interval:
    is_range = (
        isinstance(ends, Sequence) and not isinstance(ends, str) and len(ends) in (2, 3)
    )
    if not is_range or tuple(ends[2:]) not in ((), ("log",)):
        raise BadInput(
            f"The range of '{name}' is (low, high) or (low, high, 'log'). Got {ends!r}."
        )
    try:
        return Interval(
            low=ends[0],
            high=ends[1],
            log=len(ends) == 3,
        )
    except ValueError:
        raise BadInput(
            f"The range of '{name}' must be two numbers, the lower first, above 0 if logarithmic."
            f" Got {ends!r}."
        ) from None


# ---- trials in this process ----------------------------------------------------------------------


@dataclass(frozen=True)
class _FinishedJob:
    """A run of a trial that is over, with the interface of `dpmf_core.jobs.Job`."""

    run: Run | None
    problem: BadInput | None = None
    progress: None = None

    @property
    def state(self) -> Literal["done", "failed"]:
        if self.run is None:
            return "failed"
        return "done"

    @property
    def bad_input(self) -> bool:
        return self.problem is not None

    @property
    def error(self) -> str | None:
        if self.problem is None:
            return None
        return str(self.problem)

    def result(self, timeout: float | None = None) -> Run:
        if self.run is None:
            raise self.problem or BadInput("The run failed.")
        return self.run


@dataclass(frozen=True)
class _Bench:
    """Computes the runs of trials in this process, one after the other."""

    own_data: AnyData | None
    ledger: str | Path | None
    store: Store

    def submit(self, spec: RunSpec, priority: int = 0) -> _FinishedJob:
        try:
            return _FinishedJob(one_run(spec, self.own_data, self.ledger, self.store))
        except BadInput as problem:
            return _FinishedJob(None, problem)


def _searched(spec: TuneSpec, trials: int, bench: _Bench) -> SearchResult:
    search = Search(spec, trials, bench, width=1, in_hand=bench.own_data is not None)
    while search.advance():
        pass
    fresh = spec.fresh(best_of(search).place)
    return SearchResult.of(
        search, {name: bench.submit(one).result() for name, one in fresh.items()}
    )


def _selected(
    spec: TuneSpec,
    distribution: SelectionName,
    trials: float,
    score_noise: float,
    own_data: AnyData | None,
    ledger: str | Path | None,
) -> SelectionResult:
    """The private selection. Raises BadInput for private data that no id or path finds."""
    if own_data is not None and not own_data.public:
        raise BadInput(
            "A private selection needs data with an id or a path, whose account it enters. Got data"
            " in memory. Write them to a file first."
        )
    selection = PrivateSelection.parse(
        searches=(spec,),
        distribution=distribution,
        trials=trials,
        score_noise=score_noise,
    )
    return selection.measure(ledger=None if ledger is None else str(ledger))
