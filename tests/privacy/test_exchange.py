"""Ledgers as events of dp_accounting and as JSON: what other accountants find is what we find."""

import dataclasses
import json
import math

import pytest
from dp_accounting import NeighboringRelation
from dp_accounting import dp_event as kinds
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant

from dpmf_core import algorithms
from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Shape
from dpmf_core.privacy import (
    NOTHING,
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
from dpmf_core.privacy.events import ledger_rows, normal_form, on_grids
from dpmf_core.privacy.exchange import (
    dp_event_epsilon,
    dp_event_from_json,
    dp_event_to_json,
    from_dp_event,
    read_ledger,
    to_dp_event,
)
from dpmf_core.privacy.failing_mechanisms import PaddedCount

LEDGERS = [
    Repeat(Gaussian(3.0, "a", 2.0), 7),
    sequence(
        Gaussian(2.0, "a", 1.0, 1.4),
        Repeat(Gaussian(5.0, "b"), 4),
        Gaussian(9.0, groups=3),
    ),
    sequence(Laplace(4.0, "c"), Repeat(Gaussian(3.0, "d"), 2)),
    Laplace(2.0),
    sequence(DiscreteGaussian(2.0, "a", 2.0), Repeat(Gaussian(3.0), 2)),
]
SAMPLED_EVENT = kinds.SelfComposedDpEvent(
    kinds.PoissonSampledDpEvent(0.01, kinds.GaussianDpEvent(1.1)), 500
)


@pytest.mark.parametrize("relation", Relation)
@pytest.mark.parametrize("event", LEDGERS, ids=str)
def test_dp_accounting_finds_the_same_epsilon(event, relation):
    accountant = PLDAccountant().compose(to_dp_event(event, relation))
    theirs = accountant.get_epsilon(1e-6)
    ours = epsilon(event, 1e-6, relation)
    assert theirs == pytest.approx(ours, rel=2e-4)


@pytest.mark.parametrize("event", [*LEDGERS, NOTHING], ids=str)
def test_an_event_converted_there_and_back_costs_the_same(event):
    written = json.dumps(dp_event_to_json(to_dp_event(event)))
    content = json.loads(written)
    back = from_dp_event(dp_event_from_json(content))
    expected = epsilon(event, 1e-6)
    assert epsilon(back, 1e-6) == pytest.approx(expected, rel=1e-9)
    # their multipliers are already those of one step between neighbours
    assert epsilon(back, 1e-6, Relation.REPLACE_ONE) == epsilon(back, 1e-6)


def test_another_tools_sampled_steps_are_accounted():
    """DP-SGD as Opacus and TensorFlow Privacy run it: 500 Poisson-sampled Gaussian steps."""
    expected = PLDAccountant().compose(SAMPLED_EVENT).get_epsilon(1e-5)
    assert dp_event_epsilon(SAMPLED_EVENT, 1e-5) == pytest.approx(expected, rel=1e-9)
    ours = to_dp_event(Repeat(Gaussian(20.0), 3))
    composed = kinds.ComposedDpEvent([SAMPLED_EVENT, ours])
    together = dp_event_epsilon(composed, 1e-5)
    of_ours = epsilon(Repeat(Gaussian(20.0), 3), 1e-5)
    assert expected < together < expected + of_ours
    with pytest.raises(UnsupportedEvent, match="dp_event_epsilon"):
        from_dp_event(SAMPLED_EVENT)
    with pytest.raises(UnsupportedEvent):
        dp_event_epsilon(kinds.UnsupportedDpEvent(), 1e-5)
    assert dp_event_epsilon(kinds.GaussianDpEvent(2.0), 1e-5) == epsilon(
        Gaussian(2.0), 1e-5
    )


def test_sampling_without_replacement_is_accounted_under_replace_one():
    """A tenth of the rows a step: by the RDP accountant of dp_accounting, which alone has it."""
    noise = kinds.GaussianDpEvent(2.0)
    step = kinds.SampledWithoutReplacementDpEvent(1000, 100, noise)
    event = kinds.SelfComposedDpEvent(step, 20)
    theirs = RdpAccountant(neighboring_relation=NeighboringRelation.REPLACE_ONE)
    expected = theirs.compose(event).get_epsilon(1e-5)
    assert dp_event_epsilon(event, 1e-5, Relation.REPLACE_ONE) == pytest.approx(
        expected
    )
    with pytest.raises(UnsupportedEvent, match="replace-one"):
        dp_event_epsilon(event, 1e-5)


def test_a_mechanism_that_may_fail_has_no_event():
    for event in (PaddedCount(4.0, failure_probability=1e-7), PosteriorSample(3.0)):
        with pytest.raises(UnsupportedEvent):
            to_dp_event(event)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "holds no ledger"),
        (
            {"ledger": [{"mechanism": "magic"}]},
            "mechanism of a ledger's row must be one of",
        ),
        ({"ledger": [3]}, "cannot be read"),
        (
            {"ledger": [{"mechanism": "Gaussian", "noise_multiplier": 1}]},
            "lacks statistic",
        ),
        ({"dp_event": {"kind": "system"}}, "'kind' of an event is one of .*Gaussian"),
        ({"dp_event": {"kind": "GaussianDpEvent", "z": 1}}, "cannot be made of"),
        (
            {"dp_event": {"kind": "GaussianDpEvent", "noise_multiplier": -1}},
            "cannot be",
        ),
    ],
)
def test_a_file_that_is_no_ledger_is_refused(tmp_path, content, words):
    file = tmp_path / "l.json"
    if not isinstance(content, str):
        content = json.dumps(content)
    file.write_text(content)
    with pytest.raises(BadInput, match=words):
        read_ledger(file)
    with pytest.raises(BadInput):
        read_ledger(tmp_path / "none.json")


