"""What one move of epsilon on Explore visits, to a point of the grid whose runs are there.

`python -m benchmarks.trace`: files, functions and calls of this project, and milliseconds of
processor without the tracing, from the choice of an epsilon to the last figure of the page; without
a browser, on the runs of the cinema data that come with the package or are made first.
"""

import os
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).parents[1]
FOLDERS = tuple(str(ROOT / name) for name in ("pages", "dpmf_core", "datasets", "dpmf_datasets"))
SCRIPT = f"""
import runpy
from pages.kit import runs, sidebar
sidebar.draw()
with runs.following():
    runpy.run_path({str(ROOT / "pages/explore/page.py")!r})
"""
EPSILONS = (2.0, 5.0, 1.0)  # a move before, so that nothing is opened first; and three more


def move(app: AppTest, epsilon: float) -> float:
    """Choose an epsilon; milliseconds of processor until the page is drawn."""
    start = time.process_time()
    app.session_state["sidebar.epsilon"] = epsilon
    app.run()
    assert not app.exception, [error.value for error in app.exception]
    return 1000 * (time.process_time() - start)


def settle(app: AppTest) -> None:
    """Draw the page until all its runs have ended."""
    from dpmf_core.jobs.engine import engine

    while jobs := engine().jobs():
        for job in jobs:
            job.wait(300)
        app.run()


def traced(app: AppTest, epsilon: float) -> Counter[CodeType]:
    """How often each of this project's functions is called by a move."""
    calls: Counter[CodeType] = Counter()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(FOLDERS):
            calls[frame.f_code] += 1

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        move(app, epsilon)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DPMF_DATA"] = folder
        app = AppTest.from_string(SCRIPT, default_timeout=300)
        for epsilon in EPSILONS:  # once each, so that all is stored
            move(app, epsilon)
            settle(app)
        milliseconds = sorted(move(app, epsilon) for epsilon in EPSILONS * 3)
        calls = traced(app, EPSILONS[0])
    files = Counter(Path(code.co_filename).resolve().relative_to(ROOT) for code in calls)
    print(f"{len(files)} files, {len(calls)} functions, {calls.total():,} calls")
    median = milliseconds[len(milliseconds) // 2]
    print(f"{median:.0f} ms of processor (median of {len(milliseconds)} moves)")
    for file, count in sorted(files.items()):
        print(f"{count:5} {file}")


if __name__ == "__main__":
    main()
