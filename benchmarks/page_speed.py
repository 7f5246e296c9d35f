"""How long a person waits for Explore and for the other pages, in Chromium with a real server.

`python -m benchmarks.page_speed [--repeats 7] [--folder OTHER]` serves the app on an empty data
directory, computes the default data set's grid of epsilons, and measures. All times are the
browser's own, `performance.now()`, counted from the start of the navigation. A measurement starts
at the time stamp that the browser gave the input. It ends when the first frame that shows the
result has been handed to the compositor: in a task after the `requestAnimationFrame` callback that
finds the result in the page (`page_speed.js`). Measure on an idle machine.

--folder: another checkout, such as an earlier version, which is served next to this one on a data
directory of its own. Each measurement is taken in turn from both, and the table shows the ratio.

drag: among stored epsilons with the mouse button held. From a `pointermove` until figure, headline
and slider show the epsilon under the pointer; the figure's headline must be a measured one.
box: from Enter in the number box, at an epsilon whose runs are stored, until headline and figure
show it as measured and the privacy label states it.
link: from the start of a navigation to an address with a stored epsilon, in a new browser profile
with an empty cache, until the same. "link, cached": in a new session of a profile that has visited
before.
empty, "empty, cached": the same for a Streamlit page with a title and nothing else, served with the
same configuration. The table shows a link as a multiple of it.
run: from Enter in the number box, at an epsilon without stored runs, until headline and figure show
that epsilon as measured: at least its first draw was trained and evaluated.
page: from the click on another section in the header until its heading is drawn and its script has
ended, for sections whose runs are stored.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from benchmarks.report import ROOT, save, serving
from dpmf_core.runs.comparison import DRAWS, EPSILONS
from dpmf_core.runs.store import Store
from pages.kit.base.page_table import HOME, SECTIONS

CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--no-sandbox", "--disable-gpu"]
CLOCK = Path(__file__).with_suffix(".js")
PATIENCE = 1200.0  # seconds until everything that a page asks for is stored
DATA = "cinema"  # 20,000 people
# visited in turn; each with all comparisons of the page
STORED_EPSILONS = (
    1.0,
    2.0,
    5.0,
)
TOUR = ("Learn", "Explore", "Choose", "Verify", "Papers", "Start")  # the doors
PATHS = {
    section.title: "/" if section.id == HOME else section.id
    for section in SECTIONS.values()
}
OTHER_PAGE = "clock.hero() === null && document.querySelector('h1') !== null"
PLACE = "(_, it) => Math.log(it[0] / it[1]) / Math.log(it[2] / it[1])"
EMPTY_TITLE = "An empty page"
EMPTY_PAGE = f"import streamlit\n\nstreamlit.title({EMPTY_TITLE!r})\n"


def until(page: Any, condition: str) -> None:
    """Wait until an expression is true in a page.

    The server's policy forbids the page to evaluate text, so the expression is polled from here.
    """
    end = time.monotonic() + PATIENCE
    while not page.evaluate(condition):
        if time.monotonic() > end:
            raise TimeoutError(f"{condition} did not come true")
        page.wait_for_timeout(50)


def quiet(page: Any) -> None:
    """Wait until no run is going on and the script has been idle for a while."""
    page.get_by_role("button", name="Cancel").first.wait_for(state="detached")
    for _ in range(2):
        until(page, "clock.idle()")
        page.wait_for_timeout(700)


def look(page: Any, event: str | None, end: str, act: Callable[[], object]) -> float:
    """Seconds from the first such event of an act until `end`, an expression, is true."""
    if event is not None:
        page.evaluate(f"clock.arm('{event}', () => {end})")
    act()
    until(page, "clock.read() !== null")
    return float(page.evaluate("clock.read()"))


class Browser:
    """A browser at a server, with a profile that keeps the files of pages that it has visited.

    link: the address that is measured. end: an expression that is true once its page is drawn.
    """

    def __init__(self, chromium: Any, link: str, end: str) -> None:
        self.chromium = chromium
        self.link = link
        self.end = end
        self.profile = self._profile()

    def _profile(self) -> Any:
        profile = self.chromium.new_context(viewport={"width": 1280, "height": 900})
        profile.set_default_timeout(1000 * PATIENCE)
        profile.add_init_script(path=CLOCK)
        return profile

    def first_visit(self, _: int = 0) -> float:
        """Open the link in a new profile."""
        with closing(self._profile()) as profile:
            return self._open(profile)

    def later_visit(self, _: int = 0) -> float:
        """Open the link in a new session of the profile."""
        return self._open(self.profile)

    def _open(self, profile: Any) -> float:
        with closing(profile.new_page()) as page:
            page.add_init_script(f"clock.arm(null, () => {self.end});")
            return look(
                page, None, "", lambda: page.goto(self.link, wait_until="commit")
            )


class Bench(Browser):
    """A browser at a server of the app, and the measurements. folder: its data directory."""

    def __init__(self, chromium: Any, base: str, folder: str) -> None:
        self.base = base
        super().__init__(
            chromium, self.address(2.0), "clock.at('2') && clock.labelled('2')"
        )
        self.page = self.profile.new_page()
        with closing(Store(Path(folder))) as store:
            there = store.epsilons(DATA, "dpals")
        grid = (round(2.5 + 0.01 * step, 2) for step in range(1, 400))
        self.unused = iter([epsilon for epsilon in grid if epsilon not in there])

    def address(self, epsilon: float) -> str:
        return f"{self.base}/explore?dataset={DATA}&algorithm=dpals&epsilon={epsilon:g}"

    def fill(self) -> None:
        """Compute every epsilon of the grid in all draws, and the comparisons of those visited."""
        for epsilon in STORED_EPSILONS:
            self.stand(epsilon)
        dots = "clock.hero()?.querySelectorAll('circle.draw').length"
        until(self.page, f"{dots} >= {len(EPSILONS) * DRAWS} && clock.idle()")
        for name in TOUR:
            self.go(name)
            quiet(self.page)

    def stand(self, epsilon: float) -> None:
        """Open Explore at an epsilon, and wait for all draws that it asks for."""
        self.page.goto(self.address(epsilon))
        until(self.page, f"clock.at('{epsilon:g}')")
        quiet(self.page)

    def go(self, name: str) -> None:
        """Open another section through the header."""
        self.page.get_by_test_id("stTopNavLink").get_by_text(name, exact=True).click()

    # -- clocks ------------------------------------------------------------------------------------

    def drag(self, _: int) -> float:
        """Hold the handle and move it to a neighbouring measured epsilon."""
        page = self.page
        rail = self.page.get_by_test_id("stSidebar").get_by_role("slider")
        box = rail.bounding_box()
        ends = [rail.get_attribute(f"aria-value{end}") for end in ("min", "max")]
        y = box["y"] + box["height"] / 2
        shares = (
            rail.evaluate(PLACE, [epsilon, *map(float, ends)]) for epsilon in (2.0, 5.0)
        )
        first, goal = (box["x"] + box["width"] * share for share in shares)
        page.mouse.move(first, y)
        page.mouse.down()
        page.wait_for_timeout(300)
        seconds = look(
            page, "pointermove", "clock.at('5')", lambda: page.mouse.move(goal, y)
        )
        page.mouse.move(first, y)
        page.mouse.up()
        quiet(page)
        return seconds

    def box(self, turn: int) -> float:
        seconds = self._type(STORED_EPSILONS[turn % len(STORED_EPSILONS)])
        quiet(self.page)
        return seconds

    def run(self, _: int) -> float:
        """Type an epsilon without stored runs; its comparisons are cancelled afterwards."""
        seconds = self._type(next(self.unused), labelled=False)
        self.box(0)
        return seconds

    def _type(self, epsilon: float, labelled: bool = True) -> float:
        field = self.page.get_by_label("ε, exactly")
        field.fill(f"{epsilon:g}")
        end = (
            f"clock.at('{epsilon:g}')" + f" && clock.labelled('{epsilon:g}')" * labelled
        )
        return look(self.page, "keydown", end, lambda: field.press("Enter"))

    def section(self, turn: int) -> float:
        """Open the next section of the tour."""
        name = TOUR[turn % len(TOUR)]
        if name == "Explore":
            drawn = "clock.hero() !== null"
        else:
            drawn = OTHER_PAGE
        end = f"location.pathname.endsWith('{PATHS[name]}') && clock.idle() && {drawn}"
        seconds = look(self.page, "click", end, lambda: self.go(name))
        quiet(self.page)
        return seconds


CLOCKS = {  # what is measured, from which epsilon, and the seconds wanted
    "drag": (Bench.drag, 2.0, 0.15),
    "box": (Bench.box, 5.0, 0.4),
    "link": (Bench.first_visit, 2.0, 1.2),
    "link, cached": (Bench.later_visit, 2.0, 1.2),
    "run": (Bench.run, 2.0, 2.0),
    "page": (Bench.section, 2.0, 1.0),
}
# the same for an empty page
YARDSTICKS = {"link": Browser.first_visit, "link, cached": Browser.later_visit}
HERE = "this folder"
OTHER = "the other"
EMPTY = "an empty page"
# seconds by server and by measurement, in turns
Looks = dict[str, dict[str, list[float]]]


def measured(benches: Mapping[str, Bench], empty: Browser, repeats: int) -> Looks:
    """All measurements, each repeated so often, in turn on all servers."""
    looks: Looks = {server: {name: [] for name in CLOCKS} for server in benches}
    looks[EMPTY] = {name: [] for name in YARDSTICKS}
    empty.later_visit()  # so that its files are in the profile
    for name, (clock, start, _) in CLOCKS.items():
        for bench in benches.values():
            bench.stand(start)
        if name == "page":
            times = max(repeats, len(TOUR))
        else:
            times = repeats
        for turn in range(times):
            for server, bench in benches.items():
                looks[server][name].append(clock(bench, turn))
            if name in YARDSTICKS:
                looks[EMPTY][name].append(YARDSTICKS[name](empty, turn))
    return looks


def summary(looks: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """The measurements of one server."""
    return {
        name: {
            "median": statistics.median(seconds),
            "least": min(seconds),
            "target": CLOCKS[name][2],
            "looks": list(seconds),
        }
        for name, seconds in looks.items()
    }


def ratio(seconds: Sequence[float], of: Sequence[float]) -> float:
    """The median ratio of measurements that were taken in turn."""
    return statistics.median(
        one / other for one, other in zip(seconds, of, strict=True)
    )


def table(looks: Looks) -> str:
    """Medians, ratios to the other checkout, and multiples of the empty page, as a table."""
    lines = []
    for name in CLOCKS:
        cells = [f"{name:14}"]
        cells += [
            f"{server}: {statistics.median(own[name]):.3f} s"
            for server, own in looks.items()
            if name in own
        ]
        here = looks[HERE][name]
        if OTHER in looks:
            cells.append(f"ratio to the other {ratio(here, looks[OTHER][name]):.2f}")
        if name in YARDSTICKS:
            cells += [
                f"{server} / empty {ratio(own[name], looks[EMPTY][name]):.2f}"
                for server, own in looks.items()
                if server != EMPTY
            ]
        lines.append("; ".join(cells))
    return "\n".join(lines)


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--folder", type=Path, help="another checkout")
    arguments = parser.parse_args()
    checkouts = {HERE: ROOT}
    if arguments.folder is not None:
        checkouts[OTHER] = arguments.folder.resolve()
    with (
        sync_playwright() as driver,
        closing(
            driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        ) as chromium,
        ExitStack() as servers,
    ):
        benches = {}
        for server, checkout in checkouts.items():
            folder = servers.enter_context(tempfile.TemporaryDirectory())
            app = checkout / "app.py"
            base, _ = servers.enter_context(serving(folder, "local", app, checkout))
            benches[server] = Bench(chromium, base, folder)
            benches[server].fill()
        folder = servers.enter_context(tempfile.TemporaryDirectory())
        script = Path(folder) / "empty.py"
        script.write_text(EMPTY_PAGE)
        base, _ = servers.enter_context(serving(folder, "local", script))
        empty = Browser(chromium, base, f"clock.says('{EMPTY_TITLE}')")
        looks = measured(benches, empty, arguments.repeats)
    print(table(looks))
    clocks = summary(looks[HERE])
    yardsticks = summary(looks[EMPTY])
    save("page_speed", {"data": DATA, "clocks": clocks, "empty": yardsticks})


if __name__ == "__main__":
    main()
