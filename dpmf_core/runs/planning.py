"""The releases and the cost of a run, before it starts."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from dpmf_core import algorithms
from dpmf_core.algorithms import Algorithm
from dpmf_core.base.errors import BadInput
from dpmf_core.data import AnyData, PartitionedRatings, Samples
from dpmf_core.data.catalogue import is_in_parts, is_own, offered_item_features
from dpmf_core.data.ratings import ITEMS_ARE_PUBLIC, USERS_ARE_PUBLIC, Shape
from dpmf_core.data.samples import NUMBER_IS_PUBLIC, WORDS_ARE_PUBLIC, SampleShape
from dpmf_core.privacy import (
    NOTHING,
    Gaussian,
    Guarantee,
    Relation,
    Repeat,
    accounts,
    calibrate,
    normal_form,
    sequence,
)
from dpmf_core.privacy.accounting import epsilon
from dpmf_core.privacy.accounts import Account
from dpmf_core.privacy.budget import NEEDS_DELTA, Calibration, NoiseKind
from dpmf_core.privacy.events import Event, Ledger
from dpmf_core.privacy.odometer import Charge
from dpmf_core.runs import partition_selection
from dpmf_core.runs.data_access import open_anywhere
from dpmf_core.runs.specification import DataSpec, RunSpec

LEAST_EPSILON = 0.001  # of each of several runs
COLUMNS_NAMED = 8  # columns of an item table that the card names


@dataclass(frozen=True)
class PreparedRun:
    """A run before it starts: its algorithm, level, plan and cost.

    Attributes
    ----------
    first
        The part of the plan that releases the shape of the data.
    rest
        The algorithm's part of the plan.
    """

    algorithm: Algorithm
    level: float
    plan: Event
    guarantee: Guarantee
    first: Event = NOTHING
    rest: Event = NOTHING


def prepare(
    spec: RunSpec, shape: Any, assumptions: tuple[str, ...] = (), unit: str = "sample"
) -> PreparedRun:
    """Plan a run from public facts alone.

    Parameters
    ----------
    spec
        The run.
    shape
        The shape of the data.
    assumptions
        What is taken as public about the data.
    unit
        The word for a sample.

    Returns
    -------
    PreparedRun
        The planned run.

    Raises
    ------
    BadInput
        If parameters or the budget do not fit, or if ratings in partitions do not suit the
        algorithm.
    """
    ready = prepare_for_shape(spec, shape, assumptions, unit)
    if isinstance(shape, Shape) and is_in_parts(spec.data.id):
        algorithms.require_sums_alone(ready.algorithm, spec.data.id, shape.bounds)
    return ready


def prepare_for_shape(
    spec: RunSpec, shape: Any, assumptions: tuple[str, ...] = (), unit: str = "sample"
) -> PreparedRun:
    """`prepare` from a shape alone, without checks of the data."""
    canonical = spec.canonical()
    if isinstance(shape, Shape) and algorithms.find(spec.algorithm).task == "samples":
        shape = SampleShape(shape.n_users, shape.n_items)  # ratings, taken as samples
    algorithm = algorithms.build(
        canonical.algorithm,
        dict(canonical.parameters),
        shape,
        canonical.budget,
        noise=not canonical.without_noise,
    )
    first = first_release(spec)
    if (
        spec.data.row_count == "private"
        and getattr(shape, "n_people", None) is not None
    ):
        raise BadInput(partition_selection.ROWS_OF_PEOPLE)
    level = 1.0
    plan_at = algorithms.plan_by_level(
        algorithm,
        shape,
        canonical.budget.noise if canonical.budget else NoiseKind.CONTINUOUS,
    )
    if canonical.budget is not None:
        exact = canonical.budget.calibration is Calibration.EXACT
        if not (exact or canonical.budget.delta):
            raise BadInput(NEEDS_DELTA)
        if exact:
            level = calibrate(lambda at: sequence(first, plan_at(at)), canonical.budget)
        else:
            level = algorithm.source_level(shape, canonical.budget)
    rest = plan_at(level)
    if canonical.budget is None and normal_form(rest):
        raise BadInput(
            f"{algorithm.title} is private and needs a budget: give an epsilon and a delta, or"
            " noise=none for the same method without noise and without privacy."
        )
    guarantee = _on_data(
        algorithm.guarantee_of_run(shape, level),
        spec,
        normal_form(first),
        assumptions,
        unit,
    )
    facts = (*guarantee.taken_as_public, *_item_facts(spec.data, shape))
    guarantee = replace(guarantee, taken_as_public=facts)
    return PreparedRun(algorithm, level, sequence(first, rest), guarantee, first, rest)


def _on_data(
    guarantee: Guarantee,
    spec: RunSpec,
    first: Ledger,
    assumptions: tuple[str, ...],
    unit: str,
) -> Guarantee:
    """An algorithm's guarantee with what the data and their split assume.

    What the releases in `first` show of the data's shape need not be assumed.
    """
    released = _released_facts(spec.data) if first else set[str]()
    assumed = (fact for fact in assumptions if fact not in released)
    guarantee = guarantee.assuming(*assumed, *spec.split.assumptions)
    facts = tuple(fact for fact in guarantee.taken_as_public if fact not in released)
    guarantee = replace(guarantee, taken_as_public=facts)
    if guarantee.unit == "sample":
        return guarantee.of(unit)
    return guarantee


def _item_facts(spec: DataSpec, shape: Any) -> tuple[str, ...]:
    """Public facts about the items, except their set."""
    if spec.item_features == "none":
        return ()
    features = getattr(shape, "item_features", None)
    columns = () if features is None else features.columns
    more = ""
    if len(columns) > COLUMNS_NAMED:
        more = f" and {len(columns) - COLUMNS_NAMED} more"
    names = ""
    if columns:
        names = f" ({', '.join(columns[:COLUMNS_NAMED])}{more})"
    return (f"the items' {offered_item_features(spec.id) or f'features{names}'}",)


def first_release(spec: RunSpec) -> Event:
    """What a run releases of its data's shape: a function of the specification.

    Nothing if the run has no noise. Raises BadInput if the algorithm's proof does not allow it.
    """
    budget = spec.canonical().budget
    guarantee = _with_defaults(spec).guarantee()
    if budget is None or not spec.data.releases_shape:
        return NOTHING
    if (
        guarantee.unit not in ("user", "sample")
        or not guarantee.has_epsilon
        or budget.calibration is not Calibration.EXACT
    ):
        raise BadInput(
            "item_choice=private and row_count=private need exact calibration and an algorithm"
            " with a proof for a whole user or sample. Leave them out, or change these."
        )
    if budget.noise is NoiseKind.DISCRETE:
        raise BadInput(
            "item_choice=private and row_count=private add floating-point noise to their counts."
            " Use continuous noise, or declare the shape."
        )
    return partition_selection.plan(
        budget,
        items=spec.data.item_choice == "private",
        units=spec.data.row_count == "private",
    )


def _released_facts(spec: DataSpec) -> set[str]:
    """What need not be assumed or taken as public, because the run releases it."""
    items = {ITEMS_ARE_PUBLIC, WORDS_ARE_PUBLIC, "the item set", "the features"}
    units = {
        NUMBER_IS_PUBLIC,
        USERS_ARE_PUBLIC,
        "the number of users",
        "the number of samples",
    }
    released = set[str]()
    if spec.item_choice == "private":
        released |= items
    if spec.row_count == "private":
        released |= units
    return released


def charge_before(spec: RunSpec, data: AnyData) -> Charge:
    """The charge that a run enters before anything is drawn.

    If the run releases the shape, the charge must not depend on the true one. It consists of the
    shape's releases and a release that takes the rest of the budget. That release must cost at
    least as much as the algorithm's releases under both relations.

    See docs/PRIVACY.md, "Other releases".
    """
    budget = spec.canonical().budget
    if budget is None or not spec.data.releases_shape:
        return charge_of(spec, prepared_for(spec, data))
    first = first_release(spec)
    # what costs so much when a unit is replaced may cost as much when one is added, and what costs
    # so much when one is added costs at most what twice the movement does when one is replaced
    factor = 2.0
    if budget.relation is Relation.REPLACE_ONE:
        factor = 1.0

    def everything(level: float) -> Event:
        return sequence(
            first, Gaussian(level, "everything after the shape", 1.0, factor)
        )

    plan = everything(calibrate(everything, budget))
    algorithm = _with_defaults(spec)
    guarantee = _on_data(
        algorithm.guarantee(), spec, normal_form(first), data.assumptions, _unit(data)
    )
    return Charge.of(
        algorithm.title, plan, guarantee, budget, holds_out=spec.split.holds_out
    )


def charge_of(spec: RunSpec, ready: PreparedRun) -> Charge:
    """The charge of a run to the account of private data, before it starts."""
    return Charge.of(
        ready.algorithm.title,
        ready.plan,
        ready.guarantee,
        spec.canonical().budget,
        holds_out=spec.split.holds_out,
    )


def _with_defaults(spec: RunSpec) -> Algorithm:
    canonical = spec.canonical()
    return algorithms.build_with_defaults(
        canonical.algorithm,
        dict(canonical.parameters),
        noise=not canonical.without_noise,
    )


def _unit(data: AnyData) -> str:
    if isinstance(data, Samples):
        return data.privacy_unit
    return "user"


def prepared_for(spec: RunSpec, data: AnyData) -> PreparedRun:
    """`prepare` for open data."""
    ready = prepare_for_shape(spec, data.shape, data.assumptions, _unit(data))
    if isinstance(data, PartitionedRatings):
        algorithms.require_sums_alone(ready.algorithm, data.name, data.bounds)
    return ready


def account_of(data_id: str) -> Account | None:
    """The account of a data set in the data folder; None if it is public.

    The account of an upload is deleted with it. Raises BadInput.
    """
    data = open_anywhere(DataSpec(id=data_id))
    return accounts.account_of(data, lasting=not is_own(data_id))


def charges_of(works: Iterable[Any]) -> list[Charge]:
    """The full charges of each run (`RunSpec`) or other work on private data, once.

    Raises BadInput.
    """
    distinct = {work.model_dump_json(): work for work in map(_canonical, works)}
    charges: list[Charge] = []
    for work in distinct.values():
        if isinstance(work, RunSpec):
            charges.append(
                charge_of(work, prepared_for(work, open_anywhere(work.data)))
            )
        else:
            charges += work.charges
    return charges


def _canonical(work: Any) -> Any:
    if isinstance(work, RunSpec):
        return work.canonical()
    return work


def epsilon_of_each(spec: RunSpec, shape: Any, times: int) -> float:
    """The epsilon of each of several runs that together cost a run's budget.

    The same people are in all of them, and each is planned with its own epsilon. The plans compose
    exactly, even if a run is chosen by the results of those before. It is rounded down to three
    digits, so that the total is at most the budget.

    Raises BadInput if there is no budget, or each run would have less than epsilon 0.001.
    """
    from scipy.optimize import brentq  # which most runs do not need

    budget = spec.require_budget()

    def excess(log_epsilon: float) -> float:
        plan = prepare(spec.at_epsilon(math.exp(log_epsilon)), shape).plan
        return (
            epsilon(Repeat(plan, times), budget.delta, budget.relation) - budget.epsilon
        )

    high = math.log(budget.epsilon)
    low = math.log(LEAST_EPSILON)
    if times == 1:
        return budget.epsilon
    if budget.epsilon <= LEAST_EPSILON or excess(low) > 0:
        raise BadInput(
            f"{times:,} runs at a total epsilon of {budget.epsilon:g} leave less than"
            f" {LEAST_EPSILON:g} for each run. Use fewer runs or a larger total."
        )
    each = math.exp(brentq(excess, low, high, rtol=1e-6))
    scale = 10.0 ** (2 - math.floor(math.log10(each)))
    return math.floor(each * scale) / scale
