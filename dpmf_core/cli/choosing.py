"""`choose`: a private algorithm and an epsilon for a data set, also as a report."""

import contextlib
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
from pydantic import Field

from dpmf_core.base import program
from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import require_parent, write_whole
from dpmf_core.cli import accounts, output
from dpmf_core.cli.data_options import on_data
from dpmf_core.cli.options import Decorator, Options, field_option, ledger_option, with_options
from dpmf_core.cli.runs import finish, measured
from dpmf_core.data import PartitionedRatings, Ratings, Samples
from dpmf_core.data.addresses import file_of, join, path_of, split
from dpmf_core.data.catalogue import catalogue
from dpmf_core.privacy import default_delta
from dpmf_core.runs import data_access
from dpmf_core.runs.conclusions import names_text
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.measurements import Measured, Point
from dpmf_core.runs.planning import account_of
from dpmf_core.runs.record import Summary, provenance, summarise
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.store import Store
from dpmf_core.runs.tuning.choosing import wording
from dpmf_core.runs.tuning.choosing.answer import find
from dpmf_core.runs.tuning.choosing.finding import Finding, among_the_best, notebook, report
from dpmf_core.runs.tuning.choosing.question import METRIC, Question, Runs
from dpmf_core.runs.tuning.private_selection import SelectionResult

FILES = {"page": ("--report", report), "book": ("--notebook", notebook)}


def _ask(name: str, **changes: Any) -> Decorator:
    return field_option(name, Question.model_fields[name], **changes)


class ChooseOptions(Options):
    """What is answered, besides the fields of `Question`."""

    each: float = 20
    """For private data: about how many ratings a person gives, declared."""
    on_data: bool = False
    """For private data: also select privately among the best methods on the data themselves, which
    enters their account."""
    page: Path | None = Field(None, alias="report")
    """An HTML page to write."""
    book: Path | None = Field(None, alias="notebook")
    """A notebook to write."""


@click.command()
@click.option("--dataset", required=True, metavar="ID|PATH")
@on_data("dataset", without=("group",))
@_ask("protect", type=click.Choice(["person", "rating"]))
@_ask("group", help="Protect any group of up to so many people instead.")
@_ask("spend", metavar="EPSILON")
@_ask("keep", metavar="SHARE")
@_ask("reach")
@click.option(
    "--for", "goal", type=click.Choice(list(METRIC)), default="ratings", show_default=True
)
@_ask("delta", default=None, help="1/(10 n) for n users, rounded down, by default.")
@_ask("draws")
@_ask("seed")
@_ask("every", is_flag=True, type=None)
@with_options(ChooseOptions)
@ledger_option
@output.json_option
def choose(dataset: str, each: float, on_data: bool, as_json: bool, **options: Any) -> None:
    """Find a proven private algorithm and an epsilon.

    Methods are tried on public and synthetic data directly, and for private data on synthetic data
    of the same shape. Give one of --spend, --keep and --reach. --report writes an HTML page,
    --notebook a notebook.
    """
    files = {name: options.pop(name) for name in FILES}
    for name, (option, _) in FILES.items():
        if files[name] is not None:
            require_parent(files[name], option)
    data = data_access.open_anywhere(DataSpec(id=dataset))
    if isinstance(data, Samples):
        raise BadInput(
            f"choose needs ratings; {file_of(dataset)} holds {data.unit}s. Choose another data set."
        )
    finding = _finding(_question(dataset, data, each, options), dataset, data)
    if on_data:
        finding = finding.with_selection(_selection_on_data(finding, DataSpec(id=dataset)))
    finding = with_account(finding, dataset)
    output.show(as_json, _export(finding), _text(finding))
    if not data.public:
        accounts.tell(dataset)
    for name, (_, render) in FILES.items():
        if files[name] is not None:
            write_whole(files[name], render(replace(finding, path=finding.title)))


def _question(
    dataset: str, data: Ratings | PartitionedRatings, each: float, options: dict[str, Any]
) -> Question:
    """The question about public data themselves, or about a stand-in for private ones.

    each: ratings of a person.
    """
    shape, trial_data = data.shape, dataset
    if not data.public:
        density = each / shape.n_items
        trial_data = catalogue().stand_in_id(shape.n_users, shape.n_items, density, shape.bounds)
        click.echo(f"Your ratings are not used: methods are tried on {trial_data}.", err=True)
    if options["group"] != 1:
        options |= {"protect": "group"}
    if options["delta"] is None:
        options |= {"delta": default_delta(shape.n_users)}
    return Question.parse(data={"id": trial_data}, **options)


