"""What a run or another piece of work would enter in the account of private data, before it is asked for."""

from collections.abc import Iterable
from typing import Any, Protocol, runtime_checkable

from dpmf_core import accounts, experiment
from dpmf_core.accounts import Account
from dpmf_core.experiment import DataSpec, RunSpec
from dpmf_core.privacy.odometer import Charge


@runtime_checkable
class Charging(Protocol):
    """Work on private data that is no single run, and says itself what it enters."""

    @property
    def data(self) -> DataSpec: ...

    @property
    def charge(self) -> Charge: ...


def account_of(data_id: str) -> Account | None:
    """The account of a data set in the data folder; None where it is public. That of what somebody brought goes with it. Raises BadInput."""
    return accounts.account_of(experiment.open_data(DataSpec(id=data_id)), lasting=not experiment.is_own(data_id))


def charge_of(asked: Any) -> Charge:
    """What a run (`RunSpec`) or other work on private data would enter, whole. Raises BadInput."""
    if isinstance(asked, RunSpec):
        return experiment.charge_of(asked, experiment.prepared_for(asked, experiment.open_data(asked.data)))
    found: Charge = asked.charge
    return found


def charges_of(asked: Iterable[Any]) -> list[Charge]:
    """As `charge_of`, each piece of work once."""
    distinct = {it.canonical().model_dump_json() if isinstance(it, RunSpec) else it.model_dump_json(): it for it in asked}
    return [charge_of(it) for it in distinct.values()]
