"""What no tool checks; import-linter and ruff check the rest in `make lint`."""

import ast
import functools
import re
import tokenize
from collections import Counter
from pathlib import Path

import pytest

from tests import mutations

ROOT = Path(__file__).parents[1]
MOST_TOKENS = 3_000  # of a module, without comments and layout; lines are free
LAYOUT = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}
NOISE = "dpmf_core.privacy.noise"
MECHANISMS = "dpmf_core.privacy.mechanisms"
TESTING = "dpmf_core.testing"  # stands in the place of the curator and its noise
# modules that may open a stream of random numbers; those of `PRIVATE` also draw from it
PRIVATE = {
    "dpmf_core.evaluation.audit.canaries",
    "dpmf_core.evaluation.audit.canary_data",
    "dpmf_core.evaluation.audit.own_data",
    "dpmf_core.evaluation.audit.pair_test",
    "dpmf_core.runs.tuning.private_selection",
}
OPENERS = PRIVATE | {
    "dpmf_core.privacy.random_streams",
    "dpmf_core.runs.execution",
    "dpmf_core.runs.specification",
    "dpmf_core.evaluation.audit.membership_inference",
    "dpmf_core.api.releases",
    "dpmf_core.papers.chien_2021.theorem_2",
    "dpmf_core.teaching.linkage",
    "dpmf_core.teaching.membership",
    "dpmf_core.teaching.demonstrations",
}
DRAWS = {
    "normal",
    "standard_normal",
    "laplace",
    "multivariate_normal",
    "gumbel",
    "logistic",
    "exponential",
    "standard_exponential",
}
OPENS = {
    "default_rng",
    "Generator",
    "RandomState",
    "SeedSequence",
    "PCG64",
    "SFC64",
    "Philox",
    "seed",
}
# what an algorithm may import: of the curator types, the grid, views and public facts; of other
# packages what reads no memory, no file and no process
OF_CURATOR = {
    "Block",
    "Curator",
    "Held",
    "OpenCurator",
    "Range",
    "Statistic",
    "Step",
    "Totals",
    "on_grid",
    "grid_step",
    "fraction_bits",
    "on_disjoint_groups",
    "on_groups",
    "CELLS_ARE_PUBLIC",
    "Cells",
}
LIBRARIES = {
    "collections",
    "copy",
    "dataclasses",
    "dpmf_core",
    "functools",
    "itertools",
    "math",
    "numpy",
    "pydantic",
    "scipy",
    "sklearn",
    "typing",
    "warnings",
}
FINDERS = {"dpmf_core.algorithms", "dpmf_core.algorithms.registry"}  # they fit nothing


