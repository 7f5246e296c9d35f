"""`choose`: a private algorithm and an epsilon for a data set, also as a report."""

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import click
from pydantic import Field

from dpmf_core.base import program
from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import require_parent, write_whole
from dpmf_core.cli import account_commands, output
from dpmf_core.cli.data_options import on_data
from dpmf_core.cli.run_commands import finish, measured, with_bar
from dpmf_core.cli.shared_options import (
    Decorator,
    Options,
    field_option,
    ledger_option,
    with_options,
)
from dpmf_core.cli.shell_completion import complete_data
from dpmf_core.data import Samples
from dpmf_core.data.addresses import file_of, join, path_of, split
from dpmf_core.privacy.formatting import epsilon_text
from dpmf_core.runs import data_access
from dpmf_core.runs.commands import PROGRAM
from dpmf_core.runs.conclusions import names_text
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.measured_fall import check_epsilon
from dpmf_core.runs.measurements import Point
from dpmf_core.runs.planning import account_of
from dpmf_core.runs.record import summarise
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.store import Store
from dpmf_core.runs.stored_charges import stored_or_computed
from dpmf_core.runs.tuning.choosing import asking, measured_trainings
from dpmf_core.runs.tuning.choosing.finding import Finding
from dpmf_core.runs.tuning.choosing.finding_documents import notebook, report
from dpmf_core.runs.tuning.choosing.private_finding import (
    PrivateFinding,
    among_the_best,
)
from dpmf_core.runs.tuning.choosing.question import (
    LARGEST_SPEND,
    METRIC,
    SINGLE_RATING,
    Question,
)
from dpmf_core.runs.tuning.choosing.unpaid_range import DeclaredShape, is_declared
from dpmf_core.runs.tuning.private_selection import SelectionResult

MOST_DOUBLINGS = 10
FILES = {"page": ("--report", report), "book": ("--notebook", notebook)}


def _ask(name: str, **changes: Any) -> Decorator:
    return field_option(name, Question.model_fields[name], **changes)


