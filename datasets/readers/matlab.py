"""The one large numeric matrix of a MATLAB file, read in a process of its own: scipy's reader can
be made to crash, and it would take the server with it.

As a script (`python -I datasets/readers/matlab.py FILE KEY OUT`) this is that process; it needs
numpy and scipy alone.
"""

import io
import json
import math
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path
from typing import Any

KNOWN_KEYS = ("fea", "X", "V", "data", "faces", "images", "Y", "A", "dtm")
MOST = 400 << 20  # bytes of a part once it is unpacked
MEMORY, SECONDS = 3 << 30, 120  # address space and time of the reading process
COMPRESSED_PART = 15  # miCOMPRESSED (MAT-File Format, MATLAB 7.6, table 1-1)
REFUSAL_CODE = 2  # exit code
NO_DATA = ("char", "cell", "struct", "object", "function")


def table(path: Path, key: str | None = None) -> tuple[Any, str]:
    """The matrix of a MATLAB file (version 7 or older), a dense array or a csr_array, and its name.

    key: which, where there are several. Raises BadInput naming the variables there are.
    """
    import numpy as np
    from scipy.sparse import csr_array

    from dpmf_core.errors import BadInput

    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "matrix.npz"
        code, output = _apart(path, key or "", out)
        if code == REFUSAL_CODE:
            raise BadInput(f"{path.name} {json.loads(output)}")
        if code:
            raise BadInput(
                f"{path.name} cannot be read as a MATLAB file: it is damaged so badly that reading"
                " it fails. Save it again with `save -v7`."
            )
        arrays: Any
        with np.load(out, allow_pickle=False) as arrays:
            name = str(arrays["name"])
            if "dense" in arrays:
                return arrays["dense"], name
            return (
                csr_array(
                    (arrays["data"], arrays["indices"], arrays["indptr"]),
                    shape=(int(arrays["shape"][0]), int(arrays["shape"][1])),
                ),
                name,
            )


def _apart(path: Path, key: str, out: Path) -> tuple[int, str]:
    """Exit code and output of the reading process."""
    command = [sys.executable, "-I", str(Path(__file__)), str(path), key, str(out)]
    try:
        process = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return REFUSAL_CODE, json.dumps(
            f"takes longer than {SECONDS} s to be read. Save less of it."
        )
    return process.returncode, process.stdout


# ---- the process that reads ----------------------------------------------------------------------


class Refusal(Exception):
    """Why a file is not taken: the end of a sentence that begins with its name."""


def convert(path: Path, key: str, out: Path) -> None:
    """Write the matrix to an .npz file. Raises Refused."""
    import numpy as np
    from scipy.io import loadmat

    _check_size(path)
    name = _matrix_name(path, key)
    try:
        parts = _parts(loadmat(path, variable_names=[name])[name])
        np.savez(out, allow_pickle=False, name=np.array(name), **parts)
    except Exception as error:
        raise Refusal(
            f"cannot be read: '{name}' is damaged or no table of numbers ({str(error)[:200]}). The"
            " file may be cut short."
        ) from None


def _matrix_name(path: Path, key: str) -> str:
    """Which matrix of a file is read: the one asked for, else one with a usual name, else the
    largest. Raises Refused.
    """
    from scipy.io import whosmat

    try:
        shapes = {
            name: shape
            for name, shape, kind in whosmat(path)
            if len(shape) == 2 and kind not in NO_DATA
        }
    except NotImplementedError:
        raise Refusal("is a MATLAB 7.3 file. Save it again with `save -v7`.") from None
    except Exception as error:
        raise Refusal(
            f"cannot be read as a MATLAB file ({error}). Give one saved by MATLAB 7 or older, or"
            " with `save -v7`."
        ) from None
    listing = (
        ", ".join(f"{name} ({' x '.join(map(str, shape))})" for name, shape in shapes.items())[:500]
        or "no numeric matrix"
    )
    if key and key not in shapes:
        raise Refusal(f"has no matrix '{key}'. It has {listing}.")
    if not shapes:
        raise Refusal(f"has {listing}. A table of samples is needed: a row for each.")
    usual = next((candidate for candidate in KNOWN_KEYS if candidate in shapes), None)
    return key or usual or max(shapes, key=lambda one: math.prod(shapes[one]))


def _parts(matrix: Any) -> dict[str, Any]:
    """A matrix as the arrays of an .npz file. Raises ValueError where it is no table of numbers."""
    import numpy as np
    from scipy.sparse import csr_array, issparse

    if not min(matrix.shape):
        raise ValueError("it has no rows or no columns")
    parts: dict[str, Any]
    if issparse(matrix):
        rows: Any = matrix  # whose type scipy's stubs take for an abstract one
        rows.check_format(full_check=True)  # indices that point outside would be followed
        rows = csr_array(rows)
        parts = {
            "data": rows.data,
            "indices": rows.indices,
            "indptr": rows.indptr,
            "shape": np.array(rows.shape),
        }
    else:
        parts = {"dense": np.asarray(matrix)}
    if any(part.dtype.kind not in "buif" for part in parts.values()):
        raise ValueError("its entries are no real numbers")
    return parts


def _check_size(path: Path) -> None:
    """Raises Refused where the compressed parts of a file (version 5 to 7) grow beyond any data
    set: they are counted, not kept.
    """
    with path.open("rb") as file:
        file.seek(128)
        while len(tag := file.read(8)) == 8:
            kind, size = struct.unpack("<2I", tag)
            if kind != COMPRESSED_PART:
                file.seek(size, io.SEEK_CUR)
                continue
            total, inflate, content = 0, zlib.decompressobj(), file.read(size)
            while content:
                try:
                    total += len(inflate.decompress(content, 1 << 24))
                except zlib.error:
                    return  # the reader will tell
                if total > MOST:
                    raise Refusal(
                        f"grows to more than {MOST >> 20} MB when it is unpacked. Save less of it."
                    )
                content = inflate.unconsumed_tail


def _limit_memory() -> None:
    """Where the system can."""
    try:
        import resource
    except ImportError:
        return
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def main(path: str, key: str, out: str) -> int:
    """Exit code 2, and the reason on standard output, where the file is refused."""
    _limit_memory()
    try:
        convert(Path(path), key, Path(out))
    except (Refusal, MemoryError) as error:
        print(
            json.dumps(str(error) or "needs more memory than any data set. Save less of it."),
            flush=True,
        )
        return REFUSAL_CODE
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
