"""Pictures of every kind are read, and each repair is counted."""

import io

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from PIL import Image

from dpmf_datasets.readers import picture_files

RAMP = np.linspace(0, 1, 48).reshape(6, 8)  # (6, 8), black to white


def picture_bytes(values, form="png", **options):
    out = io.BytesIO()
    Image.fromarray(values).save(out, form, **options)
    return out.getvalue()


def eight(values=RAMP):
    return np.round(255 * values).astype(np.uint8)


def folder(path, **files):
    """A folder of files and three plain pictures; `a_png` is a.png."""
    path.mkdir()
    for number in range(3):
        (path / f"z{number}.png").write_bytes(picture_bytes(eight()))
    for name, content in files.items():
        (path / name.replace("_", ".")).write_bytes(content)
    return path


def read(path, image=None):
    """The pictures by name, with values from 0 to 1, and what was counted."""
    samples, report = picture_files.pictures(
        path,
        name="pictures",
        image=image,
    )
    pictures = {}
    for title, row in zip(samples.titles, samples.X, strict=True):
        pictures[title] = row.reshape(samples.image) / 255
    return pictures, {problem.kind: problem.count for problem in report.problems}


def deep(scale, kind):
    return np.round(scale * RAMP).astype(kind)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a_png", picture_bytes(deep(65535, np.uint16))),
        ("a_tif", picture_bytes(deep(65535, np.uint16), "tiff")),
        ("a_tif", picture_bytes(deep(65535, ">u2"), "tiff")),
        ("a_pgm", b"P5 8 6 65535\n" + deep(65535, ">u2").tobytes()),
        ("a_pgm", b"P5 8 6 4095\n" + deep(4095, ">u2").tobytes()),
    ],
)
def test_deep_pictures_are_scaled_by_their_depth(tmp_path, name, content):
    pictures, problems = read(folder(tmp_path / "x", **{name: content}))
    assert_allclose(pictures[name.replace("_", ".")], RAMP, atol=2e-4)
    assert problems == {picture_files.DEEP: 1}


def test_a_picture_whose_white_only_its_pixels_tell_is_left_out(tmp_path):
    path = folder(
        tmp_path / "x", a_tif=picture_bytes((2 * RAMP).astype(np.float32), "tiff")
    )
    pictures, problems = read(path)
    assert "a.tif" not in pictures
    assert problems == {picture_files.NO_WHITE: 1}


def shapes_of(pictures):
    return {picture.shape for picture in pictures.values()}


def test_the_commonest_size_is_taken_whatever_comes_first(tmp_path):
    path = folder(
        tmp_path / "x",
        a_png=picture_bytes(eight(np.zeros((12, 16)))),
        b_png=picture_bytes(eight(np.ones((8, 8)))),
    )
    pictures, problems = read(path)
    assert shapes_of(pictures) == {(6, 8)}
    assert pictures["a.png"].max() == 0
    assert pictures["b.png"].min() == 1
    assert problems == {
        picture_files.RESIZED_PICTURE: 1,
        picture_files.STRETCHED_PICTURE: 1,
    }
    samples, _ = picture_files.pictures(path, name="x")
    assert samples.assumptions == (picture_files.IMAGE_SIZE_IS_PUBLIC,)


@pytest.mark.parametrize("form", ["jpeg", "png", "tiff"])
@pytest.mark.parametrize(
    ("orientation", "turn"),
    [
        (3, lambda a: a[::-1, ::-1]),
        (6, lambda a: np.rot90(a, -1)),
        (8, np.rot90),
        (5, np.transpose),
    ],
)
def test_pictures_are_turned_upright(tmp_path, form, orientation, turn):
    """The orientation tag turns a picture; the other three make its size the commonest."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    sideways = picture_bytes(
        eight(),
        form,
        exif=exif,
        quality=98,
    )
    upright = picture_bytes(eight(turn(RAMP)))
    path = tmp_path / "x"
    path.mkdir()
    for name, content in (
        ("a", sideways),
        ("b", upright),
        ("c", upright),
        ("d", upright),
    ):
        (path / f"{name}.{form}").write_bytes(content)
    pictures, problems = read(path)
    assert_allclose(pictures[f"a.{form}"], turn(RAMP), atol=0.02)
    assert problems == {picture_files.TURNED_PICTURE: 1}


@pytest.mark.parametrize("form", ["gif", "png", "tiff", "webp"])
def test_of_an_animation_the_first_frame_is_taken(tmp_path, form):
    frames = [Image.fromarray(eight(values)) for values in (RAMP, 1 - RAMP, 0 * RAMP)]
    out = io.BytesIO()
    frames[0].save(
        out,
        form,
        save_all=True,
        append_images=frames[1:],
        lossless=True,
    )
    name = f"a_{form}"
    pictures, problems = read(folder(tmp_path / "x", **{name: out.getvalue()}))
    assert_allclose(pictures[name.replace("_", ".")], RAMP, atol=3e-3)
    assert problems == {picture_files.FIRST_FRAME: 1}


def test_what_is_transparent_is_white(tmp_path):
    half_black = np.zeros((6, 8, 4), np.uint8)
    half_black[:, 4:, 3] = 255  # black on the right, nothing on the left
    solid = np.dstack([eight(), eight(), eight(), np.full((6, 8), 255, np.uint8)])
    pictures, problems = read(
        folder(
            tmp_path / "x",
            a_png=picture_bytes(half_black),
            b_png=picture_bytes(solid),
        )
    )
    assert_array_equal(pictures["a.png"], np.repeat([[1.0] * 4 + [0.0] * 4], 6, axis=0))
    assert_allclose(pictures["b.png"], RAMP, atol=2e-3)
    assert problems == {picture_files.TRANSPARENT: 1}


@pytest.mark.parametrize("form", ["png", "jpeg", "gif", "bmp", "tiff", "ppm"])
def test_a_picture_cut_anywhere_is_never_read_as_something_else(tmp_path, form):
    """Whatever is missing: it is left out and counted, or every pixel is there."""
    whole = picture_bytes(
        np.random.default_rng(0).integers(0, 256, (6, 8)).astype(np.uint8), form
    )
    path = folder(tmp_path / "x")
    (path / f"a.{form}").write_bytes(whole)
    originals, problems = read(path)
    assert problems == {}
    refusals = 0
    for length in range(1, len(whole), max(1, len(whole) // 40)):
        (path / f"a.{form}").write_bytes(whole[:length])
        pictures, problems = read(path)
        if f"a.{form}" in pictures:
            assert_array_equal(pictures[f"a.{form}"], originals[f"a.{form}"])
        else:
            refusals += 1
            assert sum(problems.values()) == 1
            assert set(problems) <= {
                picture_files.DAMAGED_PICTURE,
                picture_files.UNREADABLE,
            }
    assert refusals > 20


def test_pictures_have_the_size_that_is_declared(tmp_path):
    path = folder(
        tmp_path / "x",
        a_png=picture_bytes(eight(np.zeros((12, 16)))),
        b_png=picture_bytes(eight(np.ones((8, 8)))),
    )
    pictures, problems = read(path, image=(3, 4))
    assert shapes_of(pictures) == {(3, 4)}
    assert problems == {picture_files.STRETCHED_PICTURE: 1}
    samples, _ = picture_files.pictures(
        path,
        name="x",
        image=(3, 4),
    )
    assert samples.assumptions == ()
