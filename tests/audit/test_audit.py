"""The attack: its arithmetic against closed forms, what it finds of planted faults, and that it
finds nothing above a proof.
"""

import json
import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.stats import binom, norm

from dpmf_core.algorithms import PrivateAlgorithm, Recommender, Streams, find
from dpmf_core.audit import bounds, canary_data, pair_test
from dpmf_core.audit.audit_table import as_record, every_proven, table_specs
from dpmf_core.audit.canaries import FAULTS, Attacked, faults_of, prepared
from dpmf_core.audit.canary_data import COLUMNS, Pair, Unit
from dpmf_core.audit.membership_inference import AuditSpec, audit, rates
from dpmf_core.cli import main
from dpmf_core.curator import Block, Curator, Statistic, Totals
from dpmf_core.data.ratings import Shape
from dpmf_core.engine.executor import Engine
from dpmf_core.errors import BadInput, Cancelled
from dpmf_core.privacy import Event, Gaussian, Guarantee, Status
from dpmf_core.privacy.accounting import epsilon as exactly
from dpmf_core.privacy.gaussian import mu as mu_of
from dpmf_core.runs.store import Store

# ---- arithmetic ----------------------------------------------------------------------------------


def test_a_perfect_attack_shows_no_more_than_its_runs_allow() -> None:
    """No error in n trials of each kind: both rates are below 1 - (error / 2)^(1 / n)."""
    limit = 1 - 0.025 ** (1 / 250)
    found = bounds.epsilon_of_rates(np.array([0]), np.array([0]), (250, 250), 0.0, 0.05)
    assert found[0] == pytest.approx(math.log((1 - limit) / limit))
    assert bounds.most(1000, ("what is shared",), 0.0, False) == pytest.approx(
        math.log((1 - limit) / limit)
    )


def test_limits_are_those_of_clopper_and_pearson() -> None:
    """1 of 10 at 2.5% a side: at most .4450 (Clopper & Pearson 1934); and for every count the
    binomial tail is the error itself.
    """
    assert bounds.upper_limits(10, 0.025)[1] == pytest.approx(0.4450, abs=5e-5)
    assert bounds.upper_limits(10, 0.025)[10] == 1.0
    limits = bounds.upper_limits(50, 0.01)[:-1]
    np.testing.assert_allclose(binom.cdf(np.arange(50), 50, limits), 0.01, rtol=1e-9)


@pytest.mark.parametrize("attacks", [("what is shared",), ("what is shared", "what is released")])
@pytest.mark.parametrize("through_mu", [False, True])
def test_the_tests_that_are_run_share_the_five_percent(
    attacks: tuple[bounds.Attack, ...], through_mu: bool
) -> None:
    errors = bounds.shares(attacks, through_mu)
    assert sum(errors.values()) == pytest.approx(0.05)
    assert {rule for _, rule in errors} == (
        {"pair test", "error rates"} if through_mu else {"error rates"}
    )
    scores = dict.fromkeys(attacks, (np.zeros(40), np.ones(40)))
    assert {
        (it.attack, it.rule): it.error for it in bounds.judged(scores, 1e-5, through_mu)
    } == errors


def test_error_rates_run_from_all_alarms_to_none() -> None:
    rng = np.random.default_rng(2)
    found = bounds.judged(
        {"what is shared": (rng.standard_normal(200), 1 + rng.standard_normal(200))}, 1e-5, False
    )[0]
    assert len(found.false_alarms) == len(found.misses) == bounds.CUTS
    assert found.false_alarms[-1] == 0 and found.misses[-1] == 1
    assert sorted(found.misses) == list(found.misses) and sorted(
        found.false_alarms, reverse=True
    ) == list(found.false_alarms)


# ---- the pair test -------------------------------------------------------------------------------


