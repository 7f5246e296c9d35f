"""What becomes of a row follows from that row: one person's rows never change another's."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dpmf_datasets as datasets
from dpmf_core.base.errors import BadInput
from dpmf_core.data.frames import ratings_of
from dpmf_datasets.readers.lines import SEPARATORS, Cutter

CASES = Path(
    os.environ.get("DPMF_CASES", Path(__file__).parents[2] / "../shared/cases")
)
FACTS = "bounds=1,5&users=500&items=500"
N_LINES = 400  # so that what is added comes after the lines that tell the layout
HEADS = ("user,item,rating,time", "user;item;rating;time", "user\titem\trating\ttime")


def base_lines(separator: str) -> list[str]:
    """Rows of 40 people with all that ids may hold, the separator excepted."""
    rng = np.random.default_rng(5)
    names = [
        "plain",
        '"quoted"',
        '12" mix',
        "l'été",
        "007",
        "7.0",
        "a b",
        '"open quote',
        "x:y",
    ]
    rows = []
    for line in range(N_LINES):
        user = f"u{line % 40}"
        item = f"{names[rng.integers(len(names))]}{rng.integers(6)}"
        cells = (
            user,
            item,
            str(rng.integers(1, 6)),
            str(10**9 + int(rng.integers(10**6))),
        )
        rows.append(separator.join(cells))
    return rows


def of_others(ratings, keys):
    """The ratings and the order of the people with these keys: by key, items' names and values."""
    orders = ratings.order
    if orders is None:
        orders = np.zeros(len(ratings))
    cells = zip(ratings.users, ratings.items, ratings.values, orders, strict=True)
    found = {}
    for user, item, value, order in cells:
        key = int(ratings.user_keys[user])
        if key in keys:
            found[key, ratings.labels[item]] = (float(value), int(order))
    return found


def keys_in(ratings):
    return {int(ratings.user_keys[user]) for user in ratings.users}


def load(folder, content):
    file = folder / "table.csv"
    file.write_bytes(content)
    return datasets.load(f"{file}?{FACTS}")


def partitioned(folder, content):
    file = folder / "table.csv"
    file.write_bytes(content)
    datasets.import_partitions(
        "mine",
        f"{file}?{FACTS}",
        n_partitions=3,
        replace=True,
    )
    return datasets.load("mine").together()


# a person's line begins with an id that nobody else has; what follows is anything but a line's end
ANYTHING = st.text(
    st.sampled_from([*'"\\,;\t|: .0159eé\x1fn', "\u200b", "\ufffd", "\x85", "\u2028"]),
    max_size=30,
)
PERSONS_LINE = st.builds(
    lambda mark, tail: f"{mark}zed{tail}",
    st.sampled_from(["", '"', " ", ' "', "'"]),
    ANYTHING,
).map(str.encode)
BROKEN_LINE = st.binary(max_size=20).map(
    lambda tail: b"zed\xff" + tail.replace(b"\n", b"").replace(b"\r", b"")
)


@pytest.mark.parametrize("read", [load, partitioned])
@settings(
    max_examples=25, derandomize=True, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(
    header=st.sampled_from(HEADS),
    hers=st.lists(st.one_of(PERSONS_LINE, BROKEN_LINE), max_size=6),
    place=st.integers(330, N_LINES),
)
def test_any_lines_of_one_person_leave_all_others_as_they_are(
    read, tmp_path, header, hers, place
):
    lines = [line.encode() for line in base_lines(header[4])]
    alone = b"\n".join([header.encode(), *lines, b""])
    together = b"\n".join([header.encode(), *lines[:place], *hers, *lines[place:], b""])
    expected = read(tmp_path, alone)
    ratings = read(tmp_path, together)
    keys = keys_in(expected)
    assert of_others(ratings, keys) == of_others(expected, keys)
    assert ratings.assumptions == expected.assumptions


@settings(max_examples=300, derandomize=True, deadline=None)
@given(
    separator=st.sampled_from(list(SEPARATORS)),
    lines=st.lists(ANYTHING, min_size=1, max_size=8),
)
def test_a_block_of_lines_is_cut_as_each_line_is_alone(separator, lines):
    cutter = Cutter(separator, 3)
    columns, ragged = cutter.columns(
        "".join(f"{line}\n" for line in lines).encode(), range(3)
    )
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    in_block = [[cell.strip() for cell in row] for row in rows]
    alone = [cutter.cells(line) for line in lines]
    assert [row for row in in_block if any(row)] == [
        cells for cells in alone if len(cells) == 3 and any(cells)
    ]
    places = [place for place, text in ragged if text]
    assert places == [place for place, cells in enumerate(alone) if len(cells) != 3]


# ---- frames and arrays ---------------------------------------------------------------------------

IDS = st.one_of(
    st.sampled_from([".5", "1.50", "1e3", "007", "-0.0", " 3", "zed", '"', "nan?"]),
    st.floats(
        allow_nan=False,
        allow_infinity=False,
        width=32,
    ).filter(lambda x: x != int(x)),
    st.booleans(),
)


def frame():
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "user": np.repeat(np.arange(1, 31), 10),
            "item": rng.integers(1, 40, 300),
            "rating": rng.integers(1, 6, 300).astype(float),
            "time": rng.integers(10**9, 2 * 10**9, 300),
        }
    ).drop_duplicates(["user", "item"])


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    user=IDS,
    item=st.one_of(IDS, st.integers(1, 39)),
    rating=st.one_of(st.floats(), st.sampled_from(["x", None, "4,5"])),
)
def test_any_row_of_one_person_in_a_frame_leaves_all_others_as_they_are(
    user, item, rating
):
    base = frame()
    more = pd.DataFrame(
        {
            "user": [user],
            "item": [item],
            "rating": [rating],
            "time": [5],
        }
    )
    expected = ratings_of(base, (1, 5))
    # as objects, because pandas would convert True to 1 in a column of whole numbers
    together = pd.concat([base.astype(object), more.astype(object)], ignore_index=True)
    ratings = ratings_of(together, (1, 5))
    keys = keys_in(expected)
    assert of_others(ratings, keys) == of_others(expected, keys)


