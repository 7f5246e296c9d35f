"""Tables in partitions equal the same tables in memory, here and at an address."""

import fsspec
import numpy as np
import pytest

import dpmf
import dpmf_datasets as datasets
from dpmf_core.base.errors import BadInput
from dpmf_core.base.paths import held_alone
from dpmf_core.runs import data_access
from dpmf_core.testing.rating_worlds import low_rank
from dpmf_datasets import partitions
from dpmf_datasets.readers import text_tables
from tests.support.parts import in_files

COLUMNS = ("users", "items", "values", "order")
FACTS = (
    "n_users",
    "n_items",
    "bounds",
    "titles",
    "labels",
    "assumptions",
    "public",
    "origin",
)


def lines(count=900, users=60, seed=0):
    """Rows of a table, some of a pair that was there before."""
    random = np.random.default_rng(seed)
    return [
        f"{random.integers(users)},{random.integers(25)},{random.integers(1, 6)},"
        f"{1_000_000_000 + random.integers(10**6)}"
        for _ in range(count)
    ]


def table(path, rows, header="user,item,rating,time"):
    path.write_text("\n".join([header, *rows]) + "\n", "utf-8")
    return f"{path}?bounds=1,5"


def partitioned(name, source, **options):
    datasets.import_partitions(name, source, **options)
    return datasets.load(name)


def assert_same(parts, whole):
    ratings = parts.together()
    for column in COLUMNS:
        assert np.array_equal(getattr(ratings, column), getattr(whole, column)), column
    for fact in FACTS:
        assert getattr(ratings, fact) == getattr(whole, fact), fact


MESSY = [
    "a,film 1,4,",
    "007,film 1,5,",
    "7,film 1,1,",
    "b,film 2,x,",
    "c,,3,",
    "7,film 1,4,",
]


@pytest.mark.parametrize("count", [None, 1, 61])
@pytest.mark.parametrize("batch", [1 << 11, 8 << 20])
def test_partitions_hold_what_the_table_holds(count, batch, tmp_path, monkeypatch):
    monkeypatch.setattr(text_tables, "BATCH", batch)
    source = table(tmp_path / "some.csv", lines())
    assert_same(partitioned("some", source, n_partitions=count), datasets.load(source))


@pytest.mark.parametrize(
    ("header", "rows"),
    [
        ("user,item,rating", [row.rstrip(",") for row in MESSY]),
        (
            "user,item,rating,title",
            [f"{row}Title of {row.split(',')[1]}" for row in MESSY],
        ),
        ("who,what,score", ["x,1,0.5", "y,2,9", *(f"{k},3,4.5" for k in range(30))]),
    ],
    ids=["texts", "titles", "outside"],
)
def test_messy_rows_end_as_they_do_in_memory(header, rows, tmp_path):
    source = table(tmp_path / "messy.csv", rows, header) + (
        "&user=who&item=what&rating=score" if header.startswith("who") else ""
    )
    assert_same(partitioned("messy", source, n_partitions=3), datasets.load(source))


@pytest.mark.parametrize("how", ["days", "days/*.csv"])
def test_several_files_are_one_set(how, tmp_path):
    rows = lines()
    whole = datasets.load(table(tmp_path / "some.csv", rows))
    (tmp_path / "days").mkdir()
    for day, some in enumerate((rows[:300], rows[300:301], rows[301:])):
        table(tmp_path / f"days/{day}.csv", some)
    parts = partitioned("some", f"{tmp_path}/{how}?bounds=1,5", n_partitions=4)
    for column in COLUMNS:
        assert np.array_equal(getattr(parts.together(), column), getattr(whole, column))
    assert parts.origin
    assert parts.origin != whole.origin


DAYS = [
    f"u{user},i{item},4,{10**9 + user + item}"
    for user in range(20)
    for item in range(5)
]


def two_files(folder, first, second):
    folder.mkdir(exist_ok=True)
    (folder / "a.csv").write_text(first, "utf-8")
    (folder / "b.csv").write_text(second, "utf-8")
    return f"{folder}?bounds=1,5"


def text(rows, header="user,item,rating,time"):
    return "\n".join(filter(None, [header, *rows])) + "\n"