@pytest.mark.parametrize(("pairs", "mu"), [(1000, 0.71875), (61, 1.5), (20, 0.5)])
def test_the_ideal_attacks_law_is_that_of_sorted_normals(pairs: int, mu: float) -> None:
    """Against brute force: pairs of normals a distance mu apart, sorted by the size of their
    difference, class by class. Mean and spread of the sums.
    """
    rng = np.random.default_rng(5)
    z = rng.normal(mu, 1, (10_000, pairs)) - rng.normal(0, 1, (10_000, pairs))
    weights = np.concatenate(
        [
            np.full(len(part), weight)
            for part, weight in zip(
                np.array_split(np.zeros(pairs), 6), range(6, 0, -1), strict=True
            )
        ]
    )
    sums = ((np.take_along_axis(z, np.argsort(-np.abs(z), axis=1), axis=1) > 0) * weights).sum(
        axis=1
    )
    reaching = pair_test._reaching(pairs, round(mu / pair_test.STEP))
    assert reaching[0] == pair_test.DRAWS
    chances = -np.diff(reaching, append=0) / pair_test.DRAWS
    mean = float(chances @ np.arange(len(chances)))
    spread = math.sqrt(float(chances @ np.arange(len(chances)) ** 2) - mean**2)
    assert mean == pytest.approx(
        sums.mean(), abs=4 * spread * math.sqrt(1 / len(sums) + 1 / pair_test.DRAWS)
    )
    assert spread == pytest.approx(sums.std(), rel=4 / math.sqrt(2 * len(sums)))


def test_all_pairs_told_apart_bound_mu_as_the_binomial_does() -> None:
    """n right of n, whatever their weights: Phi(mu / sqrt(2))^n = error."""
    exact = math.sqrt(2) * norm.ppf(0.02 ** (1 / 200))
    found = pair_test.mu_at_least(pair_test.weighted(np.zeros(200), np.ones(200)), 200, 0.02)
    assert exact - 0.05 < found <= exact + pair_test.STEP


def test_ties_are_wrong_answers() -> None:
    assert pair_test.weighted(np.zeros(50), np.zeros(50)) == 0
    assert pair_test.mu_at_least(0, 50, 0.02) == 0.0


SIMULATED = 10_000
RUNS = 2000


TRUTH = 184  # in steps of the grid: mu .71875, epsilon 2.998
BOTH: tuple[bounds.Attack, ...] = ("what is shared", "what is released")


