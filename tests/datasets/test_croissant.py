"""`datasets --croissant`: metadata that MLCommons' own reader validates and loads by."""

import csv
import hashlib
import json
from dataclasses import replace
from pathlib import Path

import pytest

from dpmf_core import load
from dpmf_core.cli import main
from dpmf_core.data.catalogue import catalogue
from dpmf_core.data.ratings import Ratings
from dpmf_core.errors import BadInput
from dpmf_core.runs.publishing.croissant import write


def test_the_folder_holds_the_ratings_and_says_so(tmp_path: Path) -> None:
    place = tmp_path / "films"
    assert main(["datasets", "--croissant", "cinema-small", "--out", str(place)]) == 0
    ratings = load("cinema-small")
    assert isinstance(ratings, Ratings)
    description = json.loads((place / "croissant.json").read_text("utf-8"))
    (file,) = description["distribution"]
    assert file["sha256"] == hashlib.sha256((place / "ratings.csv").read_bytes()).hexdigest()
    with (place / "ratings.csv").open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert [float(it["rating"]) for it in rows] == ratings.values.tolist()
    assert [int(it["user"]) for it in rows] == ratings.users.tolist()
    fields = [it["name"] for it in description["recordSet"][0]["field"]]
    assert fields == list(rows[0])


def test_mlcroissant_validates_and_loads_it(tmp_path: Path) -> None:
    croissant = pytest.importorskip(
        "mlcroissant", reason="mlcroissant is not installed: pip install mlcroissant"
    )
    place = tmp_path / "films"
    assert main(["datasets", "--croissant", "cinema-small", "--out", str(place)]) == 0
    dataset = croissant.Dataset(jsonld=str(place / "croissant.json"))
    assert not dataset.metadata.issues.errors
    ratings = load("cinema-small")
    assert isinstance(ratings, Ratings)
    records = [it for _, it in zip(range(50), dataset.records(record_set="ratings"), strict=False)]
    assert [it["ratings/rating"] for it in records] == ratings.values[:50].tolist()
    assert [it["ratings/user"] for it in records] == ratings.users[:50].tolist()


def test_what_is_not_written_is_said(tmp_path: Path) -> None:
    ratings, entry = load("cinema-small"), catalogue().ratings()[0]
    assert isinstance(ratings, Ratings)
    with pytest.raises(BadInput, match="is private data"):
        write(entry, replace(ratings, public=False), tmp_path / "mine")
    with pytest.raises(BadInput, match="no set of ratings"):
        write(entry, load("news"), tmp_path / "news")
    assert not list(tmp_path.iterdir())
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    with pytest.raises(BadInput, match="exists and is not empty"):
        write(entry, ratings, tmp_path / "taken")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--croissant", "cinema-small"], "--out"),
        (["--out", "films"], "--croissant"),
        (["--croissant", "cinema-smal", "--out", "films"], "Did you mean 'cinema-small'"),
    ],
)
def test_wrong_options_are_said(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["datasets", *options]) == 2
    assert message in capsys.readouterr().err
