"""The one large numeric matrix of a MATLAB file, read in a child process.

scipy's reader can be made to crash, and it would end the server too.
"""

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from dpmf_core.base.errors import BadInput
from dpmf_datasets import sandbox

KNOWN_KEYS = ("fea", "X", "V", "data", "faces", "images", "Y", "A", "dtm")
NO_DATA = ("char", "cell", "struct", "object", "function")


def table(path: Path, key: str | None = None) -> tuple[Any, str]:
    """Read the matrix of a MATLAB file (version 7 or older).

    Parameters
    ----------
    path : Path
    key : str, optional
        Its name, if there are several.

    Returns
    -------
    matrix : array or csr_array
    name : str

    Raises
    ------
    BadInput
        The message lists the matrices in the file.
    """
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "matrix.npz"
        limits = sandbox.OWN_MACHINE
        name = sandbox.read(write_matrix, path.name, str(path), key, str(target), limits=limits)
        return _read(target), name


def _read(file: Path) -> Any:
    from scipy.sparse import csr_array, load_npz

    with np.load(file, allow_pickle=False) as arrays:
        if "dense" in arrays:
            return arrays["dense"]
    return csr_array(load_npz(file))


def write_matrix(path: str, key: str | None, target: str) -> str:
    """Write the matrix as an .npz file. Returns its name. Raises BadInput."""
    from scipy.io import loadmat

    file = Path(path)
    name = _matrix_name(file, key)
    try:
        _write(loadmat(file, variable_names=[name])[name], target)
    except MemoryError:
        raise
    except Exception as error:  # a damaged file makes scipy raise almost anything
        raise BadInput(
            f"{file.name} cannot be read: '{name}' is damaged or not a table of numbers"
            f" ({str(error)[:200]}). The file may be cut short."
        ) from None
    return name


def _matrix_name(file: Path, key: str | None) -> str:
    """The name of the matrix to read: the given one, else a usual name, else the largest."""
    shapes = _shapes(file)
    listing = (
        ", ".join(f"{name} ({' x '.join(map(str, shape))})" for name, shape in shapes.items())[:500]
        or "no numeric matrix"
    )
    if key and key not in shapes:
        raise BadInput(f"{file.name} has no matrix '{key}'. It has {listing}.")
    if not shapes:
        raise BadInput(f"{file.name} has {listing}. A table with one row per sample is needed.")
    usual = next((candidate for candidate in KNOWN_KEYS if candidate in shapes), None)
    return key or usual or max(shapes, key=lambda one: math.prod(shapes[one]))


def _shapes(file: Path) -> dict[str, tuple[int, ...]]:
    """The matrices in a file."""
    from scipy.io import whosmat

    try:
        matrices = whosmat(file)
    except MemoryError:
        raise
    except NotImplementedError:
        raise BadInput(
            f"{file.name} is a MATLAB 7.3 file. Save it again with `save -v7`."
        ) from None
    except Exception as error:
        raise BadInput(
            f"{file.name} cannot be read as a MATLAB file ({error}). Give one saved by MATLAB 7 or"
            " older, or with `save -v7`."
        ) from None
    return {
        name: shape for name, shape, kind in matrices if len(shape) == 2 and kind not in NO_DATA
    }


def _write(matrix: Any, target: str) -> None:
    """Write a matrix. Raises ValueError if it is not a table of numbers."""
    from scipy.sparse import csr_array, issparse, save_npz

    if not min(matrix.shape):
        raise ValueError("it has no rows or no columns")
    if matrix.dtype.kind not in "buif":
        raise ValueError("its entries are not real numbers")
    if issparse(matrix):
        rows: Any = matrix  # scipy's stubs take its type for an abstract one
        rows.check_format(full_check=True)  # otherwise indices could point outside
        save_npz(target, csr_array(rows), compressed=False)
    else:
        np.savez(target, allow_pickle=False, dense=np.asarray(matrix))
