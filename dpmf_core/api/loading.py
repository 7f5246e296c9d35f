"""Load data from Python, and open the account of what was drawn from them."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, Unpack, runtime_checkable

import numpy.typing as npt
import pandas as pd
from scipy.sparse import sparray, spmatrix

from dpmf_core import algorithms
from dpmf_core.api.names import ColumnNames, Missing
from dpmf_core.api.options import FactOptions
from dpmf_core.base.errors import BadInput as BadInput
from dpmf_core.base.errors import RowsChanged, closest, warn_of_rows
from dpmf_core.base.program import program
from dpmf_core.data import AnyData, Data, PartitionedRatings, frames
from dpmf_core.data.addresses import address_of
from dpmf_core.data.catalogue import catalogue, is_own
from dpmf_core.data.column_names import ROLE_NAMES
from dpmf_core.data.facts import FACTS
from dpmf_core.data.frames import Bounds
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.report import Outside, Report
from dpmf_core.data.samples import Samples, is_sparse
from dpmf_core.privacy import Budget, accounts
from dpmf_core.privacy.accounts import Account, LedgerFile

Facts = dict[str, Any]  # of data, by their names in `FACTS`
OF_TABLES = {"bounds", "outside", "missing", *ROLE_NAMES}  # facts of tables in memory
Arrays = tuple[npt.ArrayLike, ...] | npt.NDArray[Any]


@runtime_checkable
class ArrowTable(Protocol):
    """A data frame of another library, such as polars or pyarrow, that exports Arrow data."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


Source = str | Path | AnyData | pd.DataFrame | ArrowTable | Arrays | sparray | spmatrix


def load(
    data: Source,
    *,
    bounds: Bounds | None = None,
    public: bool = False,
    columns: ColumnNames = None,
    outside: Outside | None = None,
    missing: Missing = None,
    **facts: Unpack[FactOptions],
) -> AnyData:
    """Load ratings, documents or images.

    What was left out or changed is in the `report` of ratings and samples: it prints as sentences,
    yields its problems and has `to_dict`. If anything was, a `RowsChanged` warning says so.

    Parameters
    ----------
    data
        A catalogue id (`dpmf datasets` lists them), a path, "-" for a table on standard input, or
        data in memory. A data frame
        (pandas, polars, pyarrow) holds one rating per row; its columns are found by their names
        (see `frames.ratings_of`). Arrays are (users, items, ratings), optionally with times, or one
        array with these columns. A sparse matrix holds ratings, users x items, if bounds are given,
        otherwise counts, documents x words.
    bounds
        The lowest and highest possible rating. They are declared, because reading them from private
        data would reveal something about the data. For a file they may also follow the path, as in
        "ratings.csv?bounds=1,5".
    public
        Whether data in memory are published or simulated. Others have an account (`account`), which
        is found by their content: the same ratings have one account in whatever form they come.
    columns
        The columns of a file or a data frame by role: user, item, rating, time, and for a file
        title. With "" for the rating each row says that a user had an item.
    outside
        "leave-out", "clamp" or "refuse": what to do with a rating outside the bounds.
    missing
        The values that mean "not rated", such as 0 or (-1, 99).
    **facts
        Further facts of a file, which may also follow its path: `users=500`, `sheet="Ratings"`,
        `header=3`, `dates="dmy"`, `encoding="cp1251"`, `text="body"` and so on.

    Returns
    -------
    Ratings, Samples or PartitionedRatings

    Raises
    ------
    BadInput
        If there is no such data set, or the data cannot be used.

    Examples
    --------
    >>> import dpmf
    >>> ratings = dpmf.load("cinema-small")
    >>> ratings.n_items, ratings.bounds
    (200, (0.5, 5.0))
    """
    declared = declared_facts(
        columns, {"bounds": bounds, "outside": outside, "missing": missing, **facts}
    )
    return _loaded(data, declared, public)


def _loaded(data: Source, declared: Facts, public: bool = False) -> AnyData:
    """`load` with the declared facts. Raises BadInput."""
    if frames.is_table(data):
        return _of_table(data, declared, public)
    if isinstance(data, str | Path) and not public:
        address = address_of(str(data), declared)
        data_of_file: AnyData = catalogue().load(address)
        if not isinstance(data_of_file, PartitionedRatings):
            _warn_of_changes(address, data_of_file.report)
        return data_of_file
    if declared or public:
        raise BadInput(
            "bounds and other facts are for a file, a data frame, arrays or a sparse matrix; public"
            f" for the latter three. Got {type(data).__name__}."
        )
    if isinstance(data, Ratings | Samples | PartitionedRatings):
        return data
    raise BadInput(
        "Data are a catalogue id, a path, a data frame, arrays (users, items, ratings), a scipy"
        f" sparse matrix, Ratings or Samples. Got {type(data).__name__}."
    )


