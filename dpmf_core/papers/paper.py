"""A source paper: its claims, our corrections, and its methods as published."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpmf_core.papers.erratum import Erratum, read_erratum
from dpmf_core.papers.figures import Claim, Preset, texts
from dpmf_core.papers.theory import Bound


@dataclass(frozen=True, kw_only=True)
class PrintedTable:
    """A printed table.

    title: its subject. place: where it is printed. rows: the note of each name. note: what readers
    need to know. columns: headings of names and notes.
    """

    title: str
    place: str
    rows: Mapping[str, str]
    note: str = ""
    columns: Sequence[str] = ("method", "order")


@dataclass(frozen=True, kw_only=True)
class Paper:
    """One of the source papers; a folder of this package, and one line in the registry.

    id: its name in addresses, as `chien-2021`. short: how it is cited, as "Chien et al. 2021"; each
    claim's source starts with it. citation: authors, title, venue and year. url: of the published
    text. about: what it proposes, in one sentence. claims: what it states and measured results can
    contradict. errata: what of it is corrected, and with which status. presets: its methods with
    its published settings and protocol. bounds: its error bounds; each has a claim along each of
    its axes. tables: its printed comparisons of methods.
    """

    id: str
    short: str
    citation: str
    url: str
    about: str
    claims: tuple[Claim, ...]
    errata: tuple[Erratum, ...]
    presets: tuple[Preset, ...]
    bounds: tuple[Bound, ...]
    tables: tuple[PrintedTable, ...]


def read_paper(
    package: str,
    claims: Sequence[Claim],
    presets: Sequence[Preset],
    bounds: Sequence[Bound] = (),
) -> Paper:
    """The paper of a folder with its `paper.toml`."""
    content = texts(package)
    return Paper(
        **content["paper"],
        claims=tuple(claims),
        errata=tuple(read_erratum(**table) for table in content["errata"]),
        presets=tuple(presets),
        bounds=tuple(bounds),
        tables=tuple(PrintedTable(**table) for table in content.get("tables", ())),
    )
