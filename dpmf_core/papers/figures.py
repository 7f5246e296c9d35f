"""Published figures and our measurements: figures, and claims that results can contradict."""

import functools
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from importlib.resources import files
from typing import Any, Self

from dpmf_core.data.catalogue import DatasetFacts, Entry, catalogue
from dpmf_core.evaluation.registry import find
from dpmf_core.papers.clauses import Clause, ClauseVerdict, MissingResult, Results
from dpmf_core.papers.compared_figures import clauses_of
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.measurements import Measured, Point
from dpmf_core.runs.record import RunRecord, Runs, value_of
from dpmf_core.runs.specification import DataSpec, RunSpec, Value
from dpmf_core.runs.sweep import Method, Sweep

Sweeps = Callable[[], Iterable[Sweep]]
Measure = Callable[[Sequence[Point], Runs, str], list[Measured]]
# ..., its grid and value
DrawnValue = tuple[str, str, float | None, Mapping[str, Value], float]


@functools.cache
def texts(package: str) -> dict[str, Any]:
    """A paper's `paper.toml`: what it says of itself, and our words about it."""
    return tomllib.loads(files(package).joinpath("paper.toml").read_text("utf-8"))


@dataclass(frozen=True)
class Mark:
    """A published number: its line, place (None without privacy) and source.

    Attributes
    ----------
    is_digitised
        Whether a reader measured it in a figure that prints no number.
    """

    label: str
    x: float | None
    y: float
    source: str
    is_digitised: bool = False


class Outcome(StrEnum):
    """Whether a claim was reproduced.

    `CANNOT_BE_JUDGED` means that the result does not test the source: it was measured on other
    data, or outside the statement's conditions. `NEVER` means that, in addition, no data that
    somebody adds would change this.
    """

    REPRODUCED = "Reproduced"
    DIFFERS = "Differs"
    CANNOT_BE_JUDGED = "Cannot be judged here"
    NEVER = "Can never be judged here"
    NOT_MEASURED = "Not measured"
    NOTHING_CLAIMED = "Our own figure"


@dataclass(frozen=True)
class Verdict:
    """The verdict of results on a claim.

    Attributes
    ----------
    outcome
        Whether the claim was reproduced.
    clauses
        The verdict on each clause.
    on
        The data in words.
    remark
        Other observations.
    obstacle
        Why the results cannot test the source, if they cannot.
    """

    outcome: Outcome
    clauses: tuple[ClauseVerdict, ...] = ()
    on: str = ""
    remark: str = ""
    obstacle: str = ""

    @property
    def words(self) -> str:
        """The verdict in one paragraph."""
        parts = []
        if self.outcome is not Outcome.NOTHING_CLAIMED:
            parts.append(f"{self.outcome}.")
        # those that do not hold come first
        for clause in sorted(self.clauses, key=lambda clause: clause.holds):
            verb = "holds" if clause.holds else "does not hold"
            parts.append(f"It {verb} that {clause.words}: {clause.figures}.")
        parts.append(self.remark)
        if self.on:
            parts.append(f"Measured on {self.on}.")
        parts.append(self.obstacle)
        return " ".join(dict.fromkeys(part for part in parts if part))


def every_draw(points: Sequence[Point], runs: Runs, metric: str) -> list[Measured]:
    """The draws of a held-out metric."""
    return Draws.of_runs(points, runs).measured(metric)


def grouped(draws: Iterable[DrawnValue]) -> list[Measured]:
    """Single draws by label, algorithm, epsilon and grid, in their order."""
    groups: dict[tuple[Any, ...], list[float]] = {}
    for label, algorithm, epsilon, grid, value in draws:
        groups.setdefault((label, algorithm, epsilon, tuple(grid.items())), []).append(
            value
        )
    return [
        Measured(label, algorithm, epsilon, dict(grid), tuple(values))
        for (label, algorithm, epsilon, grid), values in groups.items()
    ]


def by_step(points: Sequence[Point], runs: Runs, metric: str) -> list[Measured]:
    """The draws of held-out RMSE after each step; the grid names it `step`."""
    return grouped(
        (
            point.label,
            point.spec.algorithm,
            point.epsilon,
            {"step": int(curve["step"] or 0)},
            value,
        )
        for point in points
        for curve in runs[point.key].record.curves
        for value in [value_of(curve, f"test_{metric}")]
    )


