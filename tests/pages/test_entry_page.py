"""The page that a browser loads first."""

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from pages.kit.base.page_table import SECTIONS
from pages.server import page_addresses


@pytest.mark.parametrize("base", ["", "course"])
def test_every_section_loads_the_script_before_streamlits(base):
    client = TestClient(Starlette(routes=page_addresses.routes(SECTIONS, base)))
    start = f"/{base}".rstrip("/")
    for name in ("", *SECTIONS):
        html = client.get(f"{start}/{name}").text
        assert (
            0
            < html.index('<script src="./browser.js">')
            < html.index('<script type="module"')
        )
    script = client.get(f"{start}/browser.js")
    assert script.headers["content-type"].partition(";")[0].endswith("/javascript")
    assert script.text == page_addresses.SCRIPT.read_text("utf-8")


def test_streamlits_page_is_otherwise_as_it_is():
    """Its inline scripts too, whose hashes the policy allows."""
    html = page_addresses.STREAMLIT_PAGE.read_text("utf-8")
    whole = page_addresses.with_script(html)
    assert (
        whole.replace('\n    <script src="./browser.js"></script>', "") == html != whole
    )
