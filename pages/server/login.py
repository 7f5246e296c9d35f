"""The login gate: without a login only its page is served, if one is configured.

Streamlit itself would accept uploads and websockets before asking.
"""

from urllib.parse import quote, unquote, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection, Request
from starlette.responses import (
    HTMLResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.server import streamlit_internals

COOKIE = "dpmf_opened"
SECONDS = 600  # that a browser keeps the cookie
LONGEST = 3500  # letters of the place in it: a cookie holds 4,096 characters
LOGIN = "/auth/login"
CALLBACK = "/oauth2callback"
CHECK = "/auth/check"  # our own, for a proxy
BEGIN = "/auth/begin"  # our own, for the button
WITHOUT_LOGIN = {LOGIN, "/auth/logout", CALLBACK, "/_stcore/health"}
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>dpmf: log in</title>
<style>:root{{color-scheme:light dark;font-family:sans-serif}}body{{margin:15vh auto;width:20rem}}
a{{display:inline-block;padding:.6rem 1.2rem;border-radius:.5rem;background:#0072b2;color:#fff;
text-decoration:none}}</style><h1>What privacy costs</h1><p><a href="{begin}">Log in</a></p></html>
"""


class LoginGate:
    """Serves only visitors who have logged in, and returns them to the link they opened.

    A proxy asks at `/auth/check`: 204 lets a request pass, 401 does not. Only places on this server
    are recorded or followed.

    Attributes
    ----------
    required
        Whether a login is required. If it is not, everything passes.
    base
        The path under which the server is reached.
    """

    def __init__(self, app: ASGIApp, required: bool, base: str = "") -> None:
        self.app = app
        self.required = required
        self.base = f"/{base.strip('/')}".rstrip("/")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        path = scope["path"].removeprefix(self.base)
        if path == CHECK:
            status = 401
            if not self.required or _is_logged_in(scope):
                status = 204
            await Response(status_code=status)(scope, receive, send)
        elif not self.required:
            await self.app(scope, receive, send)
        elif path == BEGIN:
            token = streamlit_internals.login_token()
            await RedirectResponse(f"login?provider={token}", 302)(scope, receive, send)
        elif path in (LOGIN, CALLBACK):
            await self._lead(path, scope, receive, send)
        elif path in WITHOUT_LOGIN or _is_logged_in(scope):
            await self.app(scope, receive, send)
        else:
            await self._refusal(scope)(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response:
        is_page = scope["type"] == "http" and scope["method"] in ("GET", "HEAD")
        if is_page and "text/html" in Request(scope).headers.get("accept", ""):
            return HTMLResponse(PAGE.format(begin=self.base + BEGIN), 401)
        return PlainTextResponse("Log in first.\n", 401)

    async def _lead(
        self, path: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Record the open place in the browser and return there after the login."""
        request = Request(scope)

        async def with_redirect(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in (
                302,
                307,
            ):
                headers = MutableHeaders(scope=message)
                if path == LOGIN:
                    _note_place(request, headers)
                else:
                    _lead_back(request, headers)
            await send(message)

        await self.app(scope, receive, with_redirect)


def _is_logged_in(scope: Scope) -> bool:
    """Whether the request has the cookie that Streamlit signs after a login."""
    user = streamlit_internals.signed_user(HTTPConnection(scope).cookies)
    return user.get("is_logged_in") is True


def _note_place(request: Request, headers: MutableHeaders) -> None:
    """Record the place where the login began, from the Referer header."""
    referer = urlsplit(request.headers.get("referer", ""))
    place = quote(f"{referer.path or '/'}?{referer.query}")
    if referer.netloc == request.headers.get("host") and len(place) <= LONGEST:
        headers.append(
            "set-cookie",
            f"{COOKIE}={place}; Max-Age={SECONDS}; Path=/; HttpOnly; SameSite=Lax",
        )


def _lead_back(request: Request, headers: MutableHeaders) -> None:
    """Redirect to the recorded place instead of the root."""
    place = unquote(request.cookies.get(COOKIE, ""))
    if place.startswith("/") and place[1:2] not in ("/", "\\") and place.isprintable():
        headers["location"] = quote(place, safe="/?&=%:,.~+-_")
        headers.append("set-cookie", f"{COOKIE}=; Max-Age=0; Path=/")
