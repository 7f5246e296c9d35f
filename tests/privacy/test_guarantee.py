"""What may be said of a run."""

from dpmf_core.privacy import NOT_PRIVATE, Guarantee, Status


def test_an_assumption_makes_a_proof_conditional_and_is_named() -> None:
    found = Guarantee(Status.PROVEN).given("the item set is public", "the item set is public")
    assert found.status is Status.CONDITIONAL
    assert found.words == "Proved for one user, provided that the item set is public."
    assert found.has_epsilon


def test_only_proofs_have_an_epsilon() -> None:
    assert [status for status in Status if Guarantee(status).has_epsilon] == [Status.PROVEN, Status.CONDITIONAL]
    assert NOT_PRIVATE.given("anything") is NOT_PRIVATE


def test_a_claim_stands_in_quotation_marks() -> None:
    assert '"2-differentially private"' in Guarantee(Status.UNPROVEN, claim="2-differentially private").words


def test_nothing_assumed_changes_nothing() -> None:
    assert Guarantee(Status.PROVEN).given() == Guarantee(Status.PROVEN)
