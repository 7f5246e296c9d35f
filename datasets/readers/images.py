"""Images from files: MATLAB tables with an image per row or column, and archives of pictures."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dpmf_core.base.errors import BadInput
from dpmf_core.data.samples import WORDS_ARE_PUBLIC, Samples, is_sparse
from dpmf_datasets.readers import picture_files
from dpmf_datasets.readers.archives import Members, members_of
from dpmf_datasets.readers.matlab import table
from dpmf_datasets.readers.report import Problem, Report, Tally
from dpmf_datasets.readers.table import file_name

Array = npt.NDArray[Any]
IMAGE_SIZE_IS_PUBLIC = "the size of the images is public"  # if it is read from them
PICTURES = (".png", ".jpg", ".jpeg", ".pgm", ".bmp", ".gif", ".tif", ".tiff", ".webp")
UNREADABLE = "file that is no picture, left out"
RESIZED_PICTURE = "picture of another size, brought to the commonest"
STRETCHED_PICTURE = "picture of other proportions, stretched"
STRETCH = 0.05  # relative change of proportions, below which it is rounding
MOST_FILES = 200_000
LARGEST = 10_000  # pixels of a picture for factorisation


def side_of(columns: int, name: str, image: tuple[int, int] | None) -> tuple[int, int]:
    """Height and width of images with so many pixels.

    Raises BadInput if they are not square and not declared.
    """
    if image is not None:
        if image[0] * image[1] != columns:
            raise BadInput(
                f"Images of {image[0]} x {image[1]} have {image[0] * image[1]:,}"
                f" pixels; the rows of {name} have {columns:,} columns."
            )
        return image
    side = round(columns**0.5)
    if side * side != columns:
        raise BadInput(
            f"The rows of {name} have {columns:,} columns, which is not a square image. Declare"
            " height and width, which columns hold no pixels, or that its rows are the pixels"
            " (after a path: image=H,W, drop=C1,C2 counted from 1, transpose=1)."
        )
    return side, side


def turned(X: Array, image: tuple[int, int]) -> Array:
    """Rows of pixels that were stored column by column, reordered line by line."""
    height, width = image
    return np.ascontiguousarray(X.reshape(-1, width, height).swapaxes(1, 2).reshape(len(X), -1))


def without(matrix: Any, columns: tuple[int, ...], name: str) -> Any:
    """A table without some columns, counted from 1."""
    if bad := [column for column in columns if not 1 <= column <= matrix.shape[1]]:
        raise BadInput(
            f"{name} has columns 1 to {matrix.shape[1]:,}. There is no column {bad[0]:,} to leave"
            " out."
        )
    remaining = np.setdiff1d(np.arange(matrix.shape[1]), np.array(columns, int) - 1)
    return matrix[:, remaining]


def upright(
    matrix: Any, name: str, transpose: bool, features: int | None, *, square: bool
) -> tuple[Any, str]:
    """A table with one row per sample, and a note about its orientation.

    square: whether only the number of columns tells the size of images.
    """
    rows, columns = matrix.shape
    if transpose or (features is not None and rows == features != columns):
        return matrix.T, (
            f"'{name}' has {rows:,} rows and {columns:,} columns. Its rows are the features, so it"
            " was transposed: each column is a sample."
        )
    may_be_pixels = all(round(count**0.5) ** 2 == count > 1 for count in (rows, columns))
    if square and not is_sparse(matrix) and rows != columns and may_be_pixels:
        return matrix, (
            f"Each of the {rows:,} rows of '{name}' was taken as an image. If its rows are the"
            " pixels, declare it (after a path: transpose=1)."
        )
    return matrix, ""


def from_matlab(
    path: Path,
    *,
    name: str,
    key: str | None = None,
    image: tuple[int, int] | None = None,
    drop: tuple[int, ...] = (),
    public: bool = False,
    order: Literal["columns", "lines"] = "columns",
    transpose: bool = False,
    features: int | None = None,
) -> tuple[Samples, Report]:
    """Read images (dense) or word counts (sparse), one per row.

    order: of the pixels, column by column as in MATLAB, or line by line. transpose: one per column;
    also assumed if the rows, not the columns, match the declared features (or pixels of `image`).
    """
    matrix, matrix_name = table(path, key)
    matrix, note = upright(
        matrix,
        matrix_name,
        transpose,
        features or (image[0] * image[1] if image else None),
        square=image is None,
    )
    matrix = without(matrix, drop, f"'{matrix_name}'")
    note += f" Columns {', '.join(map(str, drop))} were left out." if drop else ""
    if is_sparse(matrix):
        return _documents(matrix, name, public, note.strip())
    size = side_of(matrix.shape[1], f"'{matrix_name}'", image)
    rows = np.asarray(matrix, np.float64)
    assumptions = () if public or image else (IMAGE_SIZE_IS_PUBLIC,)
    samples = Samples.of(
        turned(rows, size) if order == "columns" else rows,
        image=size,
        unit="image",
        name=name,
        public=public,
        assumptions=assumptions,
    )
    if order == "columns":
        note += (
            " Pixels were read column by column, as MATLAB stores them. If they are stored line by"
            " line, declare it (after a path: order=lines)."
        )
    return samples, _report(samples, note.strip(), ("images", "pixels"))


def _documents(matrix: Any, name: str, public: bool, note: str) -> tuple[Samples, Report]:
    """Word counts, one document per row, for a table without the words."""
    samples = Samples.of(
        matrix,
        vocabulary=tuple(f"term {j + 1}" for j in range(matrix.shape[1])),
        unit="document",
        name=name,
        public=public,
        assumptions=(WORDS_ARE_PUBLIC,),
    )
    return samples, _report(samples, note, ("documents", "words"))


def _report(
    samples: Samples, note: str, what: tuple[str, str], problems: tuple[Problem, ...] = ()
) -> Report:
    n, d = samples.X.shape
    return Report(
        name=samples.name,
        read=n,
        kept=n,
        n_users=n,
        n_items=d,
        note=note,
        what=what,
        problems=problems,
    )


def pictures(
    path: Path, *, name: str, image: tuple[int, int] | None = None, white: float | None = None
) -> tuple[Samples, Report]:
    """Read every picture of a folder or archive in shades of grey, upright, at one size.

    The size is declared or the most common one. The report counts all changes. white: the declared
    value of white in pictures with more than 8 bits. Raises BadInput if most pictures are damaged
    or fewer than three are left.
    """
    with members_of(path) as members:
        names = sorted(
            member for member in members.names if not Path(member).name.startswith((".", "__"))
        )
        if len(names) > MOST_FILES:
            raise BadInput(
                f"{file_name(path)} holds {len(names):,} files; at most {MOST_FILES:,} are read."
            )
        size = image or _commonest(members, names)
        if size is not None and size[0] * size[1] > LARGEST:
            raise BadInput(
                f"The pictures have {size[0]} x {size[1]} pixels; the limit is {LARGEST:,}. Declare"
                " a smaller size: image=H,W."
            )
        rows, titles, tally = _grey_rows(
            members, names if size else [], size or (0, 0), image is not None, white
        )
    n_damaged = tally.counts.get(picture_files.DAMAGED_PICTURE, 0)
    if len(rows) < 3 or size is None:
        raise BadInput(
            f"{file_name(path)} holds {len(rows)} pictures ({', '.join(PICTURES)}); at least 3 are"
            f" needed. Other files: {len(names) - len(rows)}."
        )
    if n_damaged > len(rows):
        raise BadInput(
            f"{n_damaged:,} of the {n_damaged + len(rows):,} pictures of {file_name(path)} are cut"
            " short or damaged. Copy them again."
        )
    problems = tuple(
        replace(problem, where="file") for problem in tally.problems(lambda place: place + 1)
    )
    assumptions = () if image else (IMAGE_SIZE_IS_PUBLIC,)
    samples = Samples.of(
        np.stack(rows),
        image=size,
        unit="image",
        name=name,
        titles=tuple(titles),
        assumptions=assumptions,
    )
    return samples, replace(_report(samples, "", ("images", "pixels"), problems), read=len(names))


def _grey_rows(
    members: Members,
    names: list[str],
    size: tuple[int, int],
    is_declared: bool,
    white: float | None,
) -> tuple[list[Array], list[str], Tally]:
    """The pixels of every picture among some files, their names, and counts of changes."""
    rows, titles, tally = [], [], Tally()
    for place, name in enumerate(names):
        try:
            grey, repairs = picture_files.grey(_content(members, name), name, white)
        except (picture_files.Unusable, OSError) as why:
            tally.add(_left_out(name, why), np.array([place]), name)
            continue
        row, size_repairs = _fit_to_size(grey, size, is_declared)
        rows.append(row)
        titles.append(name)
        for kind in (*repairs, *size_repairs):
            tally.add(kind, np.array([place]), name)
    return rows, titles, tally


def _content(members: Members, name: str) -> bytes:
    with members.open(name) as stream:
        return stream.read()


def _commonest(members: Members, names: list[str]) -> tuple[int, int] | None:
    """The most common size, the smaller of two; None if there is no picture.

    It becomes an assumption.
    """
    sizes: Counter[tuple[int, int]] = Counter()
    for name in names:
        try:
            sizes[picture_files.size(_content(members, name))] += 1
        except (picture_files.Unusable, OSError):
            continue  # counted when it is read
    return min(sizes, key=lambda size: (-sizes[size], size[0] * size[1], size), default=None)


def _left_out(name: str, why: Exception) -> str:
    """The kind of problem of a file that gives no picture."""
    if not name.lower().endswith(PICTURES):
        return UNREADABLE
    return str(why) if isinstance(why, picture_files.Unusable) else picture_files.DAMAGED_PICTURE


def _fit_to_size(
    grey: Any, size: tuple[int, int], is_declared: bool
) -> tuple[Array, tuple[str, ...]]:
    """The pixels of a picture at a size, line by line, and the changes that this made."""
    height, width = size
    repairs: tuple[str, ...] = ()
    if grey.size != (width, height):
        stretched = abs(grey.width * height / (grey.height * width) - 1) > STRETCH
        repairs = (STRETCHED_PICTURE,) if stretched else () if is_declared else (RESIZED_PICTURE,)
        grey = grey.resize((width, height))
    return np.clip(np.asarray(grey, np.float64), 0, picture_files.WHITE).ravel(), repairs
