"""What a run or another piece of work would enter in the account of private data, before it is
asked for.
"""

from collections.abc import Iterable
from typing import Any, Protocol, runtime_checkable

from dpmf_core.data.catalogue import is_own
from dpmf_core.privacy import accounts
from dpmf_core.privacy.accounts import Account
from dpmf_core.privacy.odometer import Charge
from dpmf_core.runs import data_access, planning
from dpmf_core.runs.specification import DataSpec, RunSpec


@runtime_checkable
class Charging(Protocol):
    """Work on private data that is no single run, and says itself what it enters."""

    @property
    def data(self) -> DataSpec: ...

    @property
    def charge(self) -> Charge: ...


def account_of(data_id: str) -> Account | None:
    """The account of a data set in the data folder; None where it is public.

    That of what somebody brought goes with it. Raises BadInput.
    """
    return accounts.account_of(
        data_access.open_anywhere(DataSpec(id=data_id)), lasting=not is_own(data_id)
    )


def charge_of(asked: Any) -> Charge:
    """What a run (`RunSpec`) or other work on private data would enter, whole. Raises BadInput."""
    if isinstance(asked, RunSpec):
        return planning.charge_of(
            asked, planning.prepared_for(asked, data_access.open_anywhere(asked.data))
        )
    found: Charge = asked.charge
    return found


def charges_of(asked: Iterable[Any]) -> list[Charge]:
    """As `charge_of`, each piece of work once."""
    distinct = {
        it.canonical().model_dump_json() if isinstance(it, RunSpec) else it.model_dump_json(): it
        for it in asked
    }
    return [charge_of(it) for it in distinct.values()]