@pytest.mark.parametrize(
    "number", [int, float, str, np.float32, np.int16, "category", "Int64"]
)
def test_the_type_of_a_column_changes_no_key(number):
    base = frame()
    expected = ratings_of(base, (1, 5))
    other = ratings_of(base.assign(user=base["user"].astype(number)), (1, 5))
    assert np.array_equal(other.user_keys, expected.user_keys)
    arrays = base.assign(user=base["user"].astype(float))
    of_arrays = ratings_of(tuple(arrays[name].to_numpy() for name in arrays), (1, 5))
    assert np.array_equal(of_arrays.user_keys, expected.user_keys)
    assert of_arrays.labels == expected.labels


# ---- files in the shape of real ones -------------------------------------------------------------

# by file: what is declared of it, and the separator of its first column, which names the person
FILES = {
    "bx-ratings.csv": ("bounds=1,10&missing=0", ";"),
    "goodreads.csv": ("bounds=1,5", ","),
    "ciaodvd.txt": ("bounds=1,5&user=1&item=2&rating=5", ","),
    "jester_ratings.dat": ("bounds=-10,10", "\t"),
    "epinions.txt": ("bounds=1,5", " "),
    "lastfm-h.tsv": ("bounds=0,50&rating=plays", "\t"),
    "ranges.csv": ("bounds=1,5", ","),
    "thousand.csv": ("bounds=0,10000", ";"),
    "wide-99.csv": ("bounds=1,5&layout=wide&missing=99", ","),
    "wide-age2.csv": ("bounds=1,5&layout=wide&leave=age", ","),
    "q-once.tsv": ("bounds=1,5", "\t"),
    "q-user.csv": ("bounds=1,5", ";"),
    "q-bx-esc.csv": ("bounds=1,5", ";"),
    "nfc.csv": ("bounds=1,5", ","),
}


def person_of(line, separator):
    """The first cell."""
    return line.split()[0] if separator == " " else line.split(separator.encode())[0]


@pytest.mark.skipif(
    not CASES.is_dir(), reason=f"{CASES.name} with files in real shapes is absent"
)
@pytest.mark.parametrize("name", FILES)
def test_each_person_of_a_file_may_leave_or_come_back_otherwise(name, tmp_path):
    facts, separator = FILES[name]
    content = (CASES / name).read_bytes().splitlines(keepends=True)
    people = [person_of(line, separator) for line in content]
    whole = datasets.load(f"{CASES / name}?{facts}")
    file = tmp_path / name
    for person in dict.fromkeys(people[1:][-120::40]):
        rest = [
            line for line, who in zip(content, people, strict=True) if who != person
        ]
        hers = [
            line for line, who in zip(content, people, strict=True) if who == person
        ]
        file.write_bytes(b"".join(rest))
        expected = datasets.load(f"{file}?{facts}")
        keys = keys_in(expected)
        assert of_others(whole, keys) == of_others(expected, keys)
        odd = [line.rstrip(b"\n") + b'"\n' for line in hers] + [
            b'"' + line for line in hers
        ]
        for changed in ([hers[0][:-2] + b"\n"], odd):
            file.write_bytes(b"".join([*rest, *changed]))
            try:
                ratings = datasets.load(f"{file}?{facts}")
            except BadInput:
                continue  # too many rows became unusable, which PRIVACY.md names as a condition
            others = keys & (keys_in(whole) - (keys_in(ratings) - keys))
            assert of_others(ratings, others) == of_others(expected, others)


