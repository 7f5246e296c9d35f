"""The published sets: every official layout on made files, the real files where they are,
archives that must be refused.
"""

import gzip
import itertools
import json
import os
import threading
import time
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
    assert "not the whole of MovieLens" in report.words and not load(id).public
    assert load(id).bounds == next(entry.bounds for entry in catalogue() if entry.id == id)


def test_a_release_with_the_published_counts_is_public(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    source = SOURCES["ml-1m"]
    small = replace(source.entry, n_users=3, n_items=3, n_ratings=5)
    monkeypatch.setitem(SOURCES, "ml-1m", replace(source, entry=small))
    report = import_("ml-1m", release(tmp_path, "ml-1m", "zip"))
    assert load("ml-1m").public and load("ml-1m").assumptions == () and report.note == ""


def test_positions_in_place_of_times(tmp_path: Path):
    (tmp_path / "movies.dat").write_bytes(films("::", "Drama").encode("latin-1"))
    (tmp_path / "ratings.csv.gz").write_bytes(
        gzip.compress(lines(",", "user,item,rating,rank\n").encode())
    )
    import_("ml-1m", tmp_path)
    check(load("ml-1m"))


@pytest.mark.parametrize("name", ["mine.tsv", "u.data"])
def test_a_single_table(tmp_path: Path, name: str):
    (tmp_path / name).write_text(
        lines("\t", "user\titem\trating\ttime\n" if name == "mine.tsv" else "")
    )
    import_("ml-100k", tmp_path / name)
    assert load("ml-100k").titles == ("2", "5", "9") and len(load("ml-100k")) == 5


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


def test_what_is_no_release(tmp_path: Path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "words.txt").write_text("words")
    assert_refused(tmp_path / "other", "has no file of ratings")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("ml-1m/movies.dat", films("::", "Drama"))
    assert_refused(tmp_path / "b.zip", "has no file of ratings")
    assert_refused(tmp_path / "nowhere", "There is no file or folder")
    (tmp_path / "c.zip").write_text("<html>not found</html>")
    assert_refused(tmp_path / "c.zip", "damaged or cut short")


def test_ids_that_cannot_be_imported_or_fetched(tmp_path: Path):
    for act in (
        lambda: load("ml-2m"),
        lambda: fetch("ml-2m", accept_licence=True),
        lambda: import_("ml-2m", tmp_path),
        lambda: present("ml-2m"),
    ):
        with pytest.raises(BadInput, match=r"no data set 'ml-2m'. Known: cinema, .*ml-1m"):
            act()
    for act in (lambda: import_("cinema", tmp_path), lambda: fetch("cinema", accept_licence=True)):
        with pytest.raises(BadInput, match="made on this machine"):
            act()
    with pytest.raises(
        BadInput,
        match=(
            r"ml-1m is not on this machine. Run `python -m dpmf_core fetch ml-1m` or `python -m"
            r" dpmf_core import ml-1m PATH`"
        ),
    ):
        load("ml-1m")


def test_a_damaged_copy_says_so(tmp_path: Path):
    import_("ml-1m", release(tmp_path, "ml-1m", "zip"))
    file = npz_folder.place("ml-1m")
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(BadInput, match=r"damaged\. Fetch or import it again"):
        load("ml-1m")


def files_in(folder: Path) -> list[str]:
    """The files in a data folder, temporary ones included."""
    return sorted(
        file.name for file in folder.rglob("*") if file.is_file() and file.name != ".lock"
    )


def test_a_cut_import_leaves_the_old_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data_directory: Path
):
    source = release(tmp_path, "ml-1m", "zip")
    import_("ml-1m", source)

    def cut(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", cut)
    with pytest.raises(KeyboardInterrupt):
        import_("ml-1m", source)
    check(load("ml-1m"))
    assert files_in(data_directory) == ["ml-1m.npz"]


def test_a_data_directory_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("DPMF_DATA", str(tmp_path / "file" / "kept"))
    with pytest.raises(BadInput, match="Set DPMF_DATA"):
        import_("ml-1m", release(tmp_path, "ml-1m", "zip"))


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


def test_the_licence_comes_first(server: Path, data_directory: Path):
    release(server, "ml-1m", "zip")
    with pytest.raises(BadInput) as error:
        fetch("ml-1m", accept_licence=False)
    for words in (
        "--accept-licence",
        "Not to be redistributed",
        "Harper",
        "5.9 MB",
        "grouplens.org",
    ):
        assert words in str(error.value)
    assert not data_directory.exists()


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
    with pytest.raises(
        BadInput, match=r"does not have the published checksum \(md5 c4d9eecf.*Nothing was kept"
    ):
        fetch("ml-1m", accept_licence=True)
    assert not present("ml-1m") and files_in(data_directory) == []


def test_fetch_where_nothing_answers(
    server: Path, monkeypatch: pytest.MonkeyPatch, data_directory: Path
):
    with pytest.raises(BadInput, match=r"could not be downloaded .*HTTPError.*import ml-1m PATH"):
        fetch("ml-1m", accept_licence=True)
    nowhere = Archive("http://127.0.0.1:9/ml-1m.zip", movielens.MD5["ml-1m"])
    monkeypatch.setitem(SOURCES, "ml-1m", replace(SOURCES["ml-1m"], archive=nowhere))
    with pytest.raises(BadInput, match=r"could not be downloaded .*Check the network"):
        fetch("ml-1m", accept_licence=True)
    assert files_in(data_directory) == []


def test_nothing_kept_is_a_pickle(tmp_path: Path):
    import_("ml-1m", release(tmp_path, "ml-1m", "zip"))
    with np.load(npz_folder.place("ml-1m"), allow_pickle=False) as arrays:
        assert json.loads(arrays["facts"].tobytes())["titles"][0] == FILMS[2]
        assert all(arrays[name].dtype.kind in "uif" for name in arrays.files)


def features_of(ratings, title: str) -> set[str]:
    """Decade and genres of a film."""
    row = ratings.item_features.values[ratings.titles.index(title)]
    return set(itertools.compress(ratings.item_features.names, row == 1))


def real(name: str) -> Path:
    if not (REAL / name).is_dir():
        pytest.skip(f"the real {name} is not at {REAL}; set DPMF_REAL_DATA")
    return REAL / name


def test_real_movielens_1m():
    report = import_("ml-1m", real("ml-1m"))
    start = time.process_time()
    ratings = load("ml-1m")
    assert time.process_time() - start < 0.3
    assert (
        (ratings.n_users, ratings.n_items, len(ratings)) == (6_040, 3_706, 1_000_209)
        and ratings.public
        and report.problems == ()
    )
    assert np.bincount(ratings.values.astype(int))[1:].tolist() == [
        56_174,
        107_557,
        261_197,
        348_971,
        226_310,
    ]
    assert round(float(ratings.values.mean(dtype=float)), 5) == 3.58156
    per_user = np.diff(ratings.by_user)
    assert (per_user.min(), per_user.max()) == (20, 2_314)
    assert ratings.top_items(1).titles == ("American Beauty (1999)",)
    assert features_of(ratings, "American Beauty (1999)") == {"1990s", "Comedy", "Drama"}


def test_real_movielens_100k():
    import_("ml-100k", real("ml-100k"))
    ratings = load("ml-100k")
    assert (ratings.n_users, ratings.n_items, len(ratings)) == (
        943,
        1_682,
        100_000,
    ) and ratings.public
    assert ratings.order.min() == 874_724_710 and ratings.top_items(1).titles == (
        "Star Wars (1977)",
    )
    features = {"1970s", "Action", "Adventure", "Romance", "Sci-Fi", "War"}
    assert features_of(ratings, "Star Wars (1977)") == features
