"""The published sets: every official layout on made files, the real files where they are,
archives that must be refused.
"""

import json
import os
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from hashlib import md5
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from dpmf_core.errors import BadInput
from dpmf_core.paths import data_folder
from dpmf_datasets import catalogue, fetch, import_, load, npz_folder, present
from dpmf_datasets.published import movielens
from dpmf_datasets.registry import SOURCES
from dpmf_datasets.source import Archive

REAL = Path(os.environ.get("DPMF_REAL_DATA") or Path(__file__).parents[2] / "../shared/data")
TRIPLES = [
    (1, 5, 3, 978300760),
    (1, 9, 5, 978302109),
    (3, 5, 1, 978301968),
    (3, 2, 4, 978300275),
    (12, 9, 2, 978824291),
]
FILMS = {
    2: "Jumanji (1995)",
    5: "Misérables, Les (1995)",
    9: "Mission: Impossible (1996)",
    7: "Never Rated (1950)",
}


@pytest.fixture(autouse=True)
def data_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "kept"))
    return tmp_path / "kept"


def lines(separator: str, header: str = "") -> str:
    return header + "".join(separator.join(map(str, row)) + "\n" for row in TRIPLES)


def films(separator: str, tail: str, header: str = "") -> str:
    return header + "".join(
        f"{film}{separator}{title}{separator}{tail}\n" for film, title in FILMS.items()
    )


# Each official layout: the folder in the archive, its file of ratings, its file of titles.
OFFICIAL = {
    "ml-100k": (
        "ml-100k",
        {
            "u.data": lines("\t").encode(),
            "u.item": films("|", "01-Jan-1995||http://x|0|1").encode("latin-1"),
            "u1.base": b"1\t1\t1\t1\n",
        },
    ),
    "ml-1m": (
        "ml-1m",
        {
            "ratings.dat": lines("::").encode(),
            "movies.dat": films("::", "Drama|War").encode("latin-1"),
            "README": b"words",
        },
    ),
    "ml-10m": (
        "ml-10M100K",
        {
            "ratings.dat": lines("::").encode(),
            "movies.dat": films("::", "Drama|War").encode("utf-8"),
            "tags.dat": b"1::2::x::3\n",
        },
    ),
    "ml-20m": (
        "ml-20m",
        {
            "ratings.csv": lines(",", "userId,movieId,rating,timestamp\n").encode(),
            "movies.csv": (
                b"movieId,title,genres\n"
                + "".join(f'{film},"{title}",Drama\n' for film, title in FILMS.items()).encode()
            ),
        },
    ),
}
OFFICIAL["ml-32m"] = ("ml-32m", OFFICIAL["ml-20m"][1])
FEATURES = {
    "ml-100k": ("1990s", "Action"),
    "ml-1m": ("1990s", "Drama", "War"),
    "ml-10m": ("1990s", "Drama", "War"),
    "ml-20m": ("1990s", "Drama"),
    "ml-32m": ("1990s", "Drama"),
}