def tuned(points: Sequence[Point], runs: Runs, metric: str) -> list[Measured]:
    """The draws of a held-out metric at the settings with the lowest validation error.

    Every draw chooses from the grid on its own validation ratings, without the test ratings.
    """
    by_draw: dict[tuple[str, str, float | None, int], list[RunRecord]] = {}
    for point in points:
        draw = (point.label, point.spec.algorithm, point.epsilon, point.spec.seed)
        by_draw.setdefault(draw, []).append(runs[point.key].record)

    def validation_error(record: RunRecord) -> float:
        return value_of(record.curves[-1], f"validation_{metric}")

    def best(records: list[RunRecord]) -> float:
        best_record = min(records, key=validation_error)
        return value_of(best_record.metrics, metric)

    return grouped(
        (label, algorithm, epsilon, {}, best(records))
        for (label, algorithm, epsilon, _), records in by_draw.items()
    )


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure or table: its runs, measurement and axis.

    Attributes
    ----------
    source
        Paper and place.
    words
        What the figure shows.
    sweeps
        Its runs.
    compute
        Results that need no stored runs.
    computed_on
        The data that `compute` reads, if any.
    axis
        `epsilon`, a grid parameter, `users`, `items` or `step`.
    metric
        The id of the metric.
    measure
        The results of finished runs.
    quantity
        The name of the results; '' for the metric's name.
    marks
        The published numbers.
    source_data
        The source's data.
    source_ids
        The ids of these data here; empty if they cannot be had.
    remark
        Further observations.
    limits
        Why results lie outside the statement's conditions on any data; '' if they do not.
    by_data
        Whether there are results of several data sets. The grid names each by `data`.
    """

    id: str
    title: str
    source: str = ""
    words: str = ""
    sweeps: Sweeps = tuple
    compute: Callable[[], list[Measured]] = list
    computed_on: Callable[[], DataSpec] | None = None
    axis: str = "epsilon"
    metric: str = "rmse"
    measure: Measure = every_draw
    quantity: str = ""
    marks: tuple[Mark, ...] = ()
    source_data: str = ""
    source_ids: tuple[str, ...] = ()
    remark: Callable[[Results], str] = lambda results: ""
    limits: str = ""
    by_data: bool = False

    def __post_init__(self) -> None:
        find(self.metric)

    @classmethod
    def of(cls, package: str, name: str, **fields: Any) -> Self:
        """The figure of this id, with its texts and published numbers from `texts`.

        The paper's table `claim` has what all its claims share, unless they say otherwise.
        `statements` are rows of the claim's clauses. `clauses` has the computed clauses.
        """
        content = texts(package)
        shared = content.get(cls.__name__.lower(), {})
        words = shared | content["figures"][name]
        short = content["paper"]["short"]
        source = f"{short}, {words.pop('place')}"
        words["source_ids"] = tuple(words.get("source_ids", ()))
        rows = words.pop("statements", ())
        if rows:
            fields["clauses"] = tuple(clauses_of(rows, fields.get("clauses", ())))
        words["marks"] = tuple(
            Mark(
                point["label"],
                point.get("x"),
                point["y"],
                f"{short}, {point['source']}",
                is_digitised,
            )
            for name, is_digitised in (("marks", False), ("digitised", True))
            for point in words.pop(name, ())
        )
        if "sweeps" in fields:
            fields["sweeps"] = functools.partial(_as_published, fields["sweeps"])
        return cls(id=name, source=source, **{**words, **fields})

    def points(self) -> list[Point]:
        """Every run of the figure. Raises BadInput."""
        points = [
            (point, sweep.data) for sweep in self.sweeps() for point in sweep.points()
        ]
        if not self.by_data and self.axis not in ("users", "items"):
            return [point for point, _ in points]
        name = "data" if self.by_data else self.axis
        entries: dict[str, DatasetFacts] = {
            entry.id: entry for entry in catalogue().catalogue()
        }

        def place(data: DataSpec) -> Value:
            entry = entries[data.id]
            if self.by_data:
                return entry.title
            assert isinstance(entry, Entry)
            if self.axis == "users":
                return entry.n_users
            return data.top_items or entry.n_items

        return [
            replace(point, grid={**point.grid, name: place(data)})
            for point, data in points
        ]

    def results(self, points: Sequence[Point], runs: Runs) -> list[Measured]:
        """The figure's results, from its runs and its computation."""
        return self.measure(points, runs, self.metric) + self.compute()

    def _data(self) -> list[DataSpec]:
        computed_on = [self.computed_on()] if self.computed_on else []
        return [*(sweep.data for sweep in self.sweeps()), *computed_on]

    def data(self) -> str:
        """The titles of its data sets, and how many items are kept."""
        titles = {entry.id: entry.title for entry in catalogue().catalogue()}
        selections = dict.fromkeys((data.id, data.top_items) for data in self._data())
        return ", ".join(
            titles.get(name, name) + (f" ({top:,} most rated items)" if top else "")
            for name, top in selections
        )

    def stands_in(self) -> str:
        """Which other data replace the source's; '' if none do."""
        ids = {data.id for data in self._data()}
        if not self.source_data or ids <= set(self.source_ids):
            return ""
        return f"The source uses {self.source_data}; we use {self.data()}."

    def verdict(self, points: Sequence[Point], runs: Runs) -> Verdict:
        """What finished runs say; nothing before all have finished."""
        if any(point.key not in runs for point in points):
            words = "Not all runs have finished, so there is no verdict yet."
            return Verdict(Outcome.NOT_MEASURED, remark=words)
        verdict = self.judge(self.results(points, runs), self.obstacle())
        return replace(verdict, on=self.data())

    @property
    def can_be_judged(self) -> bool:
        """Whether results on some data can test the source."""
        return not self.limits and bool(self.source_ids or not self.source_data)

    def obstacle(self, stands_in: str | None = None) -> str:
        """Why results cannot test the source; '' if they can.

        Parameters
        ----------
        stands_in
            What replaced the source's data in stored results.
        """
        if stands_in is None:
            stands_in = self.stands_in()
        return " ".join(filter(None, (stands_in, self.limits)))

    def judge(self, results: Results, obstacle: str = "") -> Verdict:
        """The verdict. `obstacle` says why results cannot test the source, if they cannot."""
        return Verdict(Outcome.NOTHING_CLAIMED, remark=self.remark(results))


