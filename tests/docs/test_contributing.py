"""The worked example of docs/CONTRIBUTING.md: it runs, predicts, keeps the contract, and planted
faults are found.
"""

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from dpmf_core import algorithms
from dpmf_core.algorithms import Algorithm
from dpmf_core.data.splits import SplitSpec, split
from dpmf_core.privacy import NOTHING, Budget, Noise, calibrate, normal_form
from dpmf_core.privacy.accounting import epsilon
from dpmf_core.testing import curator_laws
from dpmf_core.testing import privacy_laws as laws
from tests.docs.markdown import ROOT, blocks

CODE = "\n\n".join(blocks(ROOT / "docs" / "CONTRIBUTING.md", "python"))


def import_code(code: str, folder: Path) -> ModuleType:
    """The code as a module of its own."""
    path = folder / "toy.py"
    path.write_text(code, "utf-8")
    spec = importlib.util.spec_from_file_location("toy", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["toy"] = module
    spec.loader.exec_module(module)
    return module


def toy(folder: Path, *changes: tuple[str, str]) -> Algorithm:
    """The algorithm of the page, with some of its text replaced."""
    code = CODE
    for before, after in changes:
        assert before in code
        code = code.replace(before, after)
    algorithm: Algorithm = import_code(code, folder).ToyOffsets()
    return algorithm


def test_it_keeps_the_contract(tmp_path: Path) -> None:
    algorithm = toy(tmp_path)
    laws.check_blindfold(algorithm)
    curator_laws.check_sums(algorithm)
    laws.check_locality(algorithm)
    shares = laws.check_sensitivity(algorithm, level=0.01)
    assert shares["clipped rows"] > 0.99  # the bound is tight


def test_it_costs_what_is_asked_and_predicts(tmp_path: Path) -> None:
    """Beside each user's own mean, which costs nothing, the offsets explain something more."""
    from dpmf_datasets import load

    parts = split(load("cinema-small"), SplitSpec(), 0)
    algorithm, budget = toy(tmp_path), Budget(epsilon=5.0, delta=1e-5)
    shape = parts.train.shape
    plan = algorithm.plan(shape, calibrate(lambda level: algorithm.plan(shape, level), budget))
    assert epsilon(plan, 1e-5) == pytest.approx(5.0, rel=1e-6)
    streams = algorithms.Streams(np.random.default_rng(0), 0)

    def error(kind: Algorithm, noise: Noise) -> float:
        model = algorithms.train(kind, parts.train, noise, streams)
        personal = model.personal(parts.history)
        predictions = model.predict(personal, parts.test.users, parts.test.items)
        return float(np.sqrt(np.mean((predictions - parts.test.values) ** 2)))

    noise = Noise(plan, np.random.SeedSequence(1))
    own_mean = algorithms.find("user-mean")()
    assert error(algorithm, noise) < error(own_mean, Noise(NOTHING))
    assert noise.ledger == tuple(normal_form(plan))


FAULTS: dict[str, tuple[tuple[str, str], Callable[[Algorithm], object]]] = {
    "no clipping": (("np.minimum(1.0, ", "np.fmax(1.0, "), laws.check_sensitivity),
    "half the sensitivity": (
        ("return self.clip\n", "return self.clip / 2\n"),
        laws.check_sensitivity,
    ),
    "centred by all users' mean": (
        ("user_means(rows, rows.values)[rows.users]", "rows.values.sum() / max(len(rows), 1)"),
        curator_laws.check_sums,
    ),
    "divided by an exact count": (
        ("on_grid(x, self.clip, block.n_units)", "x / max(len(rows), 1)"),
        curator_laws.check_sums,
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, tmp_path: Path) -> None:
    change, check = FAULTS[fault]
    with pytest.raises(AssertionError):
        check(toy(tmp_path, change))
