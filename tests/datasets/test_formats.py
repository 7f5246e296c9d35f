"""Archives, parts, JSON, arrays and matrices; and files that hold no table."""

import bz2
import gzip
import io
import json
import lzma
import pickle
import sqlite3
import tarfile
import zipfile
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from scipy.io import mmwrite, savemat
from scipy.sparse import coo_array, csc_array, save_npz

from dpmf_core.base.errors import BadInput
from dpmf_datasets import load
from dpmf_datasets.readers import archives, arrow_tables
from dpmf_datasets.readers.tables import open_table, parts_of

USERS = np.repeat(np.arange(1, 13), 3)
ITEMS = (USERS + np.tile([0, 1, 5], 12)) % 7 + 1
VALUES = (USERS * ITEMS) % 5 + 1
TRIPLETS = sorted(zip(map(str, USERS), map(str, ITEMS), VALUES.tolist(), strict=True))
LINES = [f"{user},{item},{value}\n" for user, item, value in TRIPLETS]
CSV = "user,item,rating\n" + "".join(LINES)
OTHER = "movie,title\n1,A\n2,B\n"


def ratings_at(file, facts="bounds=1,5"):
    """The items with their ratings, the number of users, and the report."""
    ratings = load(f"{file}?{facts}")
    assert ratings.n_users == 12
    items = [ratings.labels[item] for item in ratings.items]
    pairs = sorted(zip(items, ratings.values.tolist(), strict=True))
    assert pairs == sorted((item, value) for _, item, value in TRIPLETS)
    return ratings.report


def tar(mode, members):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return out.getvalue()


