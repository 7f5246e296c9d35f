"""Item sets, vocabularies and numbers of rows as releases: names that one unit alone brings
stay unknown, and nobody moves the counts by more than 1.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.sparse import csr_array

from dpmf_core import fit
from dpmf_core.curator import NoisyCurator, OpenCurator, in_memory
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples, Texts
from dpmf_core.errors import BadInput
from dpmf_core.privacy import (
    NOTHING,
    Budget,
    Gaussian,
    Noise,
    PlanViolation,
    Relation,
    accounting,
    gaussian,
    interpretation,
    normal_form,
    rules,
    sequence,
)
from dpmf_core.privacy.events import event_of_rows, ledger_rows
from dpmf_core.privacy.failing_mechanisms import PaddedCount, ThresholdedCounts
from dpmf_core.runs import data_access, planning
from dpmf_core.runs.partition_selection import (
    ITEMS,
    UNITS,
    NameCounts,
    UnitCount,
    order_of_names,
    plan,
    release_shape,
)
from dpmf_core.runs.public_shape import PublicShape, reshaped, slots
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import DataSpec, RunSpec

SEED = np.random.SeedSequence(11)
MOST_ROUNDED = 2.0**-21 * 30  # a weight loses less than a step of the grid for 2^31 units


def threshold_event(sigma: float, failure: float, most: int) -> ThresholdedCounts:
    return ThresholdedCounts(sigma, ITEMS, 1.0, math.sqrt(2), failure, most)


# ---- the threshold -------------------------------------------------------------------------------


def chance_that_one_shows(
    names: int, sigma: float, threshold: float, trials: int, seed: int, wrong: float = 1.0
) -> float:
    """How often one of so many names that a single user brings passes: simulated, the user's
    weight and the noise as the class describes them.
    """
    rng = np.random.default_rng(seed)
    chances = [
        (
            1 / math.sqrt(names) + wrong * sigma * rng.standard_normal((trials // 10, names))
            > threshold
        )
        .any(axis=1)
        .mean()
        for _ in range(10)
    ]
    return float(np.mean(chances))


def test_one_name_alone_has_the_closed_form() -> None:
    assert threshold_event(3.0, 1e-6, 1).threshold == pytest.approx(
        1 + 3 * stats.norm.isf(1e-6), rel=1e-12
    )
    assert threshold_event(3.0, 1e-15, 1000).threshold == pytest.approx(
        1 / math.sqrt(1000) + 3 * stats.norm.isf(1e-18), rel=1e-6
    )


@pytest.mark.parametrize("sigma", [0.2, 1.0, 8.0])
def test_names_of_one_user_show_no_more_often_than_stated(sigma: float) -> None:
    """For every number of names, and for the worst of them exactly as often; five percent more
    noise is found.
    """
    failure, trials, most = 0.05, 100_000, 40
    leaf = threshold_event(sigma, failure, most)
    counts = (1, 2, 5, 15, most)
    rates = [chance_that_one_shows(names, sigma, leaf.threshold, trials, names) for names in counts]
    spread = 5 * math.sqrt(failure * (1 - failure) / trials)
    assert max(rates) <= failure + spread
    assert max(rates) >= failure - spread
    worst = counts[int(np.argmax(rates))]
    assert (
        chance_that_one_shows(worst, sigma, leaf.threshold, trials, 99, wrong=1.05)
        > failure + spread
    )


def test_an_unknown_name_never_passes() -> None:
    """Noise alone would carry some of a million names over the threshold: names that nobody
    brought have none.
    """
    noise = Noise(threshold_event(1.0, 0.2, 1), SEED)
    names, counts = noise.names_over_threshold(ITEMS, np.zeros(10_000))
    assert len(names) == len(counts) == 0
    names, counts = Noise(threshold_event(1.0, 0.2, 1), SEED).names_over_threshold(
        ITEMS, np.append(np.zeros(10_000), [50.0, 70.0])
    )
    assert names.tolist() == [10_001, 10_000] and abs(counts - [70, 50]).max() < 6


def test_a_failing_release_is_drawn_in_its_own_way_alone() -> None:
    noise = Noise(
        sequence(threshold_event(1.0, 1e-6, 5), PaddedCount(2.0, UNITS, 1.0, 1.0, 1e-6)), SEED
    )
    with pytest.raises(PlanViolation):
        noise.vector(ITEMS, np.zeros(3), sensitivity=1.0)
    with pytest.raises(PlanViolation):
        noise.padded_count(ITEMS, 3)
    with pytest.raises(PlanViolation):
        noise.names_over_threshold(UNITS, np.ones(3))
    assert noise.ledger == ()


# ---- what it costs -------------------------------------------------------------------------------


def divergence(epsilon: float, mu: float, failure: float, with_unit: bool) -> float:
    """The hockey-stick divergence of (noise about mu, coin) from (noise about 0, no coin), or
    the other way round, by integration.
    """

    def beyond(x: float) -> float:
        p, q = stats.norm.pdf(x, mu), stats.norm.pdf(x)
        return (
            max((1 - failure) * p - math.exp(epsilon) * q, 0.0)
            if with_unit
            else max(q - math.exp(epsilon) * (1 - failure) * p, 0.0)
        )

    return float(integrate.quad(beyond, -12, 12 + mu, limit=400, points=[0, mu])[0]) + (
        failure if with_unit else 0.0
    )


@pytest.mark.parametrize("failure", [1e-7, 1e-3, 0.05])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_delta_covers_the_mechanism_and_little_more(failure: float, epsilon: float) -> None:
    leaf = threshold_event(1.5, failure, 10)
    true = max(divergence(epsilon, 1 / 1.5, failure, way) for way in (True, False))
    delta = accounting.delta(leaf, epsilon)
    assert true * (1 - 1e-9) <= delta <= true + failure * 1.05 + 1e-12


def test_epsilon_is_the_noise_s_at_the_delta_that_is_left() -> None:
    """Composed with other releases, under both relations, by every rule, and against delta."""
    event = sequence(
        threshold_event(4.0, 2e-7, 100), PaddedCount(20.0, UNITS, 1.0, 1.0, 1e-7), Gaussian(3.0)
    )
    p = 1 - (1 - 2e-7) * (1 - 1e-7)
    assert accounting.failure(event) == pytest.approx(p, rel=1e-9)
    mu = math.sqrt(1 / 16 + 1 / 400 + 1 / 9)
    assert accounting.epsilon(event, 1e-6) == pytest.approx(
        gaussian.gaussian_epsilon(mu, 1e-6 - p) - math.log1p(-p), rel=1e-9
    )
    assert accounting.delta(event, accounting.epsilon(event, 1e-6)) == pytest.approx(1e-6, rel=1e-6)
    replace_one = math.sqrt(2 / 16 + 1 / 400 + 4 / 9)
    assert accounting.epsilon(event, 1e-6, Relation.REPLACE_ONE) == pytest.approx(
        gaussian.gaussian_epsilon(replace_one, 1e-6 - p), rel=1e-6
    )
    by_rule = {row.rule: row.epsilon for row in rules.every_epsilon(event, 1e-6)}
    assert by_rule["exact"] < by_rule["rdp_tight"] < by_rule["rdp_source"]  # type: ignore[operator]
    assert math.isinf(accounting.epsilon(event, 1e-7)) and {
        row.epsilon for row in rules.every_epsilon(event, 1e-7)
    } == {None}
    with pytest.raises(accounting.UnsupportedEvent):
        gaussian.mu(event)


def test_the_trade_off_curve_leaves_room_for_failing() -> None:
    alarms = np.array([0.01, 0.1, 0.5])
    curve, without = (
        interpretation.false_negatives(threshold_event(2.0, 1e-3, 5), alarms),
        interpretation.false_negatives(Gaussian(2.0), alarms),
    )
    assert (curve < without).all() and (curve > without - 0.02).all()


@pytest.mark.parametrize("relation", list(Relation))
def test_the_plan_takes_its_share_whatever_is_found(relation: Relation) -> None:
    budget = Budget(epsilon=2.0, delta=1e-6, relation=relation)
    first = plan(budget, items=True, units=True)
    without_failing = [leaf.otherwise for leaf, _ in normal_form(first)]
    share = gaussian.mu(sequence(*without_failing), relation) ** 2 / budget.mu**2
    assert share == pytest.approx(0.16, rel=0.02)
    assert accounting.failure(first) == pytest.approx(1e-7, rel=1e-3)
    assert (
        normal_form(plan(None, items=True, units=True))
        == normal_form(plan(budget, items=False, units=False))
        == ()
    )


# ---- the counts ----------------------------------------------------------------------------------


def ratings(without: int | None = None) -> Ratings:
    """30 users of 12 items with names; items that nobody rated are not there, as in a file."""
    rng = np.random.default_rng(5)
    triples = [
        (u, j, 3.0)
        for u in range(30)
        for j in range(12)
        if rng.random() < 0.9 / (1 + j / 3) and j < 11
    ] + [(7, 11, 4.0)]
    triples = [(u, j, v) for u, j, v in triples if u != without]
    names = sorted({j for _, j, _ in triples})
    users, items, values = zip(*triples, strict=True)
    places = [names.index(j) for j in items]
    return Ratings.of(
        users,
        places,
        values,
        n_users=30,
        n_items=len(names),
        bounds=(1, 5),
        titles=tuple(f"film {j}" for j in names),
    )


def name_counts(data: Ratings | Samples, most: int = 1000, blocks: int = 3) -> Any:
    """The exact weighted counts of all names."""
    curator = OpenCurator(in_memory(data, blocks), Noise(NOTHING), {})
    return curator.total(NameCounts(1e-6, most), order_of_names(data))


def documents(texts: list[str]) -> Samples:
    words = sorted({word for text in texts for word in text.split()})
    ids = np.array([words.index(word) for text in texts for word in text.split()], np.int32)
    starts = np.cumsum([0, *(len(text.split()) for text in texts)])
    X = np.zeros((len(texts), len(words)))
    np.add.at(X, (np.repeat(np.arange(len(texts)), np.diff(starts)), ids), 1)
    from scipy.sparse import csr_array

    read = Texts(tuple(words), ids, starts.astype(np.int64))
    return Samples.of(
        csr_array(X), vocabulary=tuple(words), unit="document", name="documents", texts=read
    )


@pytest.mark.parametrize("most", [2, 1000])
def test_one_user_moves_the_counts_by_1(most: int) -> None:
    """Exactly 1 in L2 norm where she rated anything, counted by name: an item that she alone
    rated is not in the other file at all.
    """
    for user in (0, 7, 29):
        whole, less = ratings(), ratings(user)
        counts, fewer = (
            dict(zip(it.titles or (), name_counts(it, most), strict=True)) for it in (whole, less)
        )
        assert math.sqrt(
            sum((count - fewer.get(name, 0.0)) ** 2 for name, count in counts.items())
        ) == pytest.approx(1.0, abs=MOST_ROUNDED)
        assert sum(count != fewer.get(name, 0.0) for name, count in counts.items()) <= most


@pytest.mark.parametrize("most", [2, 1000])
def test_one_document_moves_the_counts_by_1(most: int) -> None:
    texts = ["ant bee cat ant", "bee cat dog", "cat dog eel fox aaa", "dog ant"]
    for gone in range(4):
        whole, less = (
            documents(texts),
            documents([text for place, text in enumerate(texts) if place != gone]),
        )
        counts, fewer = (
            dict(zip(it.vocabulary or (), name_counts(it, most), strict=True))
            for it in (whole, less)
        )
        assert math.sqrt(
            sum((count - fewer.get(word, 0.0)) ** 2 for word, count in counts.items())
        ) == pytest.approx(1.0, abs=MOST_ROUNDED)


def test_blocks_do_not_move_the_counts_by_a_bit() -> None:
    data = ratings()
    people = notes([0, 0, 0, 0, 1, 2, 1])
    for rows, most in ((data, 2), (data, 1000), (people, 1000)):
        whole = name_counts(rows, most, blocks=1)
        for blocks in (2, 7):
            assert np.array_equal(name_counts(rows, most, blocks), whole)


def test_every_unit_counts_once_whatever_it_brings() -> None:
    empty = ratings().only(np.zeros(len(ratings()), bool))
    for data in (ratings(), empty):
        curator = OpenCurator(in_memory(data, 4), Noise(NOTHING), {})
        assert curator.total(UnitCount(1e-6)).tolist() == [30.0]


def test_a_curator_shows_only_what_was_planned_and_stops_below_the_truth() -> None:
    event = sequence(UnitCount(1e-6).event(2.0), *(UnitCount(0.5).event(1.0) for _ in range(40)))
    curator = NoisyCurator(in_memory(ratings(), 2), Noise(event, SEED))
    with pytest.raises(PlanViolation, match="was asked for"):
        curator.padded_count(UnitCount(1e-3))
    with pytest.raises(PlanViolation):
        curator.names_over_threshold(NameCounts(1e-6), order_of_names(ratings()))
    with pytest.raises(PlanViolation):
        curator.release(UnitCount(1e-6))
    counts = [curator.padded_count(UnitCount(1e-6))]
    counts += [curator.padded_count(UnitCount(0.5)) for _ in range(40)]
    assert counts[0] is not None and None in counts
    assert all(units is None or units >= 30 for units in counts)


# ---- the released shape --------------------------------------------------------------------------


def test_users_take_drawn_rows_and_the_others_stay_empty() -> None:
    data = ratings()
    slots_data = reshaped(data, PublicShape(units=41, slots=3))
    assert isinstance(slots_data, Ratings)
    rows = slots(PublicShape(41, 3), 30)
    assert len(set(rows.tolist())) == 30 and rows.max() < 41 and slots_data.n_users == 41
    for user in range(30):
        mine, theirs = (
            data.only(data.users == user),
            slots_data.only(slots_data.users == rows[user]),
        )
        assert np.array_equal(mine.items, theirs.items) and np.array_equal(
            mine.values, theirs.values
        )
    assert len(slots_data) == len(data) and np.array_equal(
        slots_data.users, np.sort(slots_data.users)
    )


def test_documents_take_drawn_rows_with_all_that_is_known_of_them() -> None:
    data = documents(["ant bee", "bee cat", "cat ant ant", "dog bee"])
    slots_data = reshaped(data, PublicShape(units=9, slots=3))
    assert (
        isinstance(slots_data, Samples)
        and slots_data.X.shape == (9, 4)
        and slots_data.texts is not None
    )
    rows = slots(PublicShape(9, 3), 4)
    assert (
        np.array_equal(slots_data.X.toarray()[rows], data.X.toarray())
        and slots_data.X.sum() == data.X.sum()
    )
    at = slots_data.texts.starts
    assert [
        slots_data.texts.words[j] for j in slots_data.texts.ids[at[rows[2]] : at[rows[2] + 1]]
    ] == ["cat", "ant", "ant"]
    assert len(at) == 10


def test_the_kept_names_are_the_most_counted_ones() -> None:
    data = ratings()
    noise = Noise(sequence(threshold_event(0.05, 1e-6, 1000)), SEED)
    shape = release_shape(data, noise, 1e-6, items=True, units=False, most=4, slots=0)
    result = reshaped(data, shape)
    assert (
        isinstance(result, Ratings)
        and result.n_items == 4
        and result.titles == tuple((data.titles or ())[j] for j in shape.kept or ())
    )
    counts = name_counts(data)
    assert set(shape.kept or ()) == set(np.argsort(-counts)[:4].tolist())
    assert 11 not in (shape.kept or ())


def test_the_count_is_above_the_truth_as_often_as_stated() -> None:
    failure, trials = 0.02, 40_000
    leaf = PaddedCount(10.0, UNITS, 1.0, 1.0, failure)
    seeds = np.random.SeedSequence(4).spawn(trials)
    counts = np.array([Noise(leaf, seed).padded_count(UNITS, 1000) for seed in seeds])
    short = (counts < 1000).mean()  # rounding up makes it a little rarer
    assert 0.015 < short < 0.021
    assert counts.std() == pytest.approx(10.0, rel=0.03)


# ---- runs ----------------------------------------------------------------------------------------


def run(**changed: Any) -> Run:
    parts: dict[str, Any] = {
        "epsilon": 8.0,
        "delta": 1e-6,
        "top_items": 60,
        "item_choice": "private",
        "row_count": "private",
        "keep": False,
    }
    return fit("cinema-small", **{"algorithm": "spectral", **parts, **changed})


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_a_run_that_releases_its_shape_is_proven_and_within_its_budget(relation: str) -> None:
    record = run(relation=relation).record
    assert record.guarantee.status == "PROVEN" and record.guarantee.taken_as_public == (
        "the rating bounds",
    )
    statistics = [row.statistic for row in record.ledger]
    assert statistics[:2] == [UNITS, ITEMS] and len(statistics) > 2
    factor = 1 if relation == "add-remove" else 0
    squares = [
        count / leaf.noise_multiplier**2 * (1 if factor else leaf.replace_one_factor**2)
        for leaf, count in normal_form(record.event)
    ]
    failing = [leaf.failure for leaf, _ in normal_form(record.event)]
    p = 1 - math.prod(1 - q for q in failing)
    epsilon, mu = 8.0 + math.log1p(-p), math.sqrt(sum(squares))
    delta = (
        p
        + stats.norm.cdf(mu / 2 - epsilon / mu)
        - math.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)
    )
    assert delta == pytest.approx(1e-6, rel=1e-6)
    assert record.epsilon.exact == pytest.approx(8.0, rel=1e-9)


def test_the_same_seed_gives_the_same_shape_and_figures_on_public_data() -> None:
    one, two, other = run(), run(), run(seed=1)
    assert one.record.released_shape == two.record.released_shape != other.record.released_shape
    assert one.record.metrics == two.record.metrics


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"algorithm": "input-perturbation"}, "calibration"),
        ({"algorithm": "dpals", "calibration": "source"}, "need exact calibration"),
        ({"delta": None}, "give delta, e.g. 1e-6"),
        ({"preparation": {"min_item_count": 3}}, "'min_item_count'"),
    ],
)
def test_combinations_without_a_proof_are_refused(changes: dict[str, Any], what: str) -> None:
    with pytest.raises(BadInput, match=what):
        run(**changes)


SECRET = "xylographzqj"


@pytest.fixture
def letters(tmp_path: Path) -> str:
    """Documents of which one holds a word that no other has."""
    rng = np.random.default_rng(0)
    common = [
        "harbour", "museum", "kitchen", "garden", "winter", "bridge", "orchard", "violin",
        "lantern", "meadow",
    ]  # fmt: skip
    rows = [" ".join(rng.choice(common, 5)) for _ in range(400)]
    rows[17] += f" {SECRET} {SECRET} {SECRET}"
    path = tmp_path / "letters.txt"
    path.write_text("\n".join(rows))
    return str(path)


def test_a_rare_private_word_is_not_in_a_private_vocabulary(letters: str) -> None:
    from dpmf_core.runs.inspection import samples_of, topics

    exact = fit(
        letters,
        "oneshot-nmf",
        epsilon=4,
        delta=1e-5,
        preparation={"weighting": "tf"},
        n_components=2,
        features_kept=20,
    )
    assert exact.record.guarantee.status == "CONDITIONAL"
    assert SECRET in (samples_of(exact).vocabulary or ())
    private = fit(
        letters,
        "oneshot-nmf",
        epsilon=4,
        delta=1e-5,
        item_choice="private",
        row_count="private",
        n_components=2,
    )
    assert private.record.guarantee.status == "PROVEN"
    words = {word for topic in topics(private, 20) for word, _ in topic}
    assert SECRET not in (samples_of(private).vocabulary or ()) and {"harbour", "museum"} <= words


@pytest.mark.parametrize(
    ("preparation", "choice"), [({"hashed": 64, "weighting": "tf"}, "exact"), ({}, "private")]
)
def test_a_counted_number_of_rows_is_an_assumption_unless_it_is_released(
    letters: str, preparation: dict[str, Any], choice: Any
) -> None:
    """One rule for documents and ratings tables."""
    facts: dict[str, Any] = {
        "epsilon": 4,
        "delta": 1e-5,
        "preparation": preparation,
        "item_choice": choice,
        "n_components": 2,
    }
    exact, private = (
        fit(letters, "oneshot-nmf", **facts),
        fit(letters, "oneshot-nmf", row_count="private", **facts),
    )
    assert exact.record.guarantee.status == "CONDITIONAL"
    assert private.record.guarantee.status == "PROVEN"
    assert private.record.shape["n_samples"] > 400


# ---- documents of people -------------------------------------------------------------------------


def notes(people: Any = None) -> Samples:
    """Seven documents; `anna` wrote four of them, with a word that she alone has in all, and
    one that she shares.
    """
    X = np.zeros((7, 5))
    X[:4, 0] = 2  # hers alone
    X[:, 1] = 1  # everybody's
    X[2, 2] = X[4, 3] = X[5, 4] = 1
    samples = Samples.of(csr_array(X), vocabulary=tuple("abcde"), unit="document", name="notes")
    return samples if people is None else samples.of_people(np.array(people))


def test_a_person_counts_once_for_a_word_in_all_her_documents() -> None:
    """1 / sqrt(t) on each of her t words, so that all of hers move the counts by 1, however
    many documents she has.
    """
    counts = name_counts(notes([0, 0, 0, 0, 1, 2, 1]))
    third, half = 1 / math.sqrt(3), 1 / math.sqrt(2)
    expected = [third, third + half + half, third, half, half]
    np.testing.assert_allclose(counts, expected, atol=MOST_ROUNDED)
    alone = name_counts(notes())
    assert alone[0] > 2  # by documents, her own word counts for nearly as many as she wrote


@pytest.mark.parametrize("most", [2, 1000])
def test_nobody_moves_the_counts_by_more_than_one_with_all_her_documents(most: int) -> None:
    rng = np.random.default_rng(4)
    X = (rng.random((30, 12)) < 0.4) * rng.integers(1, 5, (30, 12))
    people = rng.integers(0, 6, 30)
    words = tuple(f"w{j}" for j in range(12))

    def counts(rows: Any) -> Any:
        return name_counts(
            Samples.of(csr_array(rows), vocabulary=words, unit="document").of_people(people, 6),
            most,
        )

    for person in range(6):
        step = np.linalg.norm(counts(X) - counts(X * (people != person)[:, None]))
        assert 0.99 <= step <= 1 + 1e-12


def test_a_vocabulary_of_people_is_released_and_the_run_is_of_people() -> None:
    rng = np.random.default_rng(2)
    X = (rng.random((400, 30)) < 0.5).astype(float)
    data = Samples.of(
        csr_array(X), vocabulary=tuple(f"w{j}" for j in range(30)), unit="document"
    ).of_people(np.arange(400) % 150)
    run = fit(
        data,
        "oneshot-nmf",
        epsilon=8.0,
        delta=1e-4,
        n_components=3,
        preparation={"item_choice": "private", "weighting": "tf"},
    )
    assert run.record.guarantee.unit == "person" and run.record.epsilon.exact == pytest.approx(
        8.0, rel=1e-3
    )
    assert run.record.released_shape.kept and run.record.shape["n_people"] == 150


# ---- what names, choices and shapes may not tell -------------------------------------------------


def test_a_choice_by_exact_counts_stays_an_assumption() -> None:
    """Made before, on ratings of one's own: a private choice among what is left does not undo
    it.
    """
    from dpmf_core import load

    few = load("cinema-small").top_items(60)  # type: ignore[union-attr]
    guarantee = fit(
        few, "private-bias", epsilon=8, delta=1e-5, item_choice="private"
    ).record.guarantee
    assert guarantee.status == "CONDITIONAL"


@pytest.mark.parametrize("rank", [29, 30, 31])
def test_whether_a_run_starts_does_not_follow_from_the_true_shape(rank: int) -> None:
    """A rank beyond the items is refused for the released items: the true number, 30 here, is
    not told apart from 29.
    """
    rng = np.random.default_rng(0)
    users, items = np.nonzero(rng.random((300, 30)) < 0.8)
    data = Ratings.of(
        users, items, rng.integers(1, 6, len(users)), n_users=300, n_items=30, bounds=(1, 5)
    )
    with pytest.raises(BadInput):
        fit(data, "dpals", epsilon=3, delta=1e-6, item_choice="private", top_items=20, rank=rank)


@pytest.mark.parametrize(
    ("facts", "what"),
    [
        ((1.0, ITEMS, 1.0, 1.4, 0.0, 5), "'failure_probability'"),
        ((1.0, ITEMS, 1.0, 1.4, 1e-6, 0), "'most'"),
        ((1.0, ITEMS, 2.0, 1.4, 1e-6, 5), "sensitivity 1. Got 2.0"),
    ],
)
def test_facts_that_describe_no_release_are_refused(facts: Any, what: str) -> None:
    with pytest.raises(ValueError, match=what):
        ThresholdedCounts(*facts)


def test_failing_ledgers_survive_json() -> None:
    ledger = normal_form(
        sequence(threshold_event(4.0, 1e-7, 100), PaddedCount(2.0, UNITS, 1.0, 1.0, 1e-6))
    )
    assert normal_form(event_of_rows(json.loads(json.dumps(ledger_rows(ledger))))) == ledger


def test_too_few_names_are_an_error_that_says_what_to_do() -> None:
    with pytest.raises(BadInput, match="ratings"):
        release_shape(
            ratings(),
            Noise(threshold_event(50.0, 1e-6, 1000), SEED),
            1e-6,
            items=True,
            units=False,
            most=4,
            slots=0,
        )


def test_without_noise_items_are_chosen_by_exact_counts() -> None:
    finished_run = fit(
        "cinema-small", "als", top_items=60, item_choice="private", row_count="private", keep=False
    )
    exact = fit("cinema-small", "als", top_items=60, keep=False)
    assert (
        finished_run.record.metrics == exact.record.metrics
        and finished_run.record.released_shape is None
    )


def test_what_is_not_asked_for_changes_no_key() -> None:
    plain = RunSpec.parse(data={"id": "cinema-small"}, algorithm="als")
    assert set(plain.model_dump(mode="json")["data"]) == {
        "id",
        "top_items",
        "min_user_count",
        "min_item_count",
        "most_per_user",
        "positives_above",
    }
    assert "item_choice" in DataSpec(id="x", item_choice="private").model_dump()


def test_a_ratings_table_follows_the_same_rule(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [
        f"u{u},i{j},{rng.integers(1, 6)}"
        for u in range(300)
        for j in range(30)
        if rng.random() < 0.9 / (1 + j / 5)
    ]
    path = tmp_path / "table.csv"
    path.write_text("user,item,rating\n" + "\n".join([*rows, "u3,only mine,5"]))
    facts: dict[str, Any] = {"epsilon": 8, "delta": 1e-5}
    guarantee = fit(f"{path}?bounds=1,5", "private-bias", **facts).record.guarantee
    assert (
        guarantee.status == "CONDITIONAL"
        and "the number of users is public and the items in the file are public" in guarantee.words
    )
    private = fit(
        f"{path}?bounds=1,5", "private-bias", item_choice="private", row_count="private", **facts
    )
    assert private.record.guarantee.status == "PROVEN"
    assert "only mine" not in (data_access.ratings_of(private).titles or ())
    assert "released_shape" not in private.export()


def test_the_number_of_rows_is_not_released_where_a_person_brings_several() -> None:
    with pytest.raises(BadInput, match="declare"):
        release_shape(
            notes([0, 0, 0, 0, 1, 2, 1]),
            Noise(plan(Budget(epsilon=1, delta=1e-5), items=False, units=True)),
            1e-6,
            items=False,
            units=True,
            most=None,
            slots=0,
        )
    spec = RunSpec.parse(
        data={"id": "x", "row_count": "private"},
        algorithm="oneshot-nmf",
        budget={"epsilon": 1, "delta": 1e-5},
    )
    with pytest.raises(BadInput, match="declare"):
        planning.prepare(spec, notes([0, 0, 0, 0, 1, 2, 1]).shape)


def films(path: Path, diary: str = "") -> str:
    """A table of 400 users; the title of film 0 is what its first row says."""
    rows = [f"u{u:03d},{j},{1 + (u + j) % 5},Film {j}" for u in range(400) for j in range(4)]
    path.write_text(
        "user,item,rating,title\n" + (f"a,0,5,{diary}\n" if diary else "") + "\n".join(rows)
    )
    return f"{path}?bounds=1,5"


def test_a_title_that_one_user_wrote_is_no_name(tmp_path: Path) -> None:
    """What was counted are items, by their ids; a title is one row of one user."""
    facts: dict[str, Any] = {
        "epsilon": 8,
        "delta": 1e-5,
        "item_choice": "private",
        "row_count": "private",
    }
    titles = [
        set(
            data_access.ratings_of(
                fit(films(tmp_path / f"{n}.csv", diary), "private-bias", **facts)
            ).titles
            or ()
        )
        for n, diary in enumerate(["", "my diary"])
    ]
    assert titles[0] == titles[1] == {"0", "1", "2", "3"}


def test_titles_do_not_decide_which_items_count() -> None:
    data = ratings()
    from dataclasses import replace

    other_titles = replace(
        data, labels=data.titles, titles=tuple(f"another {j}" for j in range(data.n_items))
    )
    assert np.array_equal(name_counts(other_titles, 2), name_counts(data, 2))


def test_an_epsilon_too_small_for_the_shape_is_refused_in_words() -> None:
    with pytest.raises(BadInput, match="releasing"):
        plan(Budget(epsilon=1e-3, delta=0.05), items=True, units=True)
