"""Doors of the server: its first page by name, and a login that leads back to the link that was opened."""

from urllib.parse import quote, unquote, urlsplit

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE, SECONDS, LONGEST = "dpmf_opened", 600, 3500  # a cookie has room for 4,096 characters


def first_page(request: Request) -> RedirectResponse:
    """Streamlit serves its first page at the root alone; by its name it would not be found."""
    return RedirectResponse(f"./?{request.url.query}")


class BackToTheLink:
    """Streamlit's login ends at the root: this notes, in the browser, what was open when it began, and leads back there.

    Only a place on this server is ever noted or followed.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "") if scope["type"] == "http" else ""
        if path not in ("/auth/login", "/oauth2callback"):
            await self.app(scope, receive, send)
            return
        request = Request(scope)

        async def led(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in (302, 307):
                (_note if path == "/auth/login" else _lead)(request, MutableHeaders(scope=message))
            await send(message)

        await self.app(scope, receive, led)


def _note(request: Request, headers: MutableHeaders) -> None:
    """What was open, by what the browser says it comes from."""
    came = urlsplit(request.headers.get("referer", ""))
    opened = quote(f"{came.path or '/'}?{came.query}")
    if came.netloc == request.headers.get("host") and len(opened) <= LONGEST:
        headers.append("set-cookie", f"{COOKIE}={opened}; Max-Age={SECONDS}; Path=/; HttpOnly; SameSite=Lax")


def _lead(request: Request, headers: MutableHeaders) -> None:
    """To what was noted, where Streamlit would lead to the root."""
    opened = unquote(request.cookies.get(COOKIE, ""))
    if opened.startswith("/") and opened[1:2] not in ("/", "\\") and opened.isprintable():
        headers["location"] = quote(opened, safe="/?&=%:,.~+-_")
        headers.append("set-cookie", f"{COOKIE}=; Max-Age=0; Path=/")
