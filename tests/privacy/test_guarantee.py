"""What may be claimed, in which words."""

import pytest

from dpmf_core.privacy import NOT_PRIVATE, Gaussian, Guarantee, Relation, Status
from dpmf_core.privacy.accounting import rule_of
from dpmf_core.privacy.formatting import epsilon_in_full

PROVEN = Guarantee(Status.PROVEN)


def test_only_proofs_put_an_epsilon_on_screen() -> None:
    assert {status: Guarantee(status).has_epsilon for status in Status} == {
        Status.PROVEN: True, Status.CONDITIONAL: True, Status.UNPROVEN: False, Status.NONE: False,
    }  # fmt: skip


def test_an_assumption_makes_a_proof_conditional() -> None:
    conditional = PROVEN.assuming("one").assuming("one", "another")
    assert conditional.status is Status.CONDITIONAL
    assert conditional.assumptions == ("one", "another")
    assert PROVEN.assuming() is PROVEN and PROVEN.status is Status.PROVEN


@pytest.mark.parametrize("status", [Status.UNPROVEN, Status.NONE])
def test_an_assumption_lifts_nothing(status: Status) -> None:
    assert Guarantee(status).assuming("the moon is full").status is status
    assert NOT_PRIVATE.assuming("the moon is full") is NOT_PRIVATE


def test_an_upper_bound_is_not_called_exact() -> None:
    release = Gaussian(2.0)
    assert rule_of(release) == "exact"
    assert rule_of(release, Relation.REPLACE_ONE) == "at most"
    assert "exact" not in epsilon_in_full(1.0, 1e-6, "user", "replace-one", "exact")
