"""`dpmf.audit`: attack an algorithm, and compare the measured epsilon with the proven one."""

from collections.abc import Mapping
from typing import Any, Literal

from dpmf_core.api.loading import Source, data_of, declared_facts
from dpmf_core.api.names import ColumnNames, Missing
from dpmf_core.base.errors import BadInput
from dpmf_core.data.catalogue import lent
from dpmf_core.data.frames import Bounds
from dpmf_core.evaluation.audit import membership_inference
from dpmf_core.evaluation.audit.canary_data import Unit
from dpmf_core.evaluation.audit.membership_inference import Audit as Audit
from dpmf_core.evaluation.audit.own_data import audit_on
from dpmf_core.runs.data_access import open_data
from dpmf_core.runs.specification import DataSpec

Fault = Literal["none", "small-noise", "unlisted-release", "no-clipping", "exact-start"]


def audit(
    algorithm: str,
    data: Source | None = None,
    *,
    epsilon: float | None = None,
    delta: float = 1e-5,
    runs: int = 1000,
    fault: Fault = "none",
    unit: Unit | None = None,
    user: int | None = None,
    seed: int = 0,
    parameters: Mapping[str, Any] | None = None,
    bounds: Bounds | None = None,
    columns: ColumnNames = None,
    missing: Missing = None,
) -> Audit:
    """Attack an algorithm, and return the measured epsilon next to the proven one.

    The algorithm is trained many times with and without a canary, on a small simulated set with a
    worst-case user or sample, or on given data. On private data the figures are raw: they are for
    the holder of the data, enter no account and must not be shared.

    Parameters
    ----------
    algorithm
        An id of `algorithms`.
    data
        A catalogue id, a path, or data in memory: the attack uses these data. By default it uses a
        simulated set.
    epsilon
        The total privacy loss of every attacked run; private algorithms need it.
    delta
        The slack of the bound.
    runs
        The number of training runs, at least 40, half of them with the canary.
    fault
        A fault to plant in the algorithm, which the audit should find.
    unit
        What the canary is on the simulated set: "user" (or sample), "rating" or "value". By default
        the unit that the algorithm protects.
    user
        On given data: the number, from 0, of the user (document, image) who is removed. By default
        one more is added.
    seed
        The seed of all random draws.
    parameters
        Parameters of the algorithm by name.
    bounds
        The lowest and highest possible rating of given data.
    columns
        The columns of given data by role.
    missing
        The values of given data that mean "not rated".

    Returns
    -------
    Audit
        `lower` is the measured epsilon at 95% confidence, `proven` the proven one, and `broken`
        says whether they contradict each other. It prints as sentences and has `to_dict`.

    Raises
    ------
    BadInput
        If an argument cannot be used.

    Examples
    --------
    >>> import dpmf
    >>> found = dpmf.audit("private-bias", epsilon=3.0, runs=200)
    >>> found.lower < round(found.proven, 6) == 3.0
    True
    >>> dpmf.audit("private-bias", epsilon=3.0, runs=200, fault="small-noise").broken
    True
    """
    options: dict[str, Any] = {
        "epsilon": epsilon,
        "delta": delta,
        "runs": runs,
        "fault": fault,
        "seed": seed,
        "parameters": dict(parameters or {}),
    }
    if data is None:
        of_given_data = (user, bounds, columns, missing)
        if any(option is not None for option in of_given_data):
            raise BadInput(
                "user, bounds, columns and missing are for given data. Add data."
            )
        return membership_inference.audit(algorithm, unit=unit, **options)
    if unit not in (None, "user"):
        raise BadInput("On given data the canary is a whole user. Leave unit out.")
    declared = declared_facts(columns, {"bounds": bounds, "missing": missing})
    _, own_data, choices = data_of(data, declared, [algorithm], {})
    spec = DataSpec(id=choices["dataset"])
    with lent(spec.id, own_data):  # data in memory have no address to open
        target = open_data(spec)
    return audit_on(target, algorithm, user=user, **options)
