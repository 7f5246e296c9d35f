"""With a login nothing is answered before it, and it leads back to the opened link alone."""

import json

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import create_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME

from pages.server.login import COOKIE, LoginGate

HOME = "https://dpmf.example.org"
PROVIDER = "https://login.example.org/authorize"


async def _stream(websocket):
    await websocket.accept()
    await websocket.send_text("open")
    await websocket.close()


def _browser(required):
    """A browser of a server that answers as Streamlit's: to the provider, and then to the root."""
    provider, root = (RedirectResponse(address, 302) for address in (PROVIDER, "/"))
    routes = [
        Route("/auth/login", lambda request: provider),
        Route("/oauth2callback", lambda request: root),
        WebSocketRoute("/_stcore/stream", _stream),
        Route(
            "/{path:path}",
            lambda request: PlainTextResponse("inside"),
            methods=["GET", "PUT"],
        ),
    ]
    app = Starlette(
        routes=routes, middleware=[Middleware(LoginGate, required=required)]
    )
    return TestClient(app, base_url=HOME, follow_redirects=False)


@pytest.fixture
def browser(monkeypatch):
    monkeypatch.setattr(
        st.secrets, "_secrets", {"auth": {"cookie_secret": "of the operator" * 3}}
    )
    return _browser(required=True)


def log_in(browser, secret=None, is_logged_in=True):
    """Give a browser the cookie that Streamlit sets after a login."""
    user = json.dumps(
        {
            "sub": "1",
            "origin": HOME,
            "is_logged_in": is_logged_in,
        }
    )
    cookie = create_signed_value(secret or get_cookie_secret(), USER_COOKIE_NAME, user)
    browser.cookies.set(USER_COOKIE_NAME, cookie.decode())


def statuses(browser):
    """How a page, an upload, a websocket and a proxy's question are answered."""
    try:
        with browser.websocket_connect("/_stcore/stream") as socket:
            stream = 101 if socket.receive_text() == "open" else 0
    except WebSocketDenialResponse as refused:
        stream = refused.status_code
    page = browser.get("/explore?epsilon=2", headers={"accept": "text/html,*/*"})
    upload = browser.put("/_stcore/upload_file/session/file", content=b"rows")
    return [
        page.status_code,
        upload.status_code,
        stream,
        browser.get("/auth/check").status_code,
    ]


def test_nothing_is_answered_before_a_login(browser):
    assert statuses(browser) == [401, 401, 401, 401]
    assert "/auth/begin" in browser.get("/", headers={"accept": "text/html"}).text
    assert browser.get("/_stcore/health").text == "inside"
    log_in(browser)
    assert statuses(browser) == [200, 200, 101, 204]


@pytest.mark.parametrize(
    "path", ["/auth/check/../../x", "/auth/logout/x", "//auth/login", "/x"]
)
def test_before_a_login_no_other_address_is_open(browser, path):
    assert browser.get(path).status_code == 401


def test_a_cookie_that_this_server_did_not_sign_is_none(browser):
    log_in(browser, secret="another secret of somebody else")
    assert statuses(browser) == [401, 401, 401, 401]
    log_in(browser, is_logged_in=False)
    assert statuses(browser) == [401, 401, 401, 401]


def test_without_a_login_everything_is_answered():
    assert statuses(_browser(required=False)) == [200, 200, 101, 204]


@pytest.mark.parametrize(
    "address",
    [
        "/explore?dataset=cinema&epsilon=2&p.rank=3",
        "/compare?grid=rank%20%3D%202%2C%204&methods=dpals,als",
        "/runs?",
    ],
)
def test_what_was_open_is_open_again_and_once(browser, address):
    there = browser.get("/auth/login", headers={"referer": HOME + address})
    assert there.headers["location"] == PROVIDER
    assert browser.get("/oauth2callback?code=1").headers["location"] == address
    assert browser.get("/oauth2callback?code=1").headers["location"] == "/"


@pytest.mark.parametrize(
    "referer", ["https://evil.example.org/?x", "", "nonsense", f"{HOME}/?{'x' * 5000}"]
)
def test_a_foreign_or_endless_page_is_not_noted(browser, referer):
    browser.get("/auth/login", headers={"referer": referer})
    assert COOKIE not in browser.cookies
    assert browser.get("/oauth2callback").headers["location"] == "/"


@pytest.mark.parametrize(
    "note",
    [
        "//evil.example.org",
        "/%5Cevil.example.org",
        "%2F%2Fevil",
        "/%0d%0aset-cookie:x",
        "",
    ],
)
def test_a_planted_note_leads_nowhere_else(browser, note):
    browser.cookies.set(COOKIE, note)
    assert browser.get("/oauth2callback").headers["location"] == "/"