def release(where: Path, id: str, form: str) -> Path:  # noqa: A002
    """A made release as a folder, the folder that holds it, or the official archive with its
    inner folder.
    """
    folder, files = OFFICIAL[id]
    target = where / "unpacked" / folder
    target.mkdir(parents=True)
    for name, content in files.items():
        (target / name).write_bytes(content)
    if form == "zip":
        with zipfile.ZipFile(where / f"{id}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in files.items():
                archive.writestr(f"{folder}/{name}", content)
    return {"folder": target, "outer folder": target.parent, "zip": where / f"{id}.zip"}[form]


def check(ratings) -> None:
    assert (ratings.n_users, ratings.n_items, len(ratings)) == (3, 3, 5)
    assert ratings.titles == (FILMS[2], FILMS[5], FILMS[9])
    assert (
        ratings.users.tolist() == [0, 0, 1, 1, 2]
        and ratings.items.tolist() == [1, 2, 0, 1, 2]
        and ratings.values.tolist() == [3, 5, 4, 1, 2]
    )
    assert ratings.order.tolist() == [978300760, 978302109, 978300275, 978301968, 978824291]


@pytest.mark.parametrize("form", ["folder", "outer folder", "zip"])
@pytest.mark.parametrize("id", OFFICIAL)
def test_official_layouts(tmp_path: Path, id: str, form: str):  # noqa: A002
    assert not present(id)
    report = import_(id, release(tmp_path, id, form))
    assert present(id) and report.kept == 5
    check(load(id))
    table = load(id).item_features
    assert table.names == FEATURES[id] and table.values.tolist() == [[1] * len(FEATURES[id])] * 3
    # Five ratings are not the published set: they are nobody's to call public.
    assert not load(id).public
    assert load(id).bounds == next(entry.bounds for entry in catalogue() if entry.id == id)


def test_a_release_with_the_published_counts_is_public(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    source = SOURCES["ml-1m"]
    small = replace(source.entry, n_users=3, n_items=3, n_ratings=5)
    monkeypatch.setitem(SOURCES, "ml-1m", replace(source, entry=small))
    report = import_("ml-1m", release(tmp_path, "ml-1m", "zip"))
    assert load("ml-1m").public and load("ml-1m").assumptions == () and report.note == ""


def assert_refused(path: Path, words: str, id: str = "ml-1m") -> None:  # noqa: A002
    with pytest.raises(BadInput) as error:
        import_(id, path)
    assert words in str(error.value), error.value
    assert not present("ml-1m") and not list(data_folder().glob("*"))


@pytest.mark.parametrize("share", [0.3, 0.6, 0.98])
def test_a_truncated_archive(tmp_path: Path, share: float):
    archive = release(tmp_path, "ml-1m", "zip")
    content = archive.read_bytes()
    archive.write_bytes(content[: int(len(content) * share)])
    assert_refused(archive, "damaged or cut short")


def test_an_archive_with_a_flipped_byte(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("ml-1m/ratings.dat", lines("::"))
    (tmp_path / "a.zip").write_bytes(
        (tmp_path / "a.zip").read_bytes().replace(b"978300760", b"978300761", 1)
    )
    assert_refused(tmp_path / "a.zip", "damaged or cut short")


@pytest.mark.parametrize("member", ["../x", "/etc/x", "ml-1m/../../x", "..\\x", "C:/x"])
def test_an_archive_that_points_outside(tmp_path: Path, member: str):
    with zipfile.ZipFile(release(tmp_path, "ml-1m", "zip"), "a") as archive:
        archive.writestr(member, "x")
    assert_refused(tmp_path / "ml-1m.zip", "outside its own folder")


def test_a_damaged_copy_says_so(tmp_path: Path):
    import_("ml-1m", release(tmp_path, "ml-1m", "zip"))
    file = npz_folder.place("ml-1m")
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(BadInput):
        load("ml-1m")


def files_in(folder: Path) -> list[str]:
    """The files in a data folder, temporary ones included."""
    return sorted(
        file.name for file in folder.rglob("*") if file.is_file() and file.name != ".lock"
    )


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A server on this machine in place of the official one; the folder it serves."""
    folder = tmp_path / "served"
    folder.mkdir()
    serving = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name, checksum in movielens.MD5.items():
        archive = Archive(f"http://127.0.0.1:{serving.server_port}/{name}.zip", checksum)
        monkeypatch.setitem(SOURCES, name, replace(SOURCES[name], archive=archive))
    yield folder
    serving.shutdown()
    serving.server_close()


def test_fetch_with_the_right_checksum(
    server: Path, monkeypatch: pytest.MonkeyPatch, data_directory: Path
):
    archive = release(server, "ml-1m", "zip")
    source = SOURCES["ml-1m"]
    assert source.archive is not None
    source_archive = replace(source.archive, md5=md5(archive.read_bytes()).hexdigest())
    monkeypatch.setitem(SOURCES, "ml-1m", replace(source, archive=source_archive))
    calls: list[tuple[int, int]] = []
    fetch(
        "ml-1m",
        accept_licence=True,
        progress=lambda count, total: calls.append((count, total)),
    )
    check(load("ml-1m"))
    assert calls[-1] == (archive.stat().st_size,) * 2
    assert files_in(data_directory) == ["ml-1m.npz"]


def test_fetch_with_a_wrong_checksum_keeps_nothing(server: Path, data_directory: Path):
    release(server, "ml-1m", "zip")
    with pytest.raises(BadInput):
        fetch("ml-1m", accept_licence=True)
    assert not present("ml-1m") and files_in(data_directory) == []


def test_nothing_kept_is_a_pickle(tmp_path: Path):
    import_("ml-1m", release(tmp_path, "ml-1m", "zip"))
    with np.load(npz_folder.place("ml-1m"), allow_pickle=False) as arrays:
        assert json.loads(arrays["facts"].tobytes())["titles"][0] == FILMS[2]
        assert all(arrays[name].dtype.kind in "uif" for name in arrays.files)


def real(name: str) -> Path:
    if not (REAL / name).is_dir():
        pytest.skip(f"the real {name} is not at {REAL}; set DPMF_REAL_DATA")
    return REAL / name
