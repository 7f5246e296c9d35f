"""Ledgers as events of dp_accounting, whose accountant finds what ours finds, and from JSON."""

import json

import pytest
from dp_accounting.pld import PLDAccountant

from dpmf_core.base.errors import BadInput
from dpmf_core.privacy import (
    DiscreteGaussian,
    Gaussian,
    Laplace,
    PosteriorSample,
    Relation,
    Repeat,
    UnsupportedEvent,
    sequence,
)
from dpmf_core.privacy.accounting import epsilon
from dpmf_core.privacy.exchange import read_ledger, to_dp_event
from dpmf_core.privacy.failing_mechanisms import PaddedCount

LEDGERS = [
    Repeat(Gaussian(3.0, "a", 2.0), 7),
    sequence(Gaussian(2.0, "a", 1.0, 1.4), Repeat(Gaussian(5.0, "b"), 4), Gaussian(9.0, groups=3)),
    sequence(Laplace(4.0, "c"), Repeat(Gaussian(3.0, "d"), 2)),
    Laplace(2.0),
    sequence(DiscreteGaussian(2.0, "a", 2.0), Repeat(Gaussian(3.0), 2)),
]


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("event", LEDGERS, ids=str)
def test_their_accountant_finds_what_ours_finds(event, relation):
    theirs = PLDAccountant().compose(to_dp_event(event, relation)).get_epsilon(1e-6)
    assert theirs == pytest.approx(epsilon(event, 1e-6, relation), rel=2e-4)


def test_what_may_fail_has_no_event():
    for event in (PaddedCount(4.0, failure_probability=1e-7), PosteriorSample(3.0)):
        with pytest.raises(UnsupportedEvent):
            to_dp_event(event)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "holds no ledger"),
        ({"ledger": [{"mechanism": "magic"}]}, "mechanism of a ledger's row must be one of"),
        ({"ledger": [3]}, "cannot be read"),
        ({"ledger": [{"mechanism": "Gaussian", "noise_multiplier": 1}]}, "lacks statistic"),
    ],
)
def test_a_file_that_is_no_ledger_is_refused(tmp_path, content, words):
    file = tmp_path / "l.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(BadInput, match=words):
        read_ledger(file)
    with pytest.raises(BadInput):
        read_ledger(tmp_path / "none.json")