def account(
    data: Source,
    ledger: LedgerFile = None,
    *,
    bounds: Bounds | None = None,
    columns: ColumnNames = None,
    outside: Outside | None = None,
    missing: Missing = None,
    **facts: Unpack[FactOptions],
) -> Account:
    """Open the account of private data, which composes everything drawn from them.

    Data in memory share the account of all data in memory in this process. Data with the same rows
    share one account, such as a file and a frame of it.

    Parameters
    ----------
    data
        A catalogue id, a path, or data in memory; see `load`.
    ledger
        The file that was given to `fit` or `sweep`. By default one in the data folder.
    bounds
        The lowest and highest possible rating of a file or of data in memory.
    columns
        The columns by role: user, item, rating, time, and for a file title.
    outside
        What to do with a rating outside the bounds.
    missing
        The values that mean "not rated".
    **facts
        Further facts of a file.

    Returns
    -------
    Account
        Its `total` and `lines` show the cost, and `set_budget` limits it.

    Raises
    ------
    BadInput
        On public or simulated data, which have no account.

    Examples
    --------
    >>> import dpmf, pandas
    >>> frame = pandas.DataFrame({"user": [0, 0, 1], "item": [0, 1, 1], "rating": [1.0, 5.0, 4.0]})
    >>> dpmf.account(frame, "my.ledger", bounds=(1, 5)).total.epsilon
    0.0
    """
    declared = declared_facts(
        columns, {"bounds": bounds, "outside": outside, "missing": missing, **facts}
    )
    dataset = _loaded(data, declared)
    in_hand = not isinstance(data, str | Path)
    lasting = in_hand or not is_own(str(data))
    own_account = accounts.account_of(dataset, ledger, lasting, in_hand=in_hand)
    if own_account is None:
        raise BadInput(
            f"{dataset.name} is public or simulated, so drawing from it costs no privacy and it has"
            " no account."
        )
    return own_account


def data_of(
    data: Source, facts: Facts, ids: Sequence[str], choices: Mapping[str, Any]
) -> tuple[AnyData, AnyData | None, dict[str, Any]]:
    """The data for these algorithms, the data again if no id finds them, and the choices.

    A given item table is added to the data, and the data's id to the choices. Quick checks come
    first.

    Parameters
    ----------
    data
        A catalogue id, a path, or data in memory.
    facts
        The facts of the data by name.
    ids
        The ids of the algorithms.
    choices
        The other choices by name.

    Raises
    ------
    BadInput
        If the data cannot be read or do not suit the algorithms.
    """
    algorithms.refuse_budget(
        ids, **{name: choices.get(name) for name in Budget.model_fields}
    )
    items = choices.get("item_features")
    if isinstance(data, str | Path):
        address = address_of(str(data), facts)
        if isinstance(items, pd.DataFrame):
            raise BadInput(
                "An item table can be passed only with ratings in memory. For a file give its path:"
                " item_table='films.csv', with item_features='public'."
            )
        return _read_once(address), None, {**choices, "dataset": address}
    if frames.is_table(data):
        holds_ratings = any(algorithms.find(name).task == "ratings" for name in ids)
        dataset: AnyData = _of_table(
            data, facts, public=False, holds_ratings=holds_ratings
        )
    else:
        dataset = _loaded(data, facts)
    choices = {**choices, "dataset": dataset.name}
    if isinstance(items, pd.DataFrame):
        dataset = frames.with_item_table(dataset, items)
        choices["item_features"] = "public"
    return dataset, dataset, choices


def load_quietly(data: Source, facts: Facts) -> AnyData:
    """Data in memory, without a warning of changed rows. Raises BadInput."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RowsChanged)
        return _loaded(data, facts)


def facts_apart(choices: Mapping[str, Any]) -> tuple[Facts, dict[str, Any]]:
    """The facts of data among the arguments of a function, and the other arguments.

    `columns` become facts by their roles.
    """
    facts = {name: choice for name, choice in choices.items() if name in FACTS}
    others = {name: choice for name, choice in choices.items() if name not in facts}
    return declared_facts(others.pop("columns", None), facts), others


def declared_facts(columns: ColumnNames, facts: Mapping[str, Any]) -> Facts:
    """The declared facts, with a column for each role. Raises BadInput on a role with two."""
    declared = {name: fact for name, fact in facts.items() if fact is not None}
    for role, column in (columns or {}).items():
        if role not in ROLE_NAMES:
            raise BadInput(
                f"The roles of columns are {', '.join(ROLE_NAMES)}. Got '{role[:40]}'."
                f"{closest(role, ROLE_NAMES)}"
            )
        if declared.setdefault(role, column) != column:
            raise BadInput(
                f"The column of '{role}' is given twice. Give it once, in columns."
            )
    return declared


def _of_table(
    data: Any, facts: Facts, public: bool, holds_ratings: bool = False
) -> Data:
    """The ratings or documents of a table in memory. Raises BadInput on facts of files."""
    of_files = [name for name in facts if name not in OF_TABLES]
    if of_files:
        raise BadInput(
            f"{', '.join(of_files)} can be declared of a file only. Of a table in memory declare"
            " bounds, columns, outside and missing."
        )
    if is_sparse(data) and not facts and not holds_ratings:
        return frames.documents_of(data, public=public)
    return frames.ratings_of(
        data,
        facts.get("bounds"),
        public=public,
        columns={role: facts[role] for role in ROLE_NAMES if role in facts},
        outside=facts.get("outside"),
        missing=facts.get("missing", ()),
    )


def _read_once(address: str) -> AnyData:
    """The data at an address, which stay in memory for the runs on them."""
    from dpmf_core.runs import data_access  # `load` alone does not need it

    with data_access.reading_told(_warn_of_changes):
        return data_access.open_raw(address)


def _warn_of_changes(address: str, report: Report | None) -> None:
    """Warn if rows of a file were left out or changed."""
    if report is not None and (line := report.line(address, program())):
        warn_of_rows(line)
