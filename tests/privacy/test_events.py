"""Events are inert: they refuse what is no release, and have one normal form."""

import inspect
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpmf_core.privacy import (
    NOTHING,
    Gaussian,
    Laplace,
    Repeat,
    Sequence,
    normal_form,
    sequence,
)
from dpmf_core.privacy.events import event_of_rows, ledger_rows
from dpmf_core.privacy.failing_mechanisms import FailingGaussian
from dpmf_core.privacy.mechanisms import MECHANISMS, Mechanism

multipliers = st.sampled_from([1.0, 2.0])
names = st.sampled_from("ab")
leaves = st.builds(Gaussian, multipliers, names) | st.builds(
    Laplace, multipliers, names
)
events = st.recursive(
    leaves,
    lambda inner: (
        st.builds(Repeat, inner, st.integers(0, 4))
        | st.lists(inner, max_size=4).map(lambda parts: sequence(*parts))
    ),
    max_leaves=12,
)


def unrolled(event):
    """Every release on its own, in order."""
    if isinstance(event, Repeat):
        return unrolled(event.event) * event.count
    if isinstance(event, Sequence):
        return [leaf for part in event.events for leaf in unrolled(part)]
    return [event]


@given(events)
def test_normal_form_counts_every_release_once(event):
    ledger = normal_form(event)
    releases = unrolled(event)
    counts = {leaf: releases.count(leaf) for leaf in releases}
    assert dict(ledger) == counts
    in_order = list(dict.fromkeys(releases))
    assert [leaf for leaf, _ in ledger] == in_order
    assert (
        normal_form(sequence(*(Repeat(leaf, count) for leaf, count in ledger)))
        == ledger
    )


def test_nested_repeats_are_not_unrolled():
    nested = Repeat(Repeat(Gaussian(1.0), 10**9), 10**9)
    assert normal_form(nested) == ((Gaussian(1.0), 10**18),)


def test_a_plan_of_nothing_has_no_releases():
    assert normal_form(NOTHING) == ()
    assert normal_form(Repeat(Gaussian(1.0), 0)) == ()


@pytest.mark.parametrize("kind", [Gaussian, Laplace])
@pytest.mark.parametrize(
    "field", ["noise_multiplier", "sensitivity", "replace_one_factor"]
)
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_a_release_without_noise_or_scale_is_refused(kind, field, value):
    with pytest.raises(ValueError):
        parameters = {"noise_multiplier": 1.0, field: value}
        kind(**parameters)


@pytest.mark.parametrize("count", [-1, 1.5, math.nan])
def test_a_count_is_a_whole_number(count):
    with pytest.raises(ValueError):
        Repeat(Gaussian(1.0), count)


@pytest.mark.parametrize("stranger", [None, "Gaussian", 3])
def test_an_object_that_is_no_event_is_an_error(stranger):
    with pytest.raises(TypeError):
        normal_form(sequence(Gaussian(1.0), stranger))


def kinds_below(kind):
    return {kind} | {
        kind_below
        for below in kind.__subclasses__()
        if below.__module__.startswith("dpmf_core")
        for kind_below in kinds_below(below)
    }


def test_every_kind_of_mechanism_is_registered_once_and_complete():
    """A kind without its own draw, Renyi curve or loss distribution is abstract."""
    # which says no more than that it may fail
    complete = {
        kind for kind in kinds_below(Mechanism) if not inspect.isabstract(kind)
    } - {FailingGaussian}
    assert complete == set(MECHANISMS.values())
    assert len(MECHANISMS) == len(complete)
    for name, kind in MECHANISMS.items():
        assert name == kind.mechanism


@given(events)
def test_a_ledger_survives_json(event):
    written = json.dumps(ledger_rows(normal_form(event)))
    rows = json.loads(written)
    assert normal_form(event_of_rows(rows)) == normal_form(event)
