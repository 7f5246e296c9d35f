"""The Retention page, and the small stream that it shows."""

from collections import Counter

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.runs.execution import run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.teaching.subpoena import IN_TRANSIT, MEMORY, stream
from tests.pages.driving import behind_sidebar, settled

SCRIPT = behind_sidebar("retention/page.py")


def page() -> AppTest:
    app = AppTest.from_string(SCRIPT, default_timeout=60)
    app.query_params["data"] = "cinema-small"
    return settled(app)


def rmse(variant: str) -> float:
    parameters = {"variant": variant, "static_share": 0.5, "arrival": "random", "steps": 30}
    return float(
        run(
            RunSpec.parse(
                data={"id": "cinema-small"}, algorithm="no-retention", parameters=parameters
            )
        ).record.metrics["rmse"]
    )


@pytest.mark.slow
def test_the_sentence_says_what_the_runs_say() -> None:
    app = page()
    assert f"{rmse('rated') / rmse('baseline') - 1:.1%}" in app.title[0].value
    assert "no ε" in app.info[0].value
    assert not any("ε =" in element.value for element in (*app.main.markdown, *app.main.caption))


def test_what_is_not_kept_crosses_the_wire() -> None:
    assert set(IN_TRANSIT) == set(MEMORY)
    counts: Counter[str] = Counter()
    for moment in stream():
        counts[moment.user] += 1
        ratings_sent = {holding.variant: holding.ratings_sent for holding in moment.holdings}
        assert ratings_sent == {
            "baseline": 1, "static": 0, "online": 1,
            "new": counts[moment.user], "rated": counts[moment.user],
        }  # fmt: skip
