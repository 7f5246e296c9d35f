"""Tables that people bring have unguessable names, stay out of the store, can be removed."""

import io
import itertools
import zipfile
from pathlib import Path

import numpy as np
import pytest

import dpmf_datasets as datasets
from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Ratings
from dpmf_core.data.report import Kind
from dpmf_core.jobs.engine import Engine
from dpmf_core.privacy import Status
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store
from dpmf_datasets import session_files
from tests.support.engines import WAIT

TABLE = """Customer No,Product,Points,When
c1,Lamp,4.5,2020-01-01
c1,Chair,2,2020-01-02
c2,Lamp,good,2020-01-03
c2,Chair,7,2020-01-04
c3,Lamp,0.5,2020-01-05
""" + "".join(f"d{k},Lamp,3,2020-02-{k + 10}\n" for k in range(8))
COLUMNS = {
    "user": "Customer No",
    "item": "Product",
    "rating": "Points",
    "time": "When",
}


def brought(name="shop.csv"):
    """The table as somebody brings it."""
    facts = {"bounds": "0.5,5", **COLUMNS, "outside": "clamp"}
    return session_files.read(TABLE.encode(), name, facts)


def zip_of(**files):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "."), content)
    return out.getvalue()


def rows_of(ratings):
    """Each user's items, ratings and times, whoever comes first."""
    columns = [ratings.items.tolist(), ratings.values.tolist(), ratings.order.tolist()]
    rows = list(zip(*columns, strict=True))
    starts = ratings.by_user.tolist()
    return sorted(rows[first:last] for first, last in itertools.pairwise(starts))


def test_a_table_becomes_a_data_set_like_any_other():
    upload = brought()
    assert session_files.is_own(upload.entry.id)
    assert {problem.kind: problem.count for problem in upload.report.problems} == {
        Kind.NOT_A_NUMBER: 1,
        Kind.CLAMPED_VALUE: 1,
    }
    ratings = datasets.load(upload.entry.id)
    # a file names users by keys, not in order
    assert rows_of(ratings) == rows_of(upload.data)
    assert ratings.titles == ("Chair", "Lamp")
    assert upload.data.titles == ("Chair", "Lamp")
    assert ratings.bounds == (0.5, 5.0)
    assert ratings.assumptions
    assert not ratings.public


def test_names_cannot_be_guessed_nor_leave_the_folder():
    hostile = brought("../../etc/passwd\n<script>.csv")
    path = Path(hostile.entry.id.partition("?")[0])
    assert path.is_relative_to(session_files.home())
    assert len(path.parent.name) >= 32
    assert not {"/", "\n"} & set(hostile.entry.title)
    assert brought().entry.id != hostile.entry.id
    assert path.parent.stat().st_mode & 0o077 == 0
    for name in (
        "cinema",
        f"{session_files.home()}/../../x.csv",
        "/elsewhere/uploads/x.csv",
    ):
        assert not session_files.is_own(name)


def test_what_is_removed_or_old_is_gone():
    first = brought()
    second = brought()
    session_files.remove(first.entry)
    with pytest.raises(BadInput):
        datasets.load(first.entry.id)
    session_files.sweep()
    assert isinstance(datasets.load(second.entry.id), Ratings)
    made = Path(second.entry.id.partition("?")[0]).parent.stat().st_mtime
    session_files.sweep(now=made + session_files.LIFETIME + 1)
    assert not list(session_files.home().glob("*/*/"))


def test_a_full_disk_is_a_refusal(monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dpmf_datasets.npz_folder.write", full)
    with pytest.raises(BadInput, match="No space"):
        brought()


def test_a_run_on_an_upload_is_never_in_the_shared_store(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        f"{user},{item},{rng.integers(1, 6)}"
        for user in range(60)
        for item in rng.choice(30, 12, replace=False)
    ]
    content = "\n".join(["user,item,rating", *rows]).encode()
    upload = session_files.read(content, "mine.csv", {"bounds": "1,5"})
    spec = RunSpec.parse(
        data={"id": upload.entry.id},
        algorithm="private-bias",
        budget={"epsilon": 2.0, "delta": 1e-4},
    )
    engine = Engine(Store(tmp_path / "store"), workers=1)
    run = engine.submit(spec).result(WAIT)
    assert run.record.guarantee.status == Status.CONDITIONAL
    assert engine.store.rows() == []
    assert engine.submit(spec).result(WAIT) is run  # not computed again
    assert "metrics" not in run.export()
    engine.close()


SECRET = "ward-7-depression"
REFUSALS = {
    "outside.zip": (zip_of(**{f"____/{SECRET}/a__csv": TABLE}), "a"),
    "two.zip": (
        zip_of(**{f"{SECRET}/a__csv": TABLE, f"{SECRET}/b__csv": TABLE}),
        "two.zip",
    ),
    "one.zip": (zip_of(**{f"{SECRET}/a__csv": TABLE}), "one.zip"),
    "none.zip": (zip_of(**{f"{SECRET}/a__exe": "x"}), "none.zip"),
    "cut.zip": (zip_of(**{f"{SECRET}/a__txt": TABLE})[:60], "cut.zip"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refused_archive_names_no_folder(name):
    content, message = REFUSALS[name]
    texts = []
    for act in (
        lambda: session_files.read(content, name, {}),
        lambda: session_files.look(content, name, {}),
    ):
        try:
            act()
        except BadInput as error:
            texts.append(str(error))
    assert any(message in text for text in texts)
    for text in texts:
        hidden = (SECRET, str(session_files.home()), "samples.zip", "upload.zip")
        for path in hidden:
            assert path not in text