@pytest.mark.skipif(
    not CASES.is_dir(), reason=f"{CASES.name} with files in real shapes is absent"
)
def test_one_more_person_with_one_row_is_one_more_row():
    before = datasets.load(f"{CASES}/nb-a.tsv?bounds=1,5")
    after = datasets.load(f"{CASES}/nb-b.tsv?bounds=1,5")
    assert len(before) == 251
    assert before.n_users == 40
    assert len(after) == 252
    assert after.n_users == 41
    assert of_others(after, keys_in(before)) == of_others(before, keys_in(before))


# ---- single faults -------------------------------------------------------------------------------

BASE = [
    f"u{line % 40},i{line % 17},{1 + line % 5},{1_600_000_000_000_000_001 + 7 * line}"
    for line in range(400)
]
ODD_ROWS = {
    "two signs": ("zed,i1,++4,5", ""),
    "no time": ("zed,i1,3,", ""),
    "a time in hexadecimal": ("zed,i1,3,0x10", ""),
    "a time beyond 64 bits": ("zed,i1,3,99999999999999999999", ""),
    "a date in other digits": ("zed,i1,3,１２/03/2021", ""),
    "a shifted state": ("zed,i1~{,3,5", ""),
}


@pytest.mark.parametrize("row", ODD_ROWS)
def test_an_odd_row_leaves_all_others_as_they_are(row, tmp_path):
    lines = ["user,item,rating,time", *BASE[:200], "u3,i19,++4,0x10", *BASE[200:]]
    alone = load(tmp_path, "\n".join([*lines, ""]).encode())
    together = load(tmp_path, "\n".join([*lines, ODD_ROWS[row][0], ""]).encode())
    keys = keys_in(alone)
    assert of_others(together, keys) == of_others(alone, keys)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_a_byte_too_many_in_a_wide_encoding_ends_with_its_line(encoding, tmp_path):
    text = "\n".join(["user,item,rating,time", *BASE, ""])
    content = text.encode(encoding)
    end = "\n".encode(
        encoding.removesuffix("-le") if encoding == "utf-16" else encoding
    )[-2:]
    expected = load(tmp_path, text.encode())
    broken = load(
        tmp_path, content + b"z" + "zed,i1,3,5\n".encode(encoding)[-4:] + content[-200:]
    )
    assert len(end) == 2
    keys = keys_in(expected)
    assert of_others(broken, keys) == of_others(expected, keys)


@pytest.mark.parametrize("encoding", ["iso2022_jp", "hz", "utf-7", "ISO-2022-KR"])
def test_an_encoding_in_which_lines_depend_on_each_other_is_refused(encoding, tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("\n".join(["user,item,rating,time", *BASE]))
    with pytest.raises(BadInput, match="line by line"):
        datasets.load(f"{file}?{FACTS}&encoding={encoding}")


LARGEST_TIMES = {
    "timestamp[ms]": 2**62,
    "date32[day]": 10**7,
    "date64[ms]": 2**55,
}


@pytest.mark.parametrize("kind", LARGEST_TIMES)
def test_a_time_beyond_all_calendars_in_a_typed_column_is_no_error(kind, tmp_path):
    of_kind = pa.types.lib.type_for_alias(kind)
    whole = pa.array([*range(0, 60_000, 1_000), LARGEST_TIMES[kind]], pa.int64())
    if of_kind.bit_width == 32:
        whole = whole.cast(pa.int32())
    columns = {
        "user": [line % 7 for line in range(61)],
        "item": [line // 7 for line in range(61)],
        "rating": [3.0] * 61,
        "time": whole.view(of_kind),
    }
    file = tmp_path / "table.parquet"
    pyarrow.parquet.write_table(pa.table(columns), file)
    ratings = datasets.load(f"{file}?bounds=1,5")
    assert len(ratings) == 61


HEADERS = {
    "#item\tuser\trating": "\t",
    "# item user rating": " ",
}


@pytest.mark.parametrize("header", HEADERS)
def test_a_comment_that_names_the_columns_is_their_header(header, tmp_path):
    rows = [HEADERS[header].join((f"i{k % 5}", f"u{k % 7}", "3")) for k in range(35)]
    ratings = load(tmp_path, "\n".join([header, *rows, ""]).encode())
    assert ratings.labels[:5] == ("i0", "i1", "i2", "i3", "i4")
