"""A person's clicks on her own ratings: after each, the odometer is what an independent
composition of every published release gives.
"""

from typing import Any

import pytest

from benchmarks.clicks import hour


@pytest.mark.slow
def test_the_odometer_is_the_composition_of_all_that_was_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said: list[tuple[Any, ...]] = []
    hour(200, True, lambda *figures: said.append(figures))
    assert len(said) == 11
    for what, odometer, drawn, shown, _ in said:
        assert odometer == pytest.approx(drawn, rel=1e-9, abs=1e-12), what
        assert shown == f"{drawn:.2f}", what
    releases = {what: count for what, _, _, _, count in said}
    before, after = (
        releases["asks for the run at ε = 10"],
        releases["asks for the run at ε = 4 and cancels it in the middle"],
    )
    assert before < after < before + releases["asks for the run at ε = 2"]
    assert (
        releases["moves ε over 0.5 to 10, asking for nothing"]
        == releases["asks for the run at ε = 2"]
    )
    assert said[-1][1] == said[-2][1] > 12
