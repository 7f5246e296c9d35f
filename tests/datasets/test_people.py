"""People of documents and images: from a column, a vector or folders; they are the unit."""

import io
import zipfile

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

import dpmf_datasets as datasets
from dpmf_core.base.errors import BadInput
from dpmf_core.data.samples import PEOPLE_ARE_COUNTED
from dpmf_core.runs.execution import run
from dpmf_core.runs.specification import RunSpec
from dpmf_datasets import session_files

NOTES = (
    "who,text\nana,red lamp on the chair\nbo,blue chair in a room\nana,red chair and lamp\n cem"
    " ,green table\nana,lamp\n"
)


def whose(samples):
    return [int(person) for person in samples.people]


def matlab(path, **vectors):
    rows = np.random.default_rng(0).integers(0, 255, (6, 16))
    savemat(path, {"fea": rows, **vectors})
    return f"{path}?key=fea&image=4,4"


def picture(seed):
    return np.random.default_rng(seed).integers(0, 255, (4, 4)).astype(np.uint8)


def pictures(folder, *names):
    for seed, name in enumerate(names):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture(seed)).save(file)
    return folder


def test_a_column_says_whose_a_document_is(tmp_path):
    file = tmp_path / "notes.csv"
    file.write_text(NOTES)
    samples = datasets.load(f"{file}?text=text&group=who")
    assert whose(samples) == [0, 1, 0, 2, 0]
    assert samples.n_people == 3
    assert samples.unit == "document"
    assert samples.privacy_unit == "person"
    assert PEOPLE_ARE_COUNTED in samples.assumptions
    with_number = datasets.load(f"{file}?text=text&group=who&people=10")
    assert with_number.n_people == 10
    assert with_number.shape.n_units == 10
    assert PEOPLE_ARE_COUNTED not in with_number.assumptions


@pytest.mark.parametrize("shape", [(6, 1), (1, 6)], ids=["column", "row"])
def test_a_vector_says_whose_an_image_is(tmp_path, shape):
    labels = np.array([7, 7, 3, 9, 3, 7])
    path = matlab(tmp_path / "x.mat", gnd=labels.reshape(shape))
    assert whose(datasets.load(f"{path}&group=gnd")) == [1, 1, 0, 2, 0, 1]
    assert datasets.load(path).people is None


def test_a_folder_is_a_person(tmp_path):
    names = (
        "faces/ana/1.png",
        "faces/ana/day 2/1.png",
        "faces/bo/1.png",
        "faces/cem/1.png",
    )
    folder = pictures(tmp_path / "all", *names)
    samples = datasets.load(f"{folder}?group=folder")
    people = dict(zip(samples.titles, whose(samples), strict=True))
    assert people == dict(zip(names, [0, 0, 1, 2], strict=True))
    # what is left out takes no person with it
    (folder / "faces" / "bo" / "2.png").write_bytes(b"no picture")
    assert whose(datasets.load(f"{folder}?group=folder")) == [0, 0, 1, 2]


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ("text=text&group=nobody", "no column 'nobody'"),
        ("text=text&group=all", "belong to 1 person"),
        ("text=text&group=who&people=2", "'2'"),
        ("text=text&people=4", "needs group=NAME"),
        ("bounds=1,5&group=who", "'group'"),
    ],
)
def test_what_does_not_say_whose_is_refused(tmp_path, facts, message):
    rows = [
        "who,text,all",
        "ana,red lamp,z",
        "bo,blue chair,z",
        "ana,red chair,z",
        "cem,green table,z",
    ]
    (tmp_path / "notes.csv").write_text("\n".join(rows))
    with pytest.raises(BadInput, match=message):
        datasets.load(f"{tmp_path / 'notes.csv'}?{facts}")


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ({"gnd": np.ones((5, 1))}, "5 rows"),
        ({"gnd": np.ones((6, 2))}, "6 x 2 entries"),
        ({}, "'gnd'"),
    ],
)
def test_a_vector_that_does_not_fit_is_refused(tmp_path, vectors, message):
    with pytest.raises(BadInput, match=message):
        datasets.load(f"{matlab(tmp_path / 'x.mat', **vectors)}&group=gnd")


def test_an_upload_keeps_its_people(tmp_path):
    names = ("ana/1.png", "ana/2.png", "bo/1.png", "bo/2.png")
    folder = pictures(tmp_path, *names)
    with zipfile.ZipFile(file := io.BytesIO(), "w") as archive:
        for name in names:
            archive.write(folder / name, name)
    upload = session_files.read(file.getvalue(), "faces.zip", {"group": "folder"})
    assert upload.entry.n_people == 2
    assert upload.entry.unit == "person"
    assert whose(datasets.load(upload.entry.id)) == [0, 0, 1, 1]
    alone = session_files.read(file.getvalue(), "faces.zip", {})
    assert (alone.entry.n_people, alone.entry.unit) == (None, "image")
    assert (
        datasets.load(alone.entry.id).fingerprint
        != datasets.load(upload.entry.id).fingerprint
    )


def test_the_person_is_the_unit_of_a_run(tmp_path):
    rng = np.random.default_rng(1)
    savemat(
        tmp_path / "x.mat",
        {"fea": rng.integers(0, 255, (60, 16)), "gnd": np.arange(60) % 12},
    )
    path = f"{tmp_path / 'x.mat'}?key=fea&image=4,4"
    for name in ("oneshot-nmf", "dp-nmf"):
        records = {}
        for data in (path, f"{path}&group=gnd"):
            spec = RunSpec.parse(
                data={"id": data},
                algorithm=name,
                parameters={"n_components": 3},
                budget={"epsilon": 2.0, "delta": 1e-4},
            )
            records[data] = run(spec).record
        alone, together = records.values()
        assert alone.guarantee.unit == "image"
        assert together.guarantee.unit == "person"
        assert "the number of people" in together.guarantee.taken_as_public
        assert together.ledger == alone.ledger
        assert together.epsilon.exact == pytest.approx(2.0)
        assert together.shape["n_people"] == 12


def test_a_row_without_a_person_is_left_out_with_its_words(tmp_path):
    rows = "ana,red lamp\nbo,blue chair\n ,private table\nana,red chair\n,secret lamp\n"
    (tmp_path / "notes.csv").write_text(f"who,text\n{rows}")
    samples = datasets.load(f"{tmp_path / 'notes.csv'}?text=text&group=who")
    assert whose(samples) == [0, 1, 0]
    assert samples.vocabulary == ("blue", "chair", "lamp", "red")
    assert "2 x no person, row left out (row 3, 5)" in samples.report.words
    assert samples.report.read == 5
    assert samples.report.n_users == 3
    path = matlab(tmp_path / "x.mat", gnd=np.array([1, 2, np.nan, 1, 2, 3]))
    images = datasets.load(f"{path}&group=gnd")
    assert whose(images) == [0, 1, 0, 1, 2]
    assert np.array_equal(images.X, datasets.load(path).X[[0, 1, 3, 4, 5]])


def test_one_person_written_as_several_numbers_is_one(tmp_path):
    (tmp_path / "notes.csv").write_text(
        "who,text\n1,red lamp\n1.0,blue chair\n02,red chair\n"
    )
    assert whose(datasets.load(f"{tmp_path / 'notes.csv'}?text=text&group=who")) == [
        1,
        1,
        0,
    ]


def test_a_folder_of_texts_is_a_person_too(tmp_path):
    for name in ("ana/1.txt", "ana/2.txt", "bo/1.txt"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("a lamp and a chair")
    assert whose(datasets.load(f"{tmp_path}?group=folder")) == [0, 0, 1]
