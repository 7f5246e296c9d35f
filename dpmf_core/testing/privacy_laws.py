"""Laws that a PROVEN algorithm keeps, as checks that raise AssertionError.

docs/PRIVACY.md, "How it is tested". Some are about its questions to its curator, one by one. The
others run it twice, and compare what left the curator or was about to be released. No check knows
an algorithm.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from dpmf_core.algorithms import Algorithm, PrivateAlgorithm
from dpmf_core.curator import Block, Statistic
from dpmf_core.curator.people import split_units
from dpmf_core.privacy import Event, Relation, normal_form
from dpmf_core.privacy.gaussian import all_gaussian, mu
from dpmf_core.testing import probes
from dpmf_core.testing.homes import RATINGS, Data, Home

ROUNDING = 1 + 1e-9  # of a norm computed in float64
SLACK = 1 + 1e-6  # of a run's move


def size(statistic: Statistic, values: Any) -> float:
    return float(np.linalg.norm(values, ord=1 if statistic.norm == "L1" else 2))


def check_plan(algorithm: PrivateAlgorithm, shape: Any) -> None:
    """The plan holds the declared statistics, with their sensitivities and factors, and no more."""
    leaves = [leaf for leaf, _ in normal_form(algorithm.plan(shape, 1.0))]
    statistics = algorithm.statistics(shape)
    assert {
        (leaf.statistic, leaf.sensitivity, leaf.replace_one_factor) for leaf in leaves
    } == {
        (statistic.name, statistic.sensitivity, statistic.replace_one_factor)
        for statistic in statistics
    }


def check_units(
    algorithm: Algorithm,
    data: Data | None = None,
    *,
    level: float = 1.0,
    home: Home = RATINGS,
    first: int = 0,
    stride: int = 1,
) -> dict[str, float]:
    """No unit's answers are larger or move further than declared.

    No unit's answer to any question is larger than declared. No two units' answers lie further
    apart than declared for replacing one. No answers to all questions together move more than the
    accountant counts, for one unit and for two that replace each other.

    Parameters
    ----------
    first, stride
        The units to check, so that they spread over many parameter sets.

    Returns
    -------
    dict
        The largest answer to each statistic, over its sensitivity. If replacing a unit is declared
        to move a statistic no further than removing it, the distance of two units counts too.
    """
    data = home.world() if data is None else data
    questions = probes.ask(algorithm, data, level=level)
    n_units = data.shape.n_units
    worst = [
        replace(unit, ids=unit.ids * 0)
        for unit in probes.single_units(home.adversaries(), n_units)
    ]
    # a replacement keeps the number
    everybody = [
        *worst,
        *probes.single_units(data, n_units),
    ]
    units = everybody[first::stride]
    largest: dict[str, float] = {}
    # all moves of each unit, and of all pairs that replace each other, in units of the noise
    squares: dict[Relation, Any] = dict.fromkeys(Relation, 0.0)
    for question in questions.questions:
        answers = [questions.answer(question, unit) for unit in units]
        power = 1 if question.statistic.norm == "L1" else 2
        apart = pdist(np.stack(answers), "minkowski", p=power)
        move = _relative_move(question.statistic, answers, float(apart.max()))
        largest[question.statistic.name] = max(
            move, largest.get(question.statistic.name, 0.0)
        )
        moves = [size(question.statistic, answer) for answer in answers]
        squares[Relation.ADD_REMOVE] += (np.array(moves) / question.scale) ** 2
        squares[Relation.REPLACE_ONE] += (apart / question.scale) ** 2
    _check_total(algorithm.plan(data.shape, level), squares)
    return largest


def _check_total(plan: Event, squares: Mapping[Relation, Any]) -> None:
    """Check all moves together, if all noise is Gaussian, so that squares of moves add up."""
    if not all_gaussian(plan):
        return
    for relation, moves in squares.items():
        move = float(np.sqrt(np.max(moves, initial=0.0)))
        bound = mu(plan, relation)
        assert move <= bound * ROUNDING, (
            f"one unit moved all releases together by {move:.9g}, accounted {bound:.9g} under"
            f" {relation}"
        )


def _relative_move(statistic: Statistic, answers: list[Any], apart: float) -> float:
    name = statistic.name
    bound = statistic.sensitivity
    sizes = [size(statistic, answer) for answer in answers]
    assert max(sizes) <= bound * ROUNDING, (
        f"moved {name!r} by {max(sizes):.9g}, declared {bound:.9g}"
    )
    replace_bound = bound * statistic.replace_one_factor
    assert apart <= replace_bound * ROUNDING, (
        f"replace moved {name!r} by {apart:.9g}, declared {replace_bound:.9g}"
    )
    largest = max(sizes)
    return (
        largest if statistic.replace_one_factor > 1 else max(largest, apart)
    ) / bound


def check_sums(algorithm: Algorithm, seed: int = 0, home: Home = RATINGS) -> None:
    """Every statistic is a sum over units, and the release is linear in it.

    S(A and B) = S(A) + S(B), bit for bit, and S of no units is 0.
    """
    data = home.world(seed)
    questions = probes.ask(algorithm, data)
    everybody = np.arange(data.shape.n_units)
    parts = [everybody, everybody[::2], everybody[1::2]]
    whole, half, rest = (split_units({"train": data}, [units])[0] for units in parts)
    nobody = Block(whole.ids, {"train": home.nobody()}, whole.n_units)
    for question in questions.questions:
        name = question.statistic.name
        for total, one, other, none in _totals(
            questions, question, whole, half, rest, nobody
        ):
            assert np.array_equal(total, one + other), f"{name!r} is no sum over units"
            assert not none.any(), f"{name!r} is not zero without units"
        answers = [questions.answer(question, block) for block in (whole, half, rest)]
        off = size(question.statistic, answers[0] - answers[1] - answers[2])
        scale = question.statistic.sensitivity + size(question.statistic, answers[0])
        assert off <= 1e-9 * scale, f"{name!r} is not linear in its sums"


def _totals(
    questions: probes.QuestionRecord, question: probes.ProbeQuestion, *blocks: Block
) -> Iterator[tuple[Any, ...]]:
    """Each array of the totals, for every block."""
    parts = [itertools.chain(*questions.totals(question, block)) for block in blocks]
    yield from zip(*parts, strict=True)


def same(first: probes.ProbeOutcome, second: probes.ProbeOutcome) -> None:
    """Everything that is shared, bit for bit."""
    one = first.shared
    other = second.shared
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].dtype == other[name].dtype
        assert one[name].tobytes() == other[name].tobytes(), (
            f"{name} differs by {np.abs(one[name] - other[name]).max()}"
        )
    assert first.model.settings == second.model.settings


# ---- blindfold -----------------------------------------------------------------------------------


def check_blindfold(algorithm: Algorithm, home: Home = RATINGS) -> None:
    """With every statistic multiplied by zero, nothing shared distinguishes two data sets."""
    before = probes.blind(algorithm, home.world())
    for stranger in home.strangers():
        after = probes.blind(algorithm, stranger)
        for one, other in probes.pairs(before, after):
            assert [part.tobytes() for part in one.noisy] == [
                part.tobytes() for part in other.noisy
            ], f"the noise of {one.leaf.statistic!r} depends on the data"
        same(before, after)


def check_fresh_noise(outcome: probes.ProbeOutcome) -> None:
    """No two parts begin with the same draw.

    A blindfolded run hands out noise alone, so each noise is new.
    """
    first_draws = [
        float(part.flat[0]) / entry.scale
        for entry in outcome.log
        for part in entry.noisy
        if part.size
    ]
    gaps = np.diff(np.sort(np.abs(first_draws)))
    assert (gaps > 1e-6).all(), "one stream drew the noise of two releases"


# ---- sensitivity ---------------------------------------------------------------------------------


def check_sensitivity(
    algorithm: Algorithm,
    data: Data = None,
    *,
    first: int = 0,
    stride: int = 1,
    level: float = 1.0,
    home: Home = RATINGS,
) -> dict[str, float]:
    """No release moves more than it declares while all releases are held fixed.

    Parameters
    ----------
    first, stride
        The neighbours to check, so that they spread over many parameter sets.

    Returns
    -------
    dict
        The largest move of each release by adding or removing, over its bound.
    """
    largest: dict[str, float] = {}
    data = home.world() if data is None else data
    plain = probes.record(algorithm, data, level=level)
    for relation, one, other in itertools.islice(
        home.neighbours(data), first, None, stride
    ):
        if one is data:
            before = plain
        else:
            before = probes.record(algorithm, one, level=level)
        after = probes.replay(algorithm, other, before, level=level)
        same(before, after)
        for release, counterpart in probes.pairs(before, after):
            move = float(np.linalg.norm(release.statistic - counterpart.statistic))
            if relation == "replace":
                relation_type = Relation.REPLACE_ONE
            else:
                relation_type = Relation.ADD_REMOVE
            leaf = release.leaf.alone
            bound = (
                leaf.noise_multiplier
                * leaf.sensitivity
                / leaf.multiplier(relation_type)
            )
            name = leaf.statistic
            assert move <= bound * SLACK, (
                f"{relation} moved {name!r} by {move:.9g}, declared {bound:.9g}"
            )
            if relation != "replace":
                largest[name] = max(largest.get(name, 0.0), move / bound)
    return largest


# ---- locality ------------------------------------------------------------------------------------


def check_locality(algorithm: Algorithm, seed: int = 0, home: Home = RATINGS) -> None:
    """Under the same releases a unit's own row does not depend on other units.

    It checks a heavy unit, an empty one and a plain one.
    """
    world: Data = home.world()
    before = probes.record(algorithm, world)
    for unit in (home.heavy, home.empty[0], seed % world.shape.n_units):
        others: Data = home.others(unit)
        after = probes.replay(algorithm, others, before)
        same(before, after)
        for one, other in zip(
            home.own_row(before.model, world, unit),
            home.own_row(after.model, others, unit),
            strict=True,
        ):
            assert one.tobytes() == other.tobytes(), (
                f"unit {unit}'s own row depends on others"
            )
