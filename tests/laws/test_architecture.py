"""The house keeps its shape: arrows point one way, pages lie where Streamlit does not look,
noise has one source.
"""

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = "dpmf_core"
CATALOGUE = "dpmf_datasets"  # the folder datasets/, by the name that it is imported by
BASE = {
    "errors",
    "html_text",
    "paths",
    "registry",
    "kernels",
    "data",
    "privacy",
    "curator",
    "algorithms",
}
RUNS = BASE | {"evaluation", "serving", "runs"}

# What each package of the core may import of the others; the longest matching prefix decides.
CORE_MAY: dict[str, set[str]] = {
    "errors": set(),
    "interrupts": set(),
    "registry": set(),
    "html_text": set(),
    "loss_text": set(),
    "paths": {"errors"},
    "kernels": {"paths"},
    "data": {"errors", "kernels"},
    "privacy": {"errors", "html_text", "loss_text", "paths", "kernels", "data"},
    "privacy.guarantee": {"html_text"},
    "privacy.random_streams": set(),
    "privacy.scalar_search": set(),
    "privacy.mechanisms": {"kernels"},
    "privacy.failing_mechanisms": {"privacy.mechanisms"},
    "privacy.events": {"privacy.mechanisms", "privacy.failing_mechanisms"},
    "privacy.gaussian": {"privacy.events", "privacy.mechanisms", "privacy.scalar_search"},
    "privacy.budget": {"privacy.gaussian", "privacy.mechanisms"},
    "privacy.renyi": {
        f"privacy.{name}" for name in ("gaussian", "events", "mechanisms", "scalar_search")
    },
    "privacy.accounting": {
        f"privacy.{name}"
        for name in (
            "budget",
            "events",
            "failing_mechanisms",
            "gaussian",
            "mechanisms",
            "renyi",
            "scalar_search",
        )
    },
    "curator": {"errors", "kernels", "data", "privacy"},
    "algorithms": BASE - {"paths"},
    "evaluation": BASE,
    "serving": {"errors", "paths", "registry"},
    "runs": RUNS,
    "runs.publishing.released_model": {"errors"},  # a copy of it lies beside every saved model
    "engine": {"errors", "paths", "kernels", "data", "privacy", "serving", "runs"},
    "audit": RUNS,
    "tuning": RUNS,
    "choosing": RUNS | {"tuning"},
    "papers": RUNS | {"audit"},
    "first_views": RUNS | {"papers"},
    "teaching": BASE,
    "testing": BASE,
    "administration": {"errors", "paths", "data.catalogue", "serving", "runs", "engine"},
    "estimators": BASE,
    "adapters": RUNS | {"estimators"},
    "api": RUNS | {"engine"},
    "cli": {""},
    "__main__": {"cli", "errors", "interrupts"},
    "clone_imports": set(),
    "": {"api", "clone_imports", "estimators", "runs.publishing.released_model"},
}


def of_core(names: set[str]) -> set[str]:
    return {f"{CORE}.{name}" if name else CORE for name in names}


MAY: dict[str, set[str]] = {
    "app": {"pages", CATALOGUE, CORE},
    "pages": {"pages", CATALOGUE, CORE},
    CATALOGUE: {CATALOGUE, *of_core({"data", "errors", "paths"})},
} | {next(iter(of_core({name}))): of_core(may) for name, may in CORE_MAY.items()}
SCREEN = {"streamlit", "plotly"}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def sources(*folders: str) -> list[Path]:
    return sorted(
        path
        for folder in folders
        for path in ([ROOT / folder] if folder.endswith(".py") else (ROOT / folder).rglob("*.py"))
        if path.exists()
    )


@functools.cache
def tree(path: Path) -> ast.Module:
    """A module, parsed once for all laws."""
    return ast.parse(path.read_text("utf-8"))


def imports(path: Path) -> Iterator[str]:
    """Every module imported anywhere in a file, also inside functions."""
    module = name_of(path) + (".x" if path.name == "__init__.py" else "")
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*module.split(".")[: -node.level], *base.split(".")]).strip(".")
            yield from (
                f"{base}.{alias.name}" if is_module(f"{base}.{alias.name}") else base
                for alias in node.names
            )


