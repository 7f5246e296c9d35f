"""Images or word counts in the one large numeric matrix of a MATLAB file.

The matrix is read in a child process: scipy's reader can be made to crash, and it would end the
server too.
"""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal

import numpy as np

from dpmf_core.base.errors import BadInput, shortened
from dpmf_core.data.samples import (
    WORDS_ARE_PUBLIC,
    Samples,
    SamplesAndReport,
    is_sparse,
    samples_report,
)
from dpmf_datasets.sandbox import in_child

IMAGE_SIZE_IS_PUBLIC = "the size of the images is public"  # if it is read from them
KNOWN_KEYS = (
    "rating",
    "ratings",
    "fea",
    "X",
    "V",
    "data",
    "faces",
    "images",
    "Y",
    "A",
    "dtm",
)
NO_DATA = ("char", "cell", "struct", "object", "function")


def table(stream: BinaryIO, name: str, key: str | None = None) -> tuple[Any, str]:
    """Read the matrix of a MATLAB file (version 7 or older).

    Parameters
    ----------
    stream : binary file
        The file.
    name : str
        What messages call it.
    key : str or None
        The name of the matrix, if the file holds several.

    Returns
    -------
    matrix : array or csr_array
        The matrix.
    key : str
        Its name.

    Raises
    ------
    BadInput
        If the matrix cannot be read or chosen; it lists the matrices in the file.
    """
    from scipy.sparse import csr_array, load_npz

    with (
        in_child(write_matrix, stream, name, key) as (key, target),
        np.load(target, allow_pickle=False) as arrays,
    ):
        return arrays["dense"] if "dense" in arrays else csr_array(
            load_npz(target)
        ), str(key)


def write_matrix(path: str, name: str, key: str | None, target: str) -> str:
    """Write the matrix as an .npz file. Returns its name. Raises BadInput."""
    from scipy.io import loadmat, whosmat

    try:
        key = _matrix_name(whosmat(path), name, key)
        matrix = loadmat(path, variable_names=[key])[key]
        with Path(target).open("wb") as file:
            _write(matrix, file)
    except (MemoryError, BadInput):
        raise
    except NotImplementedError:
        raise BadInput(
            f"{name} is a MATLAB 7.3 file. Save it again with `save -v7`."
        ) from None
    except Exception as error:  # a damaged file makes scipy raise almost anything
        raise BadInput(
            f"{name} cannot be read as a table of numbers in a MATLAB file"
            f" ({shortened(error, 200)}). It may be cut short. Give one saved by MATLAB 7 or older,"
            " or with `save -v7`."
        ) from None
    return key


def _matrix_name(
    matrices: Sequence[tuple[Any, ...]], file: str, key: str | None
) -> str:
    """The name of the matrix to read: the given one, else a usual name, else the largest."""
    shapes = {
        name: shape
        for name, shape, kind in matrices
        if len(shape) == 2 and kind not in NO_DATA
    }
    if key in shapes:
        return str(key)
    if key or not shapes:
        listing = ", ".join(
            f"{name} ({rows} x {columns})" for name, (rows, columns) in shapes.items()
        )
        raise BadInput(
            f"{file} has no numeric matrix{f' {key!r}' if key else ''}. Its matrices:"
            f" {listing[:500] or 'none'}. A table with one row per sample is needed."
        )
    usual = next((candidate for candidate in KNOWN_KEYS if candidate in shapes), None)
    return usual or max(shapes, key=lambda one: math.prod(shapes[one]))


def _write(matrix: Any, file: BinaryIO) -> None:
    """Write a matrix. Raises ValueError if it is not a table of numbers."""
    from scipy.sparse import csr_array, issparse, save_npz

    if not min(matrix.shape):
        raise ValueError("it has no rows or no columns")
    if matrix.dtype.kind not in "buif":
        raise ValueError("its entries are not real numbers")
    if issparse(matrix):
        rows: Any = matrix  # scipy's stubs take its type for an abstract one
        rows.check_format(full_check=True)  # otherwise indices could point outside
        save_npz(file, csr_array(rows), compressed=False)
    else:
        np.savez(file, allow_pickle=False, dense=np.asarray(matrix))


