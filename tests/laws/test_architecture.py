"""The house keeps its shape: arrows point one way, pages lie where Streamlit does not look, noise has one source."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CORE = "dpmf_core"
PRIVACY, ALGORITHMS = f"{CORE}.privacy", f"{CORE}.algorithms"
BASE = {f"{CORE}.data", f"{CORE}.samples", f"{CORE}.errors", PRIVACY, ALGORITHMS, f"{CORE}.kernels"}
SERVING = {f"{CORE}.errors", f"{CORE}.settings", f"{CORE}.askers", f"{CORE}.limits"}
ABOVE_EXPERIMENT = BASE | {f"{CORE}.experiment", f"{CORE}.metrics"}

# What each module may import of this project; the longest matching prefix decides.
MAY: dict[str, set[str]] = {
    "app": {"pages", "datasets", CORE},
    "pages": {"pages", "datasets", CORE},
    "datasets": {"datasets", f"{CORE}.data", f"{CORE}.samples", f"{CORE}.errors", f"{CORE}.home"},
    f"{CORE}.errors": set(),
    f"{CORE}.interrupts": set(),
    f"{CORE}.kernels": {f"{CORE}.kernels", f"{CORE}.home"},
    f"{CORE}.data": {f"{CORE}.errors", f"{CORE}.kernels"},
    f"{CORE}.home": {f"{CORE}.errors"},
    f"{CORE}.settings": {f"{CORE}.errors", f"{CORE}.home"},
    f"{CORE}.askers": {f"{CORE}.errors", f"{CORE}.settings"},
    f"{CORE}.limits": SERVING,
    f"{CORE}.rights": SERVING | {f"{CORE}.experiment", f"{CORE}.store", f"{CORE}.lesson_links"},
    f"{CORE}.overview": SERVING | {f"{CORE}.engine", f"{CORE}.experiment", f"{CORE}.home", f"{CORE}.jobs", f"{CORE}.lesson_links"},
    f"{CORE}.control": {f"{CORE}.errors", f"{CORE}.home"},
    f"{CORE}.samples": {f"{CORE}.data", f"{CORE}.errors"},
    f"{PRIVACY}.events": {f"{CORE}.kernels"},
    f"{PRIVACY}.guarantee": set(),
    f"{PRIVACY}.accounting": {f"{PRIVACY}.events"},
    f"{PRIVACY}.streams": set(),
    f"{PRIVACY}.noise": {f"{PRIVACY}.events", f"{PRIVACY}.guarantee", f"{PRIVACY}.streams", f"{CORE}.kernels"},
    f"{CORE}.accounts": {PRIVACY, f"{CORE}.errors", f"{CORE}.home"},
    f"{CORE}.spending": {f"{CORE}.accounts", f"{CORE}.experiment", PRIVACY},
    PRIVACY: {PRIVACY, f"{CORE}.errors"},
    ALGORITHMS: BASE,
    f"{CORE}.metrics": {f"{CORE}.data", f"{CORE}.errors", ALGORITHMS},
    f"{CORE}.part_metrics": {f"{CORE}.samples", ALGORITHMS},
    f"{CORE}.coherence": {f"{CORE}.data", f"{CORE}.samples", f"{CORE}.home"},
    f"{CORE}.judging": BASE | {f"{CORE}.metrics", f"{CORE}.part_metrics", f"{CORE}.coherence"},
    f"{CORE}.partition_selection": BASE,
    f"{CORE}.experiment": BASE | {f"{CORE}.judging", f"{CORE}.coherence", f"{CORE}.partition_selection", f"{CORE}.accounts"},
    f"{CORE}.noisy_errors": ABOVE_EXPERIMENT | {f"{CORE}.accounts"},
    f"{CORE}.sweeps": ABOVE_EXPERIMENT | {f"{CORE}.limits", f"{CORE}.noisy_errors"},
    f"{CORE}.figures": ABOVE_EXPERIMENT | {f"{CORE}.sweeps"},
    f"{CORE}.part_presets": ABOVE_EXPERIMENT | {f"{CORE}.sweeps", f"{CORE}.figures"},
    f"{CORE}.other_roads": ABOVE_EXPERIMENT | {f"{CORE}.sweeps", f"{CORE}.figures"},
    f"{CORE}.presets": ABOVE_EXPERIMENT | {f"{CORE}.sweeps", f"{CORE}.figures", f"{CORE}.part_presets", f"{CORE}.other_roads"},
    f"{CORE}.explain": ABOVE_EXPERIMENT | {f"{CORE}.part_metrics", f"{CORE}.coherence"},
    f"{CORE}.glossary": set(),
    f"{CORE}.lesson_links": SERVING | {f"{CORE}.home"},
    f"{CORE}.lessons": {f"{CORE}.data", PRIVACY},
    f"{CORE}.records": ABOVE_EXPERIMENT,
    f"{CORE}.report": ABOVE_EXPERIMENT | {f"{CORE}.compare"},
    f"{CORE}.subpoena": {ALGORITHMS},
    f"{CORE}.collisions": {ALGORITHMS, f"{CORE}.kernels"},
    f"{CORE}.spreadsheets": set(),
    f"{CORE}.skew": {f"{CORE}.data"},
    f"{CORE}.estimators": BASE | {f"{CORE}.accounts"},
    f"{CORE}.api": ABOVE_EXPERIMENT | {f"{CORE}.sweeps", f"{CORE}.noisy_errors", f"{CORE}.store", f"{CORE}.accounts"},
    f"{CORE}.pair_test": set(),
    f"{CORE}.bounds": {PRIVACY, f"{CORE}.pair_test"},
    f"{CORE}.canaries": BASE | {f"{CORE}.canary_worlds"},
    f"{CORE}.canary_worlds": BASE,
    f"{CORE}.audit": ABOVE_EXPERIMENT | {f"{CORE}.bounds", f"{CORE}.canaries", f"{CORE}.canary_worlds"},
    f"{CORE}.paired": set(),
    f"{CORE}.fresh": ABOVE_EXPERIMENT | {f"{CORE}.paired"},
    f"{CORE}.tune": ABOVE_EXPERIMENT | {f"{CORE}.limits", f"{CORE}.home", f"{CORE}.paired", f"{CORE}.fresh", f"{CORE}.noisy_errors"},
    f"{CORE}.selecting": ABOVE_EXPERIMENT | {f"{CORE}.tune", f"{CORE}.accounts", f"{CORE}.noisy_errors"},
    f"{CORE}.schedulers": {f"{CORE}.errors"},
    f"{CORE}.workers": {f"{CORE}.experiment", f"{CORE}.errors", f"{CORE}.home", f"{CORE}.schedulers", f"{CORE}.session_limits"},
    f"{CORE}.jobs": {f"{CORE}.experiment", f"{CORE}.errors", f"{CORE}.workers", f"{CORE}.askers"},
    f"{CORE}.machine": set(),
    f"{CORE}.session_limits": {f"{CORE}.machine", f"{CORE}.settings"},
    f"{CORE}.turns": set(),
    f"{CORE}.opening": {f"{CORE}.turns"},
    f"{CORE}.lanes": {f"{CORE}.turns", f"{CORE}.session_limits", f"{CORE}.jobs", f"{CORE}.errors"},
    f"{CORE}.engine": SERVING
    | {
        f"{CORE}.{name}"
        for name in ("experiment", "store", "errors", "jobs", "lanes", "leases", "machine", "opening", "schedulers", "session_limits", "workers")
    },
    f"{CORE}.leases": set(),
    f"{CORE}.backup": {f"{CORE}.accounts", f"{CORE}.artefacts", f"{CORE}.errors", f"{CORE}.home", f"{CORE}.store"},
    f"{CORE}.artefacts": {f"{CORE}.experiment"},
    f"{CORE}.run_folder": {f"{CORE}.experiment", f"{CORE}.errors", f"{CORE}.home", f"{CORE}.artefacts"},
    f"{CORE}.store": {f"{CORE}.experiment", f"{CORE}.errors", f"{CORE}.home", f"{CORE}.artefacts", f"{CORE}.run_folder"},
    f"{CORE}.repair": {f"{CORE}.errors", f"{CORE}.home", f"{CORE}.run_folder", f"{CORE}.store"},
    CORE: {CORE},
}
SCREEN = {"streamlit", "plotly"}


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in ([ROOT / folder] if folder.endswith(".py") else (ROOT / folder).rglob("*.py")) if path.exists())


def imports(path: Path) -> Iterator[str]:
    """Every module imported anywhere in a file, also inside functions."""
    module = name_of(path) + (".x" if path.name == "__init__.py" else "")
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*module.split(".")[: -node.level], *base.split(".")]).strip(".")
            yield from (f"{base}.{alias.name}" if is_module(f"{base}.{alias.name}") else base for alias in node.names)


def is_module(name: str) -> bool:
    path = ROOT / Path(*name.split("."))
    return path.with_suffix(".py").exists() or (path / "__init__.py").exists()


def within(module: str, allowed: set[str]) -> bool:
    return any(module == root or module.startswith(root + ".") for root in allowed)


def allowed_for(module: str) -> set[str]:
    return MAY[max((root for root in MAY if within(module, {root})), key=len)]


CODE = sources("app.py", "pages", CORE, "datasets")


@pytest.mark.parametrize("path", CODE, ids=name_of)
def test_arrows_point_one_way(path: Path) -> None:
    module = name_of(path)
    project = {"app", "pages", "datasets", CORE, "tests", "benchmarks"}
    wrong = {found for found in imports(path) if within(found, project) and not within(found, allowed_for(module) | {module})}
    # a package's own name, imported for its version or the like, is no arrow
    assert wrong <= ({CORE} if module.startswith(CORE) else set())


@pytest.mark.parametrize("path", sources(CORE, "datasets"), ids=name_of)
def test_nothing_below_the_pages_knows_the_screen(path: Path) -> None:
    assert not {found for found in imports(path) if found.split(".")[0] in SCREEN}


def test_the_import_reader_sees_every_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / CORE / "privacy"
    package.mkdir(parents=True)
    for place in (package, package.parent):
        (place / "__init__.py").touch()
    (package.parent / "data.py").touch()
    (package / "noise.py").write_text(
        "import datasets.x\nfrom .. import data\ndef f():\n    from streamlit import write\n    from dpmf_core import data as d\n"
    )
    monkeypatch.setattr(f"{__name__}.ROOT", tmp_path)
    assert list(imports(package / "noise.py")) == ["datasets.x", f"{CORE}.data", "streamlit", f"{CORE}.data"]


# ---- pages ------------------------------------------------------------------------------------------------------------


def test_no_script_lies_directly_under_pages() -> None:
    assert not list((ROOT / "pages").glob("*.py"))


@pytest.mark.parametrize("path", [path for path in sources("pages") if "kit" not in path.parts], ids=name_of)
def test_page_scripts_are_short_ask_and_show(path: Path) -> None:
    assert len(path.relative_to(ROOT / "pages").parts) == 2
    assert len(path.read_text("utf-8").splitlines()) <= 150
    assert not {found for found in imports(path) if found.split(".")[0] in {"numpy", "scipy"}}


@pytest.mark.parametrize("path", sources("pages"), ids=name_of)
def test_tables_are_drawn_in_one_place(path: Path) -> None:
    assert path.name == "said.py" or not re.search(r"st\.(dataframe|table)\(", path.read_text("utf-8"))


def test_the_app_script_is_short() -> None:
    app = ROOT / "app.py"
    assert not app.exists() or len(app.read_text("utf-8").splitlines()) <= 60


# ---- noise ------------------------------------------------------------------------------------------------------------

NOISE = ROOT / CORE / "privacy" / "noise.py"
MECHANISMS = ROOT / CORE / "privacy" / "events.py"  # each holds its draw; the generator is handed to it
STREAMS = {
    ROOT / CORE / "privacy" / "streams.py",
    ROOT / CORE / "experiment.py",
    ROOT / CORE / "audit.py",
    ROOT / CORE / "canaries.py",
    ROOT / CORE / "canary_worlds.py",
    ROOT / CORE / "pair_test.py",
    ROOT / CORE / "selecting.py",
    ROOT / CORE / "estimators.py",
    ROOT / CORE / "subpoena.py",
    ROOT / CORE / "collisions.py",
}  # who may open a stream
PRIVATE_STREAM = {"experiment", "canaries", "canary_worlds", "pair_test", "selecting"}
DRAWS = {"normal", "standard_normal", "laplace", "multivariate_normal", "gumbel", "logistic", "exponential", "standard_exponential"}
OPENS = {"default_rng", "Generator", "RandomState", "SeedSequence", "PCG64", "SFC64", "Philox", "seed"}


def calls(path: Path) -> Iterator[tuple[str, str]]:
    """(what it is called on, what is called) of every call on an attribute."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield ast.unparse(node.func.value), node.func.attr