def name_of(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(
        ".__init__"
    )


FILES = {
    name_of(path): path
    for folder in ("dpmf_core", "pages", "datasets", "benchmarks", "tests")
    for path in sorted((ROOT / folder).rglob("*.py"))
}
PRODUCT = [name for name in FILES if not name.startswith(("benchmarks", "tests"))]
CORE = [name for name in PRODUCT if name.startswith("dpmf_core") and name != NOISE]
DRAWING = [name for name in CORE if not name.startswith(TESTING)]


@functools.cache
def nodes(module):
    """All nodes of a module, walked once for all laws."""
    return list(ast.walk(ast.parse(FILES[module].read_text("utf-8"))))


@functools.cache
def calls(module):
    """(what it is called on, what is called) of every call; '' of a call by name."""
    found = []
    for node in nodes(module):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found.append((ast.unparse(node.func.value), node.func.attr))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found.append(("", node.func.id))
    return found


@functools.cache
def imports(module):
    """(module, name) of every import."""
    found = []
    for node in nodes(module):
        if isinstance(node, ast.Import):
            found += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [(node.module or "", alias.name) for alias in node.names]
    return found


def long_modules():
    for name in PRODUCT:
        with FILES[name].open("rb") as source:
            tokens = tokenize.tokenize(source.readline)
            weight = sum(token.type not in LAYOUT for token in tokens)
        if weight > MOST_TOKENS:
            yield name


def docstrings_of_two_forms():
    """What returns a value is summarised by that value, not by "Return ..."."""
    for name in FILES:
        for node in nodes(name):
            is_documented = isinstance(node, ast.FunctionDef | ast.ClassDef)
            if is_documented and re.match(r"Returns?\b", ast.get_docstring(node) or ""):
                yield f"{name}:{node.lineno}: {node.name}"


def packed_lines():
    """A loop variable says what it is; values of two names stand on two lines, unless they swap."""
    for name in FILES:
        for node in nodes(name):
            if isinstance(node, ast.comprehension | ast.For):
                if {"it", "its"} & names_in(node.target):
                    yield f"{name}:{node.target.lineno}: a loop over `it`"
            elif isinstance(node, ast.Starred) and isinstance(
                node.value, ast.Tuple | ast.List
            ):
                yield f"{name}:{node.lineno}: a splatted literal"
            elif isinstance(node, ast.Assign) and isinstance(
                node.targets[0], ast.Tuple
            ):
                is_swap = names_in(node.targets[0]) & names_in(node.value)
                if isinstance(node.value, ast.Tuple) and not is_swap:
                    yield f"{name}:{node.lineno}: several names on a line"


def names_in(node):
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def draws_elsewhere():
    """Noise is drawn in one place; elsewhere only starting values, from their own stream."""
    for name in set(DRAWING) - PRIVATE:
        for owner, draw in calls(name):
            is_handed = name == MECHANISMS and owner == "generator"
            if draw in DRAWS and owner != "rng.init" and not is_handed:
                yield f"{name}: {owner}.{draw}"


def streams_elsewhere():
    for name in set(DRAWING) - OPENERS:
        for owner, opened in calls(name):
            if opened in OPENS and "random" in owner:
                yield f"{name}: {owner}.{opened}"


def noise_without_account():
    """What draws on private data has charged their account, which alone makes `Noise`."""
    for name in PRODUCT:
        if name != "dpmf_core.privacy.accounts" and not name.startswith(TESTING):
            yield from (name for call in calls(name) if call == ("", "Noise"))


def open_releases():
    for name in DRAWING:
        secrets = ((owner, call) for owner, call in calls(name) if owner)
        yield from (
            name for _, call in secrets if call in {"_publish", "_draw", "_open"}
        )


def ciphers_elsewhere():
    for name in set(CORE) - {"dpmf_core.privacy.random_streams"}:
        yield from (
            name for module, _ in imports(name) if module.startswith("randomgen")
        )


def global_generators():
    for name in CORE:
        yield from (name for module, _ in imports(name) if module == "random")


def algorithms_that_reach_rows():
    for name in PRODUCT:
        if not name.startswith("dpmf_core.algorithms") or name in FINDERS:
            continue
        for module, imported in imports(name):
            if module.split(".")[0] not in LIBRARIES:
                yield f"{name}: {module}"
            if module.startswith("dpmf_core.curator") and imported not in OF_CURATOR:
                yield f"{name}: {module}.{imported}"
        for node in nodes(name):
            is_private = isinstance(node, ast.Attribute) and node.attr.startswith("_")
            if is_private and ast.unparse(node.value) == "curator":
                yield f"{name}: curator.{node.attr}"


def computing_pages():
    """A page's script asks and shows; tables are drawn where their text is made safe."""
    for name in PRODUCT:
        if name.startswith("pages.") and name.endswith(".page"):
            modules = {module.split(".")[0] for module, _ in imports(name)}
            for library in modules & {"numpy", "scipy"}:
                yield f"{name}: {library}"
        if name.startswith("pages.") and not name.endswith(".safe_text"):
            text = FILES[name].read_text("utf-8")
            if re.search(r"st\.(dataframe|table)\(", text):
                yield name


def benchmarks_and_tests_that_meet():
    for name, path in FILES.items():
        other = {"benchmarks": "tests", "tests": "benchmarks"}.get(name.split(".")[0])
        if other and f"{other}." in path.read_text("utf-8"):  # most need not be parsed
            yield from (name for module, _ in imports(name) if module.startswith(other))


LAWS = [
    long_modules,
    packed_lines,
    docstrings_of_two_forms,
    draws_elsewhere,
    streams_elsewhere,
    noise_without_account,
    open_releases,
    ciphers_elsewhere,
    global_generators,
    algorithms_that_reach_rows,
    computing_pages,
    benchmarks_and_tests_that_meet,
]


def test_no_law_is_broken():
    """All at once, so that one process alone reads all modules."""
    places = {law.__name__: sorted(law()) for law in LAWS}
    assert {name: found for name, found in places.items() if found} == {}


BAD = """
import os, random
from randomgen import Speck
from dpmf_core.curator import open_people
import benchmarks.peers
def marked(seen, *, kept_items=1):
    "Return what is marked."
    curator._rows, np.random.default_rng(1), rng.normal(2), Noise(3), release._draw(4)
    st.table(5)
    early, late = [it for it in seen], kept_items
"""


def test_no_two_modules_have_one_name():
    """But scripts of pages, registries, and what each paper's folder has."""
    names = [
        FILES[module].stem
        for module in PRODUCT
        if not re.fullmatch(r"dpmf_core\.papers\.[a-z]+_\d{4}\..*", module)
    ]
    shared = {name for name, count in Counter(names).items() if count > 1}
    assert shared <= {"__init__", "page", "registry"}


@pytest.mark.parametrize("fault", mutations.FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_has_its_place_in_the_code(fault):
    assert (ROOT / fault.file).read_text("utf-8").count(fault.old) == 1


@pytest.mark.parametrize("broken", LAWS, ids=lambda law: law.__name__)
def test_a_broken_law_is_found(broken, tmp_path, monkeypatch):
    (tmp_path / "bad.py").write_text(BAD + "pass\n" * MOST_TOKENS)
    places = ("dpmf_core.algorithms.bad", "pages.bad.page", "tests.bad")
    for modules in ("FILES", "PRODUCT", "CORE", "DRAWING"):
        if modules == "FILES":
            value = dict.fromkeys(places, tmp_path / "bad.py")
        else:
            value = list(places)
        monkeypatch.setattr(f"{__name__}.{modules}", value)
    forget()
    try:
        assert list(broken())
    finally:
        forget()


def forget():
    for cached in (nodes, calls, imports):
        cached.cache_clear()