def joint(z, gram_z, factor=None):
    """Right-hand sides with the joint factor of Lemma 8 next to Grams of this noise."""
    ratio = (gram_z / z) ** 2
    if ratio <= 2:
        gain = ratio / 4
    else:
        gain = 1 - 1 / ratio
    proved = min(math.sqrt(2 + 2 * gain), 2.0)
    return Gaussian(z, "sides", companion="grams", joint_factor=factor or proved)


ROOT_OF_2 = math.sqrt(2)


def grams(z, factor=ROOT_OF_2):
    return Gaussian(z, "grams", replace_one_factor=factor)


def read_back(event, folder):
    file = folder / "l.json"
    rows = ledger_rows(normal_form(event))
    file.write_text(json.dumps({"ledger": rows}))
    return normal_form(read_ledger(file))


PROVED = {
    "of the same ratio": sequence(Repeat(grams(6.0), 3), Repeat(joint(4.0, 6.0), 3)),
    "of less noise": sequence(grams(5.0), joint(4.0, 6.0)),
    "a pair each": sequence(
        grams(6.0),
        grams(3.0),
        joint(4.0, 3.0),
        joint(4.0, 6.0),
    ),
    "with no factor": sequence(grams(60.0), Gaussian(4.0, "sides")),
    "the factor alone": sequence(grams(60.0), joint(4.0, 6.0, factor=2.0)),
}
UNPROVED = {
    "of more noise": sequence(grams(6.1), joint(4.0, 6.0)),
    "one with more noise": sequence(
        grams(6.0),
        grams(60.0),
        Repeat(joint(4.0, 6.0), 2),
    ),
    "two for one": sequence(
        grams(3.0),
        grams(60.0),
        joint(4.0, 3.0),
        joint(4.0, 6.0),
    ),
    "below any": sequence(grams(0.001), joint(4.0, 6.0, factor=1.41)),
    "of another kind": sequence(on_grids(grams(6.0)), joint(4.0, 6.0)),
    "which move less": sequence(grams(6.0, factor=1.0), joint(4.0, 6.0)),
    "on other groups": sequence(
        dataclasses.replace(grams(6.0), groups=2), joint(4.0, 6.0)
    ),
}


@pytest.mark.parametrize("event", PROVED.values(), ids=PROVED)
def test_a_joint_factor_next_to_its_companions_is_read(event, tmp_path):
    assert read_back(event, tmp_path) == normal_form(event)


@pytest.mark.parametrize("event", UNPROVED.values(), ids=UNPROVED)
def test_a_joint_factor_next_to_other_companions_is_refused(event, tmp_path):
    with pytest.raises(BadInput, match=r"joint factor .* is not proved"):
        read_back(event, tmp_path)


@pytest.mark.parametrize("discrete", [False, True])
@pytest.mark.parametrize("gram_share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("name", ["dpals", "ada-dpals"])
def test_the_ledger_of_a_run_is_read(name, gram_share, discrete, tmp_path):
    algorithm = algorithms.build_with_defaults(
        name, {"gram_share": gram_share, "steps": 3}
    )
    plan = algorithm.plan(Shape(900, 40, (1.0, 5.0)), 3.0)
    if discrete:
        event = on_grids(plan)
    else:
        event = plan
    assert any(leaf.joint_factor for leaf, _ in normal_form(event))
    assert read_back(event, tmp_path) == normal_form(event)
