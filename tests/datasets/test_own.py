"""What a person brings: columns found, kept apart under a name nobody can guess, never in the
shared store, removable.
"""

import io
import itertools
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import dpmf_datasets as datasets
from dpmf_core.base.errors import BadInput
from dpmf_core.data.ratings import Ratings
from dpmf_core.jobs.engine import Engine
from dpmf_core.privacy import Status
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store
from dpmf_datasets import session_files

TABLE = """Customer No,Product,Points,When
c1,Lamp,4.5,2020-01-01
c1,Chair,2,2020-01-02
c2,Lamp,good,2020-01-03
c2,Chair,7,2020-01-04
c3,Lamp,0.5,2020-01-05
""" + "".join(f"d{k},Lamp,3,2020-02-{k + 10}\n" for k in range(8))
COLUMNS = {"user": "Customer No", "item": "Product", "rating": "Points", "time": "When"}


def zip_of(**files: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "."), content)
    return out.getvalue()


def rows_of(ratings: Ratings) -> list[list[tuple[float, ...]]]:
    """Each user's items, ratings and times, whoever comes first."""
    columns = [ratings.items.tolist(), ratings.values.tolist(), ratings.order.tolist()]
    rows = list(zip(*columns, strict=True))
    starts = ratings.by_user.tolist()
    return sorted(rows[first:last] for first, last in itertools.pairwise(starts))


def test_a_table_becomes_a_data_set_like_any_other() -> None:
    upload = session_files.ratings(
        session_files.table(TABLE.encode(), "shop.csv"), COLUMNS, (0.5, 5.0)
    )
    assert session_files.is_own(upload.entry.id)
    assert {problem.kind: problem.count for problem in upload.report.problems} == {
        "not a number": 1,
        "out of declared bounds, clamped": 1,
    }
    ratings = datasets.load(upload.entry.id)
    assert rows_of(ratings) == rows_of(upload.data)  # a file names users by keys, not in order
    assert ratings.titles == upload.data.titles == ("Chair", "Lamp")
    assert ratings.bounds == (0.5, 5.0)
    assert not ratings.public
    assert ratings.assumptions
    assert upload.entry.title == "shop (yours)"


def upload_folders() -> list[Path]:
    """The folders of all that was brought."""
    return sorted(session_files.home().glob("*/*/"))


def test_documents_and_matrices() -> None:
    texts = session_files.samples(
        b"a red lamp on a chair\na blue chair in a room\na red chair and a lamp\n", "notes.txt", {}
    )
    assert texts.entry.holds == "documents"
    assert texts.entry.n_samples == 3
    from scipy.io import savemat

    out = io.BytesIO()
    savemat(out, {"fea": np.random.default_rng(0).integers(0, 255, (20, 16))})
    pictures = session_files.samples(out.getvalue(), "faces.mat", {"key": "fea", "image": "4,4"})
    assert pictures.entry.holds == "images"
    assert pictures.entry.image == (4, 4)
    assert datasets.load(pictures.entry.id).shape == pictures.data.shape
    before = upload_folders()
    with pytest.raises(BadInput):
        session_files.samples(b"\x00\x01", "what.xyz", {})
    assert upload_folders() == before


def test_names_cannot_be_guessed_nor_leave_the_folder() -> None:
    hostile = session_files.ratings(
        session_files.table(TABLE.encode(), "../../etc/passwd\n<script>.csv"), COLUMNS, (0.5, 5.0)
    )
    path = Path(hostile.entry.id.partition("?")[0])
    assert path.is_relative_to(session_files.home())
    assert len(path.parent.name) >= 32
    assert "/" not in hostile.entry.title
    assert "\n" not in hostile.entry.title
    again = session_files.ratings(
        session_files.table(TABLE.encode(), "shop.csv"), COLUMNS, (0.5, 5.0)
    )
    assert again.entry.id != hostile.entry.id
    assert path.parent.stat().st_mode & 0o077 == 0
    assert not session_files.is_own("cinema")
    assert not session_files.is_own(f"{session_files.home()}/../../x.csv")
    assert not session_files.is_own("/elsewhere/uploads/x.csv")


def test_what_is_removed_or_old_is_gone() -> None:
    first, second = (
        session_files.ratings(session_files.table(TABLE.encode(), "shop.csv"), COLUMNS, (0.5, 5.0))
        for _ in range(2)
    )
    session_files.remove(first.entry)
    with pytest.raises(BadInput):
        datasets.load(first.entry.id)
    session_files.sweep()
    assert isinstance(datasets.load(second.entry.id), Ratings)
    session_files.sweep(
        now=Path(second.entry.id.partition("?")[0]).parent.stat().st_mtime
        + session_files.LIFETIME
        + 1
    )
    assert upload_folders() == []


def test_a_full_disk_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    table = session_files.table(TABLE.encode(), "shop.csv")
    monkeypatch.setattr("dpmf_datasets.npz_folder.write", full)
    with pytest.raises(BadInput, match="No space"):
        session_files.ratings(table, COLUMNS, (0.5, 5.0))


@pytest.fixture
def threads(tmp_path: Path) -> Iterator[Engine]:
    engine = Engine(Store(tmp_path / "store"), workers=1)
    yield engine
    engine.close()


def many() -> bytes:
    rng = np.random.default_rng(0)
    return (
        "user,item,rating\n"
        + "".join(
            f"{u},{i},{rng.integers(1, 6)}\n"
            for u in range(60)
            for i in rng.choice(30, 12, replace=False)
        )
    ).encode()


def test_a_run_on_it_is_never_in_the_shared_store(threads: Engine) -> None:
    upload = session_files.ratings(session_files.table(many(), "mine.csv"), {}, (1.0, 5.0))
    spec = RunSpec.parse(
        data={"id": upload.entry.id},
        algorithm="private-bias",
        budget={"epsilon": 2.0, "delta": 1e-4},
    )
    run = threads.submit(spec).result(60)
    assert run.record.guarantee.status == Status.CONDITIONAL
    assert threads.store.rows() == []
    again = threads.submit(spec)
    assert again.result(60) is run  # not computed again
    assert "metrics" not in run.export()


SECRET = "ward-7-depression"
REFUSALS = {
    "outside.zip": (zip_of(**{f"____/{SECRET}/a__csv": TABLE}), "a"),
    "two.zip": (zip_of(**{f"{SECRET}/a__csv": TABLE, f"{SECRET}/b__csv": TABLE}), "a.csv, b.csv"),
    "one.zip": (zip_of(**{f"{SECRET}/a__csv": TABLE}), "neither"),
    "none.zip": (zip_of(**{f"{SECRET}/a__exe": "x"}), "none.zip"),
    "cut.zip": (zip_of(**{f"{SECRET}/a__txt": TABLE})[:60], "cut.zip"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refused_archive_names_no_folder(name: str) -> None:
    content, message = REFUSALS[name]
    texts = []
    for act in (
        lambda: session_files.samples(content, name, {}),
        lambda: session_files.table(content, name),
    ):
        try:
            act()
        except BadInput as error:
            texts.append(str(error))
    assert any(message in text for text in texts)
    for text in texts:
        assert SECRET not in text
        assert str(session_files.home()) not in text
        assert "samples.zip" not in text
        assert "upload.zip" not in text
