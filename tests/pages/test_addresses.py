"""Every address that somebody stored or remembers leads to its page, with all that it says."""

from urllib.parse import urljoin

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from pages.kit.page_table import PAGES, SECTIONS, page_address, page_meant
from pages.server.addresses import Addresses

LINK = "data=cinema&eps=2&p.rank=3&grid=rank%20%3D%202%2C%204"


def browser(base: str = "") -> TestClient:
    """Of a server whose every page says its address."""
    route = Route("/{path:path}", lambda request: PlainTextResponse(request.url.path))
    app = Starlette(routes=[route], middleware=[Middleware(Addresses, page_address, base)])
    return TestClient(app, follow_redirects=False)


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("/", "/explore"),  # the first page was Explore
        ("/tradeoff", "/trade-off"),
        ("/Trade_Off/", "/trade-off"),
        ("/EXPLORE", "/explore"),
        ("/home", "/"),
        ("/start", "/"),
        ("/learn", "/lessons"),
        ("/verify", "/accountant"),
        ("/work", "/runs"),
        ("/theory", "/papers?section=bounds"),
        ("/errata", "/papers?section=corrections"),
        ("/sketch", "/papers?paper=balu-2016&section=method"),
        ("/retention", "/papers?paper=vallet-2014&section=method"),
    ],
)
@pytest.mark.parametrize("base", ["", "/course"])
def test_an_address_leads_on_with_its_query(address: str, page: str, base: str) -> None:
    answer = browser(base).get(f"{base}{address}?{LINK}")
    assert answer.status_code == 307
    # as a browser finds it, also behind a proxy that takes a prefix away
    there = urljoin(f"http://x/prefix{base}{address}?{LINK}", answer.headers["location"])
    assert there == f"http://x/prefix{base}{page}{'&' if '?' in page else '?'}{LINK}"


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/?class=abcdefgh",
        "/?embed=true",
        *(f"/{page.id}?{LINK}" for page in PAGES[1:]),
        "/nothing-like-it",
        "/static/js/explore",
        "/_stcore/health",
        "/auth/login",
        "//evil.example",
        "/..%2Fhome",
    ],
)
def test_a_page_of_its_own_and_what_is_none_are_left_alone(path: str) -> None:
    assert browser().get(path).status_code == 200


def test_what_is_sent_is_not_led_elsewhere() -> None:
    assert browser().put("/tradeoff").status_code in (405, 404)


def test_no_address_means_two_pages_and_every_section_has_one() -> None:
    names = [(name, page.id) for page in PAGES for name in (page.id, *page.also)]
    meant = [page_meant(name.partition("?")[0]) for name, _ in names]
    assert [it and it[0] for it in meant] == [page for _, page in names]
    assert {page.section for page in PAGES} == {"", *SECTIONS}
    assert all(page_meant(section) for section in SECTIONS)
