"""Documents and images by name: what there is, how it is made, downloaded, or read from files."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpmf_core.data.catalogue import SampleEntry
from dpmf_core.data.samples import NUMBER_IS_PUBLIC, Samples
from dpmf_core.errors import BadInput
from dpmf_core.paths import workplace
from dpmf_datasets.download import terms
from dpmf_datasets.readers import images, matlab, text
from dpmf_datasets.readers.encodings import Reader
from dpmf_datasets.readers.ratings_detection import ratings_tables
from dpmf_datasets.readers.report import Report
from dpmf_datasets.readers.table import file_name
from dpmf_datasets.simulated.faces import faces
from dpmf_datasets.simulated.news import news
from dpmf_datasets.source import Source

Read = tuple[Samples, Report]
RESEARCH = "Research use; do not redistribute."
ZJU = "http://www.cad.zju.edu.cn/home/dengcai/Data/"


def _simulated_entry(id: str, title: str, words: str, **facts: Any) -> SampleEntry:  # noqa: A002
    return SampleEntry(
        id=id,
        title=title,
        kind="simulated",
        words=words,
        licence="Simulated: free of rights.",
        citation="Simulated here.",
        size_mb=0,
        home="",
        **facts,
    )


ENTRIES = (
    _simulated_entry(
        "news",
        "News, invented",
        "Invented news on eight topics whose words are known: ready at once.",
        holds="documents",
        n_samples=4_000,
        n_features=258,
    ),
    _simulated_entry(
        "faces",
        "Faces, invented",
        "Sums of thirteen parts at known places, under varying light: ready at once.",
        holds="images",
        n_samples=4_000,
        n_features=576,
        image=(24, 24),
        n_components=13,
    ),
    SampleEntry(
        id="digits",
        title="Digits",
        kind="simulated",
        words="1,797 handwritten digits of 8 x 8 pixels, part of scikit-learn.",
        size_mb=0,
        holds="images",
        n_samples=1_797,
        n_features=64,
        image=(8, 8),
        n_components=16,
        licence="CC BY 4.0 (UCI Machine Learning Repository).",
        citation="E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI, 1998",
        home="https://archive.ics.uci.edu/dataset/80/optical+recognition+of+handwritten+digits",
    ),
    SampleEntry(
        id="olivetti",
        title="Olivetti faces",
        kind="download",
        words="400 photographs of 40 people, 64 x 64 pixels.",
        size_mb=4.2,
        holds="images",
        n_samples=400,
        n_features=4_096,
        image=(64, 64),
        n_components=30,
        each=10,
        licence="Free for research when AT&T Laboratories Cambridge is credited.",
        citation=(
            "F. Samaria and A. Harter, Parameterisation of a Stochastic Model for Human Face"
            " Identification, WACV 1994"
        ),
        home="https://scikit-learn.org/stable/datasets/real_world.html#the-olivetti-faces-dataset",
    ),
    SampleEntry(
        id="20newsgroups",
        title="20 Newsgroups",
        kind="download",
        words="18,846 posts to twenty newsgroups, headers and quotations taken out.",
        size_mb=14,
        holds="documents",
        n_samples=18_846,
        n_features=106_705,
        n_components=20,
        licence="Public posts, no stated licence.",
        citation="K. Lang, NewsWeeder: Learning to Filter Netnews, ICML 1995",
        home="http://qwone.com/~jason/20Newsgroups/",
    ),
    SampleEntry(
        id="rcv1",
        title="RCV1, a part",
        kind="download",
        words="20,242 Reuters stories of 1996, words as numbers.",
        size_mb=656,
        holds="documents",
        n_samples=20_242,
        n_features=47_236,
        n_components=4,
        licence="Token files: research use, cite the paper.",
        citation=(
            "D. Lewis, Y. Yang, T. Rose and F. Li, RCV1: A New Benchmark Collection for Text"
            " Categorization Research, JMLR 5, 2004"
        ),
        home="https://scikit-learn.org/stable/datasets/real_world.html#rcv1-dataset",
    ),
    SampleEntry(
        id="yaleb",
        title="Extended Yale B",
        kind="file",
        words="2,414 photographs of 38 people under many lights, 32 x 32 pixels.",
        size_mb=3,
        holds="images",
        n_samples=2_414,
        n_features=1_024,
        image=(32, 32),
        n_components=38,
        each=64,
        licence=RESEARCH,
        citation=(
            "A. Georghiades, P. Belhumeur and D. Kriegman, From Few to Many, PAMI 23(6), 2001; K."
            " Lee, J. Ho and D. Kriegman, PAMI 27(5), 2005"
        ),
        home=f"{ZJU}FaceData.html",
    ),
    SampleEntry(
        id="orl",
        title="ORL faces",
        kind="file",
        words="400 photographs of 40 people, 32 x 32 pixels.",
        size_mb=1,
        holds="images",
        n_samples=400,
        each=10,
        n_features=1_024,
        image=(32, 32),
        n_components=25,
        licence=RESEARCH,
        citation="F. Samaria and A. Harter, WACV 1994",
        home=f"{ZJU}FaceData.html",
    ),
    SampleEntry(
        id="cbcl",
        title="CBCL faces",
        kind="file",
        words="2,429 faces of 19 x 19 pixels.",
        size_mb=1,
        holds="images",
        n_samples=2_429,
        n_features=361,
        image=(19, 19),
        n_components=50,
        licence=RESEARCH,
        citation="MIT Center for Biological and Computation Learning, CBCL Face Database 1, 2000",
        home="http://www.ai.mit.edu/projects/cbcl",
    ),
    SampleEntry(
        id="tdt2",
        title="TDT2, 30 topics",
        kind="file",
        words="9,394 news stories of 1998 as word counts.",
        size_mb=8,
        holds="documents",
        n_samples=9_394,
        n_features=36_771,
        n_components=30,
        licence="Counts only; the text belongs to LDC (LDC2001T57). " + RESEARCH,
        citation="C. Cieri, D. Graff, M. Liberman, N. Martey and S. Strassel, TDT2, LDC 1999",
        home=f"{ZJU}TextData.html",
    ),
    SampleEntry(
        id="guardian",
        title="Guardian articles",
        kind="file",
        words="Articles of the Guardian, one a line or one a file.",
        size_mb=0,
        holds="documents",
        n_samples=4_551,
        n_features=10_801,
        n_components=8,
        licence="Under the terms of the Guardian Open Platform.",
        citation=(
            "D. Greene and J. Cross, Exploring the Political Agenda of the European Parliament,"
            " 2017"
        ),
        home="https://open-platform.theguardian.com/",
    ),
    SampleEntry(
        id="uci-news",
        title="UCI news headlines",
        kind="file",
        words="750 headlines of each of four kinds.",
        size_mb=29,
        holds="documents",
        n_samples=3_000,
        n_features=6_000,
        n_components=7,
        licence="CC BY 4.0.",
        citation="F. Gasparetti, News Aggregator, UCI Repository, 2016",
        home="https://archive.ics.uci.edu/dataset/359/news+aggregator",
    ),
)


def _digits(seed: int) -> Samples:
    from sklearn.datasets import load_digits

    return Samples.of(load_digits().data, image=(8, 8), unit="image", name="digits", public=True)


_MAKERS: dict[str, Callable[[int], Samples]] = {
    "news": lambda seed: news(seed=seed),
    "faces": lambda seed: faces(seed=seed),
    "digits": _digits,
}


def _make(entry: SampleEntry, seed: int) -> Samples:
    return _MAKERS[entry.id](seed)


def read(entry: SampleEntry, path: Path) -> tuple[Samples, Report]:
    """A set's official files: those of its home, or the copies that are passed around. Raises
    BadInput where they are something else.

    What has not as many rows as the published set is private data under its name.
    """
    if not path.exists():
        raise BadInput(f"There is no file or folder {file_name(path)}.")
    samples, report = _read(entry, path)
    if len(samples) == entry.n_samples and (
        entry.holds == "documents" or samples.X.shape[1] == entry.n_features
    ):
        return samples, report
    private, report = _read(entry, path, public=False)
    note = (
        f"This is not the whole of {entry.title}, which has {entry.n_samples:,} {entry.holds}: it"
        " is treated as private data."
    )
    return private.assuming(NUMBER_IS_PUBLIC), replace(report, note=f"{report.note} {note}".strip())


def _read(entry: SampleEntry, path: Path, public: bool = True) -> Read:
    return _READERS[entry.id](entry, path, public)


def _posts(entry: SampleEntry, path: Path, public: bool) -> Read:
    reader = Reader(otherwise="latin-1")  # as scikit-learn reads them
    texts, subjects = text.posts(text.files(path, reader))
    return text.documents(texts, name=entry.id, titles=subjects, public=public, reader=reader)


def _headlines(entry: SampleEntry, path: Path, public: bool) -> Read:
    reader = Reader()
    return text.documents(text.headlines(path, reader), name=entry.id, public=public, reader=reader)


def _by_fetch_alone(entry: SampleEntry, path: Path, public: bool) -> Read:
    raise BadInput(
        f"{entry.id} is read by `fetch` only: scikit-learn puts its five files together."
    )


def _articles(entry: SampleEntry, path: Path, public: bool) -> Read:
    if tables := ratings_tables(path):
        raise BadInput(
            f"{file_name(path)} holds a table of ratings, {file_name(tables[0])}: that is not"
            f" {entry.title}. Give a file or a folder of texts."
        )
    reader = Reader()
    if path.is_dir() or path.suffix.lower() in (".zip", ".gz", ".tar", ".xz", ".tgz"):
        texts = [content for _, content in text.files(path, reader)]
    else:
        texts = text.lines(path, reader)
    return text.documents(texts, name=entry.id, public=public, reader=reader)


def _matlab(entry: SampleEntry, path: Path, public: bool) -> Read:
    file = next(iter(sorted(path.glob("*.mat"))), path) if path.is_dir() else path
    if file.suffix.lower() != ".mat":
        if file.suffix.lower() in (".zip", ".tar") or path.is_dir():
            samples, report = images.pictures(path, name=entry.id, image=entry.image)
            return replace(samples, public=public), report
        raise BadInput(
            f"{file_name(file)} is no MATLAB file. {entry.title} is read from one: a row for each"
            f" of its {entry.holds}."
        )
    drop: tuple[int, ...] = ()
    if entry.id == "tdt2" and matlab.table(file)[0].shape[1] == entry.n_features + 2:
        # the class, and a column that nobody explains
        drop = (entry.n_features + 1, entry.n_features + 2)
    return images.from_matlab(
        file, name=entry.id, image=entry.image, drop=drop, public=public, features=entry.n_features
    )


_READERS: dict[str, Callable[[SampleEntry, Path, bool], Read]] = {
    "20newsgroups": _posts, "uci-news": _headlines, "guardian": _articles, "rcv1": _by_fetch_alone,
    "yaleb": _matlab, "orl": _matlab, "cbcl": _matlab, "tdt2": _matlab, "olivetti": _matlab,
}  # fmt: skip


def fetch_samples(entry: SampleEntry, accept_licence: bool) -> Samples:
    """By scikit-learn's fetchers, which know addresses and checksums; their own copy goes, ours
    stays. Raises BadInput without network or consent.
    """
    if not accept_licence:
        raise BadInput(
            f"{terms(entry)}\nNothing was downloaded. If you accept these terms, repeat the command"
            " with --accept-licence."
        )
    with tempfile.TemporaryDirectory(dir=workplace(), prefix="download-") as aside:
        try:
            return _FETCHERS[entry.id](aside)
        except OSError as error:  # what urllib and a checksum that differs raise
            raise BadInput(
                f"{entry.title} could not be downloaded ({type(error).__name__}: {error}). Check"
                f" the network, or get it from {entry.home} and run `python -m dpmf_core import"
                f" {entry.id} PATH`."
            ) from error


def _olivetti(folder: str) -> Samples:
    from sklearn.datasets import fetch_olivetti_faces

    return Samples.of(
        fetch_olivetti_faces(data_home=folder).data,
        image=(64, 64),
        unit="image",
        name="olivetti",
        public=True,
    )


def _newsgroups(folder: str) -> Samples:
    from sklearn.datasets import fetch_20newsgroups

    corpus = fetch_20newsgroups(data_home=folder, subset="all", shuffle=False)
    named_posts = [
        (f"{corpus.target_names[label]}/{place}", post)
        for place, (label, post) in enumerate(zip(corpus.target, corpus.data, strict=True))
    ]
    texts, subjects = text.posts(named_posts)
    return text.documents(texts, name="20newsgroups", titles=subjects, public=True)[0]


def _rcv1(folder: str) -> Samples:
    from sklearn.datasets import fetch_rcv1

    X = fetch_rcv1(data_home=folder, subset="train").data[:20_242]
    words = tuple(f"term {j + 1}" for j in range(X.shape[1]))
    return Samples.of(X, vocabulary=words, unit="document", name="rcv1", public=True)


_FETCHERS: dict[str, Callable[[str], Samples]] = {
    "olivetti": _olivetti,
    "20newsgroups": _newsgroups,
    "rcv1": _rcv1,
}


SOURCES = tuple(
    Source(
        entry,
        make=_make if entry.id in _MAKERS else None,
        read=read if entry.id in _READERS else None,
        fetch=fetch_samples if entry.id in _FETCHERS else None,
    )
    for entry in ENTRIES
)
