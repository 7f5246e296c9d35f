"""Published documents and images: how their official files are read or downloaded."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from dpmf_core.base.errors import BadInput
from dpmf_core.base.extras import extra
from dpmf_core.data.catalogue import SampleEntry
from dpmf_core.data.samples import NUMBER_IS_PUBLIC, Samples, SamplesAndReport
from dpmf_datasets.readers import matlab, picture_files, text
from dpmf_datasets.readers.encodings import Reader
from dpmf_datasets.readers.table import file_name

ReadFiles = Callable[[SampleEntry, Path], SamplesAndReport]


def read(read_files: ReadFiles, entry: SampleEntry, path: Path) -> SamplesAndReport:
    """Read a set's official files, or common copies of them.

    A set with fewer rows than the published one is private data under its name. Raises BadInput if
    the files are something else.
    """
    if not path.exists():
        raise BadInput(f"There is no file or folder {file_name(path)}.")
    samples, report = read_files(entry, path)
    if len(samples) == entry.n_samples and (
        entry.holds == "documents" or samples.X.shape[1] == entry.n_features
    ):
        return replace(samples, public=True, assumptions=()), report
    note = (
        f"This is not all of {entry.title}, which has {entry.n_samples:,} {entry.holds}, so it is"
        " treated as private data."
    )
    return samples.assuming(NUMBER_IS_PUBLIC), replace(
        report, assumed=(*report.assumed, note)
    )


def _posts(entry: SampleEntry, path: Path) -> SamplesAndReport:
    reader = Reader(otherwise="latin-1")  # as scikit-learn reads them
    texts, subjects = text.posts(text.files(path, reader))
    return text.documents(
        texts,
        name=entry.id,
        titles=subjects,
        reader=reader,
    )


def _headlines(entry: SampleEntry, path: Path) -> SamplesAndReport:
    return text.documents(text.headlines(path), name=entry.id)


def _by_fetch_alone(entry: SampleEntry, path: Path) -> SamplesAndReport:
    raise BadInput(
        f"{entry.id} can only be read by `fetch`: scikit-learn combines its five files."
    )


def _articles(entry: SampleEntry, path: Path) -> SamplesAndReport:
    with extra("files"):
        from dpmf_datasets.readers.tables import ratings_tables

    if tables := ratings_tables(path):
        raise BadInput(
            f"{file_name(path)} holds a table of ratings, {file_name(tables[0])}, not"
            f" {entry.title}. Give a file or a folder of texts."
        )
    reader = Reader()
    if path.is_dir() or path.suffix.lower() in (".zip", ".gz", ".tar", ".xz", ".tgz"):
        texts = [content for _, content in text.files(path, reader)]
    else:
        texts = text.lines(path.read_bytes(), reader)
    return text.documents(texts, name=entry.id, reader=reader)


def _matlab(entry: SampleEntry, path: Path) -> SamplesAndReport:
    if path.is_dir():
        file = next(iter(sorted(path.glob("*.mat"))), path)
    else:
        file = path
    if file.suffix.lower() != ".mat":
        if file.suffix.lower() in (".zip", ".tar") or path.is_dir():
            return picture_files.pictures(path, name=entry.id, image=entry.image)
        raise BadInput(
            f"{file_name(file)} is not a MATLAB file. {entry.title} needs one, with one row for"
            f" each of its {entry.holds}."
        )
    drop: tuple[int, ...] = ()
    if entry.id == "tdt2":
        with file.open("rb") as stream:
            columns = matlab.table(stream, file.name)[0].shape[1]
        if columns == entry.n_features + 2:
            drop = (columns - 1, columns)  # the class, and an unexplained column
    return matlab.samples_of(
        file,
        name=entry.id,
        image=entry.image,
        drop=drop,
        features=entry.n_features,
    )


READERS: dict[str, ReadFiles] = {
    name: partial(read, read_files)
    for name, read_files in (
        ("posts", _posts),
        ("headlines", _headlines),
        ("articles", _articles),
        ("matlab", _matlab),
        ("fetched", _by_fetch_alone),
    )
}


# ---- by scikit-learn, which knows addresses and checksums ----------------------------------------


def digits() -> Samples:
    """The handwritten digits that come with scikit-learn."""
    from sklearn.datasets import load_digits

    return Samples.of(
        load_digits().data,
        image=(8, 8),
        unit="image",
        name="digits",
        public=True,
    )


def _olivetti(folder: str) -> Samples:
    from sklearn.datasets import fetch_olivetti_faces

    rows = fetch_olivetti_faces(data_home=folder).data
    return Samples.of(
        rows,
        image=(64, 64),
        unit="image",
        name="olivetti",
        public=True,
    )


def _newsgroups(folder: str) -> Samples:
    from sklearn.datasets import fetch_20newsgroups

    corpus = fetch_20newsgroups(
        data_home=folder,
        subset="all",
        shuffle=False,
    )
    named_posts = [
        (f"{corpus.target_names[label]}/{place}", post)
        for place, (label, post) in enumerate(
            zip(corpus.target, corpus.data, strict=True)
        )
    ]
    texts, subjects = text.posts(named_posts)
    return text.documents(
        texts,
        name="20newsgroups",
        titles=subjects,
        public=True,
    )[0]


def _rcv1(folder: str) -> Samples:
    from sklearn.datasets import fetch_rcv1

    X = fetch_rcv1(data_home=folder, subset="train").data[:20_242]
    words = tuple(f"term {j + 1}" for j in range(X.shape[1]))
    return Samples.of(
        X,
        vocabulary=words,
        unit="document",
        name="rcv1",
        public=True,
    )


FETCHERS: dict[str, Callable[[str], Samples]] = {
    "olivetti": _olivetti,
    "20newsgroups": _newsgroups,
    "rcv1": _rcv1,
}