def simulated(mu: float, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores of audits that are exactly mu-GDP, without training, each (count, 2, runs / 2):
    the log likelihood ratio, and a coordinate that says less.
    """
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((count, 2, RUNS // 2))
    ratio = mu * z + mu * mu * np.array([[-0.5], [0.5]])
    return ratio, z + 0.3 * rng.standard_normal(z.shape) + mu * np.array([[0.0], [1.0]])


def ruled_out(scores: np.ndarray, error: float) -> np.ndarray:
    """For each of many audits (count, 2, pairs), whether the pair test's bound is above the truth.

    Simulated audits share one critical total.
    """
    pairs = scores.shape[-1]
    totals = range(6 * pairs)
    critical = next(
        iter(
            totals[
                bisect_left(
                    totals, True, key=lambda total: pair_test._ruled_out(total, pairs, TRUTH, error)
                ) :
            ]
        ),
        6 * pairs,
    )
    return np.asarray(pair_test.weighted(scores[:, 0], scores[:, 1]) >= critical)


def above_the_truth(
    attack: bounds.Attack, rule: bounds.Rule, error: float, scores: np.ndarray
) -> np.ndarray:
    """For each audit, whether this test's bound is above the truth."""
    half = RUNS // 4
    if rule == "pair test":
        return ruled_out(scores if attack == "what is released" else scores[..., half:], error)
    limit = exactly(Gaussian(1 / (TRUTH * pair_test.STEP)), 1e-5)
    pairs = [((out[:half], inside[:half]), (out[half:], inside[half:])) for out, inside in scores]
    return np.array(
        [bounds.by_rates(learn, judge, 1e-5, error)[0] > limit for learn, judge in pairs]
    )


@pytest.mark.parametrize("gaussian", [True, False])
def test_bounds_are_above_the_truth_no_more_often_than_stated(gaussian: bool) -> None:
    """10,000 audits of an exactly tight mechanism of epsilon 3: each test within its share of
    the 5%, all within 5%, but for a tail of 1 in 10,000.
    """
    errors = bounds.shares(BOTH, gaussian)
    above: dict[Any, list[np.ndarray]] = {test: [] for test in errors}
    for block in range(10):
        ratio, shared = simulated(TRUTH * pair_test.STEP, SIMULATED // 10, block)
        for (attack, rule), error in errors.items():
            above[attack, rule].append(
                above_the_truth(
                    attack, rule, error, ratio if attack == "what is released" else shared
                )
            )
    found = np.array([np.concatenate(blocks) for blocks in above.values()])
    assert found.shape == (len(errors), SIMULATED)
    assert (found.sum(axis=1) <= binom.ppf(1 - 1e-4, SIMULATED, list(errors.values()))).all()
    assert found.any(axis=0).sum() <= binom.ppf(1 - 1e-4, SIMULATED, 0.05)


def test_less_noise_than_claimed_is_above_the_claim_more_often() -> None:
    """The check above can fail: noise 5% too small puts the sharpest test above the claim more
    often than its share allows.
    """
    error = bounds.shares(BOTH, True)["what is released", "pair test"]
    ratio, _ = simulated(TRUTH * pair_test.STEP / 0.95, 2000, 1)
    assert ruled_out(ratio, error).sum() > binom.ppf(1 - 1e-4, 2000, error)


def test_the_bound_is_sharp_and_ends_where_the_claim_does() -> None:
    """Of an exact epsilon 3, 2,000 trainings show 2.4 to 2.6 in the median and 2.0 at least in
    19 of 20; the bound passes a claim where that is ruled out.
    """
    ratio, _ = simulated(TRUTH * pair_test.STEP, 400, 2)
    totals = pair_test.weighted(ratio[:, 0], ratio[:, 1])
    # the bound grows with the total
    quantiles = [
        pair_test.mu_at_least(int(np.quantile(totals, q)), RUNS // 2, 0.02) for q in (0.05, 0.5)
    ]
    epsilons = [exactly(Gaussian(1 / mu), 1e-5) for mu in quantiles]
    assert epsilons[0] > 2.0
    assert 2.4 < epsilons[1] < 2.6
    edge = ruled_out(ratio, 0.02)
    highest, lowest = totals[~edge].max(), totals[edge].min()
    bound = [pair_test.mu_at_least(int(total), RUNS // 2, 0.02) for total in (highest, lowest)]
    assert bound[0] < TRUTH * pair_test.STEP <= bound[1]


def test_a_learned_score_pays_for_learning() -> None:
    """Scores fitted to noise on the first half: of 200 audits, the pair test and error rates on
    what is shared find something in at most 5%.
    """
    rng = np.random.default_rng(3)
    found = 0
    for _ in range(200):
        absent, present = rng.standard_normal((2, 60, 300))
        towards = bounds.direction((absent[:30], present[:30]))
        tests = bounds.judged({"what is shared": (absent @ towards, present @ towards)}, 1e-5, True)
        found += any(test.epsilon > 0 for test in tests)
    assert found <= binom.ppf(1 - 1e-4, 200, 0.05)


# ---- the likelihood ratio ------------------------------------------------------------------------


def attack(
    name: str, epsilon: float, unit: Unit = "user", **parameters: Any
) -> tuple[Attacked, Pair]:
    attacked = prepared(name, canary_data.shape(find(name)), epsilon, 1e-5, parameters, "none")
    return attacked, attacked.choose(unit)


def ratios(attacked: Attacked, pair: Pair, draws: int) -> tuple[np.ndarray, np.ndarray]:
    found = [
        [
            attacked.training(pair, bool(kind), np.random.SeedSequence([9, kind, draw])).ratio
            for draw in range(draws)
        ]
        for kind in (0, 1)
    ]
    return np.array(found[0]), np.array(found[1])


@pytest.mark.parametrize(
    ("name", "parameters"), [("private-svd", {}), ("spectral", {"refinement_steps": 0})]
)
def test_the_ratio_of_released_sums_is_that_of_two_gaussians(
    name: str, parameters: dict[str, Any]
) -> None:
    """The log ratio is normal with mean +-mu^2 / 2 and variance mu^2, mu being what the replay says
    that the canary moved: also after a released array, which the spectral method overwrites."""
    attacked, pair = attack(name, 5.0, **parameters)
    absent, present = ratios(attacked, pair, 400)
    moved = np.mean(
        [
            attacked.training(pair, bool(kind), np.random.SeedSequence([9, kind, 0])).moved
            for kind in (0, 1)
        ]
    )
    assert moved == pytest.approx(mu_of(attacked.plan) ** 2, rel=1e-3)
    for kind, sign in ((absent, -1), (present, 1)):
        assert kind.mean() == pytest.approx(sign * moved / 2, abs=4 * math.sqrt(moved / 400))
        assert kind.var() == pytest.approx(moved, rel=4 * math.sqrt(2 / 400))


@dataclass(frozen=True)
class Fortieths(Statistic):
    """Item sums over 40; keeps hold of the array that it hands to the curator."""

    name: ClassVar[str] = "sums"
    sensitivity: ClassVar[float] = 1.0
    handed: ClassVar[list[Any]] = []

    def empty(self, shape: Shape) -> Totals:
        return (np.zeros(shape.n_items),)

    def add(self, block: Block, totals: Totals) -> None:
        rows = block.rows
        totals[0][:] += np.bincount(rows.items, rows.values - 3, rows.n_items) / 40

    def assemble(self, totals: Totals) -> Any:
        self.handed[:] = totals
        return totals[0]


class Overwriting(PrivateAlgorithm):
    """Releases the item sums and overwrites both the released array and its own statistic
    afterwards.
    """

    id: ClassVar[str] = "overwriting"
    title: ClassVar[str] = "Overwriting"
    words: ClassVar[str] = ""
    source: ClassVar[str] = ""

    def plan(self, shape: Shape, level: float) -> Event:
        return Fortieths().event(level)

    def guarantee(self) -> Guarantee:
        return Guarantee(Status.PROVEN)

    def fit(self, curator: Curator, rng: Streams) -> Iterator[Any]:
        released, n_items = curator.release(Fortieths()), curator.shape.n_items
        offsets = released.astype(np.float32)
        released.fill(0.0)
        Fortieths.handed[0].fill(0.0)
        no_factors = np.zeros((n_items, 0), np.float32)
        yield Recommender(curator.shape.bounds, 3.0, offsets, no_factors, None)


def test_what_an_algorithm_does_to_its_arrays_does_not_reach_the_log() -> None:
    made = Overwriting()
    attacked = Attacked(made, made, made.plan(canary_data.shape(Overwriting), 2.0), "none")
    pair = canary_data.pairs(made, "user", np.random.SeedSequence(0))[0]
    absent, present = ratios(attacked, pair, 300)
    moved = attacked.training(pair, True, np.random.SeedSequence(0)).moved
    assert moved == pytest.approx(
        ((np.bincount(np.arange(40), np.full(40, 2.0)) / 40 / 2.0) ** 2).sum()
    )
    assert (present.mean() - absent.mean()) == pytest.approx(
        moved, abs=4 * math.sqrt(2 * moved / 300)
    )
    assert present.var() == pytest.approx(moved, rel=4 * math.sqrt(2 / 300))


def test_densities_integrate_to_one() -> None:
    """The mean over the world without the canary of the ratio itself is 1, whatever is
    released, also in steps that look at the steps before.
    """
    attacked, pair = attack("dpals", 1.0)
    absent, _ = ratios(attacked, pair, 120)
    assert np.exp(absent).mean() == pytest.approx(
        1.0, abs=4 * np.exp(absent).std() / math.sqrt(120)
    )
    assert absent.std() > 0.02


GAUSSIAN = tuple(
    name
    for name in every_proven()
    if prepared(name, canary_data.shape(find(name)), 3.0, 1e-5, {}, "none").through_mu
)


@pytest.mark.parametrize("name", GAUSSIAN)
def test_canaries_move_what_sensitivities_allow(name: str) -> None:
    """At least 95% of the ledger's mu, in every algorithm whose every release is Gaussian; more
    than it never.
    """
    attacked, pair = attack(name, 3.0, **({"iterations": 10} if name == "oneshot-nmf" else {}))
    moved = [
        attacked.training(pair, bool(draw % 2), np.random.SeedSequence([4, draw])).moved
        for draw in range(4)
    ]
    planned = mu_of(attacked.plan)
    assert 0.95 * planned < math.sqrt(np.mean(moved)) < planned * (1 + 1e-6)


def test_less_noise_shows_in_what_the_canary_lost() -> None:
    """The noise that was drawn counts, and not what the ledger says."""
    found = [
        audit("private-bias", epsilon=1.0, runs=40, fault=fault).realised
        for fault in ("none", "small-noise")
    ]
    assert found[0] is not None and found[1] == pytest.approx(10 * found[0])


def test_all_trainings_of_a_proof_start_alike_and_draw_other_noise() -> None:
    attacked, pair = attack("dpfw-oja", 3.0)
    first, second = (
        attacked.training(pair, True, np.random.SeedSequence([1, draw])) for draw in (0, 1)
    )
    assert first.ratio != second.ratio
    assert first.moved == pytest.approx(second.moved, rel=0.02)


# ---- the worlds ----------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["user", "rating", "value"])
def test_worlds_are_neighbours(unit: Unit) -> None:
    """They differ in user 0 alone: by all her ratings, by one, or by the value of one."""
    for pair in canary_data.pairs(find("dpals")(), unit, np.random.SeedSequence(0)):
        first, second = (
            {(u, i): v for u, i, v in zip(it.users, it.items, it.values, strict=True)}
            for it in (pair.absent, pair.present)
        )
        differ = {
            place for place in first.keys() | second.keys() if first.get(place) != second.get(place)
        }
        assert {user for user, _ in differ} == {0}
        assert len(differ) == (COLUMNS if unit == "user" else 1)
        assert (first.keys() == second.keys()) == (unit == "value")
        assert pair.absent.shape == pair.present.shape == canary_data.shape(find("dpals"))


def test_sample_worlds_are_neighbours() -> None:
    for pair in canary_data.pairs(find("dp-nmf")(), "user", np.random.SeedSequence(0)):
        differ = np.flatnonzero(np.abs(pair.absent.X - pair.present.X).sum(axis=1))
        assert differ.tolist() == [0]
        assert np.linalg.norm(pair.present.X[0]) == pytest.approx(1.0)
        assert not pair.absent.X[0].any()


# ---- what is found -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "budget", "runs"),
    [
        ("private-bias", 1.0, 1000),
        pytest.param("private-bias", 3.0, 1000, marks=pytest.mark.slow),
        ("spectral", 2.0, 200),
        ("input-perturbation", 1.0, 120),
    ],
)
def test_nothing_is_found_above_a_proof(name: str, budget: float, runs: int) -> None:
    found = audit(name, epsilon=budget, runs=runs, seed=3)
    assert found.proven == pytest.approx(budget, rel=1e-6)
    assert found.lower <= budget
    assert not found.broken
    unit = (
        "value of a rating, another value" if name == "input-perturbation" else "user, add/remove"
    )
    assert f"proven at most {budget:.2f} (delta = 1e-5, per {unit}, exact)" in found.words


@pytest.mark.slow
def test_an_attack_comes_near_a_proof() -> None:
    """Rows are released as they are: at least 2 of epsilon 3 is found, and the canary lost all
    of it.
    """
    found = audit("private-svd", epsilon=3.0, runs=2000, seed=1)
    assert (found.by, found.best.rule) == ("what is released", "pair test")
    assert 2.0 < found.lower < 3.0
    assert found.lost == pytest.approx(3.0, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "fault", "by", "runs", "parameters"),
    [
        ("private-bias", "small-noise", "what is released", 1000, {}),
        ("private-bias", "unlisted-release", "what is shared", 400, {}),
        ("dpals", "no-clipping", "what is released", 200, {}),
        ("dp-nmf", "exact-start", "what is released", 400, {"steps": 2}),
    ],
)
def test_planted_faults_are_found(
    name: str, fault: str, by: str, runs: int, parameters: dict[str, int]
) -> None:
    found = audit(name, epsilon=1.0, runs=runs, fault=fault, parameters=parameters)
    assert found.broken
    assert found.by == by
    assert "the promise is broken" in found.words


def test_what_is_no_gaussian_mechanism_is_bounded_by_error_rates_alone() -> None:
    """400 trainings without an error, 100 of each kind to judge, two tests: ln of the odds at 1
    - (.0125)^(1 / 100), not the 16 that mu would give.
    """
    found = audit("private-bias", epsilon=1.0, runs=400, fault="unlisted-release")
    limit = 1 - 0.0125 ** (1 / 100)
    assert found.lower == pytest.approx(math.log((1 - 1e-5 - limit) / limit), abs=1e-9)
    assert {test.rule for test in found.tests} == {"error rates"}
    assert found.realised is None and found.planned is None
    assert "no Gaussian mechanism" in found.rule


@pytest.mark.parametrize(
    ("name", "fault", "through_mu"),
    [
        ("private-bias", "none", True),
        ("private-bias", "small-noise", True),
        ("dpals", "no-clipping", True),
        ("private-bias", "unlisted-release", False),
        ("dp-nmf", "exact-start", False),
        ("sgld", "none", True),
        ("input-perturbation", "none", False),
        ("als", "none", False),
    ],
)
def test_mu_is_for_gaussian_mechanisms(name: str, fault: str, through_mu: bool) -> None:
    attacked = prepared(name, canary_data.shape(find(name)), 3.0, 1e-5, {}, fault)
    assert attacked.through_mu is through_mu
    assert attacked.rule.startswith("Every release has Gaussian noise") is through_mu
    assert attacked.rule.startswith("By error rates alone") is not through_mu


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("dp-nmf", {"start": "nndsvd"}), ("sgld", {"reading": "posterior-sample"})],
)
def test_what_a_parameter_makes_unproven_has_no_mu(name: str, parameters: dict[str, str]) -> None:
    assert not prepared(
        name, canary_data.shape(find(name)), 3.0, 1e-5, parameters, "none"
    ).through_mu


def test_a_sketch_gives_its_users_away() -> None:
    found = audit(
        "sketch", runs=400, parameters={"rank": 4, "steps": 5, "threshold": 2.0}, unit="user"
    )
    assert found.proven is None and found.allowed == ()
    assert found.lower > 2.5 > 2.0
    assert "nothing is proved" in found.words


def test_a_larger_canary_than_what_is_proved_breaks_nothing() -> None:
    found = audit("input-perturbation", epsilon=1.0, runs=200, unit="user")
    assert found.lower > 1.0 and not found.broken
    assert "for one value only" in found.words


def test_the_allowed_curve_is_the_ledgers() -> None:
    """A ledger of mu: the fewest misses at false alarms a are Phi(Phi^-1(1 - a) - mu)."""
    found = audit("private-svd", epsilon=2.0, runs=40)
    mu = 1 / next(
        noise for noise in np.geomspace(0.1, 10, 20_001) if exactly(Gaussian(noise), 1e-5) <= 2.0
    )
    inner = slice(1, -1)
    expected = norm.cdf(norm.ppf(1 - np.array(rates())[inner]) - mu)
    np.testing.assert_allclose(found.allowed[inner], expected, atol=2e-3)


def test_the_same_seed_finds_the_same() -> None:
    assert as_record(audit("private-bias", epsilon=2.0, runs=200)) == as_record(
        audit("private-bias", epsilon=2.0, runs=200)
    )


# ---- asking --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"algorithm": "dpals"}, "takes a budget"),
        ({"algorithm": "private-bias", "epsilon": 1.0, "runs": 10}, "40, 1000000"),
        ({"algorithm": "private-bias", "epsilon": 1.0, "fault": "no-noise"}, "no fault 'no-noise'"),
        (
            {"algorithm": "private-bias", "epsilon": 1.0, "fault": "no-clipping"},
            "cannot have the fault no-clipping",
        ),
        ({"algorithm": "als", "fault": "small-noise"}, "cannot have the fault small-noise"),
        ({"algorithm": "dplas"}, "Did you mean"),
        ({"algorithm": "dp-nmf", "epsilon": 1.0, "unit": "rating"}, "a whole one"),
        ({"algorithm": "als", "unit": "item"}, "unit"),
    ],
)
def test_what_cannot_be_attacked_is_a_sentence(asked: dict[str, object], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        audit(**asked)  # type: ignore[arg-type]


def test_faults_fit_their_algorithms() -> None:
    assert set(faults_of(find("dp-nmf"))) == set(FAULTS)
    assert faults_of(find("als")) == ("none", "unlisted-release")
    assert "no-clipping" not in faults_of(find("private-bias"))


def test_the_table_holds_every_proof_and_every_fault() -> None:
    specs = table_specs(1.0, 1e-5, 100, 0)
    assert {spec.algorithm for spec in specs} == {*every_proven(), "sketch"}
    assert {spec.fault for spec in specs} == set(FAULTS)
    for spec in specs:
        spec.check()


def test_an_audit_stops_when_it_is_told() -> None:
    with pytest.raises(Cancelled):
        AuditSpec.parse(algorithm="private-bias", epsilon=1.0).measure(stopped=lambda: True)


@pytest.fixture
def threads(tmp_path: Path) -> Iterator[Engine]:
    made = Engine(Store(tmp_path), processes=False, workers=1)
    yield made
    made.close()


def test_the_engine_measures_once_and_remembers(threads: Engine) -> None:
    asked = AuditSpec.parse(algorithm="private-bias", epsilon=1.0, runs=100)
    first, second = threads.measure(asked), threads.measure(asked)
    assert first.result(60) is second.result(60)
    again = threads.measure(AuditSpec.parse(algorithm="private-bias", epsilon=1.0, runs=100))
    assert again.state == "done" and again.result(0) is first.result(0)
    assert threads.store.rows() == []
    refused = threads.measure(AuditSpec.parse(algorithm="dpals", runs=100))
    assert refused.state == "failed" and "takes a budget" in str(refused.error)


def test_the_command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert (
        main(["audit", "--algorithm", "private-bias", "--epsilon", "2", "--runs", "100", "--json"])
        == 0
    )
    record = json.loads(capsys.readouterr().out)
    assert (
        record["proven"] == pytest.approx(2.0)
        and record["runs"] == 100
        and len(record["misses"]) == 101
    )
    assert record["realised_mu"] == pytest.approx(record["planned_mu"], rel=1e-4)
    assert record["realised_epsilon"] == pytest.approx(2.0, rel=1e-3)
    assert sum(test["error"] for test in record["tests"]) == pytest.approx(0.05)
    assert main(["audit", "--algorithm", "private-bias", "--epsilon", "2", "--runs", "100"]) == 0
    said = capsys.readouterr().out
    assert (
        "lost by this canary" in said
        and "pair test" in said
        and "Every release has Gaussian noise" in said
    )
    assert main(["audit", "--algorithm", "private-bias"]) == 2
    assert "takes a budget" in capsys.readouterr().err
    assert main(["audit"]) == 2
    assert "--every" in capsys.readouterr().err
    assert main(["audit", "--every"]) == 2
    assert "needs --epsilon" in capsys.readouterr().err
