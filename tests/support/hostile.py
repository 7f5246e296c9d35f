"""Damaged and hostile files, bombs, and what a loader may make of them."""

import csv
import importlib
import io
import itertools
import json
import os
import signal
import struct
import traceback
import zipfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
from scipy.io import savemat
from scipy.sparse import csc_array

from dpmf_core.base.errors import BadInput
from dpmf_datasets import sandbox, session_files

SECONDS = 5
TOKENS = (
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"nan",
    b"-inf",
    b"1e999",
    b"9" * 40,
    b"-0",
    b'"',
    b"'",
    b"\r",
    b"\n\n",
    b",,,,",
    b";",
    b"\t",
    b"=1+1",
    b"@SUM(A1)",
    b"../",
    b"/etc/passwd",
    b"C:\\",
    b"\\\\?\\",
    b"{",
    b"<script>",
    b"PK\x03\x04",
    b"PAR1",
    b"\x1f\x8b",
    b"user",
    b"rating",
    "Ж\u202e😀".encode(),
    b" " * 300,
    b"\x80\x03cos\nsystem\n",
    b"\x7f\xff\xff\xff",
    b"\xff\xff\xff\xff",
)


def _table(separator: str = ",", head: bool = True) -> bytes:
    out = io.StringIO()
    rows = csv.writer(out, delimiter=separator)
    if head:
        rows.writerow(["user", "item", "rating", "timestamp", "title"])
    for k in range(60):
        if head:
            user = f"u{k % 9}"
        else:
            user = k % 9
        rows.writerow([user, k % 7, 1 + k % 5, 1000 + k, f"Film, {k % 7}"])
    return out.getvalue().encode()


def _parquet() -> bytes:
    return pd.read_csv(io.BytesIO(_table())).iloc[:, :3].to_parquet()


def _mat(compress: bool, sparse: bool, form: str = "5") -> bytes:
    out = io.BytesIO()
    X = np.random.default_rng(0).integers(0, 255, (12, 16)).astype(float)
    matrices = {"fea": csc_array(X) if sparse else X, "gnd": np.arange(12.0)[:, None]}
    savemat(out, matrices, do_compression=compress, format=form)
    return out.getvalue()


def zipped(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def _picture() -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8)).save(out, "PNG")
    return out.getvalue()


TEXT = "\n".join(
    f"orbit rocket launch {'planet ' * (k % 3)}number {k} engine" for k in range(20)
).encode()
TITLES = [b"%d\t%s\tx" % (k, line) for k, line in enumerate(TEXT.splitlines())]
SOUND: dict[str, Callable[[], list[tuple[str, bytes]]]] = {
    "csv": lambda: [
        ("a.csv", _table()),
        ("a.tsv", _table("\t")),
        ("a.csv", _table(";")),
        ("a.dat", _table(",", False)),
        ("a.csv", _table(":", False).replace(b":", b"::")),
        ("a.parquet", _parquet()),
    ],
    "mat": lambda: [
        *(
            ("a.mat", _mat(*flags))
            for flags in itertools.product((False, True), repeat=2)
        ),
        ("a.mat", _mat(False, False, "4")),
    ],
    "zip": lambda: [
        ("a.zip", zipped({"ratings.csv": _table()})),
        (
            "a.zip",
            zipped({f"d/{k}.txt": TEXT[20 * k : 20 * k + 200] for k in range(5)}),
        ),
        ("a.zip", zipped({f"p/{k}.png": _picture() for k in range(4)})),
    ],
    "text": lambda: [
        ("a.txt", TEXT),
        ("a.csv", b"\n".join([b"ID\ttitle\tURL", *TITLES])),
    ],
}


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """Bytes changed, cut, doubled, moved, and foreign tokens put in."""
    buffer = bytearray(content)
    for _ in range(int(rng.integers(1, 9))):
        if not buffer:
            break
        at = int(rng.integers(len(buffer)))
        length = int(rng.geometric(0.08))
        match int(rng.integers(8)):
            case 0:
                buffer[at] = int(rng.integers(256))
            case 1:
                buffer[at] ^= 1 << int(rng.integers(8))
            case 2:
                del buffer[at : at + length]
            case 3:
                buffer[at:at] = buffer[at : at + length] * int(rng.integers(1, 40))
            case 4:
                buffer[at:at] = TOKENS[int(rng.integers(len(TOKENS)))]
            case 5:
                buffer[at : at + 4] = struct.pack(
                    "<I",
                    int(rng.choice([0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 20, 1 << 28])),
                )
            case 6:
                other = int(rng.integers(len(buffer)))
                buffer[at : at + length], buffer[other : other + length] = (
                    buffer[other : other + length],
                    buffer[at : at + length],
                )
            case _:
                buffer = buffer[: max(1, at)]
    return bytes(buffer)


