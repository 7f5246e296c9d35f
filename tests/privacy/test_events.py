"""Events are inert: they refuse what is no release, and have one normal form."""

import dataclasses
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpmf_core.privacy import NOTHING, Event, Gaussian, Laplace, Repeat, Sequence, normal_form, sequence

leaves = st.builds(Gaussian, st.sampled_from([1.0, 2.0]), st.sampled_from("ab")) | st.builds(Laplace, st.sampled_from([1.0, 2.0]), st.sampled_from("ab"))
events = st.recursive(
    leaves, lambda inner: st.builds(Repeat, inner, st.integers(0, 4)) | st.lists(inner, max_size=4).map(lambda parts: sequence(*parts)), max_leaves=12
)  # fmt: skip


def unrolled(event: Event) -> list[Gaussian | Laplace]:
    """Every release on its own, in order."""
    if isinstance(event, Repeat):
        return unrolled(event.event) * event.count
    if isinstance(event, Sequence):
        return [leaf for part in event.events for leaf in unrolled(part)]
    return [event]


@given(events)
def test_normal_form_counts_every_release_once(event: Event) -> None:
    ledger, releases = normal_form(event), unrolled(event)
    assert dict(ledger) == {leaf: releases.count(leaf) for leaf in releases}
    assert [leaf for leaf, _ in ledger] == list(dict.fromkeys(releases))
    assert normal_form(sequence(*(Repeat(leaf, count) for leaf, count in ledger))) == ledger


def test_structure_is_not_unrolled() -> None:
    assert normal_form(Repeat(Repeat(Gaussian(1.0), 10**9), 10**9)) == ((Gaussian(1.0), 10**18),)


def test_nothing() -> None:
    assert normal_form(NOTHING) == normal_form(Repeat(Gaussian(1.0), 0)) == ()


@pytest.mark.parametrize("kind", [Gaussian, Laplace])
@pytest.mark.parametrize("field", ["noise_multiplier", "sensitivity", "replace_one_factor"])
@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_a_release_without_noise_or_scale_is_refused(kind: Any, field: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"'{field}' of {kind.__name__} must be a finite number above 0. Got {value!r}"):
        kind(**({"noise_multiplier": 1.0} | {field: value}))


@pytest.mark.parametrize("count", [-1, 1.5, math.nan])
def test_a_count_is_a_whole_number(count: Any) -> None:
    with pytest.raises(ValueError, match="'count' of Repeat"):
        Repeat(Gaussian(1.0), count)


@pytest.mark.parametrize("stranger", [None, "Gaussian", 3])
def test_what_is_no_event_is_an_error(stranger: Any) -> None:
    with pytest.raises(TypeError, match="Not an event"):
        normal_form(sequence(Gaussian(1.0), stranger))


def test_events_are_frozen_and_compare_by_value() -> None:
    event = Repeat(sequence(Gaussian(1.0, "a"), Laplace(1.0, "a")), 3)
    assert event == Repeat(sequence(Gaussian(1.0, "a"), Laplace(1.0, "a")), 3) and hash(event) == hash(Repeat(event.event, 3))
    assert len({Gaussian(1.0), Laplace(1.0)}) == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        event.count = 1  # type: ignore[misc]
