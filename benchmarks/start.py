"""Processor seconds that commands take before they do anything, beside the imports that no command
with figures can do without: `python -m benchmarks.start`.

Every round starts each of them in a new process; figures are medians. The data folder is an empty
one, whose compiled kernels are made before the clock runs.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile

from benchmarks.report import save

COMMAND = ("-m", "dpmf_core")
PROGRAMS: dict[str, tuple[str, ...]] = {
    "import numpy": ("-c", "import numpy"),
    "import numpy, scipy.special": ("-c", "import numpy, scipy.special"),
    "--help": (*COMMAND, "--help"),
    "runs": (*COMMAND, "runs"),
    "account": (*COMMAND, "account", "--release", "gaussian:5:1", "--delta", "1e-6"),
    # another seed in every round: what is stored is not trained
    "fit": (
        *COMMAND,
        *["fit", "--dataset", "cinema-small", "--algorithm", "global-mean", "--seed"],
        "{}",
    ),
}


def processor_seconds(arguments: tuple[str, ...], folder: str, place: int) -> float:
    """Of one process from its start to its end, in the round at this place."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "DPMF_DATA": folder}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # as installed: modules are compiled once
    command = [sys.executable, *(it.format(place) for it in arguments)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=5, help="rounds; figures are medians")
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as folder:
        for arguments in PROGRAMS.values():
            processor_seconds(arguments, folder, 0)
        rounds = [
            {
                name: processor_seconds(arguments, folder, place)
                for name, arguments in PROGRAMS.items()
            }
            for place in range(1, repeats + 1)
        ]
    medians = {name: statistics.median(it[name] for it in rounds) for name in PROGRAMS}
    save("start", {"processor_seconds": medians, "rounds": repeats})
    for name, seconds in medians.items():
        print(f"{seconds:6.3f} s  {name}")


if __name__ == "__main__":
    main()
