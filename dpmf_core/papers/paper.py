"""A source paper: its claims, our corrections, and its methods as published."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dpmf_core.papers.erratum import Erratum, Means, Status
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

    Attributes
    ----------
    id : str
        Its name in addresses, as `chien-2021`.
    short : str
        How it is cited, as "Chien et al. 2021". Each claim's source starts with it.
    citation : str
        Authors, title, venue and year.
    url : str
        Where the published text is.
    about : str
        What the paper proposes, in one sentence.
    claims : tuple of Claim
        What the paper states and measured results can contradict.
    errata : tuple of Erratum
        What of the paper is corrected, and with which status.
    presets : tuple of Preset
        The paper's methods with its published settings and protocol.
    bounds : tuple of Bound
        Its error bounds; each has a claim along each of its axes.
    tables : tuple of PrintedTable
        Its printed comparisons of methods.
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
    means: Mapping[str, Means],
    presets: Sequence[Preset],
    bounds: Sequence[Bound] = (),
) -> Paper:
    """Return the paper of a folder with its `paper.toml`. means: of each correction, by its id."""
    content = texts(package)
    return Paper(
        **content["paper"],
        claims=tuple(claims),
        errata=tuple(
            Erratum(**{**it, "means": means[it["id"]], "status": Status(it["status"])})
            for it in content["errata"]
        ),
        presets=tuple(presets),
        bounds=tuple(bounds),
        tables=tuple(PrintedTable(**it) for it in content.get("tables", ())),
    )