class ChooseOptions(Options):
    """What is answered, in addition to the fields of `Question`."""

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
@click.option(
    "--dataset",
    required=True,
    metavar="ID|PATH",
    shell_complete=complete_data,
)
@on_data("dataset", without=("group",))
@_ask("protect", type=str, metavar="person")
@_ask("group", help="Protect any group of up to so many people instead.")
@_ask("spend", metavar="EPSILON")
@_ask("keep", metavar="SHARE")
@_ask("reach")
@click.option(
    "--for",
    "goal",
    type=click.Choice(list(METRIC)),
    default="ratings",
    show_default=True,
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
    finding = _finding(dataset, each, step, options)
    if on_data:
        finding = _with_selection(finding, DataSpec(id=dataset))
    if measure is not None:
        finding = _measured(
            finding, DataSpec(id=dataset), measure, double, ask_first=not yes
        )
    if not is_declared(dataset):
        finding = asking.with_account(finding, account_of(dataset))
    # what leaves this machine names neither its folders nor how dpmf starts here
    portable = replace(
        finding, path=finding.title if finding.path else "", program=PROGRAM
    )
    output.show(as_json, asking.export(portable), _text(finding))
    if not (finding.public or is_declared(dataset)):
        account_commands.tell(dataset)
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
        raise BadInput(
            "--double repeats a measured training. Add --measure, such as 0.1."
        )
    if doublings and is_asked and not sys.stdin.isatty():
        raise BadInput(
            "--double asks before each step, and there is no terminal to ask in. Add --yes to take"
            " every step."
        )


def _finding(
    dataset: str, each: float | None, step: float | None, options: dict[str, Any]
) -> Finding:
    """The answer for public data, or for the declared shape of private ones."""
    start = program.start()
    if is_declared(dataset):
        declared = DeclaredShape.parse(dataset)
        return asking.finding_of(
            dataset, declared, options, _Computing(), program=start
        )
    data = data_access.open_anywhere(DataSpec(id=dataset))
    if isinstance(data, Samples):
        raise BadInput(
            f"choose needs ratings; {file_of(dataset)} holds {data.unit}s. Choose another data set."
        )
    asked: Any = data
    title = dataset
    path = dataset
    if not data.public:
        asked = DeclaredShape.of(data.shape, each, step)
        title = file_of(dataset)
        path = _from_anywhere(dataset)
        output.note(f"Your ratings are not used: the range is of {asked.id}.")
    return asking.finding_of(
        dataset,
        asked,
        options,
        _Computing(),
        title=title,
        path=path,
        assumptions=data.assumptions,
        program=start,
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
    finding: Finding,
    data: DataSpec,
    measurement: float,
    doublings: int,
    *,
    ask_first: bool,
) -> Finding:
    """The finding after a measured training and some more, each with twice the epsilon."""
    if not isinstance(finding, PrivateFinding):
        raise BadInput(
            "--measure is for private data. Methods were measured on these public data already."
        )
    if not finding.path:
        raise BadInput("--measure needs the data; a declared shape has none.")
    finding = _trained(finding, data, measurement)
    for _ in range(doublings):
        if 2 * finding.epsilon > LARGEST_SPEND:
            break
        _tell_price(finding, data, measurement)
        if ask_first and not click.confirm("Train and measure it?", err=True):
            break
        doubled = asking.with_spend(finding, 2 * finding.epsilon, _Computing())
        finding = _trained(doubled, data, measurement)
    return finding


def _trained(
    finding: PrivateFinding, data: DataSpec, measurement: float
) -> PrivateFinding:
    spec = finding.work(data, measurement).spec
    with contextlib.closing(Store()) as store:
        run = stored_or_computed(spec, store, measurement, compute=with_bar)
    return finding.with_step(run)


def _tell_price(finding: PrivateFinding, data: DataSpec, measurement: float) -> None:
    """Print what the last step brought, and the total after the next one."""
    last = finding.step
    account = account_of(data.id)
    assert last is not None and account is not None  # private data that were measured
    epsilon = 2 * finding.epsilon
    after = account.after(finding.work(data, measurement, epsilon).charges)
    output.note(last.fall.headline)
    total = epsilon_text(after.epsilon, 3)
    output.note(measured_trainings.next_words(finding.epsilon, total))


class _Computing:
    """Tables of runs. Runs of the store and of the package are taken; the others are computed.

    Raises what a run raised.
    """

    def __init__(self) -> None:
        self._asked = set[str]()

    def __call__(self, points: Sequence[Point]) -> Draws:
        new = [point for point in points if point.key not in self._asked]
        if self._asked:
            names = dict.fromkeys(
                point.label for point in new if point.epsilon is not None
            )
            output.note(f"More draws of {names_text(list(names))}.")
        self._asked |= {point.key for point in new}
        with contextlib.closing(Store()) as store:
            known = store.find_all([point.spec for point in points])
        by_point = list(zip(points, known, strict=True))
        runs, failures = finish(point for point, summary in by_point if summary is None)
        if failures:
            raise failures[0]
        summaries = [
            summarise(runs[point.key].record) if summary is None else summary
            for point, summary in by_point
        ]
        return Draws.of(points, summaries)


def _from_anywhere(dataset: str) -> str:
    """The address of a file from any folder; another address as it is."""
    place, facts = split(dataset)
    file = path_of(place)
    if file.exists():
        return join(str(file.absolute()), facts)
    return dataset


def _text(finding: Finding) -> str:
    table = output.table(finding.columns, finding.rows)
    costs = (finding.cost, finding.training)
    lines = [finding.headline, *finding.sentences, "", table, ""]
    lines.append(" ".join(filter(None, costs)))
    if finding.train:
        lines += ["", finding.summary, "", finding.train]
    return "\n".join(lines)
