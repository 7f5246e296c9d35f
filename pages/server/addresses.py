"""Addresses that are no page's own lead to the page that is meant, with all that they say."""

from collections.abc import Callable
from urllib.parse import unquote

from starlette.datastructures import QueryParams
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from dpmf_core.serving.lesson_links import CONTROLS, OLD_NAMES

FIRST_ONCE = "explore"  # its links had no name: it was the server's address alone


class Addresses:
    """Leads a browser from a former or a natural address to a page's own.

    page_address: of the page that a name means; None where it means none.
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
        if own is None:
            await self.app(scope, receive, send)
            return
        # relative, for a proxy may have taken away what stands before
        up = "../" if scope["path"].endswith("/") and scope["path"] != self.base else "./"
        joint = "&" if "?" in own else "?"
        await RedirectResponse(f"{up}{own}{joint * bool(query)}{query}")(scope, receive, send)

    def _leads_to(self, path: str, query: str) -> str | None:
        """Another address than this one, without the base; None where it is left."""
        if not path.startswith(self.base):
            return None
        name = unquote(path.removeprefix(self.base).rstrip("/"))
        if not name:
            return FIRST_ONCE if _is_of_a_run(query) else None
        own = None if "/" in name else self.page_address(name)
        return None if own == name else own


def _is_of_a_run(query: str) -> bool:
    names = QueryParams(query).keys()
    return any(name in CONTROLS or name in OLD_NAMES or name.startswith("p.") for name in names)


# ---- where a login leads -------------------------------------------------------------------------
