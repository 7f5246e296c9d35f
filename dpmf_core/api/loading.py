"""Load data from Python, and open the account of what was drawn from them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy.typing as npt
import pandas as pd
from scipy.sparse import sparray, spmatrix

from dpmf_core import algorithms
from dpmf_core.base.errors import BadInput as BadInput
from dpmf_core.data import AnyData, PartitionedRatings, frames
from dpmf_core.data.catalogue import catalogue, is_own
from dpmf_core.data.frames import Bounds
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples, is_sparse
from dpmf_core.privacy import Budget, accounts
from dpmf_core.privacy.accounts import Account

Arrays = tuple[npt.ArrayLike, ...] | npt.NDArray[Any]


@runtime_checkable
class ArrowTable(Protocol):
    """A data frame of another library, such as polars or pyarrow, that exports Arrow data."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


Source = str | Path | AnyData | pd.DataFrame | ArrowTable | Arrays | sparray | spmatrix


def load(data: Source, *, bounds: Bounds | None = None, public: bool = False) -> AnyData:
    """Load ratings, documents or images.

    Parameters
    ----------
    data
        A catalogue id (`python -m dpmf datasets`), a path, or data in memory. A data frame
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
    if frames.is_table(data):
        if bounds is None and is_sparse(data):
            return frames.documents_of(data, public=public)
        return frames.ratings_of(data, bounds, public=public)
    if isinstance(data, str | Path) and not public:
        data_of_file: AnyData = catalogue().load(_address(data, bounds))
        return data_of_file
    if bounds is not None or public:
        raise BadInput(
            "bounds are for a file, a data frame, arrays or a sparse matrix; public for the latter"
            f" three. Got {type(data).__name__}."
        )
    if isinstance(data, Ratings | Samples | PartitionedRatings):
        return data
    raise BadInput(
        "Data are a catalogue id, a path, a data frame, arrays (users, items, ratings), a scipy"
        f" sparse matrix, Ratings or Samples. Got {type(data).__name__}."
    )


def account(
    data: Source, ledger: str | Path | None = None, *, bounds: Bounds | None = None
) -> Account:
    """Open the account of private data, which composes everything drawn from them.

    Data in memory share the account of all data in memory in this process.

    Parameters
    ----------
    data, bounds
        See `load`.
    ledger
        The file that was given to `fit` or `sweep`. By default one in the data folder.

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
    dataset, in_hand = load(data, bounds=bounds), not isinstance(data, str | Path)
    lasting = in_hand or not is_own(str(data))
    own_account = accounts.account_of(dataset, ledger, lasting, in_hand=in_hand)
    if own_account is None:
        raise BadInput(
            f"{dataset.name} is public or simulated, so drawing from it costs no privacy and it has"
            " no account."
        )
    return own_account


def data_of(
    data: Source, bounds: Bounds | None, ids: Sequence[str], choices: Mapping[str, Any]
) -> tuple[AnyData, AnyData | None, dict[str, Any]]:
    """The data for these algorithms, the data again if no id finds them, and the choices.

    A given item table is added to the data, and the data's id to the choices. Raises BadInput,
    after quick checks first.
    """
    algorithms.refuse_budget(ids, **{name: choices.get(name) for name in Budget.model_fields})
    if isinstance(data, str | Path):
        data, bounds = _address(data, bounds), None
    needs_bounds = any(algorithms.find(name).task == "ratings" for name in ids)
    if needs_bounds and bounds is None and frames.is_table(data):
        dataset: AnyData = frames.ratings_of(data, bounds)
    else:
        dataset = load(data, bounds=bounds)
    choices, items = dict(choices), choices.get("item_features")
    if isinstance(items, pd.DataFrame):
        dataset = frames.with_item_table(data if isinstance(data, str) else dataset, items)
        choices["item_features"] = "public"
    if isinstance(data, str):
        return dataset, None, {**choices, "dataset": data}
    return dataset, dataset, {**choices, "dataset": dataset.name}


def _address(data: str | Path, bounds: Bounds | None) -> str:
    """A catalogue id, or a path with its bounds. Raises BadInput."""
    address = str(data)
    if address in ("-", "/dev/stdin"):
        raise BadInput(
            "Ratings are read from a file, not from standard input. Write them to a file first, or"
            " give a data frame: fit(pandas.read_csv(sys.stdin), ...)."
        )
    if bounds is None:
        return address
    if "bounds=" in address:
        raise BadInput(
            f"The bounds of {address} stand after the path and in bounds. Give them once."
        )
    joint = "&" if "?" in address else "?"
    return f"{address}{joint}bounds={','.join(f'{it:g}' for it in bounds)}"
