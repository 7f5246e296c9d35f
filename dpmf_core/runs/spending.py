"""The charge of a run or other work to the account of private data, before it starts."""

from collections.abc import Iterable
from typing import Any

from dpmf_core.data.catalogue import is_own
from dpmf_core.privacy import accounts
from dpmf_core.privacy.accounts import Account
from dpmf_core.privacy.odometer import Charge
from dpmf_core.runs import data_access, planning
from dpmf_core.runs.specification import DataSpec, RunSpec


def account_of(data_id: str) -> Account | None:
    """The account of a data set in the data folder; None if it is public.

    The account of an upload is deleted with it. Raises BadInput.
    """
    return accounts.account_of(
        data_access.open_anywhere(DataSpec(id=data_id)), lasting=not is_own(data_id)
    )


def charge_of(work: Any) -> Charge:
    """The full charge of a run (`RunSpec`) or other work on private data. Raises BadInput."""
    if isinstance(work, RunSpec):
        return planning.charge_of(
            work, planning.prepared_for(work, data_access.open_anywhere(work.data))
        )
    charge: Charge = work.charge
    return charge


def charges_of(works: Iterable[Any]) -> list[Charge]:
    """`charge_of` for each piece of work, once."""
    distinct = {
        it.canonical().model_dump_json() if isinstance(it, RunSpec) else it.model_dump_json(): it
        for it in works
    }
    return [charge_of(it) for it in distinct.values()]
