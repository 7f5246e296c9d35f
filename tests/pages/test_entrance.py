"""A login leads back to the link that was opened, and nowhere else."""

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import RedirectResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from pages.server.doors import COOKIE, BackToTheLink

HOME = "https://dpmf.example.org"


@pytest.fixture
def browser() -> TestClient:
    """Of a server that answers as Streamlit's: to the provider, and then to the root."""
    routes = [
        Route(
            "/auth/login",
            lambda request: RedirectResponse("https://login.example.org/authorize", 302),
        ),
        Route("/oauth2callback", lambda request: RedirectResponse("/", 302)),
        Route("/elsewhere", lambda request: RedirectResponse("/", 302)),
    ]
    return TestClient(
        Starlette(routes=routes, middleware=[Middleware(BackToTheLink)]),
        base_url=HOME,
        follow_redirects=False,
    )


@pytest.mark.parametrize(
    "address",
    [
        "/explore?data=cinema&eps=2&p.rank=3",
        "/trade-off?grid=rank%20%3D%202%2C%204&methods=dpals,als",
        "/runs?",
    ],
)
def test_what_was_open_is_open_again_and_once(browser: TestClient, address: str) -> None:
    there = browser.get("/auth/login", headers={"referer": HOME + address})
    assert there.headers["location"] == "https://login.example.org/authorize"
    assert browser.get("/oauth2callback?code=1").headers["location"] == address
    assert browser.get("/oauth2callback?code=1").headers["location"] == "/"


@pytest.mark.parametrize(
    "referer", ["https://evil.example.org/?x", "", "nonsense", f"{HOME}/?{'x' * 5000}"]
)
def test_a_foreign_or_endless_page_is_not_noted(browser: TestClient, referer: str) -> None:
    browser.get("/auth/login", headers={"referer": referer})
    assert not browser.cookies
    assert browser.get("/oauth2callback").headers["location"] == "/"


@pytest.mark.parametrize(
    "note",
    [
        "//evil.example.org",
        "/%5Cevil.example.org",
        "https://evil.example.org",
        "%2F%2Fevil",
        "/%0d%0aset-cookie:x",
        "",
    ],
)
def test_a_planted_note_leads_nowhere_else(browser: TestClient, note: str) -> None:
    browser.cookies.set(COOKIE, note)
    assert browser.get("/oauth2callback").headers["location"] == "/"


def test_other_requests_are_left_alone(browser: TestClient) -> None:
    browser.cookies.set(COOKIE, "/runs?")
    answer = browser.get("/elsewhere", headers={"referer": f"{HOME}/data"})
    assert answer.headers["location"] == "/" and "set-cookie" not in answer.headers
