"""What editors and mypy see of the functions: every option, and no other."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dpmf

ROOT = Path(__file__).parents[1]
# each line, and the kind of mypy's complaint; '' if there is none
CALLS = {
    'dpmf.fit("cinema-small", "dpals", epsilon=1.0, rank=4, split=None)': "",
    'dpmf.fit("a.csv", "dpals", epsilon=1.0, bounds=(1, 5), sheet="Ratings", top_items=9)': "",
    'dpmf.fit("cinema-small", "mine", epsilon=1.0, parameters={"own": 3})': "",
    'dpmf.fit("cinema-small", "dpals", epsilon=1.0, rnak=4)': "call-arg",
    'dpmf.fit("cinema-small", "dpals", epsilon="one")': "arg-type",
    'dpmf.fit("cinema-small", "dpals", epsilon=1.0, split="half")': "arg-type",
    'dpmf.fit("cinema-small", "dpals", epsilon=1.0, relation="replace")': "arg-type",
    'dpmf.fit("cinema-small", "als", rank="four")': "arg-type",
    'dpmf.sweep("cinema-small", ["als"], epsilon=1.0)': "call-arg",
    'dpmf.load("ratings.csv", bounds=(1, 5), collumns={})': "call-arg",
    'dpmf.choose("cinema-small", spnd=2.0)': "call-arg",
    'dpmf.tune("cinema-small", "als", grid={"rank": [2, 4]}, prune=True)': "call-arg",
    'dpmf.audit("private-bias", epsilon=3.0, fault="no-noise")': "arg-type",
    'dpmf.PrivateRecommender("dpals", rnak=4)': "call-arg",
    'dpmf.PrivateRecommender("dpals", rank=4)': "",
    "dpmf.privacy.noise_multiplier(1.0, 1e-6, cuont=3)": "call-arg",
    'dpmf.privacy.epsilon(dpmf.privacy.Gaussian(3.0), 1e-6, "replace")': "arg-type",
}


@pytest.mark.slow
def test_mypy_finds_wrong_options_and_no_others(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("\n".join(["import dpmf", *CALLS]) + "\n")
    options = ("--no-incremental", "--no-error-summary", "--follow-imports=silent")
    process = subprocess.run(
        [sys.executable, "-m", "mypy", *options, str(program)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    errors = re.findall(r"program\.py:(\d+): error: .*\[([\w-]+)\]", process.stdout)
    expected = [
        (str(line), kind) for line, kind in enumerate(CALLS.values(), start=2) if kind
    ]
    assert errors == expected, process.stdout + process.stderr


def test_the_options_are_those_of_the_registry():
    command = [sys.executable, ".ci/options.py", "--check"]
    process = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stdout + process.stderr


@pytest.mark.parametrize("name", ["fit", "sweep", "tune"])
def test_the_usual_options_are_named_with_their_types(name):
    source = inspect.unwrap(getattr(dpmf, name))
    usual = {"delta", "bounds", "split", "relation", "noise"}
    usual |= (
        {"epsilon", "seed", "parameters"} if name != "sweep" else {"epsilons", "seeds"}
    )
    annotations = inspect.get_annotations(source)
    assert usual <= annotations.keys()
    documented = set(
        re.findall(r"^(?:    )?(\w+)$", inspect.getdoc(source) or "", re.M)
    )
    assert usual <= documented
