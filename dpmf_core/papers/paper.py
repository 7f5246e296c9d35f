"""A source paper: its claims, our corrections, and its methods as published."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import TypeAdapter

from dpmf_core.papers.deviations import Deviation, read_deviations
from dpmf_core.papers.erratum import Erratum
from dpmf_core.papers.figures import Claim, Preset, texts
from dpmf_core.papers.theory import Bound


@dataclass(frozen=True, kw_only=True)
class PrintedTable:
    """A table as the paper prints it.

    Attributes
    ----------
    title
        Its subject.
    place
        Where the paper prints it.
    rows
        What the table says of each method, by the method's name.
    note
        What readers need to know about the table.
    columns
        The headings of the two columns of `rows`.
    """

    title: str
    place: str
    rows: Mapping[str, str]
    note: str = ""
    columns: tuple[str, ...] = ("method", "order")


ERRATA = TypeAdapter(tuple[Erratum, ...])
TABLES = TypeAdapter(tuple[PrintedTable, ...])


@dataclass(frozen=True, kw_only=True)
class Paper:
    """One of the source papers.

    Each has a folder in this package and a line in the registry.

    Attributes
    ----------
    id
        The name in addresses, such as `chien-2021`.
    short
        The short citation, such as "Chien et al. 2021". The source of each claim begins with it.
    citation
        Authors, title, venue and year.
    url
        The address of the published text.
    about
        What the paper proposes, in one sentence.
    claims
        Statements of the paper that measured results can contradict.
    errata
        Our corrections, each with its status.
    presets
        The paper's methods, with the settings and protocol that it publishes.
    bounds
        The paper's error bounds. Each axis of a bound has a claim.
    tables
        The comparisons of methods that the paper prints.
    deviations
        Where our algorithms depart from the paper's own, by the algorithm's id.
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
    deviations: Mapping[str, tuple[Deviation, ...]]


def read_paper(
    package: str,
    claims: Sequence[Claim],
    presets: Sequence[Preset],
    bounds: Sequence[Bound] = (),
) -> Paper:
    """The paper of a package, which has its texts and errata in `paper.toml`."""
    content = texts(package)
    return Paper(
        **content["paper"],
        claims=tuple(claims),
        errata=ERRATA.validate_python(content["errata"]),
        presets=tuple(presets),
        bounds=tuple(bounds),
        tables=TABLES.validate_python(content.get("tables", ())),
        deviations=read_deviations(package),
    )
