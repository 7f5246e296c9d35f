"""A served class below the pages: refusals, owners of runs, and limits."""

import pytest

from dpmf_core.base import requesters
from dpmf_core.base.errors import BadInput
from dpmf_core.base.requesters import OPERATOR, Asker, asking
from dpmf_core.evaluation.audit.membership_inference import AuditSpec
from dpmf_core.jobs.engine import Engine
from dpmf_core.runs import permissions
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store
from dpmf_core.runs.sweep import Method, Sweep
from dpmf_core.runs.tuning.private_selection import PrivateSelection
from dpmf_core.runs.tuning.search import Search
from dpmf_core.runs.tuning.search_space import TuneSpec
from tests.support.engines import WAIT

QUICK = {"algorithm": "private-bias", "budget": {"epsilon": 2.0, "delta": 1e-5}}
ADA = Asker.of_session("ada's secret")
BOB = Asker.of_session("bob's secret")


@pytest.fixture
def put(configure):
    """put(name=value): the class profile with these settings."""
    configure(profile="class", catalogue="tests.support.two_sets", data_sets="small")
    return configure


@pytest.fixture
def engine(put, tmp_path):
    new_engine = Engine(Store(tmp_path / "runs"))
    yield new_engine
    new_engine.close()
    new_engine.store.close()


def run(data="small", **more):
    parts = {"data": {"id": data}, **QUICK, **more}
    return RunSpec.parse(**parts)


def test_a_data_set_that_is_not_allowed_is_refused_by_the_engine(engine):
    job = engine.submit(run("medium"))
    assert job.bad_input
    assert job.error is not None
    assert "'medium'" in job.error
    assert engine.jobs() == []
    with asking(ADA):
        assert engine.submit(run("medium")).bad_input


def test_the_operator_is_not_bound(engine, put):
    put(largest_audit=100, largest_sweep=1)
    with asking(OPERATOR):
        job = engine.submit(run("medium"))
        job.cancel()
        audit = engine.submit(
            AuditSpec.parse(algorithm="private-bias", epsilon=1.0, runs=100_000)
        )
        audit.cancel()
        assert len(sweep().points()) == 2
    assert not job.bad_input
    assert not audit.bad_input


def sweep():
    return Sweep(
        data={"id": "small"},
        methods=(Method(algorithm="private-bias"),),
        epsilons=(1.0, 2.0),
    )


def search(trials, jobs):
    spec = TuneSpec.parse(
        data={"id": "small"},
        algorithm="private-bias",
        search={"prior_deviation": {"low": 0.1, "high": 1.0}},
        budget=QUICK["budget"],
    )
    return Search(spec, trials, jobs)


def test_downloads_follow_the_setting(put):
    for who in (requesters.STRANGER, ADA):
        with asking(who), pytest.raises(BadInput, match="Downloading"):
            permissions.download("ml-1m", lambda count, total: None)


def keep_run(engine, who, **more):
    with asking(who):
        job = engine.submit(run(**more))
        return str(job.result(WAIT).key)


def test_a_run_belongs_to_its_first_requester_and_holds_no_secret(engine):
    key = keep_run(engine, ADA)
    assert keep_run(engine, BOB) == key
    (row,) = engine.store.rows()
    assert engine.store.owner(key) == ADA.owner
    assert row["owner"] == ADA.owner
    assert "secret" not in ADA.owner
    assert ADA.owner != BOB.owner
    record = engine.store.get(key).record
    assert ADA.owner not in str(record)


def test_others_read_and_do_not_annotate_or_delete(engine, put):
    put(deletes="owner")
    mine = keep_run(engine, ADA)
    hers = keep_run(engine, BOB, seed=1)
    for who in (BOB, requesters.STRANGER, Asker()):
        with asking(who):
            assert engine.store.get(mine) is not None
            with pytest.raises(BadInput, match="someone else"):
                permissions.annotate(engine.store, mine, "mine now", "")
            with pytest.raises(BadInput, match="someone else"):
                permissions.delete(engine.store, [mine])
    with asking(ADA):
        permissions.annotate(engine.store, mine, "a note", "")
        with pytest.raises(BadInput):  # one run of another keeps all
            permissions.delete(engine.store, [mine, hers])
        assert engine.store.count() == 2
        permissions.delete(engine.store, [mine])
    put(deletes="operator")
    with asking(BOB), pytest.raises(BadInput, match="operator"):
        permissions.delete(engine.store, [hers])
    with asking(OPERATOR):
        permissions.delete(engine.store, [hers])
    assert engine.store.count() == 0


def test_audits_sweeps_and_searches_beyond_the_setting_are_refused(engine, put):
    put(largest_audit=100, largest_sweep=1, largest_search=5)
    for runs in (100, 101):
        audit = AuditSpec.parse(algorithm="private-bias", epsilon=1.0, runs=runs)
        assert engine.submit(audit).bad_input is (runs > 100)
    with pytest.raises(BadInput, match="operator"):
        sweep().points()
    with pytest.raises(BadInput, match="trials"):
        search(6, engine)
    selection = PrivateSelection(searches=(search(5, engine).spec,), trials=6)
    assert engine.submit(selection).bad_input


def test_the_oldest_run_that_is_not_pinned_goes_first(engine, put):
    put(most_runs=3)
    first = keep_run(engine, ADA)
    second = keep_run(engine, ADA, seed=1)
    with asking(OPERATOR):
        permissions.pin(engine.store, first, True)
    for seed in (2, 3, 4):
        latest = keep_run(engine, ADA, seed=seed)
    keys = {row["key"] for row in engine.store.rows()}
    assert len(keys) == 3
    assert {first, latest} <= keys
    assert second not in keys
    with asking(ADA), pytest.raises(BadInput, match="operator"):
        permissions.pin(engine.store, latest, True)
