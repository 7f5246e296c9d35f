"""Disjoint groups of units: only noisy sums leave, and all of them cost one release."""

import dataclasses
import math

import numpy as np
import pytest

from dpmf_core.algorithms.dpals import DPALS
from dpmf_core.curator import NoisyCurator, in_memory, on_disjoint_groups, on_groups
from dpmf_core.curator.groups import GroupStatistic, groups_of, members
from dpmf_core.privacy import (
    DisjointGroup,
    Gaussian,
    Noise,
    PlanViolation,
    Relation,
    Repeat,
    normal_form,
    sequence,
)
from dpmf_core.privacy.accounting import delta, epsilon
from dpmf_core.privacy.events import event_of_rows, ledger_rows
from dpmf_core.privacy.gaussian import gaussian_epsilon, mu
from dpmf_core.testing import privacy_laws as laws
from dpmf_core.testing.homes import RATINGS
from dpmf_core.testing.privacy_laws import check_blindfold, check_locality
from dpmf_core.testing.probes import pairs, record, replay
from tests.contract.test_curator_laws_can_fail import Sums

GROUPS = 3
ONE_EACH = DPALS(disjoint_users=True, steps=GROUPS, rank=2, ratings_per_user=4)
RELATIONS = pytest.mark.parametrize("relation", Relation)


def curator(of=GROUPS, times=1, data=None):
    plan = Repeat(on_groups(Sums().event(1.0), of), times)
    if data is None:
        rows = RATINGS.world()
    else:
        rows = data
    return NoisyCurator(in_memory(rows), Noise(plan, np.random.SeedSequence(1)))


def released_sums(block):
    totals = Sums().empty(block.rows.shape)
    Sums().add(block, totals)
    return totals[0]


@pytest.mark.parametrize("of", [1, 2, 3, 7, 50])
def test_every_unit_is_in_exactly_one_group_by_her_number_alone(of):
    numbers = np.arange(2_000)
    inside = groups_of(numbers, of)
    assert inside.min() >= 0
    assert inside.max() == of - 1
    assert np.array_equal(inside[700:900], groups_of(numbers[700:900], of))
    shares = np.bincount(inside) / len(numbers)
    deviations = np.abs(shares - 1 / of)
    assert deviations.max() < 5 * math.sqrt(1 / of / len(numbers))


@RELATIONS
@pytest.mark.parametrize("z", [0.4, 2.0, 9.0])
def test_all_groups_cost_what_one_costs_by_the_closed_form(z, relation):
    each = Gaussian(z, "sums", 1.0, math.sqrt(2))
    plan = on_groups(each, GROUPS)
    if relation is Relation.REPLACE_ONE:
        factor = math.sqrt(2)
    else:
        factor = 1.0
    assert mu(plan, relation) == pytest.approx(factor / z, rel=1e-14)
    expected = gaussian_epsilon(factor / z, 1e-5)
    assert epsilon(plan, 1e-5, relation) == pytest.approx(expected, rel=1e-12)
    assert delta(plan, 1.0, relation) == delta(each, 1.0, relation)
    in_turn = Repeat(each, GROUPS)
    expected = math.sqrt(GROUPS) * factor / z
    assert mu(in_turn, relation) == pytest.approx(expected)
    both = sequence(Gaussian(3.0, "first"), plan)
    share = mu(Gaussian(3.0, "first"), relation)
    expected = math.hypot(share, factor / z)
    assert mu(both, relation) == pytest.approx(expected)


def test_replacing_a_user_by_one_of_another_group_is_covered():
    """Then two groups move, each by one unit that is added or removed."""
    plan = ONE_EACH.plan(RATINGS.world().shape, 1.0)
    on_group = [leaf for leaf, _ in normal_form(plan) if leaf.groups > 1]
    assert len(on_group) == 2
    for leaf in on_group:
        in_one_group = dataclasses.replace(leaf, groups=1)
        two_groups = mu(Repeat(in_one_group, 2))
        assert two_groups <= mu(leaf, Relation.REPLACE_ONE) * (1 + 1e-12)


@RELATIONS
def test_a_plan_of_groups_costs_the_budget_and_each_step_has_a_root_less_noise(
    relation,
):
    shape = RATINGS.world().shape
    plain = ONE_EACH.model_copy(update={"disjoint_users": False})
    for level in (0.5, 3.0):
        assert mu(ONE_EACH.plan(shape, level)) == pytest.approx(
            mu(plain.plan(shape, level))
        )
        own = {
            leaf.statistic: leaf.noise_multiplier
            for leaf, _ in normal_form(ONE_EACH.plan(shape, level))
        }
        all_of_them = {
            leaf.statistic: leaf.noise_multiplier
            for leaf, _ in normal_form(plain.plan(shape, level))
        }
        for name in ("item Grams", "item right-hand sides"):
            expected = all_of_them[name] / math.sqrt(GROUPS)
            assert own[name] == pytest.approx(expected)
    assert mu(ONE_EACH.plan(shape, 1.0), relation) <= mu(
        plain.plan(shape, 1.0), relation
    ) * (1 + 1e-12)