@pytest.mark.parametrize(
    "row",
    [
        "zed,i1,4,1000000000.5",
        "zed,i1,4,5",
        "zed,i1,4,25/01/2020",
        "zed,i1,1000000000,1",
    ],
)
def test_one_persons_row_in_a_later_file_changes_no_other_rows(row, tmp_path):
    first = text(DAYS[:80])
    later = DAYS[80:]
    before = partitioned(
        "before", two_files(tmp_path / "before", first, text(later))
    ).together()
    after = partitioned(
        "after", two_files(tmp_path / "after", first, text([*later, row]))
    )
    others = after.together()
    kept = others.users < before.n_users  # zed is the last by alphabet
    assert np.array_equal(others.order[kept], before.order)
    assert np.array_equal(others.values[kept], before.values)


def test_times_of_all_files_are_read_like_those_of_the_first(tmp_path):
    second = ["u1,i9,4,1000000000.5", "u2,i9,4,yesterday"]
    source = two_files(tmp_path / "days", text(DAYS), text(second))
    report = datasets.import_partitions("some", source)
    ratings = datasets.load("some").together()
    assert ratings.order.max() < 2 * 10**9
    assert "b.csv, line 3" in report.words


@pytest.mark.parametrize("header", ["user,item,rating,time", ""])
@pytest.mark.parametrize(
    "rows", [[], ["zed,i1,bad,1"], ["zed,abc,bad,x"], ["zed,i1,0,1"]]
)
def test_a_file_without_usable_rows_is_left_out(header, rows, tmp_path):
    source = two_files(tmp_path / "days", text(DAYS, header), text(rows, header))
    report = datasets.import_partitions("some", source)
    assert report.kept == len(DAYS)
    assert report.rows_left_out == len(rows)


def test_rules_on_unusable_rows_hold_for_all_files_together(tmp_path):
    unusable = [f"u{user},i{user},bad,1" for user in range(200)]
    outside = [f"u{user},i{user},9,1" for user in range(50)]
    for second, words in (
        (unusable, "200 of the 300 rows"),
        (outside, "50 of the 150 ratings"),
    ):
        source = two_files(tmp_path / "days", text(DAYS), text(second))
        with pytest.raises(BadInput, match=words) as caught:
            datasets.import_partitions("some", source)
        assert "b.csv, line 2" in str(caught.value)


def test_a_public_item_table_comes_with_them(tmp_path):
    films = tmp_path / "films.csv"
    films.write_text("item,year\n" + "".join(f"{j},{1950 + j}\n" for j in range(25)))
    source = table(tmp_path / "some.csv", lines()) + f"&item_table={films}"
    parts = partitioned("some", source)
    whole = datasets.load(source)
    assert whole.item_features
    assert parts.item_features
    assert parts.item_features.fingerprint == whole.item_features.fingerprint
    assert parts.parts[0].rows.item_features is not None
    assert parts.assumptions == whole.assumptions


@pytest.mark.parametrize(
    "stage", ["reading some.csv", "gathering", "writing partitions"]
)
def test_an_import_that_was_stopped_leaves_nothing(stage, tmp_path):
    source = table(tmp_path / "some.csv", lines())

    def stop(at, count, total):
        if at == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        datasets.import_partitions(
            "some",
            source,
            n_partitions=6,
            progress=stop,
        )
    assert [path.name for path in partitions.root().iterdir()] == [".some.lock"]
    assert_same(partitioned("some", source, n_partitions=6), datasets.load(source))
    files = sorted(path.name for path in partitions.folder_of("some").iterdir())
    assert files == [*(f"0000{k}.parquet" for k in range(6)), "manifest.json"]


def test_another_set_is_replaced_where_that_is_said(tmp_path):
    first, second = (table(tmp_path / f"{k}.csv", lines(seed=k)) for k in range(2))
    one = partitioned("some", first)
    with pytest.raises(BadInput, match="some"):
        datasets.import_partitions("some", second)
    assert_same(one, datasets.load(first))
    other = partitioned("some", second, replace=True)
    assert_same(other, datasets.load(second))
    assert one.fingerprint != other.fingerprint


