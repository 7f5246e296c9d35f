"""Ten thousand damaged files of each kind through everything that a page does with a file: `python
-m benchmarks.fuzz [COUNT]`.

What did harm (a traceback, a crash, 5 s, 1 GB) is written to `tests/hostile_files`, where the tests
read it ever after.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.report import save
from tests.support.hostile import SOUND, harms

CORPUS = Path(__file__).parents[1] / "tests" / "hostile_files"


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    results = {}
    for kind in SOUND:
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as home:
            harmful, peak = harms(kind, count, Path(home), seed=1, fork=True)
        for harm in harmful[:20]:
            (CORPUS / f"{kind}-1-{harm.number}-{harm.name}").write_bytes(harm.content)
        results[kind] = {
            "files": count,
            "harmful": len(harmful),
            "peak_mb": round(peak / 1e6),
            "seconds": round(time.perf_counter() - began, 1),
        }
        print(
            kind,
            json.dumps(results[kind]),
            *dict.fromkeys(harm.what.strip().splitlines()[-1] for harm in harmful),
            sep="\n  ",
            flush=True,
        )
    save("fuzz", {"kinds": results})


if __name__ == "__main__":
    main()
