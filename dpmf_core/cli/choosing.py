"""`choose`: a private algorithm and an epsilon for a data set, also as a report."""

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import click
from pydantic import Field

from dpmf_core.base import program
from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import require_parent, write_whole
from dpmf_core.cli import accounts, output
from dpmf_core.cli.data_options import on_data
from dpmf_core.cli.options import Decorator, Options, field_option, ledger_option, with_options
from dpmf_core.cli.runs import finish, measured, stored_or_computed
from dpmf_core.data import PartitionedRatings, Ratings, Samples
from dpmf_core.data.addresses import file_of, join, path_of, split
from dpmf_core.privacy import default_delta
from dpmf_core.privacy.formatting import epsilon_text
from dpmf_core.runs import data_access
from dpmf_core.runs.conclusions import names_text
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.measured_fall import check_epsilon
from dpmf_core.runs.measurements import Measured, Point
from dpmf_core.runs.planning import account_of
from dpmf_core.runs.record import Summary, provenance, summarise
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.store import Store
from dpmf_core.runs.tuning.choosing import measured_wording
from dpmf_core.runs.tuning.choosing.answer import find
from dpmf_core.runs.tuning.choosing.declared_shape import DeclaredShape, is_declared
from dpmf_core.runs.tuning.choosing.documents import notebook, report
from dpmf_core.runs.tuning.choosing.finding import Finding
from dpmf_core.runs.tuning.choosing.private_finding import (
    PrivateFinding,
    among_the_best,
    world_runs,
)
from dpmf_core.runs.tuning.choosing.public_finding import PublicFinding
from dpmf_core.runs.tuning.choosing.question import (
    LARGEST_SPEND,
    METRIC,
    SINGLE_RATING,
    Question,
    Runs,
)
from dpmf_core.runs.tuning.choosing.steps import Step
from dpmf_core.runs.tuning.choosing.worlds import UnpaidRange
from dpmf_core.runs.tuning.private_selection import SelectionResult

MOST_DOUBLINGS = 10
FILES = {"page": ("--report", report), "book": ("--notebook", notebook)}


def _ask(name: str, **changes: Any) -> Decorator:
    return field_option(name, Question.model_fields[name], **changes)


class ChooseOptions(Options):
    """What is answered, besides the fields of `Question`."""

    each: float | None = None
    """For private data, required: about how many ratings a person gives, declared."""
    step: float | None = None
    """For private data: the step of the rating scale, such as 0.5, declared."""
    on_data: bool = False
    """For private data: also select privately among the best methods on the data themselves, which
    enters their account."""
    measure: Annotated[float | None, "EPSILON"] = None
    """For private data: train the answer at --spend and measure what it brought, which replaces the
    prediction. Both enter the account; the measurement has this epsilon."""
    double: Annotated[int, "N"] = Field(0, ge=0, le=MOST_DOUBLINGS)
    """With --measure: then double the epsilon up to so many times, and train and measure each time.
    The exact total is printed before each, and you are asked."""
    yes: bool = False
    """With --double: do not ask."""
    page: Path | None = Field(None, alias="report")
    """An HTML page to write."""
    book: Path | None = Field(None, alias="notebook")
    """A notebook to write."""


