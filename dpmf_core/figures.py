"""What a published figure is here: the runs that make it, what is known of it, and a verdict."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dpmf_core.experiment import Run, catalogue
from dpmf_core.sweeps import Point, Summary, Sweep, summaries

Finished = Mapping[str, Run]


@dataclass(frozen=True)
class Mark:
    """A published number: which line, where it stands (None: at no epsilon, for it is not private), where it is printed."""

    label: str
    x: float | None
    y: float
    source: str


@dataclass(frozen=True)
class Verdict:
    reproduced: bool
    words: str


@dataclass(frozen=True)
class Preset:
    """One figure. sweeps(full): the sweeps that make it. axis: `epsilon`, a grid parameter, `users` or `step`; wants: the source's data."""

    id: str
    title: str
    source: str
    words: str
    sweeps: Callable[[bool], tuple[Sweep, ...]]
    judge: Callable[[Sequence[Summary]], Verdict]
    wants: str = ""
    axis: str = "epsilon"
    metric: str = "rmse"
    marks: tuple[Mark, ...] = field(default=())

    def points(self, full: bool = False) -> list[Point]:
        """Every run of the figure. Raises BadInput."""
        if self.axis != "users":
            return [point for sweep in self.sweeps(full) for point in sweep.points()]
        sizes = {entry.id: entry.n_users for entry in catalogue().ratings()}
        sized = ((sweep.points(), sizes[sweep.data.id]) for sweep in self.sweeps(full))
        return [replace(point, grid={**point.grid, "users": n_users}) for points, n_users in sized for point in points]

    def data(self, full: bool = False) -> str:
        """The data sets that it is made on, by title, with what is kept of them."""
        titles = {entry.id: entry.title for entry in catalogue().catalogue()}
        used = dict.fromkeys((sweep.data.id, sweep.data.top_items) for sweep in self.sweeps(full))
        return ", ".join(titles.get(name, name) + (f" ({top:,} most rated items)" if top else "") for name, top in used)

    def stands_in(self, full: bool = False) -> str:
        """A sentence where other data than the source's are used, else nothing."""
        used = [sweep.data for sweep in self.sweeps(full)]
        if not self.wants or all(data.id == self.wants for data in used):
            return ""
        entries = {entry.id: entry.title for entry in catalogue().catalogue()}
        return f"The source uses {entries.get(self.wants, self.wants)}; here it is {', '.join(dict.fromkeys(entries.get(data.id, data.id) for data in used))}."

    def verdict(self, points: Sequence[Point], finished: Finished, full: bool = False) -> Verdict:
        """Whether the published finding is seen here, with numbers."""
        if any(point.key not in finished for point in points):
            return Verdict(False, "Not all runs have finished, so there is no verdict yet.")
        judged = self.judge(summaries(points, finished, self.metric))
        return Verdict(judged.reproduced, " ".join(part for part in (judged.words, self.stands_in(full)) if part))


def first_present(*ids: str) -> str:
    """The first data set that is on this machine, else the last."""
    return next((name for name in ids if catalogue().present(name)), ids[-1])


def median_at(found: Sequence[Summary], label: str, epsilon: float | None = None) -> float:
    """The median at an epsilon; where there are several sizes, of the largest, which is the last."""
    return [point.median for point in found if point.label == label and point.epsilon in (epsilon, None)][-1]
