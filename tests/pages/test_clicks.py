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
    lines: list[tuple[Any, ...]] = []
    hour(200, True, lambda *figures: lines.append(figures))
    assert len(lines) == 11
    for what, odometer, composition, text, _ in lines:
        assert odometer == pytest.approx(composition, rel=1e-9, abs=1e-12), what
        assert text == f"{composition:.2f}", what
    releases = {what: count for what, _, _, _, count in lines}
    before, after = (
        releases["asks for the run at ε = 10"],
        releases["asks for the run at ε = 4 and cancels it in the middle"],
    )
    assert before < after < before + releases["asks for the run at ε = 2"]
    assert (
        releases["moves ε over 0.5 to 10, asking for nothing"]
        == releases["asks for the run at ε = 2"]
    )
    assert lines[-1][1] == lines[-2][1] > 12
