"""The page that a browser loads: Streamlit's, with a script before its own."""

from collections.abc import Iterable
from pathlib import Path

import streamlit as st
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Route

SCRIPT = Path(__file__).with_name("browser.js")
STREAMLIT_PAGE = Path(st.__file__).parent / "static/index.html"
HEADERS = {"cache-control": "no-cache"}


def routes(sections: Iterable[str], base: str = "") -> list[Route]:
    """Return the routes of these sections and of the script, under the server's path."""
    start = f"/{base.strip('/')}".rstrip("/")
    html = with_script(STREAMLIT_PAGE.read_text("utf-8"))

    def page(_: Request) -> Response:
        return HTMLResponse(html, headers=HEADERS)

    def script(_: Request) -> Response:
        return FileResponse(SCRIPT, headers=HEADERS)

    pages = [Route(f"{start}/{name}", page) for name in ("", *sections)]
    return [*pages, Route(f"{start}/{SCRIPT.name}", script)]


def with_script(html: str) -> str:
    """Return the page with the script before all others."""
    return html.replace("<head>", f'<head>\n    <script src="./{SCRIPT.name}"></script>', 1)