def test_rows_of_a_ledger_say_how_many_groups_and_older_ones_mean_one():
    sums = on_groups(Gaussian(1.0, "sums"), GROUPS)
    plan = sequence(Gaussian(2.0, "first"), sums)
    rows = ledger_rows(normal_form(plan))
    assert [row.get("groups") for row in rows] == [None, GROUPS]
    assert normal_form(event_of_rows(rows)) == normal_form(plan)


def own_sums(block):
    return released_sums(block)


def beside(block, state):
    return state


@dataclasses.dataclass(frozen=True)
class HeldSums(Sums):
    """What a step made of the rows."""

    def empty(self, shape, *shared):
        return super().empty(shape)

    def add(self, block, totals, *shared):
        totals[0][:] += shared[0]


def twice(curator):
    group = on_disjoint_groups(curator, GROUPS)[1]
    group.release(Sums())
    group.release(Sums())


def everybody(curator):
    curator.release(Sums())


def another_split(curator):
    first, *_ = on_disjoint_groups(curator, GROUPS)
    first.release(Sums())
    _, second = on_disjoint_groups(curator, 2)
    second.release(Sums())


def a_group_that_is_none(curator):
    none = DisjointGroup(GROUPS, GROUPS)
    curator.release(GroupStatistic(Sums(), none))


def made_of_everybody(curator):
    local_state = curator.hold(own_sums)
    first, *_ = on_disjoint_groups(curator, GROUPS)
    first.release(HeldSums(), local_state)


def made_of_another_group(curator):
    first, second, _ = on_disjoint_groups(curator, GROUPS)
    second.release(HeldSums(), first.hold(own_sums))


def passed_on_by_a_step(curator):
    first, second, _ = on_disjoint_groups(curator, GROUPS)
    held_by_first = first.hold(own_sums)
    second.release(HeldSums(), second.hold(beside, held_by_first))


def held_by_another_curator(curator):
    noise = Noise(Sums().event(1.0), np.random.SeedSequence(2))
    other = NoisyCurator(curator._people, noise)  # on the same rows
    first, *_ = on_disjoint_groups(curator, GROUPS)
    first.release(HeldSums(), other.hold(own_sums))


def who_rated_what(curator):
    on_disjoint_groups(curator, GROUPS)[0].cells()


def in_parts(curator):
    local_state = curator.hold(own_sums)
    on_disjoint_groups(curator, GROUPS)[0].release_parts(
        HeldSums(), [(0, 1)], local_state
    )


@pytest.mark.parametrize(
    "attack",
    [
        twice,
        everybody,
        another_split,
        a_group_that_is_none,
        made_of_everybody,
        made_of_another_group,
        passed_on_by_a_step,
        held_by_another_curator,
        who_rated_what,
        in_parts,
    ],
    ids=lambda attack: attack.__name__,
)
def test_nobody_answers_in_two_groups(attack):
    with pytest.raises(PlanViolation):
        attack(curator())


def test_a_group_may_use_the_state_of_its_own_rows():
    for number, group in enumerate(on_disjoint_groups(curator(), GROUPS)):
        assert group.hold(beside, group.hold(own_sums)) is not None
        noisy = group.release(HeldSums(), group.hold(own_sums))
        block = in_memory(RATINGS.world()).blocks[0]
        exact = released_sums(members(block, DisjointGroup(number, GROUPS)))
        assert exact.any()
        assert np.abs(noisy - exact).max() < 6 * Sums().sensitivity


def test_a_group_tells_its_public_shape_and_its_noise_and_nothing_else():
    public = {"shape", "scale", "release", "release_parts", "cells", "hold"}
    for group in on_disjoint_groups(curator(), GROUPS):
        names = {name for name in dir(group) if not name.startswith("_")}
        assert names == public
        assert group.shape == RATINGS.world().shape
        assert group.scale(Sums()) == Sums().sensitivity


@pytest.mark.parametrize("relation", ["remove", "replace"])
def test_while_releases_are_held_a_neighbour_moves_the_releases_of_one_group(relation):
    rows = RATINGS.world()
    before = record(ONE_EACH, rows)
    met = set()
    for user in range(0, rows.n_users, 3):
        hers = rows.users == user
        items = rows.items.copy()
        reverse = rows.n_items - 1 - items[hers]
        items[hers] = reverse[::-1]
        if relation == "remove":
            other = rows.only(~hers)
        else:
            other = dataclasses.replace(rows, items=items)
        after = replay(ONE_EACH, other, before)
        group_pairs = []
        for pair in pairs(before, after):
            if pair[0].leaf.groups > 1:
                group_pairs.append(pair)
        group_numbers = {
            place // 2  # two statistics a step
            for place, (one, two) in enumerate(group_pairs)
            if not np.array_equal(one.statistic, two.statistic)
        }
        (own_group,) = groups_of(np.array([user]), GROUPS)
        assert group_numbers <= {int(own_group)}
        met |= group_numbers
    assert met == set(range(GROUPS))


def test_the_laws_hold_and_a_heavy_user_comes_near_the_whole_budget():
    laws.check_plan(ONE_EACH, RATINGS.world().shape)
    laws.check_sums(ONE_EACH)
    shares = laws.check_units(ONE_EACH)
    assert min(shares.values()) > 0.99
    check_blindfold(ONE_EACH)
    check_locality(ONE_EACH)
