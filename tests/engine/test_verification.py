"""Workers that would compute something else than was asked for are refused their work."""

import dataclasses
from typing import Any

import pytest

from dpmf_core.data.catalogue import lent
from dpmf_core.engine.cluster import must_be_public
from dpmf_core.engine.scheduler_security import Scheduler
from dpmf_core.engine.verification import Expected, expected, refusal
from dpmf_core.errors import BadInput
from dpmf_core.runs import data_access
from dpmf_core.runs.data_access import open_data
from dpmf_core.runs.installation import current_installation
from dpmf_core.runs.specification import DataSpec, run_key
from dpmf_core.testing.worlds import low_rank
from dpmf_core.tuning.private_selection import SelectionSpec
from dpmf_core.tuning.search import TuneSpec
from tests.support.engines import QUICK, spec

pytestmark = pytest.mark.usefixtures("two_sets")
HERE = current_installation()


def asked_for() -> tuple[Any, Expected]:
    run_spec = spec(QUICK)
    return run_spec, expected(run_spec, run_key(run_spec, open_data(run_spec.data)))


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"dpmf": "0.1"}, f"it has dpmf {HERE.dpmf}, and 0.1 is wanted"),
        ({"libraries": (("numpy", "1.0"), *HERE.libraries[1:])}, "and 1.0 is wanted"),
        ({"libraries": HERE.libraries[1:]}, "and none is wanted"),
        ({"code": "0"}, f"its code of dpmf {HERE.dpmf} differs from the code that asks"),
    ],
)
def test_what_differs_is_named(other: dict[str, Any], words: str) -> None:
    run_spec, requirement = asked_for()
    assert refusal(run_spec, requirement, "tcp://w") is None
    requirement = dataclasses.replace(requirement, installation=dataclasses.replace(HERE, **other))
    answer = refusal(run_spec, requirement, "tcp://w")
    assert answer is not None and words in answer.reason and answer.everything


def test_another_python_is_no_reason() -> None:
    run_spec, requirement = asked_for()
    other = dataclasses.replace(requirement.installation, python="3.99")
    assert (
        refusal(run_spec, dataclasses.replace(requirement, installation=other), "tcp://w") is None
    )


def test_other_data_another_algorithm_or_none_refuse_that_run_alone() -> None:
    run_spec, requirement = asked_for()
    for changes in ({"key": "0" * 32}, {"algorithm": "0"}):
        answer = refusal(run_spec, dataclasses.replace(requirement, **changes), "tcp://w")
        assert answer is not None and not answer.everything
    unknown = run_spec.model_copy(
        update={"data": run_spec.data.model_copy(update={"id": "nowhere"})}
    )
    answer = refusal(unknown, requirement, "tcp://w")
    assert answer is not None and "nowhere" in answer.reason and not answer.everything


def test_what_is_no_run_needs_the_same_data_too() -> None:
    search = {"algorithm": "dpals", "search": {"rank": (2, 3)}, "data": {"id": "own"}}
    selection_spec = SelectionSpec.parse(
        search=TuneSpec.parse(**search, budget={"epsilon": 2.0, "delta": 1e-6})
    )
    requirement = expected(selection_spec, "", elsewhere=True)
    assert refusal(selection_spec, requirement, "tcp://w") is None
    with lent("own", low_rank()):
        answer = refusal(selection_spec, requirement, "tcp://w")
    assert answer is not None and not answer.everything
    # workers of this machine have what is here, and it is not opened for that
    assert expected(selection_spec, "").key == ""
    assert refusal(selection_spec, expected(selection_spec, ""), "tcp://w") is None


def test_workers_elsewhere_are_given_runs_on_public_data_alone() -> None:
    must_be_public(spec(QUICK))
    with pytest.raises(BadInput):
        must_be_public(spec(QUICK, data={"id": "own"}))


def test_sums_over_private_data_travel_to_this_machine_or_over_tls_alone() -> None:
    for address in ("tls://far:1", "inproc://1.2/3", "tcp://127.0.0.1:1", "localhost:1"):
        Scheduler(address).must_protect("own", "it")
    for address in ("tcp://far:1", "far:1", "ucx://10.0.0.1:1"):
        with pytest.raises(BadInput):
            Scheduler(address).must_protect("own", "it")


def test_what_is_lent_takes_the_place_of_what_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_CATALOGUE", "dpmf_datasets")
    data_spec, other = DataSpec(id="lowrank"), low_rank(seed=9)
    before = data_access.open_anywhere(data_spec).fingerprint
    with lent("lowrank", other):
        assert data_access.open_anywhere(data_spec).fingerprint == other.fingerprint != before
    assert data_access.open_anywhere(data_spec).fingerprint == before
