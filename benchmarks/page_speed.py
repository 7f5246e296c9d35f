"""How long a person waits for Explore and for the other pages, in Chromium with a real server.

`python -m benchmarks.page_speed [--repeats 7]` serves the app on an empty data directory, computes
the default data set's grid of epsilons, and measures. All times are the browser's own,
`performance.now()`, counted from the start of the navigation. A measurement starts at the time
stamp that the browser gave the input. It ends when the first frame that shows the result has been
handed to the compositor: in a task after the `requestAnimationFrame` callback that finds the result
in the page. Measure on an idle machine.

drag: among stored epsilons with the mouse button held. From a `pointermove` until figure, headline
and slider show the epsilon under the pointer; the figure's headline must be a measured one.
box: from Enter in the number box, at an epsilon whose runs are stored, until headline and figure
show it as measured and the privacy label states it.
link: from the start of a navigation to an address with a stored epsilon, in a new browser profile
with an empty cache, until the same. "link, cached": in a new session of a profile that has visited
before.
run: from Enter in the number box, at an epsilon without stored runs, until headline and figure show
that epsilon as measured: at least its first draw was trained and evaluated.
page: from the click on another section in the header until its heading is drawn and its script has
ended, for sections whose runs are stored.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.classroom import free_port, start_server
from benchmarks.report import save
from dpmf_core.base.paths import cache_folder
from dpmf_core.runs.comparison import DRAWS
from dpmf_core.runs.epsilon_grid import EPSILONS
from dpmf_core.runs.store import Store
from pages.kit.page_table import HOME, SECTIONS

CHROMIUM, FLAGS = "/usr/bin/chromium", ["--no-sandbox", "--disable-gpu"]
VIEW = {"width": 1280, "height": 900}
PATIENCE = 1200.0  # seconds until everything that a page asks for is stored
DATA = "cinema"  # 20,000 people
TARGETS = {"drag": 0.15, "box": 0.4, "link": 1.2, "run": 2.0, "page": 1.0}  # seconds
STORED_EPSILONS = (1.0, 2.0, 5.0)  # visited in turn; each with all comparisons of the page
TOUR = ("Learn", "Explore", "Choose", "Verify", "Papers", "Start")  # the doors

PATHS = {it.title: "/" if it.id == HOME else it.id for it in SECTIONS.values()}
OTHER_PAGE = "clock.hero() === null && document.querySelector('h1') !== null"

# In the page: `clock.arm(event, end)` waits for the first such event (null: the navigation is the
# start), and `clock.read()` gives the seconds, null before the end.
CLOCK = """
window.clock = (() => {
  let began = null, ended = null, arrived = () => false;
  const hero = () => {
    for (const host of document.querySelectorAll('[data-testid=stBidiComponentRegular], div')) {
      const found = host.shadowRoot?.querySelector('.hero');
      if (found) return found;
    }
    return null;
  };
  const look = () => {
    if (ended !== null) return;
    if (began !== null && arrived()) {
      const gate = new MessageChannel();
      gate.port1.onmessage = () => { ended = performance.now(); };
      gate.port2.postMessage(0);
      return;
    }
    requestAnimationFrame(look);
  };
  const arm = (event, end) => {
    [began, ended, arrived] = [event === null ? 0 : null, null, end];
    if (event !== null) {
      const start = (it) => {
        if (event === 'keydown' && it.key !== 'Enter') return;
        window.removeEventListener(event, start, true);
        began = it.timeStamp;
      };
      window.addEventListener(event, start, true);
    }
    requestAnimationFrame(look);
  };
  const text = (node) => node?.textContent ?? '';
  const at = (epsilon) => {
    const root = hero();
    return root !== null && !root.classList.contains('stale')
      && root.dataset.epsilon === epsilon && root.dataset.measured === 'true'
      && text(root.querySelector('h1')).startsWith(`At ε = ${epsilon},`);
  };
  const spoken = '[data-testid=stMain] :is(p, h1, h2, h3, h4)';
  const labelled = (epsilon) => [...document.querySelectorAll(spoken)]
    .some((it) => text(it).includes(`ε = ${Number(epsilon).toFixed(2)} in total`));
  const idle = () => document.querySelector('[data-testid=stApp]')
    ?.dataset.testScriptState === 'notRunning';
  return { arm, at, labelled, idle, hero, text,
    read: () => ended === null ? null : (ended - began) / 1000 };
})();
"""


def until(page: Any, condition: str) -> None:
    """Wait until an expression is true in a page.

    The server's policy forbids the page to evaluate text, so the expression is polled from here.
    """
    end = time.monotonic() + PATIENCE
    while not page.evaluate(condition):
        if time.monotonic() > end:
            raise TimeoutError(f"{condition} did not come true")
        page.wait_for_timeout(50)


class Bench:
    """A browser connected to a server, and the measurements."""

    def __init__(self, chromium: Any, base: str) -> None:
        self.chromium, self.base = chromium, base
        self.profile = self._profile()
        self.page = self.profile.new_page()
        store = Store(Path(os.environ["DPMF_DATA"]))
        there = store.epsilons(DATA, "dpals")
        store.close()
        grid = (round(2.5 + 0.01 * step, 2) for step in range(1, 400))
        self.unused = iter([epsilon for epsilon in grid if epsilon not in there])

    def _profile(self) -> Any:
        profile = self.chromium.new_context(viewport=VIEW)
        profile.set_default_timeout(1000 * PATIENCE)
        profile.add_init_script(CLOCK)
        return profile

    def address(self, epsilon: float) -> str:
        return f"{self.base}/explore?data={DATA}&algo=dpals&eps={epsilon:g}"

    # -- until the store has everything ------------------------------------------------------------

    def fill(self) -> None:
        """Compute every epsilon of the grid in all draws, and the comparisons of those visited."""
        for epsilon in STORED_EPSILONS:
            self.page.goto(self.address(epsilon))
            self.await_draws(self.page, epsilon)
        whole = len(EPSILONS) * DRAWS
        dots = "clock.hero()?.querySelectorAll('circle.draw').length"
        until(self.page, f"{dots} >= {whole} && clock.idle()")
        for name in TOUR:
            self.go(name)
            self.quiet(self.page)

    def go(self, name: str) -> None:
        """Open another section through the header."""
        self.page.get_by_test_id("stTopNavLink").get_by_text(name, exact=True).click()

    def await_draws(self, page: Any, epsilon: float) -> None:
        """Wait until the page shows all draws that it asked for."""
        until(page, f"clock.at('{epsilon:g}')")
        self.quiet(page)

    def quiet(self, page: Any) -> None:
        """Wait until no run is going on and the script has been idle for a while."""
        page.get_by_role("button", name="Cancel").first.wait_for(state="detached")
        for _ in range(2):
            until(page, "clock.idle()")
            page.wait_for_timeout(700)

    # -- clocks ------------------------------------------------------------------------------------

    def look(self, page: Any, event: str | None, end: str, act: Callable[[], object]) -> float:
        """Seconds from the first such event of an act until `end`, an expression, is true."""
        if event is not None:
            page.evaluate(f"clock.arm('{event}', () => {end})")
        act()
        until(page, "clock.read() !== null")
        return float(page.evaluate("clock.read()"))

    def drag(self, _: int) -> float:
        """Hold the handle and move it to a neighbouring measured epsilon."""
        page, rail = self.page, self.page.get_by_test_id("stSidebar").get_by_role("slider")
        box = rail.bounding_box()
        y = box["y"] + box["height"] / 2
        first, goal = self._place(rail, box, 2.0), self._place(rail, box, 5.0)
        page.mouse.move(first, y)
        page.mouse.down()
        page.wait_for_timeout(300)
        there = "clock.at('5')"
        seconds = self.look(page, "pointermove", there, lambda: page.mouse.move(goal, y))
        page.mouse.move(first, y)
        page.mouse.up()
        self.quiet(page)
        return seconds

    @staticmethod
    def _place(rail: Any, box: Any, epsilon: float) -> float:
        """The horizontal position of an epsilon on the slider."""
        low, high = (float(rail.get_attribute(f"aria-value{it}")) for it in ("min", "max"))
        share = rail.evaluate(
            "(_, it) => Math.log(it[0] / it[1]) / Math.log(it[2] / it[1])", [epsilon, low, high]
        )
        return float(box["x"] + box["width"] * share)

    def box(self, turn: int) -> float:
        epsilon = STORED_EPSILONS[turn % len(STORED_EPSILONS)]
        seconds = self._type(epsilon, with_label=True)
        self.await_draws(self.page, epsilon)
        return seconds

    def run(self, _: int) -> float:
        """Type an epsilon without stored runs; its comparisons are cancelled afterwards."""
        seconds = self._type(next(self.unused), with_label=False)
        self._type(STORED_EPSILONS[0], with_label=True)
        self.await_draws(self.page, STORED_EPSILONS[0])
        return seconds

    def _type(self, epsilon: float, with_label: bool) -> float:
        page = self.page
        field = page.get_by_role("spinbutton", name="ε, exactly")
        field.fill(f"{epsilon:g}")
        end = f"clock.at('{epsilon:g}')"
        if with_label:
            end += f" && clock.labelled('{epsilon:g}')"
        return self.look(page, "keydown", end, lambda: field.press("Enter"))

    def link(self, _: int) -> float:
        """Open a link in a new profile."""
        profile = self._profile()
        try:
            return self._open(profile)
        finally:
            profile.close()

    def cached_link(self, _: int) -> float:
        return self._open(self.profile)

    def _open(self, profile: Any) -> float:
        page = profile.new_page()
        page.add_init_script("clock.arm(null, () => clock.at('2') && clock.labelled('2'));")
        seconds = self.look(
            page, None, "", lambda: page.goto(self.address(2.0), wait_until="commit")
        )
        page.close()
        return seconds

    def pages(self, turn: int) -> float:
        """Open the next section of the tour."""
        name = TOUR[turn % len(TOUR)]
        drawn = "clock.hero() !== null" if name == "Explore" else OTHER_PAGE
        end = f"location.pathname.endsWith('{PATHS[name]}') && clock.idle() && {drawn}"
        seconds = self.look(self.page, "click", end, lambda: self.go(name))
        self.quiet(self.page)
        return seconds


@contextmanager
def open_bench(folder: str) -> Iterator[Bench]:
    """A server on a data directory, and a browser; everything to be visited is stored."""
    from playwright.sync_api import sync_playwright

    port = free_port()
    with (Path(folder) / "server.log").open("wb") as log, sync_playwright() as driver:
        child = start_server(folder, port, log)
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            bench = Bench(chromium, f"http://127.0.0.1:{port}")
            bench.fill()
            yield bench
        finally:
            chromium.close()
            child.terminate()
            child.wait(30)


def measurements(bench: Bench, repeats: int) -> dict[str, list[float]]:
    """All measurements, each repeated so often."""
    page, looks = bench.page, dict[str, list[float]]()
    kinds: list[tuple[str, str, Callable[[int], float]]] = [
        ("drag", "2", bench.drag),
        ("box", "5", bench.box),
        ("link", "2", bench.link),
        ("link, cached", "2", bench.cached_link),
        ("run", "2", bench.run),
        ("page", "2", bench.pages),
    ]
    for name, start, clock in kinds:
        page.goto(bench.address(float(start)))
        bench.await_draws(page, float(start))
        times = max(repeats, len(TOUR)) if name == "page" else repeats
        looks[name] = [clock(turn) for turn in range(times)]
    return looks


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=7)
    repeats = parser.parse_args().repeats
    os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder() / "compiled"))
    os.environ["DPMF_PROFILE"] = "local"
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DPMF_DATA"] = folder
        with open_bench(folder) as bench:
            looks = measurements(bench, repeats)
    clocks = {
        name: {
            "median": statistics.median(seconds),
            "least": min(seconds),
            "target": TARGETS[name.split(",")[0]],
            "looks": seconds,
        }
        for name, seconds in looks.items()
    }
    save("page_speed", {"data": DATA, "clocks": clocks})


if __name__ == "__main__":
    main()
