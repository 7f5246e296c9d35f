"""What may be claimed, in which words."""

import pytest

from dpmf_core.privacy import NOT_PRIVATE, PERSON, Guarantee, Status

PROVEN = Guarantee(Status.PROVEN)


def test_only_proofs_put_an_epsilon_on_screen() -> None:
    assert {status: Guarantee(status).has_epsilon for status in Status} == {
        Status.PROVEN: True, Status.CONDITIONAL: True, Status.UNPROVEN: False, Status.NONE: False,
    }  # fmt: skip


def test_an_assumption_makes_a_proof_conditional() -> None:
    conditional = PROVEN.assuming("the item set is public").assuming(
        "the item set is public", "the vocabulary is public"
    )
    assert conditional.status is Status.CONDITIONAL
    assert (
        conditional.words
        == "Proved for one user, provided that the item set is public and the vocabulary is public."
    )
    assert PROVEN.assuming() is PROVEN and PROVEN.status is Status.PROVEN


@pytest.mark.parametrize("status", [Status.UNPROVEN, Status.NONE])
def test_an_assumption_lifts_nothing(status: Status) -> None:
    assert Guarantee(status).assuming("the moon is full").status is status
    assert NOT_PRIVATE.assuming("the moon is full") is NOT_PRIVATE


def test_an_unproven_claim_is_quoted() -> None:
    words = Guarantee(Status.UNPROVEN, claim="epsilon is 0.3").words
    assert "No proof is known" in words and '"epsilon is 0.3"' in words
    assert "document" in Guarantee(Status.PROVEN, unit="document").words
    assert "for one person (all her rows)." in Guarantee(Status.PROVEN, unit=PERSON).words
    assert "Not private" in NOT_PRIVATE.words
