"""`dpmf.choose`: a private algorithm and an epsilon for a data set, from Python."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Unpack

import pandas as pd

from dpmf_core.api.loading import Source, data_of, facts_apart
from dpmf_core.api.names import ColumnNames, Missing
from dpmf_core.api.options import TableOptions
from dpmf_core.api.training import one_run
from dpmf_core.base.errors import BadInput
from dpmf_core.data import AnyData
from dpmf_core.data.addresses import file_of
from dpmf_core.data.catalogue import lent
from dpmf_core.data.frames import Bounds
from dpmf_core.data.report import Outside
from dpmf_core.data.samples import Samples
from dpmf_core.privacy.accounts import Account, LedgerFile, account_of
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.measurements import Point
from dpmf_core.runs.record import Summary, summarise
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.store import Store
from dpmf_core.runs.tuning.choosing import asking, finding_documents
from dpmf_core.runs.tuning.choosing.finding import Finding
from dpmf_core.runs.tuning.choosing.measured_trainings import USUAL_EPSILON
from dpmf_core.runs.tuning.choosing.private_finding import PrivateFinding
from dpmf_core.runs.tuning.choosing.question import FEW
from dpmf_core.runs.tuning.choosing.unpaid_range import DeclaredShape, is_declared


@dataclass(frozen=True)
class _Place:
    """The data, the store and the account that runs use.

    Attributes
    ----------
    spec
        The data of the question.
    own_data
        The data in memory, if no id finds them.
    data
        The opened data; None if only their shape is declared.
    ledger
        The file of their account, if it is not the data folder's.
    """

    spec: DataSpec
    own_data: AnyData | None
    data: AnyData | None
    ledger: LedgerFile

    @property
    def account(self) -> Account | None:
        """The account of private data."""
        if self.data is None:
            return None
        return account_of(self.data, self.ledger, in_hand=self.own_data is not None)

    def compute(self, points: Sequence[Point]) -> Draws:
        """The table of these runs, each stored or made now, one after the other."""
        with contextlib.closing(Store()) as store:
            known = store.find_all([point.spec for point in points])
            summaries = [
                self._summary(point, store) if summary is None else summary
                for point, summary in zip(points, known, strict=True)
            ]
        return Draws.of(points, summaries)

    def _summary(self, point: Point, store: Store) -> Summary:
        own_data = None
        if point.spec.data == self.spec:
            own_data = self.own_data
        return summarise(one_run(point.spec, own_data, self.ledger, store).record)

    def measured(self, finding: PrivateFinding, measurement: float) -> PrivateFinding:
        """The finding once its answer is trained on the data and measured."""
        spec = finding.work(self.spec, measurement).spec
        with contextlib.closing(Store()) as store:
            run = one_run(spec, self.own_data, self.ledger, store, measurement)
        return finding.with_step(run)

    def price(
        self, finding: PrivateFinding, epsilon: float, measurement: float
    ) -> float:
        """The total of the account after a measured training, before it is made."""
        account = self.account
        assert account is not None  # private data
        with lent(self.spec.id, self.own_data):
            charges = finding.work(self.spec, measurement, epsilon).charges
        return account.after(charges).epsilon


@dataclass(frozen=True, eq=False)
class Choice:
    """An answer: an algorithm and an epsilon for data, and how this is known.

    `choose` returns it. On public data all methods were tried. On private data it is a prediction
    from their declared shape, until `measure` trains the answer and measures what it brought.

    Parameters
    ----------
    finding
        The answer as every page and command has it.

    Examples
    --------
    >>> import dpmf, pandas
    >>> rows = [(user, item, 1 + user * item % 5) for user in range(30) for item in range(12)]
    >>> frame = pandas.DataFrame(rows, columns=["user", "item", "rating"])
    >>> choice = dpmf.choose(frame, spend=1.0, each=12, bounds=(1, 5))
    >>> total = choice.measure(0.5).price_of_doubling(0.5)
    >>> round(total, 2)
    2.63
    """

    finding: Finding
    _place: _Place

    def __repr__(self) -> str:
        return f"<Choice: {self.headline}>"

    @property
    def headline(self) -> str:
        """The answer in a sentence, without a full stop."""
        return self.finding.headline

    @property
    def sentences(self) -> list[str]:
        """The evidence."""
        return self.finding.sentences

    @property
    def summary(self) -> str:
        """The answer for decision makers; '' if there is none."""
        return self.finding.summary

    @property
    def algorithm(self) -> str:
        """The id of the algorithm; '' if none is recommended."""
        return self.finding.algorithm

    @property
    def epsilon(self) -> float:
        """The epsilon to train it at, for those whom it must protect; 0 if there is none."""
        return self.finding.epsilon

    @property
    def options(self) -> dict[str, Any]:
        """The keyword arguments with which `fit` trains the answer; empty if there is none."""
        run = self.finding.run
        if run is None or run.budget is None:
            return {}
        options = {
            "algorithm": run.algorithm,
            "epsilon": run.budget.epsilon,
            "delta": run.budget.delta,
        }
        return options | run.parameters

    @cached_property
    def total(self) -> float | None:
        """The epsilon of everything that was drawn, and of the training that is planned."""
        decision = self.finding.decision
        if decision is None:
            return None
        return decision.total.epsilon

    def frame(self) -> pd.DataFrame:
        """The figures as a table of texts."""
        return pd.DataFrame(self.finding.rows, columns=list(self.finding.columns))

    def to_dict(self) -> dict[str, Any]:
        """The answer as JSON has it: what `dpmf choose --json` prints."""
        return asking.export(self.finding)

    def report(self) -> str:
        """The answer as an HTML page."""
        return finding_documents.report(self.finding)

    def notebook(self) -> str:
        """A notebook, as JSON, that finds and trains the answer again."""
        return finding_documents.notebook(self.finding)

    # -- on private data ---------------------------------------------------------------------------

    def measure(self, epsilon: float = USUAL_EPSILON) -> "Choice":
        """Train the answer on the private data and measure what it brought.

        Both enter the account.

        Parameters
        ----------
        epsilon
            Of the measurement, from 1e-4 to 100.

        Returns
        -------
        Choice
            The measured fall of the error replaces the prediction.

        Raises
        ------
        BadInput
            If the data are public, or a budget does not allow it; then nothing was drawn.
        """
        return self._with(self._place.measured(self._private_finding, epsilon))

    def double(self, epsilon: float = USUAL_EPSILON) -> "Choice":
        """Train and measure the answer at twice its epsilon.

        `price_of_doubling` gives the total before.

        Parameters
        ----------
        epsilon
            Of the measurement, from 1e-4 to 100.

        Returns
        -------
        Choice
            It has all measured trainings so far (`frame`).

        Raises
        ------
        BadInput
            As `measure`.
        """
        finding = self._private_finding
        doubled = asking.with_spend(finding, 2 * finding.epsilon, self._place.compute)
        return self._with(doubled).measure(epsilon)

    def price_of_doubling(self, epsilon: float = USUAL_EPSILON) -> float:
        """The total epsilon of one person after `double`, exactly, without doing it."""
        finding = self._private_finding
        return self._place.price(finding, 2 * finding.epsilon, epsilon)

    @property
    def _private_finding(self) -> PrivateFinding:
        if not isinstance(self.finding, PrivateFinding):
            raise BadInput(
                "Only an answer on private data is measured: methods were measured on these public"
                " data already."
            )
        if self._place.data is None:
            raise BadInput("A measurement needs the data; a declared shape has none.")
        return self.finding

    def _with(self, finding: PrivateFinding) -> "Choice":
        return Choice(asking.with_account(finding, self._place.account), self._place)


def choose(
    data: Source,
    *,
    spend: float | None = None,
    keep: float | None = None,
    reach: float | None = None,
    each: float | None = None,
    step: float | None = None,
    goal: Literal["ratings", "lists"] = "ratings",
    group: int = 1,
    delta: float | None = None,
    draws: int = FEW,
    seed: int = 0,
    every: bool = False,
    bounds: Bounds | None = None,
    columns: ColumnNames = None,
    outside: Outside | None = None,
    missing: Missing = None,
    ledger: LedgerFile = None,
    **facts: Unpack[TableOptions],
) -> Choice:
    """Choose a proven private algorithm and an epsilon for a data set.

    On public data methods are tried directly. Private ratings are not used: simulated worlds of
    their shape give the least and the most that the recommended method may bring.

    Parameters
    ----------
    data
        A catalogue id, a path, or data in memory; see `load`. Without data a declared shape, such
        as "worlds?users=943&items=1682&each=106&bounds=1,5&step=1".
    spend
        The largest epsilon. Exactly one of `spend`, `keep` and `reach`; on private data `spend`.
    keep
        The smallest share to keep of what sharing is worth, from 0 to 1.
    reach
        The largest RMSE, or the smallest Recall@20.
    each
        About how many ratings a person gives; needed on private data, whose ratings are not
        counted.
    step
        The step of the rating scale of private data, such as 0.5, if known.
    goal
        "ratings" for their error, "lists" for lists of 20.
    group
        Protect any group of up to this many people; 1 protects each person.
    delta
        By default 1/(10 n) for n users, rounded down.
    draws
        Draws of split and noise for every run on public data.
    seed
        Of all draws on public and simulated data.
    every
        Also try slow methods on public data.
    bounds
        The lowest and highest possible rating of a file or of data in memory.
    columns
        The columns by role: user, item, rating, time, and for a file title.
    outside
        What to do with a rating outside the bounds.
    missing
        The values that mean "not rated".
    ledger
        The file of the account of private data; see `fit`.
    **facts
        Further facts of a file.

    Returns
    -------
    Choice
        `headline` and `sentences` say the answer; on private data `measure` and `double` train it
        and measure what it brought.

    Raises
    ------
    BadInput
        If the question cannot be asked about these data.

    Examples
    --------
    >>> import dpmf, pandas
    >>> rows = [(user, item, 1 + user * item % 5) for user in range(30) for item in range(12)]
    >>> frame = pandas.DataFrame(rows, columns=["user", "item", "rating"])
    >>> choice = dpmf.choose(frame, spend=2.0, each=12, bounds=(1, 5))
    >>> choice.algorithm, choice.epsilon
    ('spectral', 2.0)
    """
    declared_facts, rest = facts_apart(
        {
            "bounds": bounds,
            "columns": columns,
            "outside": outside,
            "missing": missing,
            **facts,
        }
    )
    if rest:
        raise BadInput(
            f"choose has no argument {', '.join(map(repr, rest))}. Leave it out."
        )
    options = {
        "spend": spend,
        "keep": keep,
        "reach": reach,
        "goal": goal,
        "group": group,
        "delta": delta,
        "draws": draws,
        "seed": seed,
        "every": every,
    }
    if isinstance(data, str) and is_declared(data):
        place = _Place(DataSpec(id=data), None, None, ledger)
        declared = DeclaredShape.parse(data)
        return Choice(asking.finding_of(data, declared, options, place.compute), place)
    opened, own_data, choices = data_of(data, declared_facts, ["spectral"], {})
    if isinstance(opened, Samples):
        raise BadInput(f"choose needs ratings; these data hold {opened.unit}s.")
    place = _Place(DataSpec(id=choices["dataset"]), own_data, opened, ledger)
    title = place.spec.id
    asked: Any = opened
    if not opened.public:
        title = file_of(title)
        asked = DeclaredShape.of(opened.shape, each, step)
    with lent(place.spec.id, own_data):
        finding = asking.finding_of(
            place.spec.id,
            asked,
            options,
            place.compute,
            title=title,
            path=title,
            assumptions=opened.assumptions,
        )
    return Choice(asking.with_account(finding, place.account), place)
