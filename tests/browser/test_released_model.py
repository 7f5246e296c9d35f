"""The page beside a released model recommends what Python recommends, and connects nowhere."""

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest
from playwright.sync_api import expect

from dpmf_core import fit, load_model, recommend
from tests.runs.test_publishing import MODELS, mine_of, private

pytestmark = pytest.mark.browser


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    profile = chromium.new_context()
    page = profile.new_page()
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    yield page
    profile.close()


def recommendations(page: Any) -> tuple[list[str], list[float]]:
    lines = page.locator("#list li")
    return (
        lines.locator("span").all_text_contents(),
        [float(it) for it in lines.evaluate_all("them => them.map(it => it.dataset.rating)")],
    )


def enter(page: Any, mine: dict[str, float]) -> None:
    """Find each item by its name, take it, and move its slider."""
    for name, value in mine.items():
        page.get_by_label("Find what you know").fill(name)
        page.get_by_role("button", name=name, exact=True).click()
        slider = page.get_by_role("slider", name=name, exact=True)
        slider.evaluate(
            "(it, value) => { it.value = value; it.dispatchEvent(new Event('input')); }", value
        )


@pytest.mark.parametrize(("algorithm", "options"), MODELS, ids=str)
def test_the_page_recommends_what_python_recommends(
    page: Any, tmp_path: Path, algorithm: str, options: dict[str, Any]
) -> None:
    folder = fit(private(), algorithm, **options).save(tmp_path / "model")
    model = load_model(folder)
    page.goto((folder / "recommend.html").as_uri())
    for mine in ({}, mine_of(model.item_ids)):
        enter(page, mine)
        expected = recommend(model, mine)
        names, ratings = recommendations(page)
        assert names == [item for item, _ in expected]
        assert ratings == pytest.approx([it for _, it in expected], abs=1e-5)
    assert page.errors == []


class Listener(BaseHTTPRequestHandler):
    """Notes who calls."""

    paths: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.paths.append(self.path)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


@pytest.fixture
def listener() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        Listener.paths.clear()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


SEND = """(address) => Promise.allSettled([
  fetch(`${address}/fetch`, { mode: "no-cors" }),
  new Promise((done) => Object.assign(new Image(), { src: `${address}/image`, onerror: done })),
])"""


def test_ratings_cannot_leave_the_page(page: Any, tmp_path: Path, listener: str) -> None:
    folder = fit(private(), "spectral", epsilon=3.0).save(tmp_path / "model")
    page.goto((folder / "recommend.html").as_uri())
    enter(page, mine_of(load_model(folder).item_ids))
    expect(page.locator("#whose")).to_contain_text("From 5 ratings of yours")
    page.evaluate(SEND, listener)
    assert Listener.paths == []
    page.get_by_role("button", name="Remove film-5").click()
    expect(page.locator("#whose")).to_contain_text("From 4 ratings of yours")
    page.reload()
    expect(page.locator("#whose")).to_contain_text("without ratings")
    # without the policy both requests arrive
    text = (folder / "recommend.html").read_text("utf-8")
    free = folder / "free.html"
    free.write_text(re.sub(r"<meta http-equiv=.*?>", "", text), "utf-8")
    page.goto(free.as_uri())
    page.evaluate(SEND, listener)
    assert sorted(Listener.paths) == ["/fetch", "/image"]
