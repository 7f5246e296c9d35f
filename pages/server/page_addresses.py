"""The addresses of pages: redirects from natural ones, and the page loaded at each.

That page is Streamlit's, with a script before its own. Redirects keep all parameters.
"""

from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from urllib.parse import unquote, urlencode

import streamlit as st
from starlette.datastructures import Headers, QueryParams
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

UNKNOWN_PAGE = "unknown"  # in the first page's address: the unknown page
NO_PAGES = ("oauth2callback",)  # where a login returns
STREAMLIT = ("_stcore", "auth", "component", "media", "static")  # folders of its own
SCRIPT = Path(__file__).with_name("browser.js")
STREAMLIT_PAGE = Path(st.__file__).parent / "static/index.html"
HEADERS = {"cache-control": "no-cache"}


class Addresses:
    """Redirects a browser to the page that an address means.

    Attributes
    ----------
    page_address
        The address of the page that a name means with parameters of these names, or None.
    """

    def __init__(
        self,
        app: ASGIApp,
        page_address: Callable[[str, Collection[str]], str | None],
        base: str = "",
    ) -> None:
        self.app = app
        self.page_address = page_address
        self.base = f"/{base.strip('/')}".rstrip("/") + "/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        query = scope["query_string"].decode("latin-1")
        address = self._leads_to(scope, query)
        if address is None:
            await self.app(scope, receive, send)
            return
        if query:
            address += f"&{query}" if "?" in address else f"?{query}"
        # relative, because a proxy may have removed a prefix
        up = "../" * scope["path"].removeprefix(self.base).count("/") or "./"
        await RedirectResponse(f"{up}{address}")(scope, receive, send)

    def _leads_to(self, scope: Scope, query: str) -> str | None:
        """Another address without the base, or None to stay.

        The first page says which page is unknown, to browsers that ask for no file of the server.
        """
        if not scope["path"].startswith(self.base):
            return None
        name = unquote(scope["path"].removeprefix(self.base).rstrip("/"))
        names = QueryParams(query).keys()
        if not name:
            return None
        own = None
        if "/" not in name:
            own = self.page_address(name, names)
        if own == name:
            return None
        if own is not None:
            return own
        is_file = name.partition("/")[0] in (*STREAMLIT, *NO_PAGES) or "." in name
        wants_page = "text/html" in Headers(scope=scope).get("accept", "")
        if is_file or not wants_page:
            return None
        return f"?{urlencode({UNKNOWN_PAGE: name[:40]})}"


def routes(sections: Iterable[str], base: str = "") -> list[Route]:
    """The routes of these sections and of the script, under the server's path."""
    start = f"/{base.strip('/')}".rstrip("/")
    html = with_script(STREAMLIT_PAGE.read_text("utf-8"))

    def page(_: Request) -> Response:
        return HTMLResponse(html, headers=HEADERS)

    def script(_: Request) -> Response:
        return FileResponse(SCRIPT, headers=HEADERS)

    pages = [Route(f"{start}/{name}", page) for name in ("", *sections)]
    return [*pages, Route(f"{start}/{SCRIPT.name}", script)]


def with_script(html: str) -> str:
    """The page with the script before all others."""
    return html.replace(
        "<head>", f'<head>\n    <script src="./{SCRIPT.name}"></script>', 1
    )