CORE_CODE = [path for path in sources(CORE) if path != NOISE]


@pytest.mark.parametrize("path", CORE_CODE, ids=name_of)
def test_noise_is_drawn_in_one_place(path: Path) -> None:
    drawn = {(owner, draw) for owner, draw in calls(path) if draw in DRAWS}
    if path.stem in PRIVATE_STREAM:
        return
    if path == MECHANISMS:
        drawn = {(owner, draw) for owner, draw in drawn if owner != "generator"}
    assert all(owner == "rng.init" for owner, _ in drawn), f"draws from other than the stream of starting values: {drawn}"


@pytest.mark.parametrize("path", [path for path in CORE_CODE if path not in STREAMS], ids=name_of)
def test_streams_are_opened_where_a_run_names_them(path: Path) -> None:
    assert not {(owner, name) for owner, name in calls(path) if name in OPENS and "random" in owner}


@pytest.mark.parametrize("path", [path for path in sources("app.py", "pages", CORE, "datasets") if path.stem != "accounts"], ids=name_of)
def test_noise_is_opened_by_an_account_alone(path: Path) -> None:
    """What draws on private data has charged their account: `Noise` itself is made there, and by the audit, whose worlds are simulated."""
    made = {node.func.id for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert "Noise" not in made


@pytest.mark.parametrize("path", [path for path in sources(CORE) if path.stem != "streams"], ids=name_of)
def test_the_cipher_is_opened_in_one_place(path: Path) -> None:
    assert "randomgen" not in path.read_text("utf-8")


@pytest.mark.parametrize("path", CORE_CODE, ids=name_of)
def test_nobody_reaches_into_a_release(path: Path) -> None:
    assert not {name for _, name in calls(path) if name in {"_publish", "_draw", "_open"}}


@pytest.mark.parametrize("path", sources(CORE), ids=name_of)
def test_no_global_generator(path: Path) -> None:
    assert not re.search(
        r"np\.random\.(seed|rand|randn|normal|uniform|choice|shuffle|permutation)\(|^import random|^from random", path.read_text("utf-8"), re.M
    )


def test_the_core_imports_without_the_screen_or_a_data_set() -> None:
    """In a fresh interpreter: what the headless half loads."""
    import subprocess
    import sys

    code = "import sys, dpmf_core.experiment; print([m for m in ('streamlit', 'plotly', 'datasets', 'dask', 'dp_accounting', 'sklearn') if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"
