"""Stored results: charged where they are shown again, and computed where they are missing.

A stored run was charged when its noise was drawn, perhaps to another ledger, or to an account that
was removed since. The account in force must hold every release that was shown under it, so it gets
the run's entry once, when the run is served.
"""

import contextlib
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from dpmf_core.base.errors import BadInput
from dpmf_core.data import AnyData
from dpmf_core.data.catalogue import is_own
from dpmf_core.privacy.accounts import LedgerFile, account_of
from dpmf_core.privacy.odometer import Charge
from dpmf_core.privacy.receipts import Receipt
from dpmf_core.runs import execution
from dpmf_core.runs.data_access import open_raw
from dpmf_core.runs.measured_fall import require_affordable, with_measurement
from dpmf_core.runs.record import Run, RunRecord
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store


@runtime_checkable
class ChargedOutcome(Protocol):
    """A result other than a run; receipt and charge are None if its data are public."""

    @property
    def spec(self) -> Any: ...

    @property
    def receipt(self) -> Receipt | None: ...

    @property
    def charge(self) -> Charge | None: ...


def enter_stored(record: RunRecord, ledger: LedgerFile = None) -> None:
    """Enter a stored run in the account in force, unless it holds the run already.

    Parameters
    ----------
    record
        The record of the run.
    ledger
        The file of the account; by default the data's.

    Raises
    ------
    BadInput
        If a budget does not allow the run. The run must then not be shown.
    """
    if record.public:
        return
    receipt = record.receipt or _receipt_of_earlier_version(record)
    if receipt is not None:
        is_upload = is_own(record.spec.data.id)
        charge = _charge(record)
        _enter(receipt, charge, ledger, record.created, lasting=not is_upload)
        _enter_measurement(record, ledger, lasting=not is_upload)


def _enter_measurement(record: RunRecord, ledger: LedgerFile, *, lasting: bool) -> None:
    """Enter what a stored run's measurement released, which is shown with the run."""
    fall = record.fall
    if fall is None:
        return
    charge = fall.charge(record.title, record.guarantee)
    if fall.receipt is not None and charge is not None:
        _enter(fall.receipt, charge, ledger, record.created, lasting=lasting)


def _charge(record: RunRecord) -> Charge:
    try:
        return Charge.of(
            record.title,
            record.event,
            record.guarantee,
            record.spec.budget,
            holds_out=record.spec.split.holds_out,
        )
    except (ValueError, TypeError, KeyError) as error:
        raise BadInput(
            f"The ledger of the stored run {record.key} cannot be read ({error}), so it cannot be"
            " charged. Delete it and run it again."
        ) from error


def enter_outcome(outcome: object) -> None:
    """`enter_stored` for the outcome of any work, such as a private selection."""
    if isinstance(outcome, Run):
        enter_stored(outcome.record)
    elif isinstance(outcome, ChargedOutcome) and outcome.receipt and outcome.charge:
        is_upload = is_own(outcome.spec.data.id)
        _enter(outcome.receipt, outcome.charge, None, "", lasting=not is_upload)


def _enter(
    receipt: Receipt,
    charge: Charge,
    ledger: LedgerFile,
    drawn_at: str,
    *,
    lasting: bool,
) -> None:
    account = account_of(receipt, ledger, lasting)
    assert account is not None  # public data have no receipts
    account.enter_stored(charge, receipt.entry, drawn_at)


def _receipt_of_earlier_version(record: RunRecord) -> Receipt | None:
    """A receipt for a run without one, under a name that no account has used.

    It is None if the run's data are gone, because then no account shows the run.
    """
    with contextlib.suppress(BadInput):
        data = open_raw(record.spec.data.id)
        return Receipt(data.account, f"run {record.key}", data.row_digest)
    return None


# ---- computed where they are missing -------------------------------------------------------------


def stored_or_computed(
    spec: RunSpec,
    store: Store | None,
    measure: float | None = None,
    ledger: LedgerFile = None,
    input_data: AnyData | None = None,
    compute: Callable[..., Run] = execution.run,
) -> Run:
    """The run, with its measurement if one is asked for.

    A measurement that cannot be made is refused before the run.

    Parameters
    ----------
    spec
        The run.
    store
        The store; None to compute the run and store nothing.
    measure
        The epsilon of the measurement; None for none.
    ledger
        The file of the account; by default the data's.
    input_data
        Data that no id finds. They must be lent, and the store None.
    compute
        Computes the run; takes `ledger` and `input_data`.

    Raises
    ------
    BadInput
        If the run or its measurement cannot be made, or a budget does not allow it.
    """
    in_hand = input_data is not None
    run = None if store is None else store.whole(spec)
    if run is not None:
        enter_stored(run.record, ledger)
    else:
        if measure is not None:
            require_affordable(spec, measure, ledger, in_hand=in_hand)
        run = compute(spec, ledger=ledger, input_data=input_data)
        if store is not None:
            store.put(run)
    if measure is None:
        return run
    measured_run = with_measurement(run, measure, ledger, in_hand=in_hand)
    if store is not None and measured_run is not run:
        store.put(measured_run)
    return measured_run
