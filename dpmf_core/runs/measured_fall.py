"""Train, then measure the gain: the fall of the error per person, released with noise.

The release has a price of its own. docs/PRIVACY.md, "Fall of the error".
"""

import math
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np

from dpmf_core import algorithms
from dpmf_core.algorithms.baselines import UserMeans
from dpmf_core.base.errors import BadInput, checked
from dpmf_core.base.frozen import Frozen
from dpmf_core.base.progress import Stopped, Tell, ignore
from dpmf_core.curator import Blocks, NoisyCurator
from dpmf_core.data import AnyData
from dpmf_core.data.catalogue import is_own
from dpmf_core.privacy import (
    Budget,
    Calibration,
    Event,
    Noise,
    NoiseKind,
    normal_form,
    sequence,
)
from dpmf_core.privacy.accounting import calibrate
from dpmf_core.privacy.accounts import LedgerFile, account_of, charging
from dpmf_core.privacy.events import on_grids
from dpmf_core.privacy.odometer import Charge, check, total
from dpmf_core.privacy.receipts import Receipt
from dpmf_core.runs import execution
from dpmf_core.runs.data_access import open_anywhere
from dpmf_core.runs.fall_record import FallPrice, FallRecord, charge_title
from dpmf_core.runs.noisy_errors import people_of
from dpmf_core.runs.paired_errors import (
    CONSTANT,
    FLOORS,
    OWN_MEAN,
    PairedErrors,
    PairedSums,
    PersonalErrors,
)
from dpmf_core.runs.planning import charge_before
from dpmf_core.runs.privacy_record import ReleaseRecord
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import DataSpec, RunSpec

MOST = 100.0  # the largest epsilon of a measurement
LEAST = 1e-4  # and the smallest
RADIUS = 1.0  # of `PairedErrors`
CONSTANT_SHARE = 0.15  # of mu^2, for the constant that is one of the floors


# ---- its price -----------------------------------------------------------------------------------


def check_epsilon(epsilon: float) -> None:
    """Raise BadInput unless a measurement may have this epsilon."""
    if not LEAST <= epsilon <= MOST:
        raise BadInput(
            f"The epsilon of a measurement must be from {LEAST:g} to {MOST:g}. Got {epsilon:g}."
        )


def require_measurable(spec: RunSpec, data: AnyData, epsilon: float) -> None:
    """Raise BadInput if a run of this specification cannot be measured at this epsilon."""
    check_epsilon(epsilon)
    kind = algorithms.find(spec.algorithm)
    if kind.task != "ratings":
        raise BadInput(
            f"A measurement compares errors of ratings, and {kind.title} factorises samples. Leave"
            " the measurement out."
        )
    if spec.split.kind == "none":
        raise BadInput(
            "A measurement needs held-out ratings, and this split leaves none. Choose another"
            " split, or leave the measurement out."
        )
    if data.public:
        return
    budget = spec.canonical().budget
    if budget is None or not charge_before(spec, data).covered:
        raise BadInput(
            f"{kind.title} has no proven epsilon for a person here, so any person's rating may have"
            " changed its error, and no noise on one person's share hides that. Choose a private"
            " method."
        )
    event(budget, epsilon)  # refuses a delta of 0


def event(budget: Budget, epsilon: float) -> Event:
    """The releases of one measurement at `epsilon`, with the delta, relation and noise of a run."""
    own_budget = budget.model_copy(
        update={"epsilon": epsilon, "calibration": Calibration.EXACT}
    )

    def plan(level: float) -> Event:
        means = UserMeans().event(level / math.sqrt(CONSTANT_SHARE))
        errors = PairedErrors(RADIUS).event(level / math.sqrt(1 - CONSTANT_SHARE))
        releases = sequence(means, errors)
        if budget.noise is NoiseKind.DISCRETE:
            return on_grids(releases)
        return releases

    return plan(calibrate(plan, own_budget))


