"""`--config`: a run described by a file."""

import json

import pytest

from dpmf_core.cli import main

RUN = """
algorithm = "dpals"
dataset = "small"
epsilon = 5
test-fraction = 0.2
[param]
rank = 2
steps = 1
"""


def fit_spec(capsys, *arguments):
    assert main(["fit", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["spec"]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text(RUN)
    return path


def test_a_configuration_file_replaces_the_options(file, capsys):
    options = "--algorithm dpals --dataset small --epsilon 5 --test-fraction 0.2"
    params = "--param rank=2 --param steps=1"
    assert fit_spec(capsys, "--config", str(file)) == fit_spec(
        capsys, *f"{options} {params}".split()
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('algorith = "dpals"', "'algorithm'"),
        ("algorithm: dpals", "TOML"),
        ('param = "rank=2"', "[param]"),
    ],
)
def test_errors_in_a_configuration_file_are_named(text, words, tmp_path, capsys):
    path = tmp_path / "run.toml"
    path.write_text(text)
    assert main(["fit", "--config", str(path)]) == 2
    assert words in capsys.readouterr().err
