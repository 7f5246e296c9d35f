"""Runs in MLflow and Weights & Biases, on this machine; of private data nothing raw."""

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpmf_core import fit, sweep
from dpmf_core.adapters.run_figures import figures_of
from dpmf_core.runs.record import Run
from dpmf_core.testing.worlds import low_rank

WORLD = low_rank(n_users=200)


@pytest.fixture(scope="module")
def public() -> Run:
    return fit(WORLD, "dpals", epsilon=3.0, delta=1e-6, rank=2, steps=3)


def test_what_is_kept_of_a_public_run(public: Run) -> None:
    run_figures = figures_of(public)
    assert run_figures.figures["epsilon"] == public.record.epsilon.exact
    assert run_figures.figures["rmse"] == public.record.metrics["rmse"]
    assert run_figures.parameters["param.rank"] == 2 and run_figures.parameters["delta"] == 1e-6
    assert [step for step, _ in run_figures.curves] == [1, 2, 3]


def test_nothing_raw_of_private_data_and_no_epsilon_without_a_proof() -> None:
    mine = replace(WORLD, public=False)
    private = figures_of(fit(mine, "private-bias", epsilon=1.0, delta=1e-6))
    assert set(private.figures) == {"epsilon"} and not private.curves
    plain = figures_of(fit(mine, "als", rank=2))
    assert not plain.figures and "delta" not in plain.parameters
    assert plain.parameters["guarantee"] == "NONE"


def test_a_sweep_hands_over_each_run_as_it_is_made(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path))
    runs: list[Run] = []
    result = sweep(WORLD, ["private-bias", "bias"], epsilons=[1, 2], delta=1e-6, on_run=runs.append)
    assert runs == list(result.runs.values()) and len(runs) == 3


def test_mlflow_holds_it(public: Run, tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed: pip install mlflow")
    from dpmf_core.adapters.mlflow import log_run

    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    log_run(public)
    (mlflow_run,) = mlflow.search_runs(output_format="list")
    assert mlflow_run.data.metrics["epsilon"] == public.record.epsilon.exact
    assert mlflow_run.data.params["algorithm"] == "dpals" and mlflow_run.info.status == "FINISHED"
    curve = mlflow.MlflowClient().get_metric_history(mlflow_run.info.run_id, "by_step.test_rmse")
    assert [it.step for it in curve] == [1, 2, 3]


def test_wandb_holds_it(public: Run, tmp_path: Path) -> None:
    pytest.importorskip("wandb", reason="W&B is not installed: pip install wandb")
    from dpmf_core.adapters.wandb import log_run

    log_run(public, mode="offline", dir=str(tmp_path), project="dpmf")
    (file,) = tmp_path.rglob("*.wandb")
    names = {b"param.rank", b"by_step.test_rmse", b"epsilon"}
    end = time.monotonic() + 30  # its own process writes the file
    while (missing := {it for it in names if it not in file.read_bytes()}) and (
        time.monotonic() < end
    ):
        time.sleep(0.2)
    assert not missing


@pytest.mark.parametrize("name", ["mlflow", "wandb"])
def test_without_the_tracker_the_module_says_what_it_needs(name: str) -> None:
    code = f"import sys; sys.modules['{name}'] = None; import dpmf_core.adapters.{name}"
    process = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert process.returncode and f"pip install {name}" in process.stderr
