"""What `make check` tests: `python .ci/changed.py [COMMIT]` prints pytest's arguments.

The laws; the tests of each module that differs from COMMIT (default: the last commit of main);
the contract of each algorithm in such a module; and the golden files where metrics are declared.
The tests of dpmf_core/runs/store.py are tests/runs/test_store.py and tests/runs/test_store_*.py;
where there are none, those that import it, or else import what imports it. Where that is most of
the suite, the laws, the contract and the golden files alone.
"""

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
LAWS = Path("tests/test_laws.py")
CONTRACT = (
    Path("tests/contract/test_every_algorithm.py"),
    Path("tests/contract/test_privacy.py"),
)
# what every algorithm rests on: the contract of the quickest private one says whether it stands
SHARED = (
    "dpmf_core/curator",
    "dpmf_core/data",
    "dpmf_core/kernels",
    "dpmf_core/privacy",
)
QUICKEST = "private-bias"
# what declares metrics, and the files with the figures of every algorithm
OF_METRICS = ("dpmf_core/evaluation/registry.py", "dpmf_core/evaluation/evaluations.py")
GOLDEN = Path("tests/golden/test_golden.py")
PRODUCT = ("app.py", "dpmf_core", "datasets", "pages")
# folders whose packages have another name where they are imported
IMPORTED_AS = {"datasets": "dpmf_datasets"}
# what opens all pages, and what the contract's own modules are tried by
ELSE = {"pages": Path("tests/golden/test_golden.py"), "dpmf_core": CONTRACT[0]}
MOST = (
    20  # files of tests; where more would be needed, `make test` is the quicker answer
)


def git(*words: str) -> list[str]:
    answer = subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return answer.stdout.splitlines()


def base() -> str:
    """The last commit shared with main; the last commit where there is no main."""
    for main in ("main", "origin/main"):
        if ancestors := git("merge-base", "HEAD", main):
            return ancestors[0]
    return "HEAD"


def changed(commit: str) -> list[Path]:
    """Python files that differ from a commit, or that git does not know."""
    differ = git("diff", "--name-only", commit, "--", "*.py")
    new = git("ls-files", "--others", "--exclude-standard", "--", "*.py")
    return [
        path
        for path in map(Path, dict.fromkeys([*differ, *new]))
        if (ROOT / path).exists()
    ]


def product_modules() -> list[Path]:
    return [
        Path(path) for path in git("ls-files", "--", *PRODUCT) if path.endswith(".py")
    ]


def tests_of(path: Path) -> list[Path]:
    """Its mirror under tests/, or the tests nearest to it by imports; of what is found by its path,
    as pages and commands are, the tests of its folder.
    """
    if path.name.startswith("test_"):
        return [path]
    near = _mirrors(path, path.stem) or _nearest(path) or _mirrors(path, "")
    return near or [
        test for folder, test in ELSE.items() if path.is_relative_to(folder)
    ]


def _mirrors(path: Path, name: str) -> list[Path]:
    """Files of tests that are named for a module, or with no name for its folder: a page has one
    folder, a package of the core as well.
    """
    package = path.parent.name
    if path.parts[0] == "pages":
        pattern = f"pages/test_{package if name in ('page', '') else name}*.py"
    else:
        folder = "/".join(path.parts[:-1]).removeprefix("dpmf_core").strip("/")
        pattern = f"{folder or '.'}/test_{package if name == '__init__' else name}*.py"
    return [test.relative_to(ROOT) for test in sorted(ROOT.glob(f"tests/{pattern}"))]


def _nearest(path: Path) -> list[Path]:
    """The tests that import a module; where there are none, those that import its importers, and so
    on.
    """
    visited = {path}
    front = {path}
    while front:
        importers = {
            file for changed in front for file in _importers().get(_module(changed), [])
        }
        front = importers - visited
        if tests := sorted(file for file in front if file.name.startswith("test_")):
            return tests
        visited |= front
    return []


def _module(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join([IMPORTED_AS.get(parts[0], parts[0]), *parts[1:]]).removesuffix(
        ".__init__"
    )


@cache
def _importers() -> dict[str, list[Path]]:
    """By the name of a module of the project: the files that import it."""
    paths = [*product_modules(), *map(Path, git("ls-files", "--", "tests/*.py"))]
    importers: dict[str, list[Path]] = {_module(path): [] for path in paths}
    for path in paths:
        for name in _imports((ROOT / path).read_text("utf-8")):
            if name in importers:
                importers[name].append(path)
    return importers


def _imports(source: str) -> Iterator[str]:
    """Names of modules that a text imports, and of what it imports from them."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def algorithms_of(paths: list[Path]) -> list[str]:
    """The ids of the algorithms in these modules."""
    sys.path.insert(0, str(ROOT))
    registry = importlib.import_module("dpmf_core.algorithms").REGISTRY
    modules = set(map(_module, paths))
    shared = any(path.is_relative_to(folder) for path in paths for folder in SHARED)
    own = {name for name, kind in registry.items() if kind.__module__ in modules}
    return sorted(own | ({QUICKEST} if shared else set()))


def arguments(paths: list[Path]) -> list[str]:
    tests = list(
        dict.fromkeys([LAWS, *(test for path in paths for test in tests_of(path))])
    )
    if len(tests) > MOST:
        count = len(tests)
        print(
            f"{count} files of tests: laws, contract and golden files alone.",
            file=sys.stderr,
        )
        tests = [LAWS]
    if any(str(path) in OF_METRICS for path in paths):
        tests.append(GOLDEN)
    options: list[str] = []
    if algorithms := algorithms_of(paths):
        tests += CONTRACT
        options = ["--contract-of", ",".join(algorithms)]
    return [*map(str, dict.fromkeys(tests)), *options]


if __name__ == "__main__":
    print(" ".join(arguments(changed(sys.argv[1] if len(sys.argv) > 1 else base()))))
