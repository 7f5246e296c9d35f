"""Published sets: official layouts, real files, refused archives, and downloads."""

import csv
import gzip
import io
import itertools
import os
import threading
import zipfile
from dataclasses import replace
from functools import partial
from hashlib import md5
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import data_folder
from dpmf_core.data.report import Kind
from dpmf_datasets import catalogue, fetch, import_, load, npz_folder, present
from dpmf_datasets.published import netflix
from dpmf_datasets.registry import SOURCES

REAL = Path(
    os.environ.get("DPMF_REAL_DATA") or Path(__file__).parents[2] / "../shared/data"
)


def rows_of(ratings):
    columns = (ratings.users.tolist(), ratings.items.tolist(), ratings.values.tolist())
    return list(zip(*columns, strict=True))


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, str):
        content = content.encode()
    path.write_bytes(content)
    return path


def zipped(path, files, **options):
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


TRIPLES = [
    (1, 5, 3, 978300760), (1, 9, 5, 978302109), (3, 5, 1, 978301968),
    (3, 2, 4, 978300275), (12, 9, 2, 978824291),
]  # fmt: skip
FILMS = {
    2: "Jumanji (1995)",
    5: "Misérables, Les (1995)",
    9: "Mission: Impossible (1996)",
    7: "Never Rated (1950)",
}


def lines(separator, header=""):
    rows = [header]
    for row in TRIPLES:
        rows.append(separator.join(map(str, row)) + "\n")
    return "".join(rows)


def films(separator, tail, quote=""):
    rows = []
    for film, title in FILMS.items():
        rows.append(f"{film}{separator}{quote}{title}{quote}{separator}{tail}\n")
    return "".join(rows)


GENRES = films("::", "Drama|War")
TABLES = {
    "ratings.csv": lines(",", "userId,movieId,rating,timestamp\n").encode(),
    "movies.csv": b"movieId,title,genres\n" + films(",", "Drama", '"').encode(),
}
ITEMS = films("|", "01-Jan-1995||http://x|0|1").encode("latin-1")
# each official layout: the folder in the archive, its files, the features of its films
OFFICIAL = {
    "ml-100k": (
        "ml-100k",
        {
            "u.data": lines("\t").encode(),
            "u.item": ITEMS,
            "u1.base": b"1\t1\t1\t1\n",
        },
        ("1990s", "Action"),
    ),
    "ml-1m": (
        "ml-1m",
        {"ratings.dat": lines("::").encode(), "movies.dat": GENRES.encode("latin-1")},
        ("1990s", "Drama", "War"),
    ),
    "ml-10m": (
        "ml-10M100K",
        {
            "ratings.dat": lines("::").encode(),
            "movies.dat": GENRES.encode(),
            "tags.dat": b"x",
        },
        ("1990s", "Drama", "War"),
    ),
    "ml-20m": ("ml-20m", TABLES, ("1990s", "Drama")),
    "ml-32m": ("ml-32m", TABLES, ("1990s", "Drama")),
}


def release(where, data_id, form="zip"):
    """A made release as a folder, the folder that holds it, or the official archive."""
    folder, files, _ = OFFICIAL[data_id]
    if form == "zip":
        archive = where / f"{data_id}.zip"
        members = {f"{folder}/{name}": content for name, content in files.items()}
        return zipped(archive, members, compression=zipfile.ZIP_DEFLATED)
    outer = where / "unpacked"
    for name, content in files.items():
        write(outer / folder / name, content)
    if form == "folder":
        return outer / folder
    return outer


def check(ratings):
    assert ratings.n_users == 3
    assert ratings.n_items == 3
    assert ratings.titles == (FILMS[2], FILMS[5], FILMS[9])
    assert rows_of(ratings) == [(0, 1, 3), (0, 2, 5), (1, 0, 4), (1, 1, 1), (2, 2, 2)]
    assert ratings.order.tolist() == [TRIPLES[at][3] for at in (0, 1, 3, 2, 4)]


