"""Planted faults, each of which the fast tests of its part must find: `python -m tests.mutations`.

Each is planted in a copy of the code. Golden files are left out: they would find nearly all. Exit
code 1 where a fault is not found. `python -m tests.mutations WORD` tries those with a word in their
name.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PARTS = (
    "app.py",
    "dpmf.py",
    "pyproject.toml",
    "dpmf_core",
    "datasets",
    "dpmf_datasets",
    "pages",
    "tests",
)
CONTRACT = ("tests/contract/test_questions.py", "tests/contract/test_privacy.py")
ACCOUNTING = ("tests/privacy/test_accounting.py",)
STORE = ("tests/runs/test_store.py",)


@dataclass(frozen=True)
class Fault:
    """In a file: what stands there, what takes its place, and the tests that must fail."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


def of_statistic(name: str, file: str, old: str, new: str, algorithm: str) -> Fault:
    path = f"dpmf_core/algorithms/{file}.py"
    return Fault(
        f"statistic: {name}", path, old, new, (*CONTRACT, "--contract-of", algorithm)
    )


STATISTICS = (
    of_statistic(
        "item sums and counts, too small a sensitivity", "item_offsets",
        "sensitivity: ClassVar[float] = 1.0", "sensitivity: ClassVar[float] = 0.9", "private-bias",
    ),
    of_statistic(
        "item sums and counts, no count in the norm", "item_offsets",
        " + COUNT_WEIGHT**2 * weight", "", "private-bias",
    ),
    of_statistic(
        "user second moment, factors not clipped", "item_systems",
        "U * clip_factors(norms, clip_norm)", "U", "dpals",
    ),
    of_statistic(
        "item right-hand sides, the clip of ratings left out", "item_systems",
        "return self.root_entries * self.clip_norm * self.rating_clip",
        "return self.root_entries * self.clip_norm", "dpals",
    ),
    of_statistic(
        "capped sums, not clipped", "svd",
        ").clip(\n            -self.clip, self.clip\n        )\n"
        "        values = on_grid(values, self.clip,",
        ")\n        values = on_grid(values, 10 * self.clip,", "svd-cleansing",
    ),
    of_statistic(
        "capped counts, one rating more", "svd",
        "return rank_within_user(rows, draws) < most",
        "return rank_within_user(rows, draws) <= most", "svd-cleansing",
    ),
    of_statistic(
        "item gradient, twice as long", "gradient",
        "e = on_grid(e, 1.0, block.n_units, factors=2)",
        "e = 2 * on_grid(e, 1.0, block.n_units, factors=2)", "dp-sgd",
    ),
    of_statistic(
        "row moment, the norm in place of its square", "item_moments",
        "return self.bound**2", "return self.bound", "private-svd",
    ),
    of_statistic(
        "coefficients times samples, sensitivity halved", "sample_statistics",
        "        return self.clip\n", "        return self.clip / 2\n", "dp-nmf",
    ),
    of_statistic(
        "rows of samples, longer than one", "sample_statistics",
        "return np.asarray(rows * clip_factors(norms, bound))",
        "return np.asarray(rows * clip_factors(norms, 1.1 * bound))", "dp-nmf",
    ),
)  # fmt: skip
RULES = (
    Fault(
        "rule: exact, without the second term", "dpmf_core/privacy/gaussian.py",
        "return float(log_ndtr(a)) + math.log(-math.expm1(min(ratio, -1e-300)))",
        "return float(log_ndtr(a))", ACCOUNTING,
    ),
    Fault(
        "rule: composition, counts left out", "dpmf_core/privacy/gaussian.py",
        "total += count / leaf.multiplier(relation) ** 2",
        "total += 1 / leaf.multiplier(relation) ** 2", ACCOUNTING,
    ),
    Fault(
        "rule: RDP tight, a logarithm left out", "dpmf_core/privacy/accounting.py",
        " + math.log1p(-1 / alpha)", "", ACCOUNTING,
    ),
    Fault(
        "rule: advanced composition, the linear term left out", "dpmf_core/privacy/rules.py",
        "count * eps * (math.expm1(eps) if eps < 700 else math.inf)",
        "0.0 * count * eps", ACCOUNTING,
    ),
    Fault(
        "rule: naive sum at the delta of one release", "dpmf_core/privacy/rules.py",
        "math.log(1.25 * releases / share)", "math.log(1.25 / share)", ACCOUNTING,
    ),
)  # fmt: skip
OPERATIONS = (
    Fault(
        "store: put forgets note and tags", "dpmf_core/runs/store.py",
        '.fetchone() or ("", "", owner, 0)', '.fetchone() and None or ("", "", owner, 0)', STORE,
    ),
    Fault(
        "store: keep_at_most takes pinned runs", "dpmf_core/runs/store.py",
        "WHERE NOT pinned AND key <> ?", "WHERE key <> ?", STORE,
    ),
    Fault(
        "store: get serves changed bytes", "dpmf_core/runs/run_file.py",
        "if digest != _digest(key, *parts):", "if False:", STORE,
    ),
    Fault(
        "store: changes are no transaction", "dpmf_core/runs/store.py",
        'self._db.execute("BEGIN IMMEDIATE")', "pass", STORE,
    ),
    Fault(
        "store: rows are listed oldest first", "dpmf_core/runs/run_file.py",
        "ORDER BY created DESC, rowid DESC", "ORDER BY created, rowid", STORE,
    ),
)  # fmt: skip
FAULTS = (*STATISTICS, *RULES, *OPERATIONS)


def first_failure(fault: Fault, folder: Path) -> str:
    """The test that finds a fault in a copy of the project, '' where none does."""
    path = folder / fault.file
    sound = path.read_text("utf-8")
    assert sound.count(fault.old) == 1, f"{fault.name}: {sound.count(fault.old)} places"
    path.write_text(sound.replace(fault.old, fault.new), "utf-8")
    options = ("-q", "-x", "-p", "no:cacheprovider", "-m", "not slow")
    command = [sys.executable, "-m", "pytest", *options]
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    environment["NUMBA_CACHE_DIR"] = str(ROOT / ".venv/compiled")
    try:
        done = subprocess.run(
            [*command, *fault.tests],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        path.write_text(sound, "utf-8")
    # 0: all passed; 1: one failed
    assert done.returncode in (0, 1), done.stdout + done.stderr
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    if failed:
        return failed[0].split()[1]
    return ""


def main(word: str = "") -> int:
    missed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in PARTS:
            if (ROOT / part).is_dir():
                copy = shutil.copytree
            else:
                copy = shutil.copy
            copy(ROOT / part, folder / part)
        for fault in (fault for fault in FAULTS if word in fault.name):
            began = time.perf_counter()
            test = first_failure(fault, folder)
            missed += not test
            print(
                f"{fault.name}: {test or 'NOT FOUND'}, {time.perf_counter() - began:.0f} s",
                flush=True,
            )
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