def _selection_on_data(finding: Finding, data: DataSpec) -> SelectionResult:
    if finding.public:
        raise BadInput(
            "--on-data is for private data. Methods were tried on these public data already."
        )
    spec = among_the_best(finding.question, finding.answer, data)
    if spec is None:
        raise BadInput(
            "--on-data compares at least two methods that predict ratings and reach the goal; there"
            " are fewer here. Loosen the goal, or leave --on-data out."
        )
    (selection,) = measured([spec])
    assert isinstance(selection, SelectionResult)
    return selection


def _finding(question: Question, dataset: str, data: Ratings | PartitionedRatings) -> Finding:
    runs = Runs(question, data_access.open_anywhere(question.data).shape)
    _, result = find(runs, _Computing())
    assert result is not None  # every run has finished
    title = dataset if data.public else file_of(dataset)
    path = dataset if data.public else _from_anywhere(dataset)
    return Finding(
        runs, result, title, path, data.public, data.assumptions, program=program.start()
    )


class _Computing:
    """Tables of runs: those of the store and of the package, and the others once computed.

    Raises what a run raised.
    """

    def __init__(self) -> None:
        self._summaries = dict[str, Summary]()

    def __call__(self, points: Sequence[Point]) -> Draws:
        new = [point for point in points if point.key not in self._summaries]
        if self._summaries:
            names = dict.fromkeys(point.label for point in new if point.epsilon is not None)
            click.echo(f"More draws of {names_text(list(names))}.", err=True)
        self._take_known(new)
        runs, failures = finish(point for point in new if point.key not in self._summaries)
        if failures:
            raise failures[0]
        self._summaries |= {key: summarise(run.record) for key, run in runs.items()}
        return Draws.of(points, [self._summaries[point.key] for point in points])

    def _take_known(self, points: Sequence[Point]) -> None:
        with contextlib.closing(Store()) as store:
            summaries = store.find_all([point.spec for point in points])
        for point, summary in zip(points, summaries, strict=True):
            if summary is not None:
                self._summaries[point.key] = summary


def with_account(finding: Finding, dataset: str) -> Finding:
    """The finding with what was drawn from the data so far."""
    account = account_of(dataset)
    if account is None:
        return finding
    earlier = tuple(entry.charge for entry in account.entries)
    return replace(finding, earlier=earlier, budget=account.budget)


def _from_anywhere(dataset: str) -> str:
    """The address of a file from any folder; another address as it is."""
    place, facts = split(dataset)
    file = path_of(place)
    return join(str(file.absolute()), facts) if file.exists() else dataset


def _text(finding: Finding) -> str:
    result = finding.answer
    table, costs = output.table(result.columns, result.rows), (finding.cost, finding.training)
    lines = [finding.headline, *wording.sentences(result), "", table, ""]
    lines.append(" ".join(filter(None, costs)))
    if finding.train:
        lines += ["", finding.summary, "", finding.train]
    return "\n".join(lines)


def _export(finding: Finding) -> dict[str, Any]:
    result, judgement = finding.answer, finding.answer.judgement

    def exported(one: Measured | None) -> dict[str, Any] | None:
        return None if one is None else result.export(one)

    return {
        "question": finding.question.model_dump(mode="json"),
        "headline": finding.headline,
        "measured_on": finding.measured_on,
        "summary": finding.summary,
        "sentences": wording.sentences(result),
        "best": exported(result.best),
        "is_undecided": result.is_undecided,
        "no_difference": [one.algorithm for one in result.rivals],
        "front": [exported(one) for one in judgement.front],
        "methods": [exported(one) for one in judgement.ranked],
        "without_noise": [exported(one) for one in judgement.measured if one.without_noise],
        "best_known": exported(judgement.best_known),
        "floor": exported(judgement.floor),
        "refused": finding.runs.refusals,
        "cost": finding.cost,
        "total": finding.decision and asdict(finding.decision.total),
        "selected": None if finding.selection is None else finding.selection.export(),
        "train": finding.train,
        **provenance(),
    }
