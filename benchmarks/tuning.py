"""How long a person waits for a search on Tune: 20 trials of 3 draws on the cinema of 2,000 people,
in a real Chromium before a real server: `python -m benchmarks.tuning [--repeats 5]`.

Every repetition asks for another epsilon on a data directory that keeps what was trained, so that
nothing of it is stored. First: from the click on Search until the page names a best place so far;
done: until it names the best of all. Stopped: from the click on Cancel of another search until no
trial runs.
"""

import argparse
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.classroom import free_port, start_server
from benchmarks.page_speed import CHROMIUM, FLAGS, VIEW
from benchmarks.report import save

TRIALS, DRAWS = 20, 3
PATIENCE = 60.0  # seconds
TARGETS = {"first": 2.0, "done": 30.0}  # seconds


def fill_in(page: Any, base: str, algorithm: str, epsilon: float) -> None:
    """The page with as many trials as are timed."""
    page.goto(f"{base}/tune?data=cinema-small&algo={algorithm}&eps={epsilon:g}")
    for label, number in (("Trials", TRIALS), ("Draws of each", DRAWS)):
        field = page.get_by_label(label, exact=True)
        field.fill(str(number))
        field.press("Enter")
    page.get_by_text(f"{TRIALS * DRAWS} trainings, about").wait_for()
    page.wait_for_timeout(1500)


def search_seconds(page: Any, base: str, algorithm: str, epsilon: float) -> dict[str, float]:
    """Seconds of one whole search."""
    fill_in(page, base, algorithm, epsilon)
    load, began = os.getloadavg()[0], time.perf_counter()
    page.get_by_role("button", name="Search").click()
    heading = page.get_by_role("heading", level=1)
    heading.filter(has_text="best").or_(heading.filter(has_text="Best")).wait_for()
    first = time.perf_counter() - began
    heading.filter(has_text=f"The best of {TRIALS} trials").wait_for()
    return {"first": first, "done": time.perf_counter() - began, "load": load}


def cancel_seconds(page: Any, base: str, algorithm: str, epsilon: float) -> float:
    """Seconds from the click on Cancel until the search is none any more."""
    fill_in(page, base, algorithm, epsilon)
    page.get_by_role("button", name="Search").click()
    page.get_by_role("heading", name="Best so far").wait_for()
    began = time.perf_counter()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Cancel").wait_for(state="detached")
    return time.perf_counter() - began


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--algorithm", default="spectral")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        port = free_port()
        with (Path(folder) / "server.log").open("wb") as log:
            child = start_server(folder, port, log)
            chromium = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            try:
                page = chromium.new_page(viewport=VIEW)
                page.set_default_timeout(1000 * PATIENCE)
                base, epsilons = f"http://127.0.0.1:{port}", range(11, 13 + arguments.repeats)
                search_seconds(
                    page, base, arguments.algorithm, 1.0
                )  # compiles, and draws its first page
                looks = []
                for tenths in epsilons[:-1]:
                    looks.append(search_seconds(page, base, arguments.algorithm, tenths / 10))
                    print(looks[-1], flush=True)
                end = cancel_seconds(page, base, arguments.algorithm, epsilons[-1] / 10)
            finally:
                chromium.close()
                child.terminate()
                child.wait(30)
    clocks = {
        name: {"median": statistics.median(look[name] for look in looks), "target": target}
        for name, target in TARGETS.items()
    }
    print(clocks, "stopped", end)
    result = {
        "algorithm": arguments.algorithm,
        "clocks": clocks,
        "stopped": end,
        "looks": looks,
    }
    save("tuning", {"trials": TRIALS, "draws": DRAWS, **result})


if __name__ == "__main__":
    main()
