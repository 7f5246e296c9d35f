"""Documents and images at a path, with the facts after its '?'."""

from pathlib import Path

from dpmf_core.base.errors import BadInput
from dpmf_core.data.samples import NUMBER_IS_PUBLIC, Samples
from dpmf_datasets.path_facts import value
from dpmf_datasets.readers import images, people, text
from dpmf_datasets.readers.archives import members_of
from dpmf_datasets.readers.encodings import Reader
from dpmf_datasets.readers.report import Report
from dpmf_datasets.readers.table import file_name

ANOTHER_ENCODING = (
    "If that is wrong, declare another encoding (after a path, e.g. encoding=cp1251)."
)


def at(path: Path, facts: dict[str, str]) -> tuple[Samples, Report] | None:
    """Documents or images at a path; None if it holds neither.

    Examples are `docs.txt`, a folder, `news.csv?text=TITLE`, `X.mat?key=fea&image=32,32&drop=1025`.
    group: names the person of each row (`people.with_people`). white: of pictures with more than 8
    bits.
    """
    result = _at(path, facts)
    if result is None:
        if wrong := [fact for fact in people.FACTS if fact in facts]:
            raise BadInput(
                f"'{wrong[0]}' is for documents and images; {path.name} is read as ratings, which"
                " are always grouped by user. Leave it out."
            )
        return None
    samples, report = people.with_people(path, *result, facts)
    return samples.assuming(NUMBER_IS_PUBLIC), report


def _at(path: Path, facts: dict[str, str]) -> tuple[Samples, Report] | None:
    ending = path.suffix.lower()
    if ending == ".mat":
        return images.from_matlab(
            path,
            name=path.name,
            key=value(facts, "key"),
            image=value(facts, "image"),
            drop=value(facts, "drop", ()),
            order=value(facts, "order", "columns"),
            transpose=value(facts, "transpose") == "1",
        )
    reader = Reader(value(facts, "encoding"), advice=ANOTHER_ENCODING)
    if "text" in facts:
        texts = text.column(path, facts["text"], reader)
        return text.documents(texts, name=path.name, reader=reader)
    if ending == ".txt":
        return text.documents(text.lines(path, reader), name=path.name, reader=reader)
    if path.is_dir() or ending in (".zip", ".tar", ".tgz"):
        return _folder(path, facts, reader)
    return None


def _folder(path: Path, facts: dict[str, str], reader: Reader) -> tuple[Samples, Report]:
    with members_of(path) as members:
        endings = {Path(name).suffix.lower() for name in members.names}
    if "image" in facts or endings & set(images.PICTURES):
        image, white = value(facts, "image"), value(facts, "white")
        return images.pictures(path, name=path.name, image=image, white=white)
    if ".txt" not in endings:
        raise BadInput(
            f"{file_name(path)} holds neither pictures ({', '.join(images.PICTURES)}) nor text"
            " files (.txt). For ratings, name the table itself or use `import`."
        )
    names, texts = zip(*text.files(path, reader), strict=True)
    return text.documents(texts, name=path.name, titles=names, reader=reader)