@click.command()
@click.option("--dataset", required=True, metavar="ID|PATH")
@on_data("dataset", without=("group",))
@_ask("protect", type=str, metavar="person")
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
def choose(
    dataset: str,
    each: float | None,
    step: float | None,
    on_data: bool,
    measure: float | None,
    double: int,
    yes: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Find a proven private algorithm and an epsilon.

    Methods are tried on public and synthetic data directly. Private ratings are not used: with
    --each and --spend, simulated worlds of their shape say between what and what a method may lower
    the error. Otherwise give one of --spend, --keep and --reach. --report writes an HTML page,
    --notebook a notebook.
    """
    files = {name: options.pop(name) for name in FILES}
    for name, (option, _) in FILES.items():
        if files[name] is not None:
            require_parent(files[name], option)
    _require_possible(options["protect"], measure, double, is_asked=not yes)
    if options["group"] != 1:
        options |= {"protect": "group"}
    finding = _finding(dataset, each, step, options)
    if on_data:
        finding = _with_selection(finding, DataSpec(id=dataset))
    if measure is not None:
        finding = _measured(finding, DataSpec(id=dataset), measure, double, ask_first=not yes)
    if not is_declared(dataset):
        finding = with_account(finding, dataset)
    # what leaves this machine does not name its folders
    portable = replace(finding, path=finding.title if finding.path else "")
    output.show(as_json, _export(portable), _text(finding))
    if not (finding.public or is_declared(dataset)):
        accounts.tell(dataset)
    for name, (_, render) in FILES.items():
        if files[name] is not None:
            write_whole(files[name], render(portable))


def _require_possible(
    protect: str, measure: float | None, doublings: int, *, is_asked: bool
) -> None:
    """Raise BadInput for options that nothing can answer, before anything is computed."""
    if protect == "rating":
        raise BadInput(f"{SINGLE_RATING} Leave --protect out.")
    if measure is not None:
        check_epsilon(measure)
    elif doublings:
        raise BadInput("--double repeats a measured training. Add --measure, such as 0.1.")
    if doublings and is_asked and not sys.stdin.isatty():
        raise BadInput(
            "--double asks before each step, and there is no terminal to ask in. Add --yes to take"
            " every step."
        )


def _finding(
    dataset: str, each: float | None, step: float | None, options: dict[str, Any]
) -> Finding:
    """The answer for public data, or for the declared shape of private ones."""
    if is_declared(dataset):
        declared = DeclaredShape.parse(dataset)
        return _private_finding(declared, "data of a declared shape", "", (), options)
    data = data_access.open_anywhere(DataSpec(id=dataset))
    if isinstance(data, Samples):
        raise BadInput(
            f"choose needs ratings; {file_of(dataset)} holds {data.unit}s. Choose another data set."
        )
    if data.public:
        return _public_finding(dataset, data, options)
    if each is None:
        raise BadInput(
            "Say about how many ratings a person gives, such as --each 20. It is not counted,"
            " because that would reveal something about the file."
        )
    shape = data.shape
    declared = DeclaredShape(shape.n_users, shape.n_items, each, shape.bounds, step)
    click.echo(f"Your ratings are not used: the range is of {declared.id}.", err=True)
    path = _from_anywhere(dataset)
    return _private_finding(declared, file_of(dataset), path, data.assumptions, options)


def _question(data_id: str, n_users: int, options: dict[str, Any]) -> Question:
    if options["delta"] is None:
        options |= {"delta": default_delta(n_users)}
    return Question.parse(data={"id": data_id}, **options)


def _public_finding(
    dataset: str, data: Ratings | PartitionedRatings, options: dict[str, Any]
) -> PublicFinding:
    question = _question(dataset, data.shape.n_users, options)
    runs = Runs(question, data.shape)
    _, result = find(runs, _Computing())
    assert result is not None  # every run has finished
    return PublicFinding(
        question=question,
        runs=runs,
        answer=result,
        title=dataset,
        path=dataset,
        assumptions=data.assumptions,
        program=program.start(),
    )


def _private_finding(
    declared: DeclaredShape,
    title: str,
    path: str,
    assumptions: tuple[str, ...],
    options: dict[str, Any],
) -> PrivateFinding:
    if options["spend"] is None or options["keep"] or options["reach"]:
        raise BadInput(
            "On private data give --spend, the largest epsilon, and neither --keep nor --reach:"
            " what sharing is worth there, and the error, are not known before a release."
        )
    question = _question(declared.id, declared.n_users, options)
    return PrivateFinding(
        question=question,
        expected=_range(question),
        title=title,
        path=path,
        assumptions=assumptions,
        program=program.start(),
    )


def _with_selection(finding: Finding, data: DataSpec) -> Finding:
    """The finding after a private selection on the data. Raises BadInput."""
    if not isinstance(finding, PrivateFinding):
        raise BadInput(
            "--on-data is for private data. Methods were tried on these public data already."
        )
    if not finding.path:
        raise BadInput("--on-data needs the data; a declared shape has none.")
    spec = among_the_best(finding.question, data)
    if spec is None:
        raise BadInput(
            "--on-data compares at least two methods that predict ratings; there are fewer here."
            " Leave --on-data out."
        )
    (selection,) = measured([spec])
    assert isinstance(selection, SelectionResult)
    return finding.with_selection(selection)


# ---- measured trainings --------------------------------------------------------------------------


def _measured(
    finding: Finding, data: DataSpec, measurement: float, doublings: int, *, ask_first: bool
) -> Finding:
    """The finding after a measured training, and up to so many with twice the epsilon each."""
    if not isinstance(finding, PrivateFinding):
        raise BadInput(
            "--measure is for private data. Methods were measured on these public data already."
        )
    if not finding.path:
        raise BadInput("--measure needs the data; a declared shape has none.")
    finding = _with_step(finding, data, measurement)
    for _ in range(doublings):
        if 2 * finding.epsilon > LARGEST_SPEND:
            break
        _tell_price(finding, data, measurement)
        if ask_first and not click.confirm("Train and measure it?", err=True):
            break
        finding = _with_step(_at(finding, 2 * finding.epsilon), data, measurement)
    return finding


def _with_step(finding: PrivateFinding, data: DataSpec, measurement: float) -> PrivateFinding:
    work = finding.work(data, measurement)
    with contextlib.closing(Store()) as store:
        run = stored_or_computed(work.spec, store, work.epsilon)
    step = Step.of(run, finding.epsilon)
    return replace(finding, steps=(*finding.steps, step))


def _tell_price(finding: PrivateFinding, data: DataSpec, measurement: float) -> None:
    """Print what the last step brought, and the total after the next one."""
    last, account = finding.step, account_of(data.id)
    assert last is not None and account is not None  # private data that were measured
    epsilon = 2 * finding.epsilon
    after = account.after(finding.work(data, measurement, epsilon).charges)
    click.echo(last.fall.headline, err=True)
    total = epsilon_text(after.epsilon, 3)
    click.echo(measured_wording.next_words(finding.epsilon, total), err=True)


def _at(finding: PrivateFinding, epsilon: float) -> PrivateFinding:
    """The finding with another epsilon to spend, whose range is computed."""
    question = finding.question.model_copy(update={"spend": epsilon})
    return replace(finding, question=question, expected=_range(question))


def _range(question: Question) -> UnpaidRange:
    runs = world_runs(question)
    expected = UnpaidRange.of(runs, _Computing()(runs.points))
    assert expected is not None  # every run has finished
    return expected


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
    table, costs = output.table(finding.columns, finding.rows), (finding.cost, finding.training)
    lines = [finding.headline, *finding.sentences, "", table, ""]
    lines.append(" ".join(filter(None, costs)))
    if finding.train:
        lines += ["", finding.summary, "", finding.train]
    return "\n".join(lines)


def _export(finding: Finding) -> dict[str, Any]:
    special = dict[str, Any]()
    if isinstance(finding, PublicFinding):
        special = _measured_part(finding)
    elif isinstance(finding, PrivateFinding):
        special = _expected_part(finding)
    return {
        "question": finding.question.model_dump(mode="json"),
        "headline": finding.headline,
        "measured_on": finding.source,
        "summary": finding.summary,
        "sentences": finding.sentences,
        "algorithm": finding.algorithm or None,
        "epsilon": finding.epsilon or None,
        **special,
        "cost": finding.cost,
        "total": finding.decision and asdict(finding.decision.total),
        "train": finding.train,
        **provenance(),
    }


def _measured_part(finding: PublicFinding) -> dict[str, Any]:
    result, judgement = finding.answer, finding.answer.judgement

    def exported(one: Measured | None) -> dict[str, Any] | None:
        return None if one is None else result.export(one)

    return {
        "best": exported(result.best),
        "is_undecided": result.is_undecided,
        "no_difference": [one.algorithm for one in result.rivals],
        "front": [exported(one) for one in judgement.front],
        "methods": [exported(one) for one in judgement.ranked],
        "without_noise": [exported(one) for one in judgement.measured if one.without_noise],
        "best_known": exported(judgement.best_known),
        "floor": exported(judgement.floor),
        "refused": finding.runs.refusals,
    }


def _expected_part(finding: PrivateFinding) -> dict[str, Any]:
    selection = finding.selection
    return {
        "range": finding.expected.export(),
        "selected": None if selection is None else selection.export(),
        "contradiction": finding.contradiction or None,
        "measured": [step.export() for step in finding.steps],
    }
