"""Every address that somebody stored or remembers leads to its page, with all that it says."""

from urllib.parse import urljoin

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from pages.kit.base.page_table import (
    PAGES,
    SECTIONS,
    first_page,
    page_address,
    page_meant,
    page_of,
)
from pages.server.page_addresses import Addresses

LINK = "dataset=cinema&epsilon=2&p.rank=3&grid=rank%20%3D%202%2C%204"


def browser(base=""):
    """Of a server whose every page says its address."""
    route = Route("/{path:path}", lambda request: PlainTextResponse(request.url.path))
    app = Starlette(
        routes=[route], middleware=[Middleware(Addresses, page_address, base)]
    )
    return TestClient(app, follow_redirects=False)


@pytest.mark.parametrize(
    ("address", "page"),
    [
        ("/Compare_Methods/", "/explore?view=compare"),
        ("/compare", "/explore?view=compare"),
        ("/compare-methods", "/explore?view=compare"),
        ("/EXPLORE", "/explore"),
        ("/home", "/"),
        ("/start", "/"),
        ("/lessons", "/learn"),
        ("/glossary", "/learn?view=glossary"),
        ("/topics", "/explore?view=topics"),
        ("/faces", "/explore?view=faces"),
        ("/data", "/choose?step=data"),
        ("/tune", "/choose?step=tune"),
        ("/accountant", "/verify"),
        ("/audit", "/verify?view=attack"),
        ("/runs", "/history"),
        ("/work", "/history"),
        ("/operator", "/history?view=operator"),
    ],
)
@pytest.mark.parametrize("base", ["", "/course"])
def test_an_address_leads_on_with_its_query(address, page, base):
    answer = browser(base).get(f"{base}{address}?{LINK}")
    assert answer.status_code == 307
    # as a browser finds it, also behind a proxy that takes a prefix away
    there = urljoin(
        f"http://x/prefix{base}{address}?{LINK}", answer.headers["location"]
    )
    assert there == f"http://x/prefix{base}{page}{'&' if '?' in page else '?'}{LINK}"


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/?class=abcdefgh",
        "/?embed=true",
        *(f"/{section}?{LINK}" for section in SECTIONS if section != "start"),
        *(f"/{page.address}" for page in PAGES if page.section != "start"),
        "/nothing-like-it",
        "/static/js/explore",
        "/_stcore/health",
        "/auth/login",
        "//evil.example",
        "/..%2Fhome",
    ],
)
def test_a_page_of_its_own_and_what_is_none_are_left_alone(path):
    assert browser().get(path).status_code == 200


@pytest.mark.parametrize("base", ["", "/course"])
def test_a_browser_that_asks_for_no_page_is_told_so_on_the_first_one(base):
    answer = browser(base).get(
        f"{base}/nothing-like-it?a=1", headers={"Accept": "text/html,*/*"}
    )
    there = urljoin(f"http://x{base}/nothing-like-it", answer.headers["location"])
    assert there == f"http://x{base}/?unknown=nothing-like-it&a=1"
    answer = browser(base).get(
        f"{base}/explore/nothing", headers={"Accept": "text/html"}
    )
    there = urljoin(f"http://x{base}/explore/nothing", answer.headers["location"])
    assert there == f"http://x{base}/?unknown=explore%2Fnothing"


def test_no_address_means_two_pages_and_every_section_has_a_first_one():
    for page in PAGES:
        for name in (page.id, *page.also):
            assert page_meant(name) is page
        assert page_of(page.section, page.view) == page
    assert {page.section for page in PAGES} == set(SECTIONS)
    for section in SECTIONS:
        assert page_meant(section) is first_page(section)
    assert page_of("explore", "compare-methods") is page_of("explore", "compare")
    assert page_of("learn", "topics") is None
    assert page_of("explore", "nothing") is None


@pytest.mark.parametrize(
    ("link", "there"),
    [
        ("/accountant?from=claim", "/verify?view=ledger&from=claim"),
        ("/verify?from=hand&ledger=g:10:5", "/verify?view=ledger&from=hand&ledger=g:10:5"),
        ("/account?ledger=g:10:5", "/verify?view=ledger&ledger=g:10:5"),
        ("/accountant?models=4&from=hand&ledger=g:10:5,g:20:1", "/verify?models=4&from=hand"
         "&ledger=g:10:5,g:20:1"),
        ("/accountant?total=3", "/verify?total=3"),
    ],
)  # fmt: skip
def test_a_link_to_account_as_one_page_opens_the_view_that_it_means(link, there):
    answer = browser("/course").get(f"/course{link}")
    assert (
        urljoin(f"http://x/course{link}", answer.headers["location"])
        == f"http://x/course{there}"
    )


@pytest.mark.parametrize(
    "link",
    [
        "/verify",
        "/verify?models=4",
        "/verify?view=ledger&from=claim",
        "/verify?view=ledger&models=4",
        "/verify?view=attack&from=claim",
        "/papers?from=claim",
    ],
)
def test_a_link_that_names_its_view_or_means_the_first_one_is_left_alone(link):
    assert browser().get(link).status_code == 200