def _as_published(sweeps: Sweeps) -> tuple[Sweep, ...]:
    return tuple(
        sweep.model_copy(update={"methods": tuple(map(as_published, sweep.methods))})
        for sweep in sweeps()
    )


def as_published(method: Method) -> Method:
    """The method with the users' own step of the sources, without local columns."""
    if "local_columns" not in method.kind.model_fields:
        return method
    return method.model_copy(
        update={"parameters": {"local_columns": False, **method.parameters}}
    )


@dataclass(frozen=True, kw_only=True)
class Claim(Figure):
    """A figure with its source's statements, as clauses that must all hold.

    Attributes
    ----------
    clauses
        The statements.
    left_open
        Settings that the source does not print, and ours; '' if it prints all. Results with our
        settings can support the claim for one choice. They cannot contradict it.
    """

    clauses: tuple[Clause, ...] = field(default=())
    left_open: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.clauses:
            raise ValueError(
                f"The claim {self.id!r} has no clause, so no result contradicts it."
            )

    def judge(self, results: Results, obstacle: str = "") -> Verdict:
        try:
            verdicts = tuple(clause.verdict(results) for clause in self.clauses)
        except MissingResult as missing:
            return Verdict(Outcome.NOT_MEASURED, remark=f"{str(missing).capitalize()}.")
        holds = all(clause.holds for clause in verdicts)
        if self.left_open and not holds:
            obstacle = " ".join(filter(None, (obstacle, self.left_open)))
        outcome = Outcome.REPRODUCED if holds else Outcome.DIFFERS
        if obstacle:
            if self.can_be_judged:
                outcome = Outcome.CANNOT_BE_JUDGED
            else:
                outcome = Outcome.NEVER
        return Verdict(
            outcome,
            verdicts,
            remark=self.remark(results),
            obstacle=obstacle,
        )


@dataclass(frozen=True, kw_only=True)
class Preset(Figure):
    """A method with its source's published settings and protocol, ready to run.

    Attributes
    ----------
    settings
        The published values and their places in one or two sentences, and what the source leaves
        open.
    run
        One run that the method's page opens; None if no page opens one.
    """

    settings: str
    run: RunSpec | None = None


def first_present(*ids: str) -> str:
    """The first data set on this machine, or the last one."""
    return next((name for name in ids if catalogue().present(name)), ids[-1])
