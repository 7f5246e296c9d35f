"""What a closed tab takes with it: what its page began by itself is called off, what a button
began goes on.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dpmf_core.administration import control_socket
from pages.server.sessions import GONE, PAGE_WORK
from tests.browser.conftest import Server

pytestmark = pytest.mark.browser
Visit = Callable[..., Any]
AUDIT = "/audit?attack=private-bias&runs=100000"
SWEEP = (  # each run takes seconds
    "/trade-off?data=cinema&methods=dpals&grid=steps = 40, 50"
    "&epsilons=1,2,3,4,5,6,7,8,9,10&draws=10"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One on which nothing is so long that a page would ask before it begins."""
    running = Server(tmp_path_factory.mktemp("data"), DPMF_CONFIRM_SECONDS="100000")
    running.start()
    yield running
    running.kill()


@pytest.fixture(autouse=True)
def _its_socket(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPMF_DATA", str(server.data))


def until(what: Callable[[dict[str, Any]], bool], seconds: float = 120.0) -> dict[str, Any]:
    """What the operator sees as soon as `what` holds of it."""
    end = time.monotonic() + seconds
    while True:
        (overview,) = control_socket.ask({"do": "show"})
        if what(overview):
            return overview
        assert time.monotonic() < end, f"waited in vain; at last {overview}"
        time.sleep(0.2)


def away(overview: dict[str, Any], page: str) -> float:
    """Seconds for which the session that looked at a page has been gone."""
    (seconds,) = (it["away"] or 0.0 for it in overview["sessions"] if it["page"] == page)
    return float(seconds)


def test_what_a_page_began_by_itself_is_called_off(visit: Visit) -> None:
    page = visit(AUDIT)
    until(lambda overview: any(it["state"] == "running" for it in overview["queue"]))
    page.close()
    until(lambda overview: away(overview, "audit") > 1)
    overview = until(lambda overview: overview["queue"] == [])
    assert PAGE_WORK - 2 <= away(overview, "audit") < GONE / 2


def test_what_a_button_began_goes_on(visit: Visit) -> None:
    page = visit(SWEEP)
    page.get_by_role("button", name="Run", exact=True).click()
    until(lambda overview: len(overview["queue"]) > 20)
    page.close()
    overview = until(lambda overview: away(overview, "trade-off") > 2 * PAGE_WORK)
    assert overview["queue"]
