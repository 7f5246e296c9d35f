"""Two checkouts side by side: a process of each, asked in turn."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


class Worker:
    """A process of one checkout that runs a script of this folder, with one thread: a line of JSON
    in, a line of JSON out.
    """

    def __init__(self, checkout: Path, script: Path) -> None:
        threads = dict.fromkeys(("DPMF_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            [sys.executable, str(script)],
            cwd=checkout,
            env={**os.environ, **threads},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **request: Any) -> Any:
        """What it answers. Raises RuntimeError where the process ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"The worker ended at {request}.")
        return json.loads(line)

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