def test_a_damaged_part_is_named(tmp_path):
    ratings = partitioned("some", table(tmp_path / "some.csv", lines()), n_partitions=3)
    file = partitions.file_of(partitions.folder_of("some"), 1)
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    file.write_bytes(bytes(content))
    assert len(ratings.parts[0].ids)
    with pytest.raises(BadInput, match="Partition"):
        ratings.item_counts()
    file.unlink()
    with pytest.raises(BadInput, match="Partition"):
        datasets.load("some").together()
    manifest = partitions.folder_of("some") / "manifest.json"
    manifest.write_text(manifest.read_text()[:-5])
    with pytest.raises(BadInput, match="manifest"):
        datasets.load("some")


@pytest.mark.parametrize(
    ("name", "rows", "options", "words"),
    [
        ("cinema", lines(), {}, "catalogue"),
        ("../some", lines(), {}, "../some"),
        ("some", lines(), {"n_partitions": 0}, "--partitions"),
        ("some", [], {}, "header"),
        ("some", ["1,2,70,4", "2,3,80,4"], {}, "outside"),
        ("some", ["1,2,4,03/04/2021", "2,3,4,03/05/2021"], {}, "dates"),
    ],
)
def test_bad_input_is_refused_and_nothing_stays(
    name, rows, options, words, tmp_path, data_directory
):
    with pytest.raises(BadInput, match=words):
        datasets.import_partitions(name, table(tmp_path / "some.csv", rows), **options)
    assert not list(data_directory.rglob("*.parquet"))
    assert not list(data_directory.rglob("*.arrow"))


def test_two_imports_under_one_name_do_not_mix(tmp_path):
    source = table(tmp_path / "some.csv", lines())
    partitions.root().mkdir(parents=True)
    with (
        held_alone(partitions.root() / ".some.lock", "the import of some"),
        pytest.raises(BadInput, match="Another"),
    ):
        datasets.import_partitions("some", source)


THERE = "memory://bucket/own"


def copy_there(folder):
    fsspec.filesystem("memory").put(f"{folder}/", "/bucket/own/", recursive=True)


@pytest.fixture
def own(monkeypatch, data_directory):
    """The same ratings in the data folder, as the set `own`, and at an address."""
    monkeypatch.setenv("DPMF_CATALOGUE", "dpmf_datasets")
    data_access.forget()
    folder = partitions.folder_of("own")
    folder.mkdir(parents=True)
    ratings = in_files(low_rank(n_users=200), 5, folder)
    copy_there(folder)
    yield ratings
    fsspec.filesystem("memory").rm("/bucket", recursive=True)
    data_access.forget()


def test_each_worker_reads_it_there(own):
    here = dpmf.fit(
        "own",
        "private-bias",
        epsilon=1,
        delta=1e-6,
        keep=False,
    )
    there = dpmf.fit(
        THERE,
        "private-bias",
        epsilon=1,
        delta=1e-6,
        spread=True,
    )
    ratings = datasets.load(THERE)
    assert ratings.fingerprint == own.fingerprint
    assert ratings.account == own.account
    assert np.array_equal(here.arrays["item_offsets"], there.arrays["item_offsets"])
    assert here.record.metrics == there.record.metrics


def damage():
    with fsspec.open("memory://bucket/own/00002.parquet", "ab") as file:
        file.write(b"more")
    return THERE


def nonsense():
    with fsspec.open("memory://bucket/own/manifest.json", "w") as file:
        file.write("[]")
    return THERE


@pytest.mark.parametrize(
    ("address", "words"),
    [
        (lambda: "memory://bucket/nothing", "manifest"),
        (lambda: "file:///nowhere/at/all", "manifest"),
        (damage, "Partition"),
        (nonsense, "manifest"),
        (lambda: "sftp://me:secret@host/own", "password"),
        (lambda: "abfs://bucket/own", "installed"),
        (lambda: "postgresql://host/ratings?bounds=1,5", "database"),
    ],
)
def test_what_is_wrong_is_said(address, words, own):
    with pytest.raises(BadInput, match=words) as error:
        list(datasets.load(address()).parts)
    assert "secret" not in str(error.value)