def charge_of(spec: RunSpec, data: AnyData, epsilon: float) -> Charge:
    """The charge of measuring a run, before anything is drawn."""
    before = charge_before(spec, data)
    budget = _budget(spec)
    title = charge_title(before.title)
    return replace(before, title=title, ledger=normal_form(event(budget, epsilon)))


def charges(spec: RunSpec, data: AnyData, epsilon: float) -> list[Charge]:
    """The charges of a run and of its measurement, before anything is drawn."""
    return [charge_before(spec, data), charge_of(spec, data, epsilon)]


def require_affordable(
    spec: RunSpec,
    epsilon: float,
    ledger: LedgerFile = None,
    *,
    in_hand: bool = False,
) -> None:
    """Raise BadInput if a run cannot be measured, or a budget does not allow both.

    It is called before the run, so that nothing is drawn if the measurement would be refused.
    """
    data = open_anywhere(spec.data)
    require_measurable(spec, data, epsilon)
    lasting = in_hand or not is_own(spec.data.id)
    account = account_of(data, ledger, lasting, in_hand=in_hand)
    budget = None if account is None else account.budget
    if account is not None and budget is not None:
        before = [entry.charge for entry in account.entries]
        check(before, charges(spec, data, epsilon), budget)


def _budget(spec: RunSpec) -> Budget:
    budget = spec.canonical().budget
    assert budget is not None  # `require_measurable`
    return budget


# ---- the measurement -----------------------------------------------------------------------------


def with_measurement(
    run: Run, epsilon: float, ledger: LedgerFile = None, *, in_hand: bool = False
) -> Run:
    """The run with its measurement at this epsilon.

    The measurement is made now unless the run holds it already. On private data it is charged
    before anything is drawn.

    Parameters
    ----------
    run
        The run.
    epsilon
        The epsilon of the measurement.
    ledger
        The file of the account; by default the data's.
    in_hand
        Whether the caller holds the data, and has lent them.

    Returns
    -------
    Run
        The run with the measurement.

    Raises
    ------
    BadInput
        If the run cannot be measured, or if a budget does not allow it.
    """
    data = open_anywhere(run.spec.data)
    require_measurable(run.spec, data, epsilon)
    known = run.record.fall
    if known is not None and (known.price is None or known.price.epsilon == epsilon):
        return run
    if run.record.public:
        fall = exact_fall(people_of(run), run.model)
    else:
        fall = _released_fall(run, data, epsilon, ledger, in_hand)
    return replace(run, record=run.record.model_copy(update={"fall": fall}))


def _released_fall(
    run: Run, data: AnyData, epsilon: float, ledger: LedgerFile, in_hand: bool
) -> FallRecord:
    releases = event(_budget(run.spec), epsilon)
    guarantee = run.record.guarantee
    title = charge_title(run.record.title)
    charge = Charge.of(title, releases, guarantee, run.spec.budget)
    lasting = in_hand or not is_own(run.spec.data.id)
    with charging(data, charge, ledger, lasting, in_hand=in_hand) as permit:
        fall = noisy_fall(people_of(run), run.model, permit.noise(releases))
    of_run = Charge.of(run.record.title, run.record.event, guarantee, run.spec.budget)
    both = total([of_run, charge])
    price = FallPrice(
        epsilon=epsilon,
        delta=_budget(run.spec).delta,
        relation=_budget(run.spec).relation,
        together=both.epsilon,
        ledger=ReleaseRecord.of_ledger(normal_form(releases)),
        rule=both.rule,
    )
    receipt = Receipt.of(data, permit.entry)
    return fall.model_copy(update={"price": price, "receipt": receipt})


def noisy_fall(people: Blocks, model: Any, noise: Noise) -> FallRecord:
    """The fall of a model's error by the releases of `event`, without its price."""
    curator = NoisyCurator(people, noise)
    constant = _released_constant(curator)
    sums = PairedSums.released(
        curator,
        noise,
        model,
        RADIUS,
        constant.value,
        constant.variance,
    )
    return _record(sums, constant.value)


class _Constant(NamedTuple):
    """One number for everyone, and the variance of its noise, in units of a rating."""

    value: float
    variance: float


