"""Damaged and hostile files: mutations of sound ones, bombs, and what a loader may make of them.

Used by the tests.
"""

import csv
import io
import multiprocessing
import os
import resource
import signal
import struct
import traceback
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.io import savemat
from scipy.sparse import csc_array

from dpmf_core.runs.memory import peak_mb

SECONDS, BYTES = 5, 1 << 30
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
        rows.writerow(
            [f"u{k % 9}" if head else k % 9, k % 7, 1 + k % 5, 1000 + k, f"Film, {k % 7}"]
        )
    return out.getvalue().encode()


def _parquet() -> bytes:
    out = io.BytesIO()
    pd.DataFrame(
        {
            "user": [k % 9 for k in range(60)],
            "item": [k % 7 for k in range(60)],
            "rating": [1.0 + k % 5 for k in range(60)],
        }
    ).to_parquet(out)
    return out.getvalue()


def _mat(compress: bool, sparse: bool, old: bool = False) -> bytes:
    out = io.BytesIO()
    X = np.random.default_rng(0).integers(0, 255, (12, 16)).astype(float)
    savemat(
        out,
        {"fea": csc_array(X) if sparse else X, "gnd": np.arange(12.0)[:, None]},
        do_compression=compress,
        format="4" if old else "5",
    )
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
SOUND: dict[str, Callable[[], list[tuple[str, bytes]]]] = {
    "csv": lambda: [
        ("a.csv", _table()),
        ("a.tsv", _table("\t")),
        ("a.csv", _table(";")),
        ("a.dat", _table(",", False)),
        ("a.csv", _table(":", False).replace(b":", b"::")),
        ("a.parquet", _parquet()),
    ],
    "mat": lambda: (
        [
            ("a.mat", _mat(compressed, sparse))
            for compressed in (False, True)
            for sparse in (False, True)
        ]
        + [("a.mat", _mat(False, False, True))]
    ),
    "zip": lambda: [
        ("a.zip", zipped({"ratings.csv": _table()})),
        ("a.zip", zipped({f"d/{k}.txt": TEXT[20 * k : 20 * k + 200] for k in range(5)})),
        ("a.zip", zipped({f"p/{k}.png": _picture() for k in range(4)})),
    ],
    "text": lambda: [
        ("a.txt", TEXT),
        (
            "a.csv",
            b"ID\ttitle\tURL\n"
            + b"\n".join(b"%d\t%s\tx" % (k, line) for k, line in enumerate(TEXT.splitlines())),
        ),
    ],
}


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """A few random damages: bytes changed, cut, doubled, moved, foreign tokens and large
    numbers put in.
    """
    buffer = bytearray(content)
    for _ in range(int(rng.integers(1, 9))):
        if not buffer:
            break
        at, length = int(rng.integers(len(buffer))), int(rng.geometric(0.08))
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
                    "<I", int(rng.choice([0, 1, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 20, 1 << 28]))
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
        if kind == "zip" and rng.random() < 0.5:  # damage within: the archive itself is sound
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                content = zipped(
                    {member: mutated(archive.read(member), rng) for member in archive.namelist()}
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
    return HEADER + struct.pack("<2I", 14, len(claims) + 8) + claims + struct.pack("<2I", 9, 0)


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
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = (
        letters[k % 26]
        + letters[k // 26 % 26]
        + letters[k // 676 % 26]
        + letters[k // 17576 % 26]
        + letters[k // 456976 % 26]
        for k in range(1_000_000)
    )
    return "\n".join([" ".join(words), "abc def", "ghi jkl"]).encode()


def _gzip() -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    rows = b"1,2,3\n" * (1 << 18)
    return b"".join(packer.compress(rows) for _ in range(2000)) + packer.flush()


def _nested_zip(depth: int) -> bytes:
    content = zipped({"ratings.csv": _table()})
    for _ in range(depth):
        content = zipped({"inner.zip": content})
    return content


ZEROS = b"\x00" * (1 << 20)
HEADER = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
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
    "ten million columns, named": ("a.csv", lambda: b"user,item,rating" + b",x" * 10_000_000),
    "one endless line": ("a.csv", lambda: b"user,item,rating\n" + b"1" * 50_000_000),
    "an open quote": ("a.csv", lambda: b'user,item,rating\n"' + b"a,b\n" * 5_000_000),
    "ten million lines": ("a.txt", lambda: b"ab\n" * 10_000_000),
    "a million words": ("a.txt", _words),
    "nothing": ("a.csv", lambda: b""),
    "a pickle": ("a.mat", lambda: b"\x80\x04cposix\nsystem\n(S'touch /tmp/dpmf-pwned'\ntR."),
}  # what is made to hurt: by what it is


@dataclass(frozen=True)
class Harm:
    """A file that did what no file may."""

    kind: str
    number: int
    what: str
    name: str
    content: bytes


def read(name: str, content: bytes, facts: dict[str, str]) -> None:
    """Everything that a page does with a file; a refusal must be a sentence."""
    from dpmf_core.errors import BadInput
    from dpmf_datasets import session_files

    for step in (
        lambda: session_files.preview(content, name),
        lambda: session_files.ratings(content, name, {}, (1.0, 5.0)),
        lambda: session_files.samples(content, name, facts),
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


def _alarm(*_: Any) -> None:
    raise TimeoutError(f"more than {SECONDS} s")


def read_in_fork(path: Path, key: str, out: Path) -> tuple[int, str]:
    """As `datasets.readers.matlab._apart`, without starting Python anew: for thousands of
    files, in a process that has no threads.
    """
    from dpmf_datasets.readers import matlab

    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        os.dup2(writing, 1)
        signal.setitimer(signal.ITIMER_REAL, 0)
        os._exit(matlab.main(str(path), key, str(out)))
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text


def _all(kind: str, count: int, seed: int, home: str, out: Any, fork: bool) -> None:
    """In a process of its own, whose memory is bounded: every file of a kind; what harmed."""
    os.environ["DPMF_DATA"] = home
    if fork:
        from dpmf_datasets.readers import matlab

        matlab._apart = read_in_fork
    read("warm.csv", _table(), {})
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + BYTES, size + BYTES))
    signal.signal(signal.SIGALRM, _alarm)
    files = (
        enumerate(damaged_files(kind, count, seed))
        if kind in SOUND
        else enumerate([(BOMBS[kind][0], BOMBS[kind][1]())])
    )
    for number, (name, content) in files:
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            read(name, content, facts(number))
        except BaseException as error:  # whatever it is, it is what is looked for
            out.put(
                Harm(
                    kind,
                    number,
                    "".join(traceback.format_exception(error))[-1500:],
                    name,
                    content[: 1 << 20],
                )
            )
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    out.put(int(peak_mb() * 1e6))


def harms(
    kind: str, count: int, home: Path, seed: int = 0, fork: bool = False
) -> tuple[list[Harm], int]:
    """What harmed among so many damaged files of a kind (or one bomb), and the most memory it
    took, bytes. A process that died is a harm.
    """
    # each process begins as a copy of one that has imported the readers and has no threads
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["datasets.session_files", "tests.support.hostile"])
    out: Any = context.Queue()
    worker = context.Process(target=_all, args=(kind, count, seed, str(home), out, fork))
    worker.start()
    harmful_files: list[Harm] = []
    peak = -1
    while peak < 0:
        try:
            message = out.get(timeout=1)
        except Exception:  # queue.Empty: look whether anybody is still there
            if not worker.is_alive():
                harmful_files.append(
                    Harm(kind, -1, f"the process died with code {worker.exitcode}", "", b"")
                )
                break
            continue
        if isinstance(message, Harm):
            harmful_files.append(message)
        else:
            peak = message
    return harmful_files, peak
