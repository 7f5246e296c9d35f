"""What a closed tab takes with it: what its page began by itself is called off, what a button
began goes on.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dpmf_core.administration import control_socket
from pages.server.sessions import GONE, UNASKED
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
        (seen,) = control_socket.ask({"do": "show"})
        if what(seen):
            return seen
        assert time.monotonic() < end, f"waited in vain; at last {seen}"
        time.sleep(0.2)


def away(seen: dict[str, Any], page: str) -> float:
    """Seconds for which the session that looked at a page has been gone."""
    (found,) = (it["away"] or 0.0 for it in seen["sessions"] if it["page"] == page)
    return float(found)


def test_what_a_page_began_by_itself_is_called_off(visit: Visit) -> None:
    page = visit(AUDIT)
    until(lambda seen: any(it["state"] == "running" for it in seen["queue"]))
    page.close()
    until(lambda seen: away(seen, "audit") > 1)
    seen = until(lambda seen: seen["queue"] == [])
    assert UNASKED - 2 <= away(seen, "audit") < GONE / 2


def test_what_a_button_began_goes_on(visit: Visit) -> None:
    page = visit(SWEEP)
    page.get_by_role("button", name="Run", exact=True).click()
    until(lambda seen: len(seen["queue"]) > 20)
    page.close()
    seen = until(lambda seen: away(seen, "trade-off") > 2 * UNASKED)
    assert seen["queue"]