def is_module(name: str) -> bool:
    path = ROOT / Path(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def within(module: str, roots: set[str]) -> bool:
    return any(module == root or module.startswith(root + ".") for root in roots)


def allowed_for(module: str) -> set[str]:
    return MAY[max((root for root in MAY if within(module, {root})), key=len)]


CODE = sources("app.py", "pages", CORE, CATALOGUE)


@pytest.mark.parametrize("path", CODE, ids=name_of)
def test_arrows_point_one_way(path: Path) -> None:
    module = name_of(path)
    project = {"app", "pages", "datasets", CATALOGUE, CORE, "tests", "benchmarks"}
    own = ".".join(module.split(".")[: 2 if module.startswith(CORE) else 1])
    within_own = set() if module in MAY and module != own else {own} - {CORE}
    wrong = {
        name
        for name in imports(path)
        if within(name, project) and not within(name, allowed_for(module) | within_own)
    }
    # a package's own name, imported for its version or the like, is no arrow
    assert wrong <= ({CORE} if module.startswith(CORE) else set())


@pytest.mark.parametrize("path", sources(CORE, CATALOGUE), ids=name_of)
def test_nothing_below_the_pages_knows_the_screen(path: Path) -> None:
    assert not {name for name in imports(path) if name.split(".")[0] in SCREEN}


def test_the_import_reader_sees_every_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / CORE / "privacy"
    package.mkdir(parents=True)
    for place in (package, package.parent):
        (place / "__init__.py").touch()
    (package.parent / "data.py").touch()
    (package / "noise.py").write_text(
        "import dpmf_datasets.x\nfrom .. import data\ndef f():\n    from streamlit import write\n"
        "    from dpmf_core import data as d\n"
    )
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    assert list(imports(package / "noise.py")) == [
        "dpmf_datasets.x",
        f"{CORE}.data",
        "streamlit",
        f"{CORE}.data",
    ]


# ---- length ------------------------------------------------------------------------------------

LINES = 400  # of a module


@pytest.mark.parametrize("path", CODE, ids=name_of)
def test_modules_are_short(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= LINES


# ---- pages ---------------------------------------------------------------------------------------


def test_no_script_lies_directly_under_pages() -> None:
    assert not list((ROOT / "pages").glob("*.py"))


@pytest.mark.parametrize("path", sorted((ROOT / "pages").glob("*/page.py")), ids=name_of)
def test_page_scripts_are_short_ask_and_show(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= 250
    assert not {name for name in imports(path) if name.split(".")[0] in {"numpy", "scipy"}}


@pytest.mark.parametrize("path", sources("pages"), ids=name_of)
def test_modules_of_pages_are_short(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= 400


def kit_modules() -> list[Path]:
    """What the kit offers to pages; not the table that core and navigation read alone."""
    return [path for path in (ROOT / "pages/kit").glob("[a-z]*.py") if path.stem != "navigation"]


def test_modules_of_the_kit_serve_two_pages() -> None:
    """Directly, or as a part of what every page is drawn with."""
    imports_of = {name_of(path): set(imports(path)) for path in sources("pages")}
    for kit in map(name_of, kit_modules()):
        users: set[str] = set()
        visited, todo = set(), {kit}
        while todo:
            module = todo.pop()
            visited.add(module)
            for other in {name for name, names in imports_of.items() if module in names} - visited:
                folder = other.split(".")[1]
                (todo if folder in ("kit", "server") else users).add(
                    other if folder in ("kit", "server") else folder
                )
        assert len(users) >= 2 or "pages.kit.navigation" in visited, kit


@pytest.mark.parametrize("path", sources("pages"), ids=name_of)
def test_tables_are_drawn_in_one_place(path: Path) -> None:
    assert path.name == "safe_text.py" or not re.search(
        r"st\.(dataframe|table)\(", path.read_text("utf-8")
    )


def test_the_app_script_is_short() -> None:
    app = ROOT / "app.py"
    assert not app.exists() or len(app.read_text("utf-8").splitlines()) <= 60


# ---- noise ---------------------------------------------------------------------------------------

NOISE = ROOT / CORE / "privacy" / "noise.py"
# each holds its draw; the generator is handed to it
MECHANISMS = ROOT / CORE / "privacy" / "mechanisms.py"
STREAMS = {
    ROOT / CORE / f"{name}.py"
    for name in (
        "privacy/random_streams",
        "runs/execution",
        "runs/seeds",
        "audit/membership_inference",
        "audit/canaries",
        "audit/canary_data",
        "audit/own_data",
        "audit/pair_test",
        "papers/errata/langevin",
        "papers/errata/private_mean",
        "tuning/private_selection",
        "estimators/releases",
        "teaching/subpoena",
        "teaching/sketch_collisions",
        "teaching/linkage",
        "teaching/membership",
        "teaching/trust",
    )
}  # who may open a stream
PRIVATE_STREAM = {"canaries", "canary_data", "own_data", "pair_test", "private_selection"}
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


def calls(path: Path) -> Iterator[tuple[str, str]]:
    """(what it is called on, what is called) of every call on an attribute."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield ast.unparse(node.func.value), node.func.attr


TESTING = ROOT / CORE / "testing"  # stands in the place of the curator and its noise
CORE_CODE = [path for path in sources(CORE) if path != NOISE and not path.is_relative_to(TESTING)]


@pytest.mark.parametrize("path", CORE_CODE, ids=name_of)
def test_noise_is_drawn_in_one_place(path: Path) -> None:
    draws = {(owner, draw) for owner, draw in calls(path) if draw in DRAWS}
    if path.stem in PRIVATE_STREAM:
        return
    if path == MECHANISMS:
        draws = {(owner, draw) for owner, draw in draws if owner != "generator"}
    assert all(owner == "rng.init" for owner, _ in draws), (
        f"draws from other than the stream of starting values: {draws}"
    )


@pytest.mark.parametrize("path", [path for path in CORE_CODE if path not in STREAMS], ids=name_of)
def test_streams_are_opened_where_a_run_names_them(path: Path) -> None:
    assert not {(owner, name) for owner, name in calls(path) if name in OPENS and "random" in owner}


@pytest.mark.parametrize(
    "path",
    [path for path in CODE if path.stem != "accounts" and not path.is_relative_to(TESTING)],
    ids=name_of,
)
def test_noise_is_opened_by_an_account_alone(path: Path) -> None:
    """What draws on private data has charged their account: `Noise` itself is made there, and
    by the audit, which releases nothing.
    """
    names = {
        node.func.id
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert "Noise" not in names


@pytest.mark.parametrize(
    "path", [path for path in sources(CORE) if path.stem != "random_streams"], ids=name_of
)
def test_the_cipher_is_opened_in_one_place(path: Path) -> None:
    assert "randomgen" not in path.read_text("utf-8")


@pytest.mark.parametrize("path", CORE_CODE, ids=name_of)
def test_nobody_reaches_into_a_release(path: Path) -> None:
    assert not {name for _, name in calls(path) if name in {"_publish", "_draw", "_open"}}


@pytest.mark.parametrize("path", sources(CORE), ids=name_of)
def test_no_global_generator(path: Path) -> None:
    assert not re.search(
        r"np\.random\.(seed|rand|randn|normal|uniform|choice|shuffle|permutation)\(|^import"
        r" random|^from random",
        path.read_text("utf-8"),
        re.M,
    )


def test_the_core_imports_without_the_screen_or_a_data_set() -> None:
    """In a fresh interpreter: what the headless half loads."""
    import subprocess
    import sys

    code = (
        "import sys, dpmf_core.runs.execution; print([m for m in ('streamlit', 'plotly',"
        " 'dpmf_datasets', 'dask', 'dp_accounting', 'sklearn') if m in sys.modules])"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert process.stdout.strip() == "[]"
