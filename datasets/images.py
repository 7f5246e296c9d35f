"""Images from files: MATLAB tables with an image a row or a column, and archives of pictures."""

import io
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from datasets.archives import opened
from datasets.matlab import table
from datasets.report import Problem, Report
from dpmf_core.errors import BadInput
from dpmf_core.samples import VOCABULARY_IS_PUBLIC, Samples, is_sparse

Array = npt.NDArray[Any]
IMAGE_SIZE_IS_PUBLIC = "the size of the images is public"  # where it is read off them
PICTURES = (".png", ".jpg", ".jpeg", ".pgm", ".bmp", ".gif", ".tif", ".tiff")
UNREADABLE = "file that is no picture, left out"
MOST_PIXELS, MOST_FILES = 40_000_000, 200_000
LARGEST = 10_000  # pixels of a picture that parts are found in


def side_of(columns: int, name: str, declared: tuple[int, int] | None) -> tuple[int, int]:
    """Height and width of images with so many pixels. Raises BadInput where they are no square and not declared."""
    if declared is not None:
        if declared[0] * declared[1] != columns:
            raise BadInput(f"Images of {declared[0]} x {declared[1]} have {declared[0] * declared[1]:,} pixels; the rows of {name} have {columns:,} columns.")
        return declared
    side = round(columns**0.5)
    if side * side != columns:
        raise BadInput(
            f"The rows of {name} have {columns:,} columns, which is no square image. Declare height and width (image=H,W), "
            "or which columns hold no pixels (drop=C1,C2, counted from 1)."
        )
    return side, side


def turned(X: Array, image: tuple[int, int]) -> Array:
    """Rows of pixels that were read column by column, line by line."""
    height, width = image
    return np.ascontiguousarray(X.reshape(-1, width, height).swapaxes(1, 2).reshape(len(X), -1))


def by_columns(X: Array, image: tuple[int, int]) -> bool:
    """Whether the pixels of public images seem to be stored column by column. It looks at all of them, so on private ones it would be a release.

    Faces are alike to the left and to the right, not above and below: of both readings the one whose mean is more so. Where the picture is no square
    the reading with fewer jumps between neighbours is taken.
    """
    height, width = image
    mean = X.mean(axis=0)
    plain, other = mean.reshape(height, width), mean.reshape(width, height).T
    return bool(_lopsided(other) < _lopsided(plain) if height == width else _jumps(other) < _jumps(plain))


def _lopsided(picture: Array) -> float:
    """How much less alike its left and right halves are than its upper and lower ones."""
    return float(np.abs(picture - picture[:, ::-1]).sum() - np.abs(picture - picture[::-1]).sum())


def _jumps(picture: Array) -> float:
    return float(np.abs(np.diff(picture, axis=0)).sum() + np.abs(np.diff(picture, axis=1)).sum())


def without(matrix: Any, columns: tuple[int, ...], name: str) -> Any:
    """A table without some columns, counted from 1."""
    if bad := [column for column in columns if not 1 <= column <= matrix.shape[1]]:
        raise BadInput(f"{name} has columns 1 to {matrix.shape[1]:,}. There is no column {bad[0]:,} to leave out.")
    kept = np.setdiff1d(np.arange(matrix.shape[1]), np.array(columns, int) - 1)
    return matrix[:, kept]


def from_matlab(
    path: Path, *, name: str, key: str | None = None, image: tuple[int, int] | None = None, drop: tuple[int, ...] = (), public: bool = False,
    order: Literal["columns", "lines"] | None = None,
) -> tuple[Samples, Report]:  # fmt: skip
    """Images (dense) or word counts (sparse), a row each. order: of the pixels; undeclared, public images tell it, private ones are as MATLAB has them."""
    matrix, found = table(path, key)
    matrix = without(matrix, drop, f"'{found}'")
    note = f"Columns {', '.join(map(str, drop))} were left out." if drop else ""
    if is_sparse(matrix):
        words = tuple(f"term {j + 1}" for j in range(matrix.shape[1]))
        samples = Samples.of(matrix, vocabulary=words, unit="document", name=name, public=public, assumptions=(VOCABULARY_IS_PUBLIC,))
        return samples, _report(samples, note, ("documents", "words"))
    size = side_of(matrix.shape[1], f"'{found}'", image)
    rows = np.asarray(matrix, np.float64)
    columns = order == "columns" if order else not public or by_columns(rows, size)
    assumptions = () if public or image else (IMAGE_SIZE_IS_PUBLIC,)
    samples = Samples.of(turned(rows, size) if columns else rows, image=size, unit="image", name=name, public=public, assumptions=assumptions)
    if columns:
        note += " Pixels were stored column by column, as MATLAB does; they were put upright."
        note += " Not so? Declare order=lines." * (order is None and not public)
    return samples, _report(samples, note.strip(), ("images", "pixels"))


def _report(samples: Samples, note: str, what: tuple[str, str], problems: tuple[Problem, ...] = ()) -> Report:
    n, d = samples.X.shape
    return Report(name=samples.name, read=n, kept=n, n_users=n, n_items=d, note=note, what=what, problems=problems)


def pictures(path: Path, *, name: str, image: tuple[int, int] | None = None) -> tuple[Samples, Report]:
    """Every picture of a folder or archive in shades of grey, at the size declared or that of the first; others are counted and left out."""
    from PIL import Image

    rows, titles, bad = [], [], []
    assumptions = () if image else (IMAGE_SIZE_IS_PUBLIC,)
    with opened(path) as members:
        names = sorted(member for member in members.names if not Path(member).name.startswith((".", "__")))
        if len(names) > MOST_FILES:
            raise BadInput(f"{path} holds {len(names):,} files; at most {MOST_FILES:,} are read.")
        for place, member in enumerate(names):
            try:
                with members.open(member) as stream, Image.open(io.BytesIO(stream.read())) as picture:
                    if picture.width * picture.height > MOST_PIXELS:
                        raise ValueError("too large")
                    image = image or (picture.height, picture.width)
                    if image[0] * image[1] > LARGEST:
                        break
                    grey = picture.convert("L")
                    rows.append(np.asarray(grey.resize(image[::-1]) if grey.size != image[::-1] else grey, np.float64).ravel())
                    titles.append(member)
            except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
                bad.append((place, member))
    if image is not None and image[0] * image[1] > LARGEST:
        raise BadInput(f"The pictures have {image[0]} x {image[1]} pixels; parts are found in at most {LARGEST:,}. Declare a smaller size: image=H,W.")
    if len(rows) < 3 or image is None:
        raise BadInput(f"{path} holds {len(rows)} pictures ({', '.join(PICTURES)}); at least 3 are needed. Other files: {len(bad)}.")
    lines = tuple(place + 1 for place, _ in bad[:5])
    problems = (Problem(UNREADABLE, len(bad), lines, bad[0][1]),) if bad else ()
    samples = Samples.of(np.stack(rows), image=image, unit="image", name=name, titles=tuple(titles), assumptions=assumptions)
    return samples, _report(samples, "", ("images", "pixels"), problems)
