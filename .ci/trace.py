"""What one move of epsilon on Explore visits, to a point whose runs are stored.

`python .ci/trace.py [FOLDER ...]`: for each copy of the project (by default this one) the files,
functions and calls of its own code from the choice of an epsilon to the last figure of the page,
and milliseconds of processor without the tracing. It needs no browser.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

ROOT = Path(__file__).parents[1]
EPSILONS = (2.0, 5.0, 1.0)
MOVES = 15
PAGE = """
import runpy
from pages.kit import sidebar
from pages.kit.running import runs
sidebar.draw("ratings")
with runs.following():
    runpy.run_path("pages/explore/page.py")
"""


def move(app: Any, epsilon: float) -> float:
    """Choose an epsilon; milliseconds of processor until the page is drawn."""
    start = time.process_time()
    app.session_state["sidebar.epsilon"] = epsilon
    app.run()
    assert not app.exception, [error.value for error in app.exception]
    return 1000 * (time.process_time() - start)


def settle(app: Any) -> None:
    """Draw the page until all its runs have ended."""
    from dpmf_core.jobs.engine import engine

    while jobs := engine().jobs():
        for job in jobs:
            job.wait(300)
        app.run()


def traced(app: Any, epsilon: float) -> Counter[CodeType]:
    """How often a move calls each function of the project in this folder."""
    folders = tuple(f"{Path.cwd()}/{name}" for name in ("pages", "dpmf_", "datasets"))
    calls: Counter[CodeType] = Counter()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(folders):
            calls[frame.f_code] += 1

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        move(app, epsilon)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


def measure() -> None:
    """Print the figures of the project in the working folder."""
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_string(PAGE, default_timeout=300)
    for epsilon in EPSILONS:  # once each, so that everything is stored and open
        move(app, epsilon)
        settle(app)
    milliseconds = sorted(
        move(app, EPSILONS[at % len(EPSILONS)]) for at in range(MOVES)
    )
    calls = traced(app, EPSILONS[0])
    files = {Path(code.co_filename).resolve() for code in calls}
    print(
        f"{len(files)} files, {len(calls)} functions, {calls.total():,} calls,"
        f" {milliseconds[MOVES // 2]:.0f} ms of processor (median of {MOVES} moves)"
    )


def main(folders: list[str]) -> None:
    for folder in folders or [str(ROOT)]:
        with tempfile.TemporaryDirectory() as data:
            own = {"DPMF_DATA": data, "PYTHONPATH": str(Path(folder).resolve())}
            own["STREAMLIT_LOGGER_LEVEL"] = "error"
            command = [
                sys.executable,
                "-W",
                "ignore",
                str(Path(__file__).resolve()),
                "--here",
            ]
            print(f"{folder}: ", end="", flush=True)
            subprocess.run(command, cwd=folder, env=os.environ | own, check=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["--here"]:
        measure()
    else:
        main(sys.argv[1:])