def damaged_files(kind: str, count: int, seed: int = 0) -> Iterator[tuple[str, bytes]]:
    """Files by name and content, the same for a seed."""
    rng = np.random.default_rng([seed, *kind.encode()])
    sound = SOUND[kind]()
    for _ in range(count):
        name, content = sound[int(rng.integers(len(sound)))]
        # damage within: the archive itself is sound
        if kind == "zip" and rng.random() < 0.5:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                content = zipped(
                    {
                        member: mutated(archive.read(member), rng)
                        for member in archive.namelist()
                    }
                )
        else:
            content = mutated(content, rng)
        yield name, content


def _inflating() -> bytes:
    """A version 7 file of 3 GB of zeros."""
    packer = zlib.compressobj(9)
    content = b"".join(packer.compress(ZEROS) for _ in range(3000)) + packer.flush()
    return HEADER + struct.pack("<2I", 15, len(content)) + content


def _claiming() -> bytes:
    claims = (
        struct.pack("<4I", 6, 8, 6, 0)
        + struct.pack("<2I2i", 5, 8, 40_000, 40_000)
        + struct.pack("<2H4s", 1, 3, b"fea")
    )
    return (
        HEADER
        + struct.pack("<2I", 14, len(claims) + 8)
        + claims
        + struct.pack("<2I", 9, 0)
    )


def _zipped_zeros(name: str) -> bytes:
    out = io.BytesIO()
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
        archive.open(name, "w", force_zip64=True) as stream,
    ):
        for _ in range(3000):
            stream.write(ZEROS)
    return out.getvalue()


def _zip_with_link() -> bytes:
    link = zipfile.ZipInfo("ratings.csv")
    link.external_attr = 0o120777 << 16
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    return out.getvalue()


def _words() -> bytes:
    words = itertools.islice(
        itertools.product("abcdefghijklmnopqrstuvwxyz", repeat=5), 1_000_000
    )
    return "\n".join([" ".join(map("".join, words)), "abc def", "ghi jkl"]).encode()


def _gzip() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    rows = b"1,2,3\n" * (1 << 18)
    return b"".join(packer.compress(rows) for _ in range(2000)) + packer.flush()


def _nested_zip(depth: int) -> bytes:
    content = zipped({"ratings.csv": _table()})
    for _ in range(depth):
        content = zipped({"inner.zip": content})
    return content


def _far_cell() -> bytes:
    """A spreadsheet whose last cell is its only one beside the header."""
    book = openpyxl.Workbook()
    out = io.BytesIO()
    book.active.append(["user", "item", "rating"])
    book.active.cell(1_048_576, 16_384, 1)
    book.save(out)
    return out.getvalue()


