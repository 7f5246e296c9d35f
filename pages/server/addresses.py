"""Redirects from former and natural addresses to those of pages, with all parameters."""

from collections.abc import Callable
from urllib.parse import unquote, urlencode

from starlette.datastructures import Headers, QueryParams
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from dpmf_core.teaching.lesson_links import CONTROLS, OLD_NAMES

UNKNOWN_PAGE = "unknown"  # in the first page's address: the unknown page
NO_PAGES = ("oauth2callback",)  # where a login returns
STREAMLIT = ("_stcore", "auth", "component", "media", "static")  # folders of its own
FIRST_ONCE = "explore"  # its links once were the server's address alone


class Addresses:
    """Redirects a browser to the page that an address means.

    page_address: returns the address of the page that a name means, or None.
    """

    def __init__(
        self, app: ASGIApp, page_address: Callable[[str], str | None], base: str = ""
    ) -> None:
        self.app, self.page_address = app, page_address
        self.base = f"/{base.strip('/')}".rstrip("/") + "/"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self.app(scope, receive, send)
            return
        query = scope["query_string"].decode("latin-1")
        own = self._leads_to(scope, query)
        if own is None:
            await self.app(scope, receive, send)
            return
        # relative, because a proxy may have removed a prefix
        up = "../" * scope["path"].removeprefix(self.base).count("/") or "./"
        joint = "&" if "?" in own else "?"
        await RedirectResponse(f"{up}{own}{joint * bool(query)}{query}")(scope, receive, send)

    def _leads_to(self, scope: Scope, query: str) -> str | None:
        """Return another address without the base, or None to stay.

        The first page says which page is unknown, to browsers that ask for no file of the server.
        """
        if not scope["path"].startswith(self.base):
            return None
        name = unquote(scope["path"].removeprefix(self.base).rstrip("/"))
        if not name:
            return FIRST_ONCE if _is_of_a_run(query) else None
        own = None if "/" in name else self.page_address(name)
        if own is not None:
            return None if own == name else own
        is_file = name.partition("/")[0] in (*STREAMLIT, *NO_PAGES) or "." in name
        wants_page = "text/html" in Headers(scope=scope).get("accept", "")
        return f"?{urlencode({UNKNOWN_PAGE: name[:40]})}" if wants_page and not is_file else None


def _is_of_a_run(query: str) -> bool:
    names = QueryParams(query).keys()
    return any(name in CONTROLS or name in OLD_NAMES or name.startswith("p.") for name in names)