def zipped(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


PLAIN = CSV.encode()
MEMBER = {"set/ratings.csv": PLAIN}
PACKED = {
    "r.csv.gz": gzip.compress(PLAIN),
    "r.csv.bz2": bz2.compress(PLAIN),
    "r.csv.xz": lzma.compress(PLAIN),
    "r.tar": tar("w", MEMBER),
    "r.tar.gz": tar("w:gz", MEMBER),
    "r.tgz": tar("w:gz", MEMBER),
    "r.tar.bz2": tar("w:bz2", MEMBER),
    "r.tar.xz": tar("w:xz", MEMBER),
    "r.zip": zipped(MEMBER),
    "gz.zip": zipped(
        {"set/ratings.csv.gz": gzip.compress(PLAIN), "README.txt": b"read me"}
    ),
    "two.zip": zipped(
        {**MEMBER, "set/movies.csv": OTHER, "__MACOSX/._ratings.csv": b"x"}
    ),
}


class TestArchives:
    @pytest.mark.parametrize("name", PACKED)
    def test_one_table_is_read_however_it_is_packed(self, tmp_path, name):
        (tmp_path / name).write_bytes(PACKED[name])
        ratings_at(tmp_path / name)

    def test_packing_changes_no_fingerprint(self, tmp_path):
        prints = set()
        for name in ("r.csv.gz", "r.csv.bz2", "r.csv.xz"):
            (tmp_path / name).write_bytes(PACKED[name])
            prints.add(archives.fingerprint_of(tmp_path / name))
        (tmp_path / "r.csv").write_bytes(PLAIN)
        assert prints == {archives.fingerprint_of(tmp_path / "r.csv")}

    def test_a_table_with_declared_columns_is_read(self, tmp_path):
        content = PLAIN.replace(b"user,item,rating", b"who,what,points")
        (tmp_path / "k.zip").write_bytes(zipped({"data/points.csv": content}))
        ratings_at(tmp_path / "k.zip", "bounds=1,5&user=who&item=what&rating=points")

    def test_of_several_tables_one_is_named(self, tmp_path):
        members = {
            "a/ratings.csv": PLAIN,
            "b/ratings.csv": PLAIN[:60],
            "b/other.csv": PLAIN,
        }
        (tmp_path / "r.zip").write_bytes(zipped(members))
        with pytest.raises(
            BadInput, match=r"holds 3 tables.*b/other.csv.*member=a/ratings.csv"
        ):
            load(f"{tmp_path / 'r.zip'}?bounds=1,5")
        for member in ("other.csv", "a/ratings.csv"):
            ratings_at(tmp_path / "r.zip", f"bounds=1,5&member={member}")
        for member in ("ratings.csv", "none.csv"):
            with pytest.raises(BadInput, match=f"no single table '{member}'"):
                load(f"{tmp_path / 'r.zip'}?bounds=1,5&member={member}")
        assert parts_of(tmp_path / "r.zip") == (tuple(sorted(members)), ())
        (tmp_path / "r.csv").write_text(CSV)
        assert parts_of(tmp_path / "r.csv") == ((), ())
        with pytest.raises(BadInput, match="'member' names a table"):
            load(f"{tmp_path / 'r.csv'}?bounds=1,5&member=ratings.csv")

    def test_a_parquet_inside_an_archive_is_read(self, tmp_path):
        out = io.BytesIO()
        columns = {
            "user": USERS,
            "item": ITEMS,
            "rating": VALUES,
        }
        pa.parquet.write_table(pa.table(columns), out)
        (tmp_path / "p.tar.gz").write_bytes(tar("w:gz", {"p.parquet": out.getvalue()}))
        ratings_at(tmp_path / "p.tar.gz")

    def test_a_packed_file_stops_at_the_limit(self, tmp_path, monkeypatch):
        monkeypatch.setattr(archives, "LARGEST", 1 << 20)
        for name, pack in (("a.csv.bz2", bz2.compress), ("a.csv.xz", lzma.compress)):
            (tmp_path / name).write_bytes(pack(PLAIN + b"1,2,3\n" * 400_000))
            with pytest.raises(BadInput, match="unpacks to more than 1,048,576 bytes"):
                load(f"{tmp_path / name}?bounds=1,5")

    def test_arrays_that_claim_too_much_are_refused(self, tmp_path, monkeypatch):
        save_plurals(tmp_path / "a.npz")
        monkeypatch.setattr(arrow_tables, "LARGEST", 100)
        with pytest.raises(BadInput, match="more than 0 MB"):
            load(f"{tmp_path / 'a.npz'}?bounds=1,5")

    def test_an_archive_with_a_large_member_is_refused_before_it_is_unpacked(
        self, tmp_path, monkeypatch
    ):
        content = tar("w:gz", {"big.csv": b"0" * (2 << 20), "r.csv": PLAIN})
        (tmp_path / "r.tar.gz").write_bytes(content)
        monkeypatch.setattr(archives, "LARGEST", 1 << 20)
        with pytest.raises(
            BadInput, match=r"'big.csv' in r\.tar\.gz claims 2,097,152 bytes"
        ):
            load(f"{tmp_path / 'r.tar.gz'}?bounds=1,5")


class TestParts:
    """A folder as Spark writes it."""

    PARTS: ClassVar = {
        "r.csv/_SUCCESS": b"",
        "r.csv/.part-00000.csv.crc": b"x",
        "r.csv/part-00000.csv": ("user,item,rating\n" + "".join(LINES[:20])).encode(),
        "r.csv/part-00001.csv": b"",
        "r.csv/part-00002.csv": (
            "rating,user,item\n"
            + "".join(f"{value},{user},{item}\n" for user, item, value in TRIPLETS[20:])
        ).encode(),
    }

    def write(self, folder):
        for name, content in self.PARTS.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(content)
        return folder / "r.csv"

    def test_parts_are_one_table(self, tmp_path):
        folder = self.write(tmp_path)
        ratings_at(folder)
        assert parts_of(folder) == ((), ())

    def test_parts_in_an_archive_are_one_table(self, tmp_path):
        (tmp_path / "a.zip").write_bytes(zipped({**self.PARTS, "x.csv": OTHER}))
        ratings_at(tmp_path / "a.zip", "bounds=1,5&member=r.csv")

    def test_a_problem_has_its_row_among_all_parts(self, tmp_path):
        folder = self.write(tmp_path)
        with (folder / "part-00000.csv").open("a") as file:
            file.write("1,2\n3,4,good\n")
        with (folder / "part-00002.csv").open("a") as file:
            file.write("bad,4,4\n")
        report = ratings_at(folder)
        places = {problem.kind[:10]: problem.lines for problem in report.problems}
        assert list(places.values()) == [(22, 39), (21,)]

    @pytest.mark.parametrize(
        "line",
        [b"zed,abc,bad,x\n", b"zed;1;2\n", b"zed\n", b"zed,\xe9\xe9\xe9\xe9\xe9,3\n"],
        ids=str,
    )
    def test_the_first_lines_of_a_later_part_do_not_tell_its_layout(
        self, tmp_path, line
    ):
        first = "".join(f"{place},é,3\n" for place in range(40)).encode()
        (tmp_path / "part-0").write_bytes(first)
        (tmp_path / "part-1").write_bytes(line + "b,é,2\n".encode())
        (tmp_path / "part-2").write_bytes("a,é,2\n".encode())
        ratings = load(f"{tmp_path}?bounds=1,5")
        assert "é" in ratings.labels
        assert len(ratings.labels) == 1 + (b"\xe9" in line)
        assert ratings.n_users == 42 + (b"\xe9" in line)

    def test_keys_in_a_later_part_are_no_columns(self, tmp_path):
        line = '{"user": %d, "item": 1, "rating": 3}\n'
        (tmp_path / "part-0").write_text("".join(line % user for user in range(9)))
        (tmp_path / "part-1").write_text('{"user": "zed", "more": 2}\n' + line % 10)
        assert load(f"{tmp_path}?bounds=1,5").n_users == 10

    def test_a_part_with_other_columns_is_refused(self, tmp_path):
        folder = self.write(tmp_path)
        (folder / "part-00003.csv").write_text(OTHER)
        with pytest.raises(BadInput, match=r"part-00003\.csv has other columns"):
            load(f"{folder}?bounds=1,5")


class TestJson:
    def lines(self, file, *extra_lines):
        rows = []
        for place, (user, item, value) in enumerate(TRIPLETS):
            row = {
                "user": user,
                "item": item,
                "rating": str(value),
            }
            if place % 2 == 0:
                row["user"] = int(user)
            if place % 3 == 0:
                row["rating"] = value
            rows.append(json.dumps(row))
        file.write_text("\n".join([*rows[:5], *extra_lines, *rows[5:]]))
        return file

    def test_numbers_and_texts_may_be_mixed(self, tmp_path):
        assert ratings_at(self.lines(tmp_path / "a.jsonl")).problems == ()

    def test_a_bad_line_is_left_out_alone(self, tmp_path):
        twice = '{"user": 1, "item": 2, "rating": 3, "rating": 5}'
        bad = ("", '{"user": 1, "item"', "[1, 2]", twice)
        (problem,) = ratings_at(self.lines(tmp_path / "a.jsonl", *bad)).problems
        assert problem.count == 3
        assert problem.lines == (7, 8, 9)
        assert problem.where == "line"

    def test_a_byte_order_mark_is_no_part_of_the_first_line(self, tmp_path):
        file = self.lines(tmp_path / "a.jsonl")
        file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
        assert ratings_at(file).problems == ()

    def test_a_line_that_is_no_utf8_is_left_out_alone(self, tmp_path):
        file = self.lines(tmp_path / "a.jsonl")
        file.write_bytes(
            file.read_bytes() + b'\n{"user": "\xff", "item": 1, "rating": 1}\n'
        )
        (problem,) = ratings_at(file).problems
        assert problem.lines == (37,)

    ODD: ClassVar = (
        '{"user": 1, "item": "\\ud800", "rating": 3}',
        '{"user": 1, "item": ' + "[" * 400 + "]" * 400 + ', "rating": 3}',
        '{"user": 1, "item": 2, "rating": ' + "9" * 5000 + "}",
        '{"user": "\x00\xff", "item": 1, "rating": 3}',
        '{"user": 1, "item": 2, "rating": 3',
        '{"user": "1, "item": 2, "rating": 3}',
    )

    @pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
    @pytest.mark.parametrize("is_list", [False, True])
    def test_an_odd_object_decides_about_itself_alone(self, tmp_path, is_list, odd):
        file = self.lines(tmp_path / "a.json", odd)
        if is_list:
            file.write_text("[" + file.read_text().replace("\n", ",\n") + "]")
        file.write_bytes(file.read_bytes().replace(b"\x00\xc3\xbf", b"\xff"))
        ratings = load(f"{file}?bounds=1,5")
        assert ratings.n_users == 12
        assert len(ratings) == 36 + (odd is self.ODD[0])

    def test_columns_in_one_object_are_refused(self, tmp_path):
        (tmp_path / "a.json").write_text(
            '{"user": [1, 2], "item": [1, 2], "rating": [3, 4]}'
        )
        with pytest.raises(BadInput, match="Each line holds one object"):
            load(f"{tmp_path / 'a.json'}?bounds=1,5")

    def test_keys_of_later_lines_and_nested_values_decide_nothing(self, tmp_path):
        odd = '{"rating": true, "user": 1.0, "item": 99, "more": {"a": 1}, "tags": ["a", 2]}'
        file = self.lines(tmp_path / "a.jsonl", odd)
        table = open_table(file, "a.jsonl", {})
        assert table.names == ("user", "item", "rating", "tags")
        (batch,) = table.batches(range(4))
        assert [column[5].as_py() for column in batch] == ["1", "99", "1", "a|2"]

    def test_a_list_leaves_out_what_is_no_object(self, tmp_path):
        objects = [
            {"user": user, "item": item, "rating": value}
            for user, item, value in TRIPLETS
        ]
        (tmp_path / "a.json").write_text(json.dumps([*objects, 3]))
        (problem,) = ratings_at(tmp_path / "a.json").problems
        assert problem.lines == (37,)
        assert problem.where == "row"


class TestArrowColumns:
    def table(self, file, **columns):
        pa.parquet.write_table(
            pa.table(
                {
                    "user": USERS,
                    "item": ITEMS,
                    "rating": VALUES,
                }
                | columns
            ),
            file,
        )
        return file

    def test_flags_are_ratings(self, tmp_path):
        file = self.table(tmp_path / "a.parquet", rating=VALUES > 2)
        assert set(load(f"{file}?bounds=0,1").values) == {0, 1}

    @pytest.mark.parametrize(
        "users",
        [
            pa.array(map(str, USERS)).dictionary_encode(),
            pa.array([str(user).encode() for user in USERS]),
            pa.array(USERS, pa.float64()),
            pa.array(map(str, USERS), pa.large_string()),
        ],
        ids=lambda users: str(users.type)[:10],
    )
    def test_ids_of_any_type_are_the_same_people(self, tmp_path, users):
        ratings_at(self.table(tmp_path / "a.parquet", user=users))

    def test_bytes_that_are_no_text_decide_about_their_row_alone(self, tmp_path):
        users = [str(user).encode() for user in USERS]
        file = self.table(tmp_path / "a.parquet", user=[b"\xff", b"\xfe", *users[2:]])
        ratings = load(f"{file}?bounds=1,5")
        assert len(ratings) == 36
        assert ratings.n_users == 14

    @pytest.mark.parametrize(
        ("column", "cell", "kind"),
        [
            ("rating", 2**53 + 1, pa.int64()),
            ("user", 2**62, pa.timestamp("us")),
            ("item", 10**7, pa.date32()),
            ("time", 2**62, pa.timestamp("ms")),
            ("time", 2**55, pa.date64()),
            ("user", [b"\xff"], pa.list_(pa.binary())),
        ],
        ids=str,
    )
    def test_a_cell_that_cannot_be_read_leaves_the_other_rows(
        self, tmp_path, column, cell, kind
    ):
        columns = {
            "user": USERS,
            "item": ITEMS,
            "rating": VALUES,
            "time": USERS + 18_000,
        }
        cells = columns[column].tolist()
        if pa.types.is_list(kind):
            cells = [[str(user).encode()] for user in cells]
        table = {name: pa.array([*array, 3]) for name, array in columns.items()}
        if pa.types.is_list(kind):
            table[column] = pa.array([*cells, cell], kind)
        elif kind == pa.date32():
            table[column] = pa.array([*cells, cell], pa.int32()).view(kind)
        else:
            table[column] = pa.array([*cells, cell], pa.int64()).view(kind)
        pa.parquet.write_table(pa.table(table), tmp_path / "a.parquet")
        ratings = load(f"{tmp_path / 'a.parquet'}?bounds=1,5")
        assert len(ratings) == 36 + (column == "time" or pa.types.is_list(kind))

    def test_text_that_is_no_utf8_is_kept_as_bytes_are(self, tmp_path):
        as_bytes = pa.array([str(user).encode() for user in USERS[:-1]] + [b"z\xff"])
        users = pa.Array.from_buffers(pa.string(), 36, as_bytes.buffers())
        ratings = load(f"{self.table(tmp_path / 'a.parquet', user=users)}?bounds=1,5")
        assert len(ratings) == 36
        assert ratings.n_users == 13

    def test_lengths_of_time_are_read_as_numbers(self, tmp_path):
        times = pa.array(USERS * 10**9, pa.duration("us"))
        assert ratings_at(self.table(tmp_path / "a.parquet", time=times)).problems == ()

    def test_two_columns_with_one_name_are_told_apart(self, tmp_path):
        arrays = [pa.array(array) for array in (USERS, VALUES + 5, ITEMS, VALUES)]
        table = pa.Table.from_arrays(arrays, names=["user", "rating", "item", "rating"])
        pa.parquet.write_table(table, tmp_path / "a.parquet")
        with pytest.raises(BadInput, match=r"rating \(column 2\).*rating \(column 4\)"):
            load(f"{tmp_path / 'a.parquet'}?bounds=1,5")
        ratings_at(tmp_path / "a.parquet", "bounds=1,5&rating=rating+(column+4)")


def by_place():
    return coo_array((VALUES.astype(float), (USERS, ITEMS)))


def save_dense(file):
    matrix = by_place().toarray()
    np.save(file, np.where(matrix > 0, matrix, np.nan))


def save_plurals(file):
    np.savez(
        file,
        users=USERS,
        items=ITEMS,
        ratings=VALUES,
        names=["a", "b"],
        n_users=12,
    )


MATRICES = {
    "long.npy": lambda file: np.save(
        file, np.column_stack([USERS, ITEMS, VALUES, USERS + 1000])
    ),
    "named.npy": lambda file: np.save(
        file,
        np.rec.fromarrays([VALUES, USERS, ITEMS], names=["rating", "user", "item"]),
    ),
    "wide.npy": save_dense,
    "plural.npz": save_plurals,
    "sparse.npz": lambda file: save_npz(file, csc_array(by_place())),
    "long.mat": lambda file: savemat(
        file, {"R": np.column_stack([USERS, ITEMS, VALUES])}
    ),
    "sparse.mat": lambda file: savemat(file, {"R": csc_array(by_place())}),
    "sparse.mtx": lambda file: mmwrite(
        file, by_place().tocsr()[1:, 1:], symmetry="general"
    ),
}


class TestMatrices:
    @pytest.mark.parametrize("name", MATRICES)
    def test_a_matrix_holds_ratings(self, tmp_path, name):
        MATRICES[name](tmp_path / name)
        ratings_at(tmp_path / name)

    def test_of_several_variables_the_ratings_are_read_and_named(self, tmp_path):
        ratings = np.column_stack([USERS, ITEMS, VALUES])
        savemat(tmp_path / "a.mat", {"trust": np.ones((500, 2)), "rating": ratings})
        assert (
            "The variable 'rating' was read."
            in ratings_at(tmp_path / "a.mat").assumed[0]
        )

    def test_a_matrix_of_five_columns_needs_the_column_of_ratings(self, tmp_path):
        np.save(
            tmp_path / "a.npy", np.column_stack([USERS, ITEMS, ITEMS, VALUES, VALUES])
        )
        with pytest.raises(BadInput, match="user=1&item=2&rating=4"):
            load(f"{tmp_path / 'a.npy'}?bounds=0,30")
        ratings_at(tmp_path / "a.npy", "bounds=1,5&user=1&item=2&rating=4")

    def test_the_entries_of_a_dense_matrix_market_file_stand_column_by_column(
        self, tmp_path
    ):
        text = "%%MatrixMarket matrix array real general\n% users, items\n2 2\n1\n2\n3\n4\n"
        (tmp_path / "a.mtx").write_text(text)
        table = open_table(tmp_path / "a.mtx", "a.mtx", {})
        (batch,) = table.batches(range(3))
        rows = list(zip(*(column.to_pylist() for column in batch), strict=True))
        assert rows == [
            ("1", "1", "1"),
            ("2", "1", "2"),
            ("1", "2", "3"),
            ("2", "2", "4"),
        ]

    def test_a_bad_entry_is_left_out_alone(self, tmp_path):
        MATRICES["sparse.mtx"](tmp_path / "a.mtx")
        with gzip.open(tmp_path / "a.mtx.gz", "wb") as file:
            file.write((tmp_path / "a.mtx").read_bytes() + b"7 7\n8 8 good\n")
        first, second = ratings_at(tmp_path / "a.mtx.gz").problems
        assert first.lines == (41,)
        assert second.lines == (40,)

    @pytest.mark.parametrize(
        "kind", ["coordinate complex general", "coordinate real symmetric"]
    )
    def test_a_matrix_market_file_of_another_kind_is_refused(self, tmp_path, kind):
        (tmp_path / "a.mtx").write_text(f"%%MatrixMarket matrix {kind}\n2 2 1\n1 1 1\n")
        with pytest.raises(BadInput, match="no Matrix Market file of ratings"):
            load(f"{tmp_path / 'a.mtx'}?bounds=1,5")

    def test_pickles_in_arrays_are_refused(self, tmp_path):
        np.save(tmp_path / "a.npy", np.array([{"a": 1}]), allow_pickle=True)
        with pytest.raises(BadInput, match="allow_pickle"):
            load(f"{tmp_path / 'a.npy'}?bounds=1,5")


NO_TABLES = {
    "zeros.csv": (bytes(2000), "full of zeros"),
    "a.h5": (b"\x89HDF\r\n\x1a\nsecret", "HDF5"),
    "a.xls": (b"<table><tr><td>secret</td></tr></table>", "web page"),
    "b.xls": (b"\n <!DOCTYPE html><html>secret", "web page"),
    "a.pdf": (b"%PDF-1.4 secret", "PDF"),
    "a.csv": (b"\x89PNG\r\n\x1a\nsecret", "picture"),
    "a.pkl": (pickle.dumps({"secret": 1}), "pickle"),
    "a.7z": (b"7z\xbc\xaf\x27\x1csecret", "Unpack it"),
    "a.rds": (gzip.compress(b"RDX3\nX\nsecret"), "file of R"),
    "pictures.zip": (zipped({"secret.png": b"\x89PNG"}), "no table"),
}


@pytest.mark.parametrize("name", NO_TABLES)
def test_what_is_no_table_is_refused_by_its_first_bytes(tmp_path, name):
    content, words = NO_TABLES[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=words) as error:
        load(f"{tmp_path / name}?bounds=1,5")
    assert len(str(error.value)) < 300
    assert "secret" not in str(error.value).replace("secret.png", "")


class TestDatabases:
    @pytest.mark.parametrize(
        ("types", "row", "n_kept"),
        [
            ("user, item, rating, time DATETIME", "99, 1, 3, 'yesterday'", 37),
            ("user, item, rating, time TIMESTAMP", "99, 1, 3, 12345", 37),
            ("user, item, rating NUMERIC, time", "99, 1, 'abc', 5", 36),
            ("user, item, rating DECIMAL(3, 1), time", "99, 1, x'ff', 5", 36),
            ("user TEXT, item, rating, time", "cast(x'7aff' AS text), 1, 3, 5", 37),
            ("user JSON, item, rating, time", "'{bad', 1, 3, 5", 37),
        ],
        ids=str,
    )
    def test_a_cell_of_another_type_decides_about_its_row_alone(
        self, tmp_path, types, row, n_kept
    ):
        database = sqlite3.connect(tmp_path / "a.db")
        database.execute(f"CREATE TABLE ratings ({types})")
        database.executemany(
            "INSERT INTO ratings VALUES (?, ?, ?, ?)",
            [(*cells, 5) for cells in TRIPLETS],
        )
        database.execute(f"INSERT INTO ratings VALUES ({row})")
        database.commit()
        database.close()
        assert len(load(f"{tmp_path / 'a.db'}?bounds=1,5")) == n_kept


def save_damaged_header(file):
    np.save(file, VALUES)
    file.write_bytes(file.read_bytes().replace(b"'shape': (", b"'shape': (("))


def encrypt_arrays(file):
    save_plurals(file)
    content = bytearray(file.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    file.write_bytes(content)


CUT_SHORT = {
    "a.tgz": lambda file: file.write_bytes(PACKED["r.tgz"][:60]),
    "b.tgz": lambda file: file.write_bytes(PACKED["r.tgz"][:-8] + bytes(8)),
    "a.npy": save_damaged_header,
    "a.npz": encrypt_arrays,
}


@pytest.mark.parametrize("name", CUT_SHORT)
def test_a_damaged_file_is_refused(tmp_path, name):
    CUT_SHORT[name](tmp_path / name)
    with pytest.raises(BadInput):
        load(f"{tmp_path / name}?bounds=1,5")
