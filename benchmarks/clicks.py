"""An hour of a person's clicks on private ratings that she brought, against the real pages: what
the odometer says beside what was really drawn.

`python -m benchmarks.clicks [--users 300] [--quick]`: drives Explore, Trade-off and Tune in one
session and then in a second one, on an empty data directory. Every release of noise is logged where
it is published, apart from plans, ledgers and accounts, by what its noise was scaled to; these are
composed by the Gaussian formula with 40 digits. After every click both figures must agree.
"""

import argparse
import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
from streamlit.testing.v1 import AppTest

from dpmf_core.paths import cache_folder
from tests.pages.driving import widget_of

ROOT = Path(__file__).parents[1]
DELTA = 1e-5
SCRIPT = f"""
import runpy
import streamlit as st
from pages.kit import run_progress, sidebar
sidebar.draw()
run_progress.begin()
runpy.run_path({str(ROOT / "pages")!r} + "/" + st.session_state["page"])
run_progress.leave()
"""
PATIENCE = 120.0  # seconds for the runs of a click


@dataclass
class Log:
    """Every release that was published: noise scale over sensitivity, once for each however
    many parts it was published in.
    """

    pens: list[Any] = field(default_factory=list)

    @property
    def multipliers(self) -> list[float]:
        return [pen.scale / pen.leaf.sensitivity for pen in self.pens]

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        """Logs what this process draws, within."""
        from dpmf_core.privacy.noise import Release

        publish, pens = Release._publish, self.pens

        def log_and_publish(pen: Any, part: Any, noise: Any) -> Any:
            if not any(pen is it for it in pens):
                pens.append(pen)
            return publish(pen, part, noise)

        setattr(Release, "_publish", log_and_publish)  # noqa: B010
        try:
            yield
        finally:
            setattr(Release, "_publish", publish)  # noqa: B010


def composed_epsilon(multipliers: list[float], delta: float = DELTA) -> float:
    """Epsilon of Gaussian releases together: the root of delta = Phi(mu/2 - eps/mu) - e^eps
    Phi(-mu/2 - eps/mu) (Balle & Wang 2018), by bisection.
    """
    if not multipliers:
        return 0.0
    with mpmath.workdps(40):
        mu = mpmath.sqrt(sum(1 / mpmath.mpf(z) ** 2 for z in multipliers))
        low, high = mpmath.mpf(0), mu**2 / 2 + mu * mpmath.sqrt(-2 * mpmath.log(delta)) + 1
        for _ in range(100):
            eps = (low + high) / 2
            more = (
                mpmath.ncdf(mu / 2 - eps / mu) - mpmath.exp(eps) * mpmath.ncdf(-mu / 2 - eps / mu)
                > delta
            )
            low, high = (eps, high) if more else (low, eps)
        return float(high)


class Person:
    """A session in which somebody brought ratings, and what she clicks."""

    def __init__(self, upload: Any) -> None:
        self.entry = upload.entry
        self.app = AppTest.from_string(SCRIPT, default_timeout=PATIENCE)
        state = self.app.session_state
        state["data.own"] = {self.entry.id: self.entry}
        for name, value in (
            ("data", self.entry.id),
            ("algo", "dpals"),
            ("eps", 2.0),
            ("slider", 2.0),
            ("delta", DELTA),
            ("top", None),
        ):
            state[f"sidebar.{name}"] = value

    def goes_to(self, page: str) -> "Person":
        self.app.session_state["page"] = page
        return self.waits()

    def moves_epsilon(self, epsilon: float) -> "Person":
        widget_of(self.app.sidebar.number_input, "sidebar.eps").set_value(epsilon)
        return self.waits()

    def turns_on(self, toggle: str) -> "Person":
        self.app.toggle(key=toggle).set_value(True)
        return self.waits()

    def presses(self, key: str) -> "Person":
        next(button for button in self.app.button if button.key == key).click()
        return self.waits()

    def waits(self) -> "Person":
        """Until nothing runs any more."""
        self.app.run()
        end = time.monotonic() + PATIENCE
        while busy := self._busy():
            if time.monotonic() > end:
                raise TimeoutError("the runs of a click did not finish")
            while busy and not self._searching():
                time.sleep(0.2)
                busy = self._computing() and time.monotonic() < end
            self.app.run()
        if any("the whole plan counts" in it.value for it in self.app.sidebar.caption):
            self.app.run()  # which a browser does by itself
        if self.app.exception or self.app.error:
            raise RuntimeError([it.value for it in (*self.app.exception, *self.app.error)])
        return self

    def cancels(self, key: str, cancel: str) -> "Person":
        """Presses a button, and Cancel as soon as something was drawn."""
        next(button for button in self.app.button if button.key == key).click().run()
        end = time.monotonic() + PATIENCE
        while not any(button.key == cancel for button in self.app.button) or not self._step():
            if time.monotonic() > end:
                raise TimeoutError("nothing began that could be cancelled")
            self.app.run()
        next(button for button in self.app.button if button.key == cancel).click().run()
        return self.waits()

    def _step(self) -> int:
        from dpmf_core.jobs.engine import engine

        return max((job.progress.step for job in engine().jobs() if job.progress), default=0)

    def _computing(self) -> bool:
        from dpmf_core.jobs.engine import engine
        from dpmf_core.runs.spending import account_of

        account = account_of(self.entry.id)
        return bool(engine().jobs()) or (
            account is not None and any(entry.state == "running" for entry in account.entries)
        )

    def _searching(self) -> bool:
        return self.app.session_state["page"] == "tune/page.py" and any(
            "running" in str(getattr(it, "text", "")) for it in self.app.get("progress")
        )

    def _busy(self) -> bool:
        return (
            self._computing()
            or self._searching()
            or any(str(button.key).endswith(".cancel") for button in self.app.button)
        )

    @property
    def figure(self) -> str:
        """What the page says was drawn."""
        return (
            next(it.value for it in self.app.sidebar.markdown if "so far" in it.value)
            .partition("ε = ")[2]
            .rstrip("*")
        )

    @property
    def odometer(self) -> float:
        from dpmf_core.runs.spending import account_of

        account = account_of(self.entry.id)
        return account.total.epsilon if account else 0.0


