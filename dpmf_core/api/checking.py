"""`dpmf.check`: what was read, what was left out or changed, and what to declare next."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from dpmf_core.api.loading import Source, declared_facts, load_quietly
from dpmf_core.api.names import ColumnNames, Missing
from dpmf_core.api.options import FactOptions
from dpmf_core.data import AnyData, PartitionedRatings
from dpmf_core.data.addresses import address_of
from dpmf_core.data.catalogue import catalogue
from dpmf_core.data.frames import Bounds
from dpmf_core.data.partitioned import ItemCounts
from dpmf_core.data.ratings import USERS_ARE_PUBLIC, Ratings
from dpmf_core.data.report import (
    BY_PLACE,
    Outside,
    Problem,
    Report,
    condition_words,
    outside_of,
)
from dpmf_core.data.samples import PEOPLE_ARE_COUNTED, Samples, samples_report

# the text that declares a fact, from its name and value
AsDeclared = Callable[[str, str], str]


def as_keyword(name: str, value: str) -> str:
    """The text that declares a fact in Python, as a keyword."""
    return f"{name}={value}"


@dataclass(frozen=True)
class DataCheck:
    """The result of a check of data.

    It prints as sentences. Iterating over it yields the problems.

    Parameters
    ----------
    report
        Rows read and kept, users, items, columns and problems.
    assumptions
        Assumptions of any guarantee on these data. If there are any, the guarantee is CONDITIONAL.

    Examples
    --------
    >>> import dpmf, pandas
    >>> frame = pandas.DataFrame({"user": [0, 0, 1], "item": [0, 1, 1], "rating": [1, 9, 4]})
    >>> checked = dpmf.check(frame, bounds=(1, 5), outside="leave-out")
    >>> [(str(problem.kind), problem.count) for problem in checked]
    [('rating outside the bounds, row left out', 1)]
    >>> checked.report.kept
    2
    """

    report: Report
    assumptions: tuple[str, ...]

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.report)

    def __str__(self) -> str:
        return "\n".join(self.sentences())

    def sentences(self, declared: AsDeclared = as_keyword) -> list[str]:
        """The report, the conditions of a guarantee, and what to declare next."""
        further = _further_facts(self.report, self.assumptions, declared)
        return [str(self.report), condition_words(self.assumptions), *further]

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON. Its counts are computed from private rows."""
        return self.report.to_dict()


def check(
    data: Source,
    *,
    bounds: Bounds | None = None,
    columns: ColumnNames = None,
    outside: Outside | None = None,
    missing: Missing = None,
    **facts: Unpack[FactOptions],
) -> DataCheck:
    """Read data and report what was left out, changed, recognised and assumed.

    Nothing is stored, and no account is charged.

    Parameters
    ----------
    data
        A catalogue id, a path, a pattern of paths, or data in memory; see `load`.
    bounds
        The lowest and highest possible rating of a file or of data in memory.
    columns
        The columns by role: user, item, rating, time, and for a file title.
    outside
        What to do with a rating outside the bounds.
    missing
        The values that mean "not rated", such as 0 or (-1, 99).
    **facts
        Further facts of a file.

    Returns
    -------
    DataCheck
        It prints as sentences, iterates over its problems, and has `to_dict`.

    Raises
    ------
    BadInput
        If the data cannot be used.

    Examples
    --------
    >>> import dpmf
    >>> print(dpmf.check("cinema-small"))
    cinema-small: 80,300 rows read, 80,300 ratings kept, 2,000 users, 200 items.
    No problem found.
    These data leave no guarantee conditional.
    """
    declared = declared_facts(
        columns, {"bounds": bounds, "outside": outside, "missing": missing, **facts}
    )
    if isinstance(data, str | Path):
        return check_address(address_of(str(data), declared))
    return _of_data(load_quietly(data, declared))


def check_address(address: str) -> DataCheck:
    """The check of data at an address, which may declare facts. Raises BadInput."""
    if catalogue().are_tables(address):
        report, assumptions = catalogue().check_tables(address)
        return DataCheck(report, assumptions)
    return _of_data(catalogue().load(address))


def _of_data(data: AnyData) -> DataCheck:
    if isinstance(data, Samples):
        return DataCheck(data.report or samples_report(data), data.assumptions)
    if isinstance(data, Ratings):
        return DataCheck(
            data.report or _report_of_stored(data, len(data)), data.assumptions
        )
    n_ratings = int(data.fold(ItemCounts(data.n_items)).sum())
    return DataCheck(_report_of_stored(data, n_ratings), data.assumptions)


def _report_of_stored(ratings: Ratings | PartitionedRatings, n_ratings: int) -> Report:
    """The report of ratings without problems: simulated ones, and those checked when stored."""
    return Report(
        name=ratings.name,
        read=n_ratings,
        kept=n_ratings,
        n_users=ratings.n_users,
        n_items=ratings.n_items,
    )


def _further_facts(
    report: Report, assumptions: tuple[str, ...], declared: AsDeclared
) -> Iterator[str]:
    """Sentences on what can be declared next, and how."""
    if USERS_ARE_PUBLIC in assumptions:
        users = declared("users", "N")
        yield f"Declare the number of users if it is public: {users}, at least as many."
    if PEOPLE_ARE_COUNTED in assumptions:
        people = declared("people", "N")
        yield f"Declare the number of people if it is public: {people}, at least as many."
    if BY_PLACE in dict(report.recognised).values():
        # a declaration without its value, such as `user` of `user=`
        names = (
            declared(name, "").strip(" =")
            for name in ("user", "item", "rating", "time")
        )
        yield f"Columns were taken by their place. Name them: {', '.join(names)}."
    outside = outside_of(report.problems)
    if outside is None:
        return
    if not outside.is_left_out:
        leave_out = declared("outside", "leave-out")
        yield f"Ratings outside the bounds were changed. Leave their rows out: {leave_out}."
    else:
        yield f"If the bounds are wrong, declare others: {declared('bounds', 'LOW,HIGH')}."
        for value, count in outside.commonest:
            if 2 * count > outside.count:
                yield f"If {value} means 'not rated', say so: {declared('missing', value)}."
