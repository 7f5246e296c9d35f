"""The runs that pages show first: runs of the package, and runs of `warm` and idle workers.

All are on simulated data.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from dpmf_core.data.catalogue import SampleEntry, catalogue
from dpmf_core.privacy import default_delta
from dpmf_core.runs import shipped_runs
from dpmf_core.runs.comparison import comparison, grid_points
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.record import value_of
from dpmf_core.runs.references import RECOMMENDED, proven_methods
from dpmf_core.runs.shipped_runs import identity
from dpmf_core.runs.specification import RunSpec

DataKind = Literal["ratings", "documents", "images"]

DEFAULT_EPSILON = 2.0  # of all pages: privacy shows, and the best methods are useful
USUAL_DATA: dict[DataKind, str] = {
    "ratings": "cinema",
    "documents": "news",
    "images": "faces",
}
METRICS: dict[DataKind, str] = {
    "ratings": "rmse",
    "documents": "objective",
    "images": "objective",
}
WEIGHTING = "tfidf"  # of words


@dataclass(frozen=True)
class View:
    """A page that takes epsilon from a grid of stored runs on a data set."""

    page: str
    kind: DataKind
    data: str

    @property
    def is_first(self) -> bool:
        """Whether the page shows these data before anybody has chosen others."""
        return self.data == USUAL_DATA[self.kind]


# the first views, and the data sets whose whole table comes with the package
VIEWS = (
    View("explore", "ratings", USUAL_DATA["ratings"]),
    View("topics", "documents", USUAL_DATA["documents"]),
    View("faces", "images", USUAL_DATA["images"]),
    View("explore", "ratings", "cinema-small"),
)
# the methods on Compare; the best known method and the predictors without a model are always added
COMPARE_METHODS = tuple(proven_methods("ratings"))
# about the epsilon at which every page begins, which its headline is then about, too
COMPARE_EPSILONS = (0.5, 2.0, 10.0)
COMPARE_DRAWS = 3


def every_run() -> list[RunSpec]:
    """All runs that come with the package, once each, view by view."""
    return _distinct(run for view in VIEWS for run in runs_of(view))


def cheapest_first() -> list[RunSpec]:
    """The runs that pages compare at first, once each, for idle workers.

    The views are sorted by the time that their runs took when the package was made.
    """

    def seconds(runs: Iterable[RunSpec]) -> float:
        records = [shipped_runs.record(run) for run in runs]
        return sum(
            value_of(record.seconds, "fit") + value_of(record.seconds, "evaluate")
            for record in records
            if record is not None
        )

    views = sorted((_compared(view) for view in VIEWS if view.is_first), key=seconds)
    return _distinct(run for runs in views for run in runs)


def usual_run(kind: DataKind, data: str = "") -> RunSpec:
    """The private run that a page about this kind of data shows first; by default on the usual."""
    data = data or USUAL_DATA[kind]
    entry = _entry(data)
    data_fields = {"id": data}
    if kind == "documents":
        data_fields["weighting"] = WEIGHTING
    parameters = {}
    if isinstance(entry, SampleEntry):
        parameters["n_components"] = entry.n_components
    return RunSpec.parse(
        data=data_fields,
        algorithm=RECOMMENDED["ratings" if kind == "ratings" else "samples"],
        parameters=parameters,
        budget={
            "epsilon": DEFAULT_EPSILON,
            "delta": default_delta(entry.shape().n_units),
        },
    )


def runs_of(view: View) -> list[RunSpec]:
    """The runs of a view: at the default epsilon with its references, then over the grid."""
    grid = grid_points(usual_run(view.kind, view.data), _entry(view.data).shape())
    return [*_compared(view), *(point.spec for point in grid)]


def _compared(view: View) -> list[RunSpec]:
    """The runs of a view at the default epsilon, with its references."""
    run = usual_run(view.kind, view.data)
    return list(comparison(run, _entry(view.data).shape()).runs.values())


def shipped_draws(kind: DataKind, data: str = "") -> Draws:
    """The table that comes with the package for the usual or another data set."""
    run = usual_run(kind, data)
    points = grid_points(run, _entry(run.data.id).shape())
    return Draws.of(points, [shipped_runs.summary(point.spec) for point in points])


def _entry(data_id: str) -> Any:
    return next(entry for entry in catalogue().catalogue() if entry.id == data_id)


def _distinct(runs: Iterable[RunSpec]) -> list[RunSpec]:
    return list({identity(run): run for run in runs}.values())
