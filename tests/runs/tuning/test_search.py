"""Search: what trials see, no run twice, pruning, and what choosing costs."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from dpmf_core.algorithms import REGISTRY
from dpmf_core.base.errors import BadInput
from dpmf_core.base.progress import Progress
from dpmf_core.data.splits import SplitSpec, split
from dpmf_core.jobs.engine import Engine
from dpmf_core.privacy import Budget, Gaussian, Relation, Repeat
from dpmf_core.privacy.accounting import epsilon
from dpmf_core.privacy.selection import SHAPES, number_of_trials, price_of_choosing
from dpmf_core.runs.data_access import open_ratings, open_split
from dpmf_core.runs.execution import run
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.store import Store
from dpmf_core.runs.tuning.search import Search, price
from dpmf_core.runs.tuning.search_space import (
    Interval,
    TuneSpec,
    default_range,
    outcome,
)
from tests.support.engines import WAIT
from tests.support.records import run_of


def test_a_price_counts_everything_a_trial_releases():
    """Twice, and twice as far where another person takes a place."""
    twice = price_of_choosing(Repeat(Gaussian(5.0), 2), 10, 1e-6, Relation.REPLACE_ONE)
    once = price_of_choosing(Gaussian(2.5 / math.sqrt(2)), 10, 1e-6)
    assert twice.best_of == pytest.approx(once.best_of, rel=1e-9)


pytestmark = pytest.mark.usefixtures("two_sets")


@pytest.fixture
def engine(tmp_path):
    threads = Engine(Store(tmp_path / "store"), workers=1)
    yield threads
    threads.close()
    threads.store.close()


@pytest.mark.parametrize(
    ("distribution", "least", "most", "share_of_none"),
    [
        ("poisson", 8.8, 11.2, math.exp(-10)),
        ("geometric", 79.2, 100.8, 0.0),
        ("binomial", 4.4, 5.6, 2.0**-20),
        ("logarithmic", 200.0, math.inf, 0.0),
    ],
)
def test_the_number_of_trials_has_its_mean_and_variance(
    distribution, least, most, share_of_none
):
    rng = np.random.default_rng(0)
    samples = np.array([number_of_trials(distribution, 10, rng) for _ in range(5_000)])
    standard_error = samples.std() / math.sqrt(len(samples))
    assert samples.mean() == pytest.approx(10, abs=4 * standard_error)
    assert (samples == 0).mean() == pytest.approx(share_of_none, abs=2e-3)
    assert least <= samples.var() <= most


def test_every_distribution_of_the_number_of_trials_is_tested():
    assert set(SHAPES) == {"poisson", "geometric", "binomial", "logarithmic"}


def tune_spec(**changed):
    parts = {
        "data": {"id": "small"},
        "algorithm": "als",
        "search": {
            "rank": {"low": 1, "high": 24},
            "regularisation": {
                "low": 0.01,
                "high": 10.0,
                "log": True,
            },
        },
        "fixed": {"steps": 3},
        "draws": 1,
    }
    return TuneSpec.parse(**(parts | changed))


def run_to_end(search):
    while search.advance():
        for _, jobs in list(search._running.values())[:1]:
            unfinished = [job for job in jobs if job.state in ("waiting", "running")]
            job = (unfinished or jobs)[0]
            job.wait(WAIT)
    return search


def pairs(*parts):
    """The (user, item) of all ratings of some parts."""
    found = set()
    for part in parts:
        found.update(zip(part.users.tolist(), part.items.tolist(), strict=True))
    return found


def test_a_trial_sees_no_test_rating():
    spec = tune_spec(draws=3)
    trial = open_split(spec.trial({"rank": 2}, 2))
    final = open_split(spec.final({"rank": 2}).model_copy(update={"seed": 2}))
    seen = pairs(trial.train, trial.history, trial.validation, trial.test)
    assert not seen & pairs(final.test)
    assert pairs(trial.test) <= pairs(final.train)


def test_fresh_draws_have_their_own_seeds_and_are_judged_by_all_test_ratings():
    spec = tune_spec(draws=3)
    trial_seeds = {spec.trial({}, draw).seed for draw in range(3)}
    fresh_seeds = {fresh.seed for fresh in spec.fresh({"rank": 2}).values()}
    assert trial_seeds == {0, 1, 2}
    assert fresh_seeds == {3, 4, 5, 6, 7}
    ratings = open_ratings(spec.data)
    final = open_split(spec.final({"rank": 2}).model_copy(update={"seed": 2}))
    assert len(pairs(final.train, final.test)) == len(ratings)
    whole = split(ratings, SplitSpec(validation_fraction=0.1), 0)
    n_split = len(whole.train) + len(whole.validation) + len(whole.test)
    assert n_split == len(ratings)


def test_a_trial_is_the_mean_of_its_draws_with_their_interval(engine, tmp_path):
    spec = tune_spec(draws=3, prune=False)
    search = run_to_end(Search(spec, 3, engine, folder=tmp_path / "t"))
    for trial in search.trials:
        scores = []
        for draw in range(3):
            record = run(search.spec.trial(trial.place, draw)).record
            scores.append(record.metrics["rmse"])
        mean = np.mean(scores)
        interval = stats.t.interval(0.95, 2, mean, stats.sem(scores))
        assert trial.measured.draws == pytest.approx(scores, abs=1e-12)
        assert trial.score == pytest.approx(mean, abs=1e-12)
        assert trial.interval == pytest.approx(interval)


def test_a_trial_waits_for_all_its_draws_and_is_stopped_as_one(tmp_path):
    engine = Fake()
    search = Search(
        tune_spec(draws=3),
        2,
        engine,
        width=1,
        folder=tmp_path,
    )
    search.advance()
    assert [job.spec.seed for job in engine.jobs] == [0, 1, 2]
    for job, score in zip(engine.jobs[:2], (0.9, 1.1), strict=True):
        job.score = score
        job.state = "done"
    assert search.advance()
    assert len(engine.jobs) == 3
    assert search.best is None
    engine.jobs[2].state = "cancelled"
    search.advance()
    assert [trial.state for trial in search.trials] == ["stopped", "running"]
    engine.jobs[3].state = "cancelled"
    search.advance()
    assert {job.state for job in engine.jobs[3:6]} == {"cancelled"}


def test_a_journal_keeps_the_draws(engine, tmp_path):
    spec = tune_spec(draws=3, prune=False)
    search = run_to_end(Search(spec, 3, engine, folder=tmp_path / "t"))
    again = Search(search.spec, 3, Fake(), folder=tmp_path / "t")
    for trial, kept in zip(search.trials, again.trials, strict=True):
        assert kept.measured.draws == trial.measured.draws
    assert tune_spec().key != tune_spec(draws=3).key


def test_a_trial_of_one_draw_has_no_interval(engine, tmp_path):
    search = run_to_end(Search(tune_spec(), 1, engine, folder=tmp_path / "t"))
    (trial,) = search.trials
    assert trial.interval is None
    assert len(trial.measured.draws) == 1


def world(winner, default):
    spec = {"data": {"id": "small"}, "algorithm": "als"}
    runs = {}
    for n, error in enumerate(winner):
        runs[f"winner {n}"] = run_of(spec=spec, metrics={"rmse": error})
    for n, error in enumerate(default):
        runs[f"default {n}"] = run_of(spec=spec, metrics={"rmse": error})
    return runs


USUAL = [0.90, 0.92, 0.91, 0.93, 0.89]


@pytest.mark.parametrize(
    ("gaps", "verdict"),
    [
        ((-0.010, -0.011, -0.009, -0.012, -0.010), "better"),
        ((0.010, 0.011, 0.009, 0.012, 0.010), "worse"),
        ((0.0,) * 5, "no different"),
        ((-0.010, -0.011, 0.012, -0.012, -0.010), "no different"),
        # all the same way, but the interval contains 0
        ((-0.050, -0.001, -0.001, -0.001, -0.001), "no different"),
    ],
)
def test_the_winner_is_judged_by_paired_fresh_draws(gaps, verdict):
    winner = [usual + gap for usual, gap in zip(USUAL, gaps, strict=True)]
    runs = world(winner, USUAL)
    comparison = outcome(runs, "rmse")
    assert comparison.verdict == verdict
    if any(gaps):
        interval = tuple(stats.ttest_rel(winner, USUAL).confidence_interval())
        assert comparison.gap.interval == pytest.approx(interval)
    del runs["default 4"]
    assert outcome(runs, "rmse") is None


class Fake:
    """Jobs that the test moves by hand."""

    def __init__(self):
        self.jobs = []

    def submit(self, spec, priority=0):
        job = SimpleNamespace(
            spec=spec,
            state="running",
            progress=None,
            bad_input=False,
            error=None,
        )
        job.cancel = lambda: setattr(job, "state", "cancelled")
        job.result = lambda timeout=None: SimpleNamespace(
            key="k", record=SimpleNamespace(metric=lambda _: float(job.score))
        )
        self.jobs.append(job)
        return job


def test_a_curve_above_the_median_of_those_before_is_stopped(tmp_path):
    engine = Fake()
    search = Search(
        tune_spec(),
        8,
        engine,
        width=1,
        folder=tmp_path,
    )
    for place in range(5):
        search.advance()
        job = engine.jobs[place]
        job.progress = Progress(
            2,
            3,
            0.1,
            ({"step": 1.0, "test_rmse": 1.0}, {"step": 2.0, "test_rmse": 0.9}),
        )
        search.advance()
        job.score = 0.9
        job.state = "done"
    search.advance()
    fair = engine.jobs[5]
    fair.progress = Progress(1, 3, 0.1, ({"step": 1.0, "test_rmse": 0.8},))
    search.advance()
    assert fair.state == "running"
    fair.score = 0.7
    fair.state = "done"
    search.advance()
    poor = engine.jobs[6]
    poor.progress = Progress(1, 3, 0.1, ({"step": 1.0, "test_rmse": 5.0},))
    search.advance()
    assert poor.state == "cancelled"
    search.advance()
    assert [trial.state for trial in search.trials][5:7] == ["done", "stopped"]


def test_every_draw_and_every_score_of_a_trial_is_paid_for():
    budget = Budget(epsilon=2.0, delta=1e-5)

    def of_mu(mu):
        return epsilon(Gaussian(1 / mu), 1e-5)

    scored = price(Gaussian(3.0), 5.0, 10, budget)
    thrice = price(Gaussian(3.0), 5.0, 10, budget, 3)
    mu = math.hypot(1 / 3, 1 / 5)
    assert scored.single == pytest.approx(of_mu(mu))
    assert thrice.single == pytest.approx(of_mu(math.sqrt(3) * mu))
    assert thrice.all_shown == pytest.approx(of_mu(math.sqrt(30) * mu))
    assert scored.best_of["poisson"] < thrice.best_of["poisson"]


def test_a_search_begins_with_the_recommended_place_and_ends_no_worse(engine, tmp_path):
    spec = tune_spec(
        search={
            "rank": {"low": 1, "high": 24},
            "regularisation": {"low": 0.0, "high": 10.0},
        }
    )
    search = run_to_end(Search(spec, 8, engine, folder=tmp_path / "t"))
    assert [trial.number for trial in search.trials] == list(range(8))
    start = search.trials[0].place
    usual = prepare(spec.trial({}), open_ratings(spec.data).shape).algorithm
    assert start == {"rank": usual.rank, "regularisation": usual.regularisation}
    assert all(
        search.best.score <= trial.score
        for trial in search.trials
        if trial.score is not None
    )
    expected = run(search.spec.trial(search.best.place)).record.metrics["rmse"]
    assert search.best.score == pytest.approx(expected, abs=1e-12)


def test_a_cut_search_goes_on_without_computing_anything_again(engine, tmp_path):
    spec = tune_spec(prune=False)
    first = [
        trial.place
        for trial in run_to_end(Search(spec, 4, engine, folder=tmp_path / "t")).trials
    ]
    requests = []

    class Counting:
        def submit(self, request, priority=0):
            requests.append(request)
            return engine.submit(request, priority)

    again = run_to_end(Search(spec, 7, Counting(), folder=tmp_path / "t"))
    assert len(requests) == 3
    assert [trial.place for trial in again.trials[:4]] == first
    assert len(again.trials) == 7


def test_what_was_cut_or_cancelled_is_asked_for_again(tmp_path):
    engine = Fake()
    spec = tune_spec(search={"rank": {"low": 1, "high": 40}})
    search = Search(
        spec,
        5,
        engine,
        width=2,
        folder=tmp_path,
    )
    search.advance()
    unfinished = [job.spec.parameters for job in engine.jobs]
    search.cancel()
    assert {job.state for job in engine.jobs} == {"cancelled"}
    assert search.cancelled
    assert not search.busy
    assert not search.n_settled
    assert not search.trials
    assert search.advance()
    assert not search.cancelled
    assert [job.spec.parameters for job in engine.jobs[2:]] == unfinished
    again = Fake()
    Search(
        spec,
        5,
        again,
        width=2,
        folder=tmp_path,
    ).advance()
    assert [job.spec.parameters for job in again.jobs] == unfinished


def test_a_trial_that_cannot_run_ends_the_search_with_its_sentence(tmp_path):
    engine = Fake()
    search = Search(tune_spec(), 8, engine, folder=tmp_path)
    search.advance()
    for job in engine.jobs:
        job.state = "failed"
        job.error = "No such thing."
        job.bad_input = True
    assert not search.advance()
    assert search.failure == "No such thing."
    assert search.best is None


MANY = tuple(range(1, 60))


@pytest.mark.parametrize(
    "parts",
    [
        {"search": {}},
        {"search": {"rnak": (1, 2)}},
        {"sampler": "grid"},
        {"split": {}},
        {"search": {"rank": {"low": 4, "high": 2}}},
        {"search": {"regularisation": {"low": 0, "high": 1, "log": True}}},
        {"search": {"rank": MANY, "steps": MANY}, "fixed": {}, "sampler": "grid"},
    ],
    ids=str,
)
def test_what_cannot_be_searched_is_refused(parts):
    with pytest.raises(BadInput):
        tune_spec(**parts)


@pytest.mark.parametrize("kind", REGISTRY.values(), ids=REGISTRY)
def test_default_ranges_lie_within_what_is_allowed(kind):
    algorithm = kind()
    for name in kind.model_fields:
        default = getattr(algorithm, name)
        values = default_range(kind, name, default)
        if isinstance(values, tuple):
            allowed = values
        else:
            allowed = (values.low, values.high)
            assert isinstance(values, Interval) or values.low <= default <= values.high
        for value in allowed:
            kind(**{name: value})
