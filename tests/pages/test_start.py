"""The start page stands on an empty store, by figures of real runs of today's usual choice."""

import re
import statistics
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.runs import shipped_runs
from dpmf_core.runs.needed_epsilon import Goal, answer
from dpmf_core.runs.store import Store
from pages.kit import epsilon_grid
from pages.kit.page_table import BY_ID
from pages.start import price
from tests.pages.driving import words

ANEW = "run `python -m benchmarks.shipped`: the usual choice, or a version, has changed"


def figures(who: str, epsilon: float | None = None) -> list[float]:
    """What the file says of the draws of a method."""
    runs = [it for it in price.runs() if it.who == who and it.epsilon == epsilon]
    summaries = shipped_runs.summaries([it.spec for it in runs])
    assert all(summaries), ANEW
    return [it["metrics"]["rmse"] for it in summaries if it]


def test_the_package_holds_every_run_of_the_usual_choice() -> None:
    assert not price.grid().missing, ANEW


@pytest.mark.parametrize("epsilon", [0.1, 2.0, 31.6])
def test_what_is_kept_is_the_median_share_of_the_gain_over_guessing(epsilon: float) -> None:
    (at,) = [it for it in price.table().to_dict("records") if it["epsilon"] == epsilon]
    errors = zip(figures("main", epsilon), figures("best"), figures("trivial"), strict=True)
    shares = sorted(1 - (own - plain) / (guess - plain) for own, plain, guess in errors)
    assert [at["lowest draw"], at["kept"], at["highest draw"]] == pytest.approx(shares)
    assert at["RMSE"] == statistics.median(figures("main", epsilon))
    (stop,) = [it for it in price.stops(1e-5) if it["epsilon"] == epsilon]
    assert stop["kept"] == at["kept"] and stop["measured"]


def test_noise_and_method_are_told_apart_and_add_up() -> None:
    own, open_, best = (
        round(statistics.median(it), 3)
        for it in (figures("main", 2.0), figures("open"), figures("best"))
    )
    (stop,) = [it for it in price.stops(1e-5) if it["epsilon"] == 2.0]
    for cost in (own - open_, open_ - best, own - best):
        assert f"{cost:.3f}" in str(stop["facts"])
    assert 0 < price.kept_without_noise() < 1


def test_no_number_of_the_figure_is_written_as_a_power_of_ten() -> None:
    for stop in price.stops(5e-6):
        words = " ".join(fact["words"] for fact in stop["facts"])  # type: ignore[attr-defined]
        assert not re.search(r"\de[+]\d", words)


def test_the_epsilon_that_keeps_a_share_is_the_one_of_the_other_pages() -> None:
    """On an empty store too: Explore and Trade-off read it off what comes with the package."""
    value, detail = answer(epsilon_grid.read(price.choice().spec()).kept, Goal.share(0.8))
    assert f"{value}{detail}" in price.caption() and value == "ε ≈ 5"


def test_the_page_stands_on_an_empty_store_and_asks_for_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    app = AppTest.from_file(str(BY_ID["start"].script), default_timeout=60).run()
    assert not app.exception
    assert price.caption() in words(app)
    assert not Store(tmp_path).rows()
