"""The example of docs/CONTRIBUTING.md as a package, and faults planted in it."""

import json
import os
import re
import subprocess
import sys

import pytest

from tests.docs.markdown import ROOT, blocks

CODE = "\n\n".join(blocks(ROOT / "docs" / "CONTRIBUTING.md", "python"))
RELEASE = "curator.release(self._rows(shape))"
# a fault by its id: text before, text after, the tests of the contract that find it
FAULTS = {
    "toy-no-clipping": ("np.minimum(1.0, ", "np.fmax(1.0, ", "sensitivity_of_every_answer"),
    "toy-half": ("return self.clip\n", "return self.clip / 2\n", "sensitivity_of_every_answer"),
    "toy-all-users-mean": (
        "user_means(rows, rows.values)[rows.users]", "rows.values.sum() / max(len(rows), 1)",
        "additivity",
    ),
    "toy-exact-count": (
        "on_grid(x, self.clip, block.n_units)", "x / max(len(rows), 1)", "additivity",
    ),
    "toy-unplanned": (
        "return self._rows(shape).event(level)", "return ClippedRows(self.row_clip).event(level)",
        "plan_is_the_declared_statistics",
    ),
    "toy-row-reader": ("centre=shape.mid_range", "centre=LEAKED[-1]", "blindfold"),
    "toy-stale-noise": (
        f"total = {RELEASE}",
        f"total = FIRST.setdefault((str(shape), self.row_clip), {RELEASE})", "fresh_noise",
    ),
}  # fmt: skip
BROKEN = """
from typing import ClassVar
from dpmf_core.algorithms import REGISTRY, Algorithm

NUMBER = 3
assert "als" in REGISTRY  # while entry points are being loaded, what is there can be asked for


class Fine(Algorithm):
    id: ClassVar[str] = "fine"
    title: ClassVar[str] = "Fine"
    words: ClassVar[str] = "nothing"
    source: ClassVar[str] = "an example"


class Silent(Algorithm):
    id: ClassVar[str] = "toy-silent"


class Raising(Fine):
    id: ClassVar[str] = "toy-raising"

    def guarantee(self):
        raise RuntimeError("no guarantee today")
"""
ENTRIES = {
    "dpals": "broken:Fine",  # another algorithm has that id
    "renamed": "broken:Fine",
    "toy-missing": "no_such_module:Anything",
    "toy-number": "broken:NUMBER",
    "toy-raising": "broken:Raising",
    "toy-silent": "broken:Silent",
}


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A folder in which a package is installed: the toy, its faults, and what cannot be used."""
    folder = tmp_path_factory.mktemp("packages")
    modules = {"toy-offsets": CODE}
    for name, (before, after, _) in FAULTS.items():
        assert before in CODE, name
        code = CODE.replace(before, after).replace('"toy-offsets"', f'"{name}"')
        rows = "        rows = block.rows\n"
        leaking = f"{rows}        LEAKED.append(float(rows.values.sum()))\n"
        modules[name] = f"FIRST, LEAKED = {{}}, [0.0]\n{code.replace(rows, leaking)}"
    entries = dict(ENTRIES)
    for name, code in modules.items():
        module = name.replace("-", "_")
        (folder / f"{module}.py").write_text(code, "utf-8")
        entries[name] = f"{module}:ToyOffsets"
    (folder / "broken.py").write_text(BROKEN)
    facts = folder / "toys-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0\n")
    lines = "".join(f"{name} = {place}\n" for name, place in entries.items())
    (facts / "entry_points.txt").write_text(f"[dpmf.algorithms]\n{lines}")
    return folder


def run(packages, folder, arguments):
    """Python, with the package on its path."""
    path = os.pathsep.join([str(packages), str(ROOT)])
    ours = {"PYTHONPATH": path, "DPMF_DATA": str(folder / "data")}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **ours, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "tool",
    [
        ("ruff", "check"),
        ("ruff", "format", "--check"),
        # it reads every module that the example imports
        pytest.param(("mypy", "--follow-imports=silent"), marks=pytest.mark.slow),
    ],
)
def test_the_worked_example_passes_the_checks_as_it_is(tool, tmp_path):
    """Those of `make check`, in the folder of algorithms; `tests/contract` is tried below."""
    name = "dpmf_core/algorithms/toy_offsets.py"
    arguments = ["--stdin-filename", name, "-"]
    source = CODE
    if tool[0] == "mypy":
        file = tmp_path / "toy_offsets.py"
        file.write_text(CODE)
        arguments = [str(file)]
        source = ""
    process = subprocess.run(
        [sys.executable, "-m", *tool, *arguments],
        cwd=ROOT,
        input=source,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stdout + process.stderr


def test_an_unusable_plugin_is_named_and_leaves_the_others_usable(packages, tmp_path):
    code = (
        "import json\nfrom dpmf_core.algorithms import REGISTRY\n"
        "assert REGISTRY['dpals'].__module__.startswith('dpmf_core.')\n"
        "print(json.dumps([list(REGISTRY), dict(REGISTRY.problems)]))"
    )
    process = run(packages, tmp_path, ["-c", code])
    assert process.returncode == 0, process.stderr
    ids, refusals = json.loads(process.stdout)
    assert {"toy-offsets", *FAULTS} <= set(ids)
    assert "renamed" not in ids
    assert refusals.keys() == ENTRIES.keys()
    for name, words in refusals.items():
        assert name in words
        assert words in process.stderr  # logged
    fit = ["-m", "dpmf", "fit", "--dataset", "cinema-small", "--algorithm"]
    wrong = run(packages, tmp_path, [*fit, "toy-raising", "--epsilon", "1"])
    assert wrong.returncode == 2
    assert refusals["toy-raising"] in wrong.stderr


@pytest.mark.slow
def test_the_contract_passes_the_toy_and_finds_every_planted_fault(packages, tmp_path):
    ids = ["toy-offsets", *FAULTS]
    options = [part for name in ids for part in ("--dpmf-algorithm", name)]
    plugin = [
        "-m",
        "pytest",
        "-p",
        "dpmf_core.testing.plugin",
        "-p",
        "no:cacheprovider",
        "-q",
    ]
    command = [*plugin, "--pyargs", "dpmf_core.testing.contract", *options]
    process = run(packages, tmp_path, command)
    assert process.returncode == 1, process.stdout + process.stderr
    failures = set(
        re.findall(r"^FAILED \S+::test_(\w+)\[(\S+)\]", process.stdout, re.M)
    )
    assert not {test for test, name in failures if name == "toy-offsets"}, (
        process.stdout
    )
    assert {
        name: test
        for name, (*_, test) in FAULTS.items()
        if (test, name) not in failures
    } == {}
    (tmp_path / "test_toy.py").write_text(
        "from dpmf_core.testing.contract import Contract\nfrom toy_offsets import ToyOffsets\n\n\n"
        "class TestToyOffsets(Contract):\n    algorithm = ToyOffsets\n"
    )
    process = run(packages, tmp_path, [*plugin, "test_toy.py"])
    assert process.returncode == 0, process.stdout + process.stderr
