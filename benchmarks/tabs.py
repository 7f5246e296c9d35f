"""First results of honest students next to one visitor with twelve busy tabs.

Each student opens Explore alone and asks for an epsilon that nobody has asked for: first on a quiet
server, then while twelve tabs of one browser compute a comparison of 360 runs each.
`python -m benchmarks.tabs [--tabs 12] [--students 7]` starts its own server on an empty data
directory. A ratio is that of medians in the same run.
"""

import argparse
import asyncio
import contextlib
import json
import statistics
import tempfile
import time

import httpx

from benchmarks.report import save, serving
from benchmarks.student import Student

QUERY = "dataset=cinema-small&algorithm=dpals&seed=0"
RIDGES = 20  # with 6 epsilons and 3 draws: 360 runs
COOKIE = "_streamlit_xsrf"


async def first_result(base: str, epsilon: float) -> float:
    """The seconds until a new student sees a result that had to be computed."""
    async with Student(base, QUERY, "explore") as student:
        began = time.perf_counter()
        await student.move(epsilon)
        await student.result(epsilon)
        return time.perf_counter() - began


async def first_results(base: str, count: int, start: float) -> list[float]:
    return [
        await first_result(base, round(start + 0.01 * number, 2))
        for number in range(count)
    ]


async def busy_tab(base: str, cookie: str, number: int, over: asyncio.Event) -> str:
    """Ask for a comparison of 360 runs that no other tab asks for, and return what is said last."""
    ridges = ", ".join(
        f"{0.1 + 0.01 * place + 0.001 * number:.3f}" for place in range(RIDGES)
    )
    query = (
        "view=compare&dataset=cinema-small&methods=spectral&epsilons=0.5,1,2,5,10,20&draws=3"
        f"&grid=prediction_ridge%20%3D%20{ridges.replace(', ', '%2C%20')}"
    )
    async with Student(base, query, "explore", cookie) as tab:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(tab.set("compare.confirm", True), 10)
        await over.wait()
        return "".join(tab.messages[-1:])


async def measured(base: str, n_tabs: int, n_students: int) -> dict[str, object]:
    await first_result(base, 3.0)  # kernels are compiled
    quiet = await first_results(base, n_students, 4.0)
    async with httpx.AsyncClient(base_url=base) as browser:
        await browser.get("/_stcore/health")
        cookie = f"{COOKIE}={browser.cookies[COOKIE]}"
    over = asyncio.Event()
    tabs = [
        asyncio.create_task(busy_tab(base, cookie, number, over))
        for number in range(n_tabs)
    ]
    await asyncio.sleep(15)  # the tabs have asked for their runs
    busy = await first_results(base, n_students, 6.0)
    over.set()
    said = await asyncio.gather(*tabs)
    return {
        "tabs_said": said,
        "tabs": n_tabs,
        "quiet_seconds": [round(seconds, 2) for seconds in quiet],
        "busy_seconds": [round(seconds, 2) for seconds in busy],
        "ratio": round(statistics.median(busy) / statistics.median(quiet), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tabs", type=int, default=12)
    parser.add_argument("--students", type=int, default=7)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serving(folder, "local") as (base, _):
        results = asyncio.run(measured(base, arguments.tabs, arguments.students))
    save("tabs", results)
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