# ---- images and word counts ------------------------------------------------------------------


def _side_of(columns: int, name: str, image: tuple[int, int] | None) -> tuple[int, int]:
    """Height and width of images with this many pixels.

    Raises BadInput if they are not square and not declared.
    """
    side = math.isqrt(columns)
    height, width = image or (side, side)
    if height * width == columns:
        return height, width
    if image is not None:
        raise BadInput(
            f"Images of {height} x {width} have {height * width:,} pixels; the rows of {name} have"
            f" {columns:,} columns."
        )
    raise BadInput(
        f"The rows of {name} have {columns:,} columns, which is not a square image. Declare height"
        " and width, which columns hold no pixels, or that its rows are the pixels (after a path:"
        " image=H,W, drop=C1,C2 counted from 1, transpose=1)."
    )


def samples_of(
    path: Path,
    *,
    name: str,
    key: str | None = None,
    image: tuple[int, int] | None = None,
    drop: tuple[int, ...] = (),
    order: Literal["columns", "lines"] = "columns",
    transpose: bool = False,
    features: int | None = None,
) -> SamplesAndReport:
    """Read images (dense) or word counts (sparse), one per row.

    Parameters
    ----------
    path : Path
        The MATLAB file.
    name : str
        The name of the samples.
    key : str or None
        The name of the matrix in the file.
    image : tuple of int or None
        The height and width of an image in pixels.
    drop : tuple of int
        The columns to leave out, counted from 1.
    order : {"columns", "lines"}
        The order of the pixels: column by column as in MATLAB, or line by line.
    transpose : bool
        Whether each column is a sample. This is also assumed if the number of rows, and not of
        columns, equals the declared number of features (or of pixels of `image`).
    features : int or None
        The declared number of features.

    Returns
    -------
    samples : Samples
        The images or documents.
    report : Report
        The report of the reading.

    Raises
    ------
    BadInput
        If the file cannot be read as such a matrix.
    """
    with path.open("rb") as stream:
        matrix, key = table(stream, path.name, key)
    if image is not None and features is None:
        features = math.prod(image)
    matrix, notes = _selected(matrix, key, drop, transpose, features)
    if is_sparse(matrix):  # a table without the words
        samples = Samples.of(
            matrix,
            name=name,
            unit="document",
            vocabulary=tuple(f"term {j + 1}" for j in range(matrix.shape[1])),
            assumptions=(WORDS_ARE_PUBLIC,),
        )
        return samples, samples_report(samples, assumed=tuple(notes))
    height, width = _side_of(matrix.shape[1], f"'{key}'", image)
    pixels = np.asarray(matrix, np.float64)
    if order == "columns":
        pixels = (
            pixels.reshape(-1, width, height).swapaxes(1, 2).reshape(len(pixels), -1)
        )
        notes.append(
            "Pixels were read column by column, as MATLAB stores them. If they are stored line by"
            " line, declare it (after a path: order=lines)."
        )
    samples = Samples.of(
        np.ascontiguousarray(pixels),
        name=name,
        unit="image",
        image=(height, width),
        assumptions=() if image else (IMAGE_SIZE_IS_PUBLIC,),
    )
    return samples, samples_report(samples, assumed=tuple(notes))


def _selected(
    matrix: Any, key: str, drop: tuple[int, ...], transpose: bool, features: int | None
) -> tuple[Any, list[str]]:
    """A matrix with a sample in each row and only its features, and what was done for that."""
    notes = []
    rows, columns = matrix.shape
    if transpose or rows == features != columns:
        notes.append(
            f"'{key}' has {rows:,} rows and {columns:,} columns. Its rows are the features, so it"
            " was transposed: each column is a sample."
        )
        matrix = matrix.T
    if drop:
        width = matrix.shape[1]
        if max(drop) > width:
            raise BadInput(
                f"'{key}' has columns 1 to {width:,}. There is no column {max(drop):,} to leave"
                " out."
            )
        matrix = matrix[:, np.setdiff1d(np.arange(width), np.array(drop) - 1)]
        notes.append(f"Columns {', '.join(map(str, drop))} were left out.")
    return matrix, notes