@pytest.mark.parametrize("form", ["folder", "outer folder", "zip"])
@pytest.mark.parametrize("data_id", OFFICIAL)
def test_official_layouts_are_read(tmp_path, data_id, form):
    assert not present(data_id)
    report = import_(data_id, release(tmp_path, data_id, form))
    ratings = load(data_id)
    assert present(data_id)
    assert report.kept == 5
    check(ratings)
    features = OFFICIAL[data_id][2]
    assert ratings.item_features.names == features
    assert ratings.item_features.values.tolist() == [[1] * len(features)] * 3
    # five ratings are not the published set: they are nobody's to call public
    assert not ratings.public
    assert ratings.bounds == next(
        entry.bounds for entry in catalogue() if entry.id == data_id
    )


def cut(share):
    def act(where):
        archive = release(where, "ml-1m")
        return write(
            archive, archive.read_bytes()[: int(archive.stat().st_size * share)]
        )

    return act


def flipped(where):
    archive = zipped(where / "a.zip", {"ml-1m/ratings.dat": lines("::").encode()})
    return write(archive, archive.read_bytes().replace(b"978300760", b"978300761", 1))


def with_member(name):
    def act(where):
        archive = release(where, "ml-1m")
        with zipfile.ZipFile(archive, "a") as file:
            file.writestr(name, "x")
        return archive

    return act


NO_RELEASE = {
    **{f"cut at {share}": (cut(share), "damaged") for share in (0.3, 0.6, 0.98)},
    "a flipped byte": (flipped, "damaged"),
    **{
        f"a member {name}": (with_member(name), "outside")
        for name in ("../x", "/etc/x", "ml-1m/../../x", "..\\x", "C:/x")
    },
    "words": (
        lambda where: write(where / "other/words.txt", "words").parent,
        "ratings",
    ),
    "films alone": (
        lambda where: zipped(where / "b.zip", {"ml-1m/movies.dat": GENRES.encode()}),
        "ratings",
    ),
    "nothing": (lambda where: where / "nowhere", "no file"),
    "a page": (
        lambda where: write(where / "c.zip", "<html>not found</html>"),
        "damaged",
    ),
}


@pytest.mark.parametrize(("make", "fact"), NO_RELEASE.values(), ids=NO_RELEASE)
def test_what_is_no_release_is_refused_and_leaves_nothing(tmp_path, make, fact):
    with pytest.raises(BadInput, match=fact):
        import_("ml-1m", make(tmp_path))
    assert not present("ml-1m")
    assert not list(data_folder().glob("*"))


def files_in(folder):
    """The files in a data folder, temporary ones included."""
    return sorted(
        file.name
        for file in folder.rglob("*")
        if file.is_file() and file.name != ".lock"
    )


def test_a_cut_import_leaves_the_old_copy_and_a_damaged_copy_is_refused(
    tmp_path, monkeypatch, data_directory
):
    source = release(tmp_path, "ml-1m")
    import_("ml-1m", source)

    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(np, "savez_compressed", stop)
        with pytest.raises(KeyboardInterrupt):
            import_("ml-1m", source)
    check(load("ml-1m"))
    assert files_in(data_directory) == ["ml-1m.npz"]
    file = npz_folder.place("ml-1m")
    file.write_bytes(file.read_bytes()[:-40])
    with pytest.raises(BadInput, match="damaged"):
        load("ml-1m")


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Print nothing."""


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server on this machine in place of the official one; the folder it serves."""
    folder = tmp_path / "served"
    folder.mkdir()
    serving = ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Quiet, directory=str(folder))
    )
    threading.Thread(target=serving.serve_forever, daemon=True).start()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in OFFICIAL:
        url = f"http://127.0.0.1:{serving.server_port}/{name}.zip"
        monkeypatch.setitem(SOURCES, name, replace(SOURCES[name], url=url))
    yield folder
    serving.shutdown()
    serving.server_close()


def test_the_licence_comes_first(server, data_directory):
    release(server, "ml-1m")
    with pytest.raises(BadInput, match="--accept-licence"):
        fetch("ml-1m", accept_licence=False)
    assert not data_directory.exists()
    with pytest.raises(BadInput, match="import jester PATH"):  # it has no checksum
        fetch("jester", accept_licence=True)


