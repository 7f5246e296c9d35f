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
        own = self._leads_to(scope["path"], query)
        own = self._unknown(scope) if own is None else own
        if own is None:
            await self.app(scope, receive, send)
            return
        # relative, because a proxy may have removed a prefix
        up = "../" * scope["path"].removeprefix(self.base).count("/") or "./"
        joint = "&" if "?" in own else "?"
        await RedirectResponse(f"{up}{own}{joint * bool(query)}{query}")(scope, receive, send)

    def _leads_to(self, path: str, query: str) -> str | None:
        """Return another address without the base, or None to stay."""
        if not path.startswith(self.base):
            return None
        name = unquote(path.removeprefix(self.base).rstrip("/"))
        if not name:
            return FIRST_ONCE if _is_of_a_run(query) else None
        own = None if "/" in name else self.page_address(name)
        return None if own == name else own

    def _unknown(self, scope: Scope) -> str | None:
        """Return the first page's address with the unknown name, for browsers that ask for no page.

        None for pages and for files of the server.
        """
        name = unquote(scope["path"].removeprefix(self.base).rstrip("/"))
        is_page = not name or self.page_address(name) is not None or name in NO_PAGES
        is_of_streamlit = name.partition("/")[0] in STREAMLIT or "." in name
        if is_page or is_of_streamlit or not scope["path"].startswith(self.base):
            return None
        wants_page = "text/html" in Headers(scope=scope).get("accept", "")
        return f"?{urlencode({UNKNOWN_PAGE: name[:40]})}" if wants_page else None


def _is_of_a_run(query: str) -> bool:
    names = QueryParams(query).keys()
    return any(name in CONTROLS or name in OLD_NAMES or name.startswith("p.") for name in names)
