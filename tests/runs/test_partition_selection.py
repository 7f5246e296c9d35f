"""Names of one user stay unknown, and nobody moves the counts by more than 1."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.sparse import csr_array

from dpmf import fit, load
from dpmf_core.base.errors import BadInput
from dpmf_core.curator import NoisyCurator, in_memory
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.samples import Samples, Texts
from dpmf_core.privacy import (
    Budget,
    Gaussian,
    Noise,
    PlanViolation,
    Relation,
    accounting,
    gaussian,
    normal_form,
    rules,
    sequence,
)
from dpmf_core.privacy.failing_mechanisms import PaddedCount, ThresholdedCounts
from dpmf_core.runs import data_access
from dpmf_core.runs.filters import PublicShape, reshaped, slots
from dpmf_core.runs.inspection import samples_of, topics
from dpmf_core.runs.partition_selection import (
    ITEMS,
    UNITS,
    NameCounts,
    UnitCount,
    order_of_names,
    plan,
    release_shape,
)
from tests.support.algebra import exact_curator
from tests.support.dense import rated
from tests.support.gaussian import delta_of

SEED = np.random.SeedSequence(11)
# a weight loses less than a step of the grid for 2^31 units
MOST_ROUNDED = 2.0**-21 * 30


def threshold_event(sigma, failure, most):
    return ThresholdedCounts(sigma, ITEMS, 1.0, math.sqrt(2), failure, most)


def shows(sigma, threshold, names, trials=100_000):
    """How often one of the names of a single user passes, simulated."""
    rng = np.random.default_rng(names)
    weight = 1 / math.sqrt(names)
    noisy = weight + sigma * rng.standard_normal((trials, names))
    return float((noisy > threshold).any(axis=1).mean())


@pytest.mark.parametrize("sigma", [0.2, 8.0])
def test_names_of_one_user_show_no_more_often_than_stated(sigma):
    """For the worst number of names exactly as often; five percent more noise is found."""
    failure = 0.05
    most = 40
    threshold = threshold_event(sigma, failure, most).threshold
    rates = {names: shows(sigma, threshold, names) for names in (1, 5, most)}
    worst = max(rates, key=rates.__getitem__)
    spread = 5 * math.sqrt(failure * (1 - failure) / 100_000)
    assert rates[worst] == pytest.approx(failure, abs=spread)
    assert shows(1.05 * sigma, threshold, worst) > failure + spread


def test_a_name_that_nobody_brought_never_passes():
    """Noise alone would carry some of ten thousand names over the threshold."""
    counts = np.append(np.zeros(10_000), [50.0, 70.0])
    noise = Noise(threshold_event(1.0, 0.2, 1), SEED)
    names, noisy = noise.names_over_threshold(ITEMS, counts)
    assert names.tolist() == [10_001, 10_000]
    assert abs(noisy - [70, 50]).max() < 6


@pytest.mark.parametrize("sigma", [0.2, 8.0])
def test_the_threshold_of_one_name_has_its_closed_form(sigma):
    closed_form = 1 + sigma * stats.norm.isf(1e-6)
    threshold = threshold_event(sigma, 1e-6, 1).threshold
    assert threshold == pytest.approx(closed_form, rel=1e-12)


def divergence_with_unit(epsilon, mu, failure):
    """The hockey-stick divergence from data without the unit to data with it."""

    def beyond(x):
        with_unit = (1 - failure) * stats.norm.pdf(x, mu)
        without = stats.norm.pdf(x, 0.0)
        return float(max(with_unit - math.exp(epsilon) * without, 0.0))

    return integral(beyond, mu) + failure


def divergence_without_unit(epsilon, mu, failure):
    """The hockey-stick divergence from data with the unit to data without it."""

    def beyond(x):
        with_unit = (1 - failure) * stats.norm.pdf(x, mu)
        without = stats.norm.pdf(x, 0.0)
        return float(max(without - math.exp(epsilon) * with_unit, 0.0))

    return integral(beyond, mu)


def integral(density, mu):
    area, _ = integrate.quad(
        density,
        -12,
        12 + mu,
        limit=400,
        points=[0, mu],
    )
    return float(area)


@pytest.mark.parametrize(
    ("failure", "epsilon"), [(1e-7, 1.0), (1e-3, 0.1), (0.05, 3.0)]
)
def test_delta_covers_the_mechanism_and_little_more(failure, epsilon):
    mu = 1 / 1.5
    true = max(
        divergence_with_unit(epsilon, mu, failure),
        divergence_without_unit(epsilon, mu, failure),
    )
    delta = accounting.delta(threshold_event(1.5, failure, 10), epsilon)
    assert delta >= true * (1 - 1e-9)
    assert delta <= true + failure * 1.05 + 1e-12


COMPOSED = sequence(
    threshold_event(4.0, 2e-7, 100),
    PaddedCount(20.0, UNITS, 1.0, 1.0, 1e-7),
    Gaussian(3.0),
)


FAILURE = 1 - (1 - 2e-7) * (1 - 1e-7)


def test_epsilon_is_the_noise_s_at_the_delta_that_is_left():
    """Composed with other releases, under both relations."""
    assert accounting.failure(COMPOSED) == pytest.approx(FAILURE, rel=1e-9)
    left = 1e-6 - FAILURE
    mu = math.sqrt(1 / 16 + 1 / 400 + 1 / 9)
    expected = gaussian.gaussian_epsilon(mu, left) - math.log1p(-FAILURE)
    epsilon = accounting.epsilon(COMPOSED, 1e-6)
    assert epsilon == pytest.approx(expected, rel=1e-9)
    assert accounting.delta(COMPOSED, epsilon) == pytest.approx(1e-6, rel=1e-6)

    mu = math.sqrt(2 / 16 + 1 / 400 + 4 / 9)
    expected = gaussian.gaussian_epsilon(mu, left)
    replaced = accounting.epsilon(COMPOSED, 1e-6, Relation.REPLACE_ONE)
    assert replaced == pytest.approx(expected, rel=1e-6)


def test_every_rule_counts_what_may_fail():
    rows = rules.every_epsilon(COMPOSED, 1e-6)
    by_rule = {row.rule: row.epsilon for row in rows}
    assert by_rule["exact"] < by_rule["rdp_tight"] < by_rule["rdp_source"]
    assert math.isinf(accounting.epsilon(COMPOSED, 1e-7))
    for row in rules.every_epsilon(COMPOSED, 1e-7):
        assert row.epsilon is None
    with pytest.raises(accounting.UnsupportedEvent):
        gaussian.mu(COMPOSED)


@pytest.mark.parametrize("relation", list(Relation))
def test_the_plan_takes_its_share_whatever_is_found(relation):
    budget = Budget(
        epsilon=2.0,
        delta=1e-6,
        relation=relation,
    )
    first = plan(budget, items=True, units=True)
    without_failing = [leaf.otherwise for leaf, _ in normal_form(first)]
    share = gaussian.mu(sequence(*without_failing), relation) ** 2 / budget.mu**2
    assert share == pytest.approx(0.16, rel=0.02)
    assert accounting.failure(first) == pytest.approx(1e-7, rel=1e-3)
    assert (
        normal_form(
            plan(
                None,
                items=True,
                units=True,
            )
        )
        == ()
    )
    assert (
        normal_form(
            plan(
                budget,
                items=False,
                units=False,
            )
        )
        == ()
    )


def ratings(without=None):
    """30 users of 12 items with names; items that nobody rated are not there, as in a file."""
    rng = np.random.default_rng(5)
    triples = []
    for user in range(30):
        for item in range(12):
            if rng.random() < 0.9 / (1 + item / 3) and item < 11:
                triples.append((user, item, 3.0))
    triples.append((7, 11, 4.0))
    kept = [triple for triple in triples if triple[0] != without]
    users, items, values = zip(*kept, strict=True)
    known = sorted(set(items))
    return Ratings.of(
        users,
        [known.index(item) for item in items],
        values,
        n_users=30,
        n_items=len(known),
        bounds=(1, 5),
        titles=tuple(f"film {item}" for item in known),
    )


def name_counts(data, most=1000, blocks=3):
    """The exact weighted counts of all names."""
    curator = exact_curator(data, blocks)
    return curator.total(NameCounts(1e-6, most), order_of_names(data))


def documents(texts):
    tokens = [text.split() for text in texts]
    words = sorted({word for document in tokens for word in document})
    X = np.zeros((len(texts), len(words)))
    ids = []
    starts = [0]
    for row, document in enumerate(tokens):
        for word in document:
            ids.append(words.index(word))
            X[row, ids[-1]] += 1
        starts.append(len(ids))
    read = Texts(tuple(words), np.array(ids, np.int32), np.array(starts, np.int64))
    return Samples.of(
        csr_array(X),
        vocabulary=tuple(words),
        unit="document",
        name="documents",
        texts=read,
    )


TEXTS = ["ant bee cat ant", "bee cat dog", "cat dog eel fox aaa", "dog ant"] * 2


AUTHORS = [0, 1, 2, 3, 0, 0, 1, 3]


def counts_of_ratings(gone, most):
    """The count of every item, without one user."""
    whole = ratings(gone)
    return dict(zip(whole.titles, name_counts(whole, most), strict=True))


def counts_of_words(gone, most):
    """The count of every word, without one document."""
    whole = documents([text for n, text in enumerate(TEXTS) if n != gone])
    return dict(zip(whole.vocabulary, name_counts(whole, most), strict=True))


def counts_of_authors(gone, most):
    """The count of every word, without all documents of one person."""
    left = [n for n, author in enumerate(AUTHORS) if author != gone]
    authors = np.array([AUTHORS[n] for n in left])
    whole = documents([TEXTS[n] for n in left]).of_people(authors, 4)
    return dict(zip(whole.vocabulary, name_counts(whole, most), strict=True))


@pytest.mark.parametrize("most", [2, 1000])
@pytest.mark.parametrize(
    ("counts_without", "units"),
    [
        (counts_of_ratings, (0, 7, 29)),
        (counts_of_words, (0, 3)),
        (counts_of_authors, (0, 3)),
    ],
    ids=["ratings", "documents", "people"],
)
def test_one_unit_moves_the_counts_by_1(counts_without, units, most):
    """Exactly 1 in L2 norm, counted by name."""
    whole = counts_without(None, most)
    for unit in units:
        fewer = counts_without(unit, most)
        steps = [count - fewer.get(name, 0.0) for name, count in whole.items()]
        assert math.hypot(*steps) == pytest.approx(1.0, abs=MOST_ROUNDED)
        assert np.count_nonzero(steps) <= most


def test_blocks_do_not_move_the_counts_by_a_bit():
    data = ratings()
    for rows, most in ((data, 2), (data, 1000), (notes_of_people(), 1000)):
        whole = name_counts(rows, most, blocks=1)
        for blocks in (2, 7):
            assert np.array_equal(name_counts(rows, most, blocks), whole)


def test_a_curator_shows_only_what_was_planned():
    event = UnitCount(1e-6).event(2.0)
    curator = NoisyCurator(in_memory(ratings(), 2), Noise(event, SEED))
    with pytest.raises(PlanViolation, match="UnitCount"):
        curator.padded_count(UnitCount(1e-3))
    with pytest.raises(PlanViolation):
        curator.names_over_threshold(NameCounts(1e-6), order_of_names(ratings()))
    with pytest.raises(PlanViolation):
        curator.release(UnitCount(1e-6))
    assert curator.padded_count(UnitCount(1e-6)) is not None


def test_a_count_below_the_truth_is_not_shown():
    event = sequence(*[UnitCount(0.5).event(1.0)] * 40)
    curator = NoisyCurator(in_memory(ratings(), 2), Noise(event, SEED))
    counts = [curator.padded_count(UnitCount(0.5)) for _ in range(40)]
    assert None in counts
    assert min(count for count in counts if count is not None) >= 30


def test_users_take_drawn_rows_and_the_others_stay_empty():
    data = ratings()
    slots_data = reshaped(data, PublicShape(units=41, slots=3))
    rows = slots(PublicShape(41, 3), 30)
    assert len(set(rows.tolist())) == 30
    assert rows.max() < 41
    assert slots_data.n_users == 41
    assert len(slots_data) == len(data)
    assert np.array_equal(slots_data.users, np.sort(slots_data.users))
    for user in range(30):
        mine = data.only(data.users == user)
        theirs = slots_data.only(slots_data.users == rows[user])
        assert np.array_equal(mine.items, theirs.items)
        assert np.array_equal(mine.values, theirs.values)


def test_the_kept_names_are_the_most_counted_ones():
    data = ratings()
    noise = Noise(sequence(threshold_event(0.05, 1e-6, 1000)), SEED)
    shape = release_shape(
        data,
        noise,
        1e-6,
        items=True,
        units=False,
        most=4,
        slots=0,
    )
    most_counted = np.argsort(-name_counts(data))[:4]
    assert set(shape.kept) == set(most_counted.tolist())
    assert 11 not in shape.kept
    result = reshaped(data, shape)
    assert result.n_items == 4
    assert result.titles == tuple(data.titles[item] for item in shape.kept)


def test_the_count_is_above_the_truth_as_often_as_stated():
    failure = 0.02
    trials = 10_000
    leaf = PaddedCount(10.0, UNITS, 1.0, 1.0, failure)
    seeds = np.random.SeedSequence(4).spawn(trials)
    counts = np.array([Noise(leaf, seed).padded_count(UNITS, 1000) for seed in seeds])
    short = (counts < 1000).mean()  # rounding up makes it a little rarer
    assert 0.014 < short < 0.023
    assert counts.std() == pytest.approx(10.0, rel=0.05)


def run(algorithm="spectral", delta=1e-6, **more):
    return fit(
        "cinema-small",
        algorithm,
        epsilon=8.0,
        delta=delta,
        top_items=60,
        item_choice="private",
        row_count="private",
        keep=False,
        **more,
    )


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_a_run_that_releases_its_shape_is_proven_and_within_its_budget(relation):
    record = run(relation=relation).record
    assert record.guarantee.status == "PROVEN"
    assert record.guarantee.taken_as_public == ("the rating bounds",)
    statistics = [row.statistic for row in record.ledger]
    assert statistics[:2] == [UNITS, ITEMS]
    assert len(statistics) > 2

    square = 0.0
    kept = 1.0
    for leaf, count in normal_form(record.event):
        factor = 1.0
        if relation == "replace-one":
            factor = leaf.replace_one_factor
        square += count * (factor / leaf.noise_multiplier) ** 2
        kept *= 1 - leaf.failure
    epsilon = 8.0 + math.log(kept)
    delta = (1 - kept) + delta_of(math.sqrt(square), epsilon)
    assert delta == pytest.approx(1e-6, rel=1e-6)
    assert record.epsilon.exact == pytest.approx(8.0, rel=1e-9)


def test_what_cannot_be_released_is_an_error():
    def release(data, event, **facts):
        release_shape(data, Noise(event, SEED), 1e-6, most=4, slots=0, **facts)

    with pytest.raises(BadInput, match="epsilon"):  # too few names pass
        release(
            ratings(),
            threshold_event(50.0, 1e-6, 1000),
            items=True,
            units=False,
        )
    with pytest.raises(BadInput, match="declare"):  # a person brings several rows
        count = plan(
            Budget(epsilon=1, delta=1e-5),
            items=False,
            units=True,
        )
        release(
            notes_of_people(),
            count,
            items=False,
            units=True,
        )
    with pytest.raises(BadInput, match="epsilon"):
        plan(
            Budget(epsilon=1e-3, delta=0.05),
            items=True,
            units=True,
        )


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"algorithm": "input-perturbation"}, "calibration"),
        ({"algorithm": "dpals", "calibration": "source"}, "need exact calibration"),
        ({"delta": None}, "row_count=private"),
        ({"min_item_count": 3}, "'min_item_count'"),
    ],
)
def test_combinations_without_a_proof_are_refused(changes, what):
    with pytest.raises(BadInput, match=what):
        run(**changes)


SECRET = "xylographzqj"


@pytest.fixture
def letters(tmp_path):
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


def test_a_rare_private_word_is_not_in_a_private_vocabulary(letters):
    exact = fit(
        letters,
        "oneshot-nmf",
        weighting="tf",
        epsilon=4,
        delta=1e-5,
        n_components=2,
    )
    assert exact.record.guarantee.status == "CONDITIONAL"
    assert SECRET in samples_of(exact).vocabulary
    private = fit(
        letters,
        "oneshot-nmf",
        item_choice="private",
        row_count="private",
        epsilon=4,
        delta=1e-5,
        n_components=2,
    )
    assert private.record.guarantee.status == "PROVEN"
    assert SECRET not in samples_of(private).vocabulary
    words = {word for topic in topics(private, 20) for word, _ in topic}
    assert {"harbour", "museum"} <= words


def notes():
    """Seven documents with five words."""
    X = np.zeros((7, 5))
    X[:4, 0] = 2
    X[:, 1] = 1
    X[2, 2] = 1
    X[4, 3] = 1
    X[5, 4] = 1
    return Samples.of(
        csr_array(X),
        vocabulary=tuple("abcde"),
        unit="document",
        name="notes",
    )


def test_a_choice_by_exact_counts_stays_an_assumption():
    """A private choice among filtered ratings does not undo the filter."""
    few = load("cinema-small").top_items(60)
    run = fit(
        few,
        "private-bias",
        epsilon=8,
        delta=1e-5,
        item_choice="private",
    )
    assert run.record.guarantee.status == "CONDITIONAL"


@pytest.mark.parametrize("rank", [29, 30, 31])
def test_whether_a_run_starts_does_not_follow_from_the_true_shape(rank):
    """A rank beyond the released items is refused, for 29 true items as for 30."""
    rng = np.random.default_rng(0)
    where = rng.random((300, 30)) < 0.8
    data = replace(rated(where, rng.integers(1, 6, where.shape), (1, 5)), public=False)
    with pytest.raises(BadInput):
        fit(
            data,
            "dpals",
            epsilon=3,
            delta=1e-6,
            item_choice="private",
            top_items=20,
            rank=rank,
        )


def notes_of_people():
    """The same notes by three people, of whom the first wrote four."""
    return notes().of_people(np.array([0, 0, 0, 0, 1, 2, 1]))


def films(path, diary=""):
    """A table of 400 users; the title of film 0 is what its first row says."""
    rows = ["user,item,rating,title"]
    if diary:
        rows.append(f"a,0,5,{diary}")
    for user in range(400):
        for item in range(4):
            rows.append(f"u{user:03d},{item},{1 + (user + item) % 5},Film {item}")
    path.write_text("\n".join(rows))
    return f"{path}?bounds=1,5"


@pytest.mark.parametrize("diary", ["", "my diary"])
def test_a_title_that_one_user_wrote_is_not_released(tmp_path, diary):
    """What was counted are items, by their ids; a title is one row of one user."""
    run = fit(
        films(tmp_path / "films.csv", diary),
        "private-bias",
        epsilon=8,
        delta=1e-5,
        item_choice="private",
        row_count="private",
    )
    assert set(data_access.ratings_of(run).titles) == {"0", "1", "2", "3"}