def _ods() -> bytes:
    """A sheet of a kilobyte that repeats a row of repeated cells."""
    office = "urn:oasis:names:tc:opendocument:xmlns"
    content = (
        f'<office:document-content xmlns:office="{office}:office:1.0" '
        f'xmlns:table="{office}:table:1.0" xmlns:text="{office}:text:1.0"><office:body>'
        '<office:spreadsheet><table:table table:name="a"><table:table-row '
        'table:number-rows-repeated="1048576"><table:table-cell office:value-type="string" '
        'table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell>'
        "</table:table-row></table:table></office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = (
        '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">'
        f'<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>'
        "</manifest:manifest>"
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", kind, zipfile.ZIP_STORED)
        archive.writestr("META-INF/manifest.xml", manifest)
        archive.writestr("content.xml", content)
    return out.getvalue()


def _parquet_of(columns: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    pa.parquet.write_table(pa.table(columns), out, compression="zstd")
    return out.getvalue()


def _long_parquet() -> bytes:
    """Zeros without end, in three columns."""
    zeros = pa.array(np.zeros(20_000_000, np.int8))
    return _parquet_of({"user": zeros, "item": zeros, "rating": zeros})


def _deep_json() -> bytes:
    depth = 100_000
    return b'{"user": ' + b'{"a": ' * depth + b"1" + b"}" * depth + b"}"


ZEROS = b"\x00" * (1 << 20)
HEADER = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
# what is made to hurt: by what it is
BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "a zip of 3 GB": ("a.zip", lambda: _zipped_zeros("a.txt")),
    "a zip of 3 GB called a table": ("a.zip", lambda: _zipped_zeros("a.csv")),
    "a gzip of 3 GB": ("a.csv.gz", _gzip),
    "a matrix of 3 GB": ("a.mat", _inflating),
    "a matrix that claims 12 GB": ("a.mat", _claiming),
    "a name above": ("a.zip", lambda: zipped({"../../evil.csv": _table()})),
    "an absolute name": ("a.zip", lambda: zipped({"/tmp/evil.csv": _table()})),
    "a drive": ("a.zip", lambda: zipped({"C:\\evil.csv": _table()})),
    "a link": ("a.zip", _zip_with_link),
    "zips in zips": ("a.zip", lambda: _nested_zip(60)),
    "ten million columns": ("a.csv", lambda: b",".join([b"c"] * 10_000_000) + b"\n"),
    "ten million columns, named": (
        "a.csv",
        lambda: b"user,item,rating" + b",x" * 10_000_000,
    ),
    "one endless line": ("a.csv", lambda: b"user,item,rating\n" + b"1" * 50_000_000),
    "an open quote": ("a.csv", lambda: b'user,item,rating\n"' + b"a,b\n" * 5_000_000),
    "ten million lines": ("a.txt", lambda: b"ab\n" * 10_000_000),
    "a million words": ("a.txt", _words),
    "nothing": ("a.csv", lambda: b""),
    "a pickle": (
        "a.mat",
        lambda: b"\x80\x04cposix\nsystem\n(S'touch /tmp/dpmf-pwned'\ntR.",
    ),
    "a cell far away": ("a.xlsx", _far_cell),
    "a sheet of repeats": ("a.ods", _ods),
    "sixty million cells": ("a.parquet", _long_parquet),
    "a deep object": ("a.jsonl", _deep_json),
    "five thousand columns": (
        "a.parquet",
        lambda: _parquet_of({f"c{at}": pa.array([1]) for at in range(5_000)}),
    ),
    "a name of a million letters": (
        "a.csv",
        lambda: b"user,item,rating," + b"x" * 1_000_000,
    ),
}


def read(name: str, content: bytes, facts: dict[str, str]) -> None:
    """Everything that a page does with a file; a refusal must be a sentence."""
    for step in (
        lambda: session_files.look(content, name, {}),
        lambda: session_files.read(content, name, {"bounds": "1,5"}),
        lambda: session_files.read(content, name, facts),
    ):
        try:
            result = step()
        except BadInput as error:
            assert 10 < len(str(error).encode()) < 5000, str(error)[:200]
        else:
            if isinstance(result, session_files.Upload):
                session_files.remove(result.entry)


# what may be said about a file's columns
FACTS: tuple[dict[str, str], ...] = (
    {},
    {"image": "4,4"},
    {"drop": "1,99"},
    {"text": "title"},
    {"key": "fea"},
)


def facts(number: int) -> dict[str, str]:
    """With which of them a damaged file is read, by its number."""
    return FACTS[max(0, number % 6 - 1)]


def run_in_fork(request: bytes, *_: Any) -> tuple[int, bytes, bytes]:
    """As `sandbox._run`, in a fork, for thousands of files in a process without threads."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        code = sandbox.FAILED
        try:
            sandbox.is_inside = True
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            module, function, arguments, _ = json.loads(request)
            task = getattr(importlib.import_module(module), function)
            code, result = sandbox.called(task, arguments)
            with os.fdopen(writing, "w") as pipe:
                json.dump(result, pipe)
        finally:  # an error here must not go on as a second copy of the process
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as answers:
        answer = answers.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == -signal.SIGPROF:
        _stop()
    return code, answer, b""


def read_damaged(kind: str, count: int, home: str) -> list[str]:
    """Read so many damaged files of a kind, in a process of its own; return what harmed.

    A file may take SECONDS of the processor's time, which is the same beside other work. MATLAB
    files, which make scipy crash, are read in forks; the others in that process.
    """
    os.environ["DPMF_DATA"] = home
    sandbox._run = run_in_fork
    sandbox.is_inside = kind != "mat"
    signal.signal(signal.SIGPROF, _stop)
    for number, (name, content) in enumerate(SOUND[kind]()):
        read(name, content, facts(number))  # whatever is imported for it takes its time
    harms = []
    for number, (name, content) in enumerate(damaged_files(kind, count)):
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            read(name, content, facts(number))
        except BaseException:  # whatever it is, it is what is looked for
            harms.append(f"{kind} {number}: {traceback.format_exc()[-1500:]}")
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    return harms


def _stop(*_: Any) -> None:
    raise TimeoutError(f"more than {SECONDS} s")
