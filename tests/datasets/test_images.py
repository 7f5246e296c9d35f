"""Images: from MATLAB files and archives of pictures."""

import io
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_allclose
from PIL import Image
from scipy.io import savemat

import dpmf_datasets as datasets
from dpmf_core.base.errors import BadInput
from dpmf_datasets import sample_sets
from dpmf_datasets.readers import matlab, picture_files
from tests.datasets.test_sample_sets import portraits


def write_matlab(path, images):
    """A MATLAB file of images (n, height, width), one in a row."""
    savemat(path, {"fea": rows_of(images)})
    return str(path)


def rows_of(images):
    return images.reshape(len(images), -1)


@pytest.mark.parametrize("order", ["columns", "lines"])
def test_matlab_images_are_put_upright(tmp_path, order):
    faces = portraits()
    stored = faces
    if order == "columns":
        stored = faces.swapaxes(1, 2)
    path = tmp_path / "faces.mat"
    savemat(path, {"fea": rows_of(stored), "gnd": np.arange(6)[:, None]})
    samples, report = matlab.samples_of(
        path,
        name="faces",
        order=order,
    )
    assert_allclose(samples.X, rows_of(faces), rtol=1e-6)
    assert ("column by column" in report.words) == (order == "columns")
    with_order = datasets.load(f"{path}?key=fea&order={order}")
    assert_allclose(with_order.X, samples.X, rtol=1e-6)
    with pytest.raises(BadInput, match="pixels"):
        datasets.load(f"{path}?order=sideways")


def test_how_private_images_are_stored_is_not_read_off_them(tmp_path):
    """One image can turn the mean picture, so the order of pixels is declared."""
    faces = portraits()
    turned = faces.swapaxes(1, 2)
    without_first = faces.copy()
    without_first[0] = 0
    lying = datasets.load(write_matlab(tmp_path / "lying.mat", faces))
    standing = datasets.load(write_matlab(tmp_path / "standing.mat", turned))
    without = datasets.load(write_matlab(tmp_path / "without.mat", without_first))
    assert not lying.public
    # as MATLAB stores them
    assert_allclose(standing.X, rows_of(faces), rtol=1e-6)
    assert_allclose(lying.X, rows_of(turned), rtol=1e-6)
    assert np.array_equal(without.X[1:], lying.X[1:])


def test_images_that_are_no_square_need_their_size(tmp_path):
    rows = np.concatenate([portraits().reshape(6, -1), np.ones((6, 1))], axis=1)
    savemat(tmp_path / "faces.mat", {"fea": rows})
    path = str(tmp_path / "faces.mat")
    with pytest.raises(BadInput, match="columns"):
        datasets.load(path)
    assert datasets.load(path + "?drop=145").image == (12, 12)
    with pytest.raises(BadInput, match="10 x 10 have 100 pixels"):
        datasets.load(path + "?image=10,10")
    with pytest.raises(BadInput, match="column"):
        datasets.load(path + "?drop=146")
    with pytest.raises(BadInput, match="height and width"):
        datasets.load(path + "?image=twelve")
    with pytest.raises(BadInput, match="'gnd'"):
        datasets.load(path + "?key=gnd")


@pytest.mark.parametrize(
    "content", [b"not matlab", b"MATLAB 5.0 MAT-file" + bytes(200)]
)
def test_what_is_no_matlab_file_is_refused(tmp_path, content):
    path = tmp_path / "faces.mat"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=r"faces\.mat"):
        datasets.load(str(path))


def png(picture):
    out = io.BytesIO()
    shades = picture / picture.max() * 255
    Image.fromarray(shades.astype(np.uint8)).save(out, "png")
    return out.getvalue()


def test_pictures_come_from_an_archive_and_what_is_none_is_told(tmp_path):
    path = tmp_path / "faces.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for place, face in enumerate(portraits()):
            archive.writestr(f"faces/{place}.png", png(face))
        archive.writestr("faces/readme.txt", "not a picture")
        archive.writestr("faces/broken.png", png(portraits()[0])[:60])
    samples, report = picture_files.pictures(path, name="faces")
    assert samples.X.shape == (6, 144)
    assert samples.image == (12, 12)
    assert report.read == 8
    assert report.kept == 6
    # it is that of somebody's picture
    assert samples.assumptions == (matlab.IMAGE_SIZE_IS_PUBLIC,)
    with_size = datasets.load(f"{path}?image=6x6")
    assert with_size.X.shape == (6, 36)
    assert with_size.assumptions == (sample_sets.NUMBER_IS_PUBLIC,)
