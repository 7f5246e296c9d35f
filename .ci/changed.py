"""What `make check` tests: `python .ci/changed.py [COMMIT]` prints pytest's arguments.

The laws; the tests of each module that differs from COMMIT (default: the last commit of main);
and the contract of each algorithm in such a module. The tests of dpmf_core/runs/store.py are
tests/runs/test_store.py and tests/runs/test_store_*.py; where there are none, those that import it.
Where that is most of the suite, the laws alone.
"""

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LAWS = Path("tests/laws")
CONTRACT = (
    Path("tests/contract/test_every_algorithm.py"),
    Path("tests/contract/test_privacy.py"),
)
# what every algorithm rests on: the contract of the quickest private one says whether it stands
SHARED = ("dpmf_core/curator", "dpmf_core/data", "dpmf_core/kernels", "dpmf_core/privacy")
QUICKEST = "private-bias"
MOST = 20  # files of tests; where more would be needed, `make test` is the quicker answer


def git(*words: str) -> list[str]:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def base() -> str:
    """The last commit shared with main; the last commit where there is no main."""
    for main in ("main", "origin/main"):
        if shared := git("merge-base", "HEAD", main):
            return shared[0]
    return "HEAD"


def changed(commit: str) -> list[Path]:
    """Python files that differ from a commit, or that git does not know."""
    differ = git("diff", "--name-only", commit, "--", "*.py")
    new = git("ls-files", "--others", "--exclude-standard", "--", "*.py")
    return [path for path in map(Path, dict.fromkeys([*differ, *new])) if (ROOT / path).exists()]


def tests_of(path: Path) -> list[Path]:
    """Its mirror under tests/, or the tests that import it."""
    if path.name.startswith("test_"):
        return [path]
    found = sorted(ROOT.glob(f"tests/{_mirror(path)}"))
    return [test.relative_to(ROOT) for test in found] or list(_importing(path))


def _mirror(path: Path) -> str:
    """A pattern: a page's tests are named for its folder, those of a module for the module."""
    package, name = path.parent.name, path.stem
    if path.parts[0] == "pages":
        return f"pages/test_{package if name == 'page' else name}*.py"
    folder = "/".join(path.parts[:-1]).removeprefix("dpmf_core").strip("/")
    return f"{folder or '.'}/test_{package if name == '__init__' else name}*.py"


def _importing(path: Path) -> Iterator[Path]:
    module = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    package, _, name = module.rpartition(".")
    for test in sorted(ROOT.glob("tests/**/test_*.py")):
        text = test.read_text("utf-8")
        if f"from {module} import" in text or f"from {package} import {name}\n" in text:
            yield test.relative_to(ROOT)


def algorithms_of(paths: list[Path]) -> list[str]:
    """The ids of the algorithms in these modules."""
    sys.path.insert(0, str(ROOT))
    registry = importlib.import_module("dpmf_core.algorithms").REGISTRY
    modules = {".".join(path.with_suffix("").parts) for path in paths}
    shared = any(path.is_relative_to(folder) for path in paths for folder in SHARED)
    own = {name for name, kind in registry.items() if kind.__module__ in modules}
    return sorted(own | ({QUICKEST} if shared else set()))


def arguments(paths: list[Path]) -> list[str]:
    tests = list(dict.fromkeys([LAWS, *(test for path in paths for test in tests_of(path))]))
    if len(tests) > MOST:
        print(f"{len(tests)} files of tests: the laws alone. Run `make test`.", file=sys.stderr)
        return [str(LAWS)]
    options: list[str] = []
    if algorithms := algorithms_of(paths):
        tests += CONTRACT
        options = ["--contract-of", ",".join(algorithms)]
    return [*map(str, dict.fromkeys(tests)), *options]


if __name__ == "__main__":
    print(" ".join(arguments(changed(sys.argv[1] if len(sys.argv) > 1 else base()))))
