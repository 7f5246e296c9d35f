"""dp_accounting's own tests of an accountant, through an adapter to this package's accounting.

Epsilon is ours. What an event is allowed to be, delta, and the relation replace-special, which this
package does not have, are asked of the PLD accountant.
"""

import re
import unittest
from collections.abc import Iterator
from typing import Any

import pytest
from dp_accounting import DpEvent, NeighboringRelation, privacy_accountant
from dp_accounting.pld import pld_privacy_accountant, pld_privacy_accountant_test

from dpmf_core.privacy import Relation
from dpmf_core.privacy.exchange import dp_event_epsilon

pytestmark = pytest.mark.slow  # most of it is their own accountant
Theirs = pld_privacy_accountant.PLDAccountant
OURS = {
    NeighboringRelation.ADD_OR_REMOVE_ONE: Relation.ADD_REMOVE,
    NeighboringRelation.REPLACE_ONE: Relation.REPLACE_ONE,
}


class Adapter(privacy_accountant.PrivacyAccountant):
    """Epsilon of what was composed, by `dp_event_epsilon`."""

    def __init__(
        self,
        neighboring_relation: Any = NeighboringRelation.ADD_OR_REMOVE_ONE,
        value_discretization_interval: float = 1e-4,
    ) -> None:
        super().__init__(neighboring_relation)
        self._theirs = Theirs(neighboring_relation, value_discretization_interval)

    def _maybe_compose(self, event: DpEvent, count: int, do_compose: bool) -> Any:
        return self._theirs._maybe_compose(event, count, do_compose)

    def get_epsilon(self, target_delta: float) -> float:
        # replace-special, which is theirs alone
        if self.neighboring_relation not in OURS:
            return float(self._theirs.get_epsilon(target_delta))
        return dp_event_epsilon(
            self.ledger, target_delta, OURS[self.neighboring_relation]
        )

    def get_delta(self, target_epsilon: float) -> float:
        return float(self._theirs.get_delta(target_epsilon))


def cases() -> Iterator[unittest.TestCase]:
    """All but those of events that our accounting hands to theirs unseen, which take minutes."""
    suite = pld_privacy_accountant_test.PldPrivacyAccountantTest
    for case in unittest.TestLoader().loadTestsFromTestCase(suite):
        if not re.search("mixture|truncated", case._testMethodName):
            yield case  # type: ignore[misc]


# Their own names of some cases hold addresses in memory, which differ between pytest's processes.
@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=f"{case._testMethodName}-{n}")
        for n, case in enumerate(cases())
    ],
)
def test_tests_of_dp_accounting_pass(
    case: unittest.TestCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pld_privacy_accountant, "PLDAccountant", Adapter)
    case.debug()