def test_fetch_with_the_right_checksum(server, monkeypatch, data_directory):
    archive = release(server, "ml-1m")
    source = SOURCES["ml-1m"]
    right = replace(source, md5=md5(archive.read_bytes()).hexdigest())
    monkeypatch.setitem(SOURCES, "ml-1m", right)
    calls = []
    fetch(
        "ml-1m",
        accept_licence=True,
        progress=lambda *it: calls.append(it),
    )
    check(load("ml-1m"))
    assert calls[-1] == (archive.stat().st_size,) * 2
    assert files_in(data_directory) == ["ml-1m.npz"]


@pytest.mark.parametrize(
    ("served", "fact"),
    [(True, "md5 c4d9eecf"), (False, "HTTPError"), (None, "network")],
)
def test_a_fetch_that_fails_keeps_nothing(
    server, monkeypatch, data_directory, served, fact
):
    if served:
        release(server, "ml-1m")  # with a wrong checksum
    if served is None:
        nowhere = replace(SOURCES["ml-1m"], url="http://127.0.0.1:9/ml-1m.zip")
        monkeypatch.setitem(SOURCES, "ml-1m", nowhere)
    with pytest.raises(BadInput, match=fact):
        fetch("ml-1m", accept_licence=True)
    assert not present("ml-1m")
    assert files_in(data_directory) == []


REAL_SETS = {
    "ml-1m": (
        (6_040, 3_706, 1_000_209),
        "American Beauty (1999)",
        "1990s Comedy Drama",
    ),
    "ml-100k": (
        (943, 1_682, 100_000),
        "Star Wars (1977)",
        "1970s Action Adventure Romance Sci-Fi War",
    ),
}


@pytest.mark.parametrize("name", REAL_SETS)
def test_real_movielens_has_its_published_figures(name):
    if not (REAL / name).is_dir():
        pytest.skip(f"the real {name} is not at {REAL}; set DPMF_REAL_DATA")
    shape, favourite, features = REAL_SETS[name]
    report = import_(name, REAL / name)
    ratings = load(name)
    assert (ratings.n_users, ratings.n_items, len(ratings)) == shape
    assert ratings.public
    assert report.problems == ()
    assert ratings.top_items(1).titles == (favourite,)
    row = ratings.item_features.values[ratings.titles.index(favourite)]
    assert (
        " ".join(sorted(itertools.compress(ratings.item_features.names, row == 1)))
        == features
    )
    if name == "ml-1m":
        counts = np.bincount(ratings.values.astype(int))[1:].tolist()
        assert counts == [56_174, 107_557, 261_197, 348_971, 226_310]


FIRST = "1:\n1488844,3,2005-09-06\n822109,5,2005-05-13\n2:\n822109,4,2004-01-01\n"
SECOND = "17770:\n6,1,2003-02-02\n1488844,2,2005-12-31\n"
# users 6, 822109, 1488844
PRIZE = [(0, 17_769, 1.0), (1, 0, 5.0), (1, 1, 4.0), (2, 0, 3.0), (2, 17_769, 2.0)]


@pytest.mark.parametrize("block", [40, netflix.BLOCK])
@pytest.mark.parametrize("form", ["folder", "zip", "gzip"])
def test_netflix_is_read_with_users_renumbered_and_films_kept(
    tmp_path, form, block, monkeypatch
):
    monkeypatch.setattr(netflix, "BLOCK", block)
    titles = "1,2003,Dinosaur Planet\n2,2004,Être, avoir, et plus\n".encode("latin-1")
    files = {
        "combined_data_1.txt": FIRST.encode(),
        "combined_data_2.txt": SECOND.encode(),
        "movie_titles.csv": titles,
    }
    packed = gzip.compress((FIRST + SECOND).encode())
    for name, content in files.items():
        write(tmp_path / "prize" / name, content)
    source = {
        "folder": tmp_path / "prize",
        "zip": zipped(
            tmp_path / "p.zip", {f"download/{file}": files[file] for file in files}
        ),
        "gzip": write(tmp_path / "combined_data_1.txt.gz", packed),
    }[form]
    report = import_("netflix", source)
    ratings = load("netflix")
    assert rows_of(ratings) == PRIZE
    assert report.problems == ()
    assert ratings.n_users == 3
    assert ratings.n_items == 17_770
    assert ratings.bounds == (1.0, 5.0)
    assert not ratings.public
    # days from 2004-01-01 to 2005-05-13
    assert ratings.order[1] - ratings.order[2] == 498 * 86_400_000_000
    if form != "gzip":
        names = ("Dinosaur Planet (2003)", "Être, avoir, et plus (2004)", "Film 3")
        assert ratings.titles[:3] == names