def _released_constant(curator: NoisyCurator) -> _Constant:
    """The mean of people's means, from two noisy sums."""
    shape = curator.shape
    scale = curator.scale(UserMeans())
    means, count = curator.release(UserMeans())
    people = max(float(count), 1.0)
    mean = float(np.clip(means / people, -1.0, 1.0))
    variance = min((scale / people) ** 2 * (1 + mean**2), 1.0)
    value = float(shape.mid_range + shape.half_range * mean)
    return _Constant(value, shape.half_range**2 * variance)


def _record(sums: PairedSums, constant: float) -> FallRecord:
    statistic = sums.statistic
    fall = sums.fall
    error = sums.error
    square = sums.half_range**2
    return FallRecord(
        value=fall.value,
        low=fall.low,
        high=fall.high,
        floor=sums.floor,
        constant=constant,
        error=error.value,
        error_low=error.low,
        error_high=error.high,
        own_clip=statistic.own_clip * square,
        constant_clip=statistic.constant_clip * square,
    )


def exact_fall(people: Blocks, model: Any) -> FallRecord:
    """The fall without noise and without clips, for public data; never released of private ones."""
    shape = people.shape
    constant = _mean_of_means(people)
    n_people = 0
    errors = dict.fromkeys(("model", OWN_MEAN, CONSTANT), 0.0)
    for block in people.blocks:
        of_block = PersonalErrors.of(block, model, constant)
        n_people += len(of_block.model)
        errors["model"] += float(of_block.model.sum())
        errors[OWN_MEAN] += float(of_block.own_mean.sum())
        errors[CONSTANT] += float(of_block.constant.sum())
    if not n_people:
        raise BadInput(
            "There are no held-out ratings to measure on. Change the test fraction."
        )
    error = _root(errors["model"], n_people, shape.half_range)
    floor = min(FLOORS, key=lambda name: errors[name])
    fall = _root(errors[floor], n_people, shape.half_range) - error
    return FallRecord(
        value=fall,
        low=fall,
        high=fall,
        floor=floor,
        constant=constant,
        error=error,
        error_low=error,
        error_high=error,
    )


def _mean_of_means(people: Blocks) -> float:
    """The exact mean of people's means, of the ratings that they know."""
    shape = people.shape
    totals = UserMeans().empty(shape)
    for block in people.blocks:
        UserMeans().add(block, totals)
    means, count = totals[0].tolist()
    return float(shape.mid_range + shape.half_range * means / max(count, 1.0))


def _root(squares: float, n_people: int, half_range: float) -> float:
    """The root of a mean over people, in units of a rating."""
    return half_range * math.sqrt(squares / n_people)


# ---- with the training, as one piece of work -----------------------------------------------------


class MeasuredTraining(Frozen):
    """A run, and the measurement of its fall of the error.

    Parameters
    ----------
    spec
        The run.
    epsilon
        Of the measurement, on private data.
    """

    spec: RunSpec
    epsilon: float

    @classmethod
    def parse(cls, **parts: Any) -> Self:
        """A checked specification. Raises BadInput with the first problem."""
        return checked(cls, "the measured training", parts)

    @property
    def data(self) -> DataSpec:
        return self.spec.data

    @property
    def charges(self) -> list[Charge]:
        """The charges of the run and of the measurement, before anything is drawn."""
        return charges(self.spec, open_anywhere(self.data), self.epsilon)

    def check(self) -> None:
        """Raise BadInput if the run cannot be measured."""
        require_measurable(self.spec, open_anywhere(self.data), self.epsilon)

    def measure(self, report: Tell = ignore, stopped: Stopped = lambda: False) -> Run:
        """The run with its measurement in `record.fall`.

        Raises BadInput if it cannot be measured or a budget does not allow both; then nothing was
        drawn. Raises Cancelled when `stopped` returns true.
        """
        require_affordable(self.spec, self.epsilon)
        trained = execution.run(self.spec, report=report, stopped=stopped)
        return with_measurement(trained, self.epsilon)
