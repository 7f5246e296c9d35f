"""Files bred by what code they reach (atheris), through everything that a page does with a file:
`python -m benchmarks.guided [COUNT]`.

Needs `pip install "atheris>=3,<4"`. What did harm is written to `tests/hostile_files`, where the
tests read it ever after.
"""

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.report import save
from tests.support.hostile import BYTES, SECONDS, SOUND, TOKENS, read, read_in_fork

CORPUS = Path(__file__).parents[1] / "tests" / "hostile_files"
FACTS: tuple[dict[str, str], ...] = (
    {},
    {"image": "4,4"},
    {"drop": "1,99"},
    {"text": "title"},
    {"key": "fea"},
)


def names(kind: str) -> list[str]:
    return list(dict.fromkeys(name for name, _ in SOUND[kind]()))


def request_in(kind: str, data: bytes) -> tuple[str, bytes, dict[str, str]]:
    """A file's name, its content, and what is said about it: the first byte chooses."""
    of, first = names(kind), data[0]
    return of[first % len(of)], data[1:], FACTS[first // len(of) % len(FACTS)]


def in_this_process(path: Path, key: str, out: Path) -> tuple[int, str]:
    """As `datasets.readers.matlab._apart`, where what is reached can be seen; apart first, for
    scipy's reader can be made to crash.
    """
    from dpmf_datasets.readers import matlab

    code, text = read_in_fork(path, key, out)
    if code not in (0, matlab.REFUSAL_CODE):
        return code, text
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        code = matlab.main(str(path), key, str(out))
    return code, output.getvalue()


def breed(kind: str, arguments: list[str]) -> None:
    """In a process of its own, which libFuzzer ends."""
    import atheris

    with atheris.instrument_imports(
        include=["dpmf_datasets", "dpmf_core", "scipy.io"], enable_loader_override=False
    ):
        from dpmf_datasets import session_files  # noqa: F401
        from dpmf_datasets.readers import matlab
    matlab._limit_memory = lambda: None
    matlab._apart = in_this_process

    def one(data: bytes) -> None:
        if data:
            name, content, facts = request_in(kind, data)
            read(name, content, facts)

    atheris.Setup([sys.argv[0], *arguments], one)
    atheris.Fuzz()


def fuzz_kind(kind: str, count: int, folder: Path) -> dict[str, Any]:
    """What so many files did."""
    seeds, harmful, words = folder / "seeds", folder / "harmful", folder / "words"
    for directory in (seeds, harmful):
        directory.mkdir()
    of = names(kind)
    for place, (name, content) in enumerate(SOUND[kind]()):
        for fact in range(len(FACTS)):
            (seeds / f"{place}-{fact}").write_bytes(
                bytes([of.index(name) + len(of) * fact]) + content
            )
    words.write_text(
        "".join('"' + "".join(f"\\x{byte:02x}" for byte in token[:64]) + '"\n' for token in TOKENS)
    )
    arguments = [
        f"-runs={count}",
        f"-timeout={SECONDS}",
        f"-rss_limit_mb={2 * BYTES >> 20}",
        "-max_len=16384",
        f"-dict={words}",
        f"-artifact_prefix={harmful}/",
        "-seed=1",
        "-print_final_stats=1",
        str(seeds),
    ]
    began = time.perf_counter()
    command = [sys.executable, "-m", "benchmarks.guided", "--breed", kind, *arguments]
    process = subprocess.run(
        command,
        env={**os.environ, "DPMF_DATA": str(folder)},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    for harm in harmful.iterdir():
        name, content, _ = request_in(kind, harm.read_bytes())
        (CORPUS / f"{kind}-{harm.name[:16]}-{name}").write_bytes(content)
    statistics = dict(re.findall(r"stat::(\w+):\s+(\d+)", process.stderr))
    branches = re.findall(r"cov: (\d+)", process.stderr)
    if not statistics or len(list(harmful.iterdir())):
        print(process.stderr[-3000:], file=sys.stderr)
    return {
        "files": int(statistics.get("number_of_executed_units", 0)),
        "harmful": len(list(harmful.iterdir())),
        "kept_for_new_code": int(statistics.get("new_units_added", 0)),
        "branches_at_first": int(branches[0]) if branches else 0,
        "branches": int(branches[-1]) if branches else 0,
        "peak_mb": int(statistics.get("peak_rss_mb", 0)),
        "seconds": round(time.perf_counter() - began, 1),
    }


def main() -> None:
    if sys.argv[1:2] == ["--breed"]:
        breed(sys.argv[2], sys.argv[3:])
        return
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    results = {}
    for kind in SOUND:
        with tempfile.TemporaryDirectory() as folder:
            results[kind] = fuzz_kind(kind, count, Path(folder))
        print(kind, results[kind], flush=True)
    save("guided", {"kinds": results})


if __name__ == "__main__":
    main()