def test_what_is_wrong_in_netflix_is_told_with_its_lines(tmp_path):
    wrong = (
        "5,3,2005-01-01\n1:\n7,9,2005-01-01\n8\n9,three,2005-01-01\n7,2,2005-06-01\nx:\n"
        "7,5,2005-01-01\n99999:\n7,5,2005-01-01\n2:\n"
    )
    good = "".join(f"{user},4,2005-01-01\n" for user in range(20, 30))
    report = import_("netflix", write(tmp_path / "combined_data_1.txt", wrong + good))
    found = {problem.kind: problem.lines for problem in report.problems}
    assert found[Kind.MISSING] == (1, 8, 10)
    assert found[Kind.RAGGED_LINE] == (4,)
    assert found[Kind.NOT_A_NUMBER] == (5,)
    assert found[Kind.OUTSIDE] == (3,)
    assert len(load("netflix")) == 11
    outside = ["1:", *(f"{user},{user + 5},2005-01-0{user}" for user in range(1, 9))]
    with pytest.raises(BadInput, match="8 of the 8"):
        import_(
            "netflix",
            write(tmp_path / "combined_data_1.txt", "\n".join(outside) + "\n"),
        )


def person(**jokes):
    """A row with the given jokes (`j3=...`) rated."""
    row = [99] * 100
    for name, value in jokes.items():
        row[int(name[1:])] = value
    return [len(jokes), *row]


def jokes(*rows, separator=","):
    out = io.StringIO()
    csv.writer(out, delimiter=separator).writerows(rows)
    return out.getvalue().encode()


def test_jester_is_rescaled_and_jokes_nobody_gave_are_left_out(tmp_path):
    report = import_(
        "jester",
        write(tmp_path / "j.csv", jokes(person(j0=-10, j99=10), person(j5=0.0))),
    )
    ratings = load("jester")
    assert rows_of(ratings) == [(0, 0, 0.0), (0, 99, 5.0), (1, 5, 2.5)]
    assert ratings.n_users == 2
    assert ratings.n_items == 100
    assert ratings.bounds == (0.0, 5.0)
    assert report.problems == ()
    assert not ratings.public


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_tables_of_a_zip_lie_one_below_the_other(tmp_path, separator):
    files = {
        "jester-data-2.csv": jokes(person(j2=2), separator=separator),
        "jester-data-1.csv": jokes(person(j1=1), person(j1=-1), separator=separator),
        "__MACOSX/._jester-data-1.csv": b"x",
    }
    import_("jester", zipped(tmp_path / "jester.zip", files))
    assert [row[:2] for row in rows_of(load("jester"))] == [(0, 1), (1, 1), (2, 2)]


def test_what_is_wrong_in_jester_is_told_with_its_rows(tmp_path):
    short = person(j1=1)[:-1]
    miscounted = [7, *person(j1=1)[1:]]
    far = person(j2=10.5)
    table = jokes(short, miscounted, far, person(j3="funny", j4=4), *[person(j0=0)] * 8)
    report = import_("jester", write(tmp_path / "j.csv", table))
    ratings = load("jester")
    assert rows_of(ratings)[:3] == [(1, 1, 2.75), (2, 2, 5.0), (3, 4, 3.5)]
    assert {problem.kind: problem.lines for problem in report.problems} == {
        Kind.RAGGED_LINE: (1,),
        Kind.WRONG_COUNT: (2,),
        Kind.CLAMPED_VALUE: (3,),
        Kind.NOT_A_NUMBER: (4,),
    }
    assert ratings.n_users == 12


def test_a_jester_spreadsheet_is_read_as_it_is_published(tmp_path):
    """The file holds two rows, person(j0=-10, j7=5) and person(j99=10), as xlwt writes them."""
    import_("jester", Path(__file__).parent / "jester-two-people.xls")
    assert rows_of(load("jester")) == [(0, 0, 0.0), (0, 7, 3.75), (1, 99, 5.0)]