@contextlib.contextmanager
def slowly(seconds: float) -> Iterator[None]:
    """Every step of a training takes so much longer, so that it can be cancelled."""
    from dpmf_core.runs.execution import _Watcher

    quick = _Watcher._judge

    def slow(watcher: Any, step: int, model: Any) -> None:
        time.sleep(seconds)
        quick(watcher, step, model)

    setattr(_Watcher, "_judge", slow)  # noqa: B010
    try:
        yield
    finally:
        setattr(_Watcher, "_judge", quick)  # noqa: B010


def ratings(users: int) -> bytes:
    """A ratings table in which there is something to learn."""
    rng = np.random.default_rng(0)
    taste = 3 + rng.standard_normal((users, 2)) @ rng.standard_normal((2, 24))
    rows = [
        f"p{u},thing {i},{min(max(round(taste[u, i]), 1), 5)}"
        for u in range(users)
        for i in range(24)
        if rng.random() < 0.5
    ]
    return ("user,item,rating\n" + "\n".join(rows) + "\n").encode()


def hour(users: int, quick: bool, report: Callable[[str, float, float, str, int], None]) -> None:
    """All clicks; after each, `report` is called with what was clicked, the odometer, the
    independent composition, the page's figure and releases so far.
    """
    from dpmf_datasets import session_files

    upload, log = session_files.ratings(ratings(users), "clinic.csv", {}, (1.0, 5.0)), Log()
    with log.recording():
        person = Person(upload)

        def did(what: str) -> None:
            total = composed_epsilon(log.multipliers)
            report(what, person.odometer, total, person.figure, len(log.pens))

        person.goes_to("explore/page.py")
        did("opens Explore")
        person.presses("explore.buy.This run")
        did("asks for the run at ε = 2")
        for epsilon in (0.5, 1.0, 5.0, 10.0):
            person.moves_epsilon(epsilon)
        did("moves ε over 0.5 to 10, asking for nothing")
        person.presses("explore.buy.This run")
        did("asks for the run at ε = 10")
        with slowly(2.0):
            person.moves_epsilon(4.0).cancels("explore.buy.This run", "explore.cancel")
        did("asks for the run at ε = 4 and cancels it in the middle")
        person.moves_epsilon(2.0)
        did("moves back to ε = 2, which is there")
        person.presses("explore.buy.Other private methods")
        did("asks for the other private methods")
        person.presses("explore.buy.Without privacy")
        did("looks at the twin")
        for epsilon in (0.5, 1.0, 5.0):
            person.moves_epsilon(epsilon).presses("explore.buy.This run")
        did("asks for points of the figure")
        if not quick:
            person.presses("explore.buy.Further draws of each")
            did("asks for further draws")
            person.turns_on("explore.target").presses("explore.target.runs.buy.Run")
            did("asks which ε reaches an error")
            person.goes_to("tradeoff/page.py").presses("tradeoff.buy.Run")
            did("asks for a trade-off")
        person.goes_to("tune/page.py")
        person.app.number_input(key="tune.trials").set_value(3).run()
        person.presses("tune.go")
        did("searches over parameters")
        again = Person(upload)
        again.goes_to("explore/page.py")
        person = again
        did("opens the same file's page in a new session")


def main() -> None:
    """The table of an hour."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--users", type=int, default=300)
    parser.add_argument(
        "--quick", action="store_true", help="leave out further draws, the target and the trade-off"
    )
    arguments = parser.parse_args()
    os.environ["DPMF_ENGINE"] = "threads"
    with tempfile.TemporaryDirectory() as folder:
        # as a server that has been warmed
        os.environ.setdefault("NUMBA_CACHE_DIR", str(cache_folder() / "compiled"))
        os.environ["DPMF_DATA"] = folder
        worst = 0.0

        def report(
            what: str, odometer: float, composition: float, figure: str, releases: int
        ) -> None:
            nonlocal worst
            worst = max(worst, abs(odometer - composition))
            print(
                f"{what:58} odometer {odometer:8.4f}  drawn {composition:8.4f} in"
                f" {releases:4} releases  page: {figure}",
                flush=True,
            )

        hour(arguments.users, arguments.quick, report)
        print(f"largest difference {worst:.1e}")
        from dpmf_core.jobs.engine import engine

        engine().close()


if __name__ == "__main__":
    main()
