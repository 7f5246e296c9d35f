"""The table of pages: a new page is a folder with a `page.py`, and one line here."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import parse_qsl

from dpmf_core.base.registry import by_id

FOLDER = Path(__file__).parents[1]
DataKind = Literal["ratings", "documents", "images"]
ONE_RUN = ("algorithm", "calibration", "noise", "row_count")  # controls of a single private run


@dataclass(frozen=True)
class Page:
    """One page of the dashboard.

    id: its address; without hyphens also the name of its folder.
    icon: a name of Google's Material Symbols.
    section: under which the navigation shows it; '' beside the sections.
    data_kind: what the data sets in its sidebar hold; None: it has no sidebar.
    unused: controls of the sidebar that play no part on it, by their names in a link.
    takes_parts: whether its data set may be ratings in parts.
    in_lessons: whether a lesson link may open it.
    for_operator: whether only the operator of the server sees it.
    has_dial: whether epsilon's slider stands at the bottom of a small screen too.
    also: further addresses that lead to it, each with what it adds to the address, if anything.
    """

    id: str
    title: str
    icon: str
    section: str
    data_kind: DataKind | None = "ratings"
    unused: tuple[str, ...] = ()
    takes_parts: bool = False
    in_lessons: bool = True
    for_operator: bool = False
    has_dial: bool = True
    also: tuple[str, ...] = ()

    @property
    def folder(self) -> str:
        return self.id.replace("-", "")

    @property
    def script(self) -> Path:
        return FOLDER / self.folder / "page.py"

    @property
    def material_icon(self) -> str:
        """The icon as Streamlit writes it."""
        return f":material/{self.icon}:"


@dataclass(frozen=True)
class Section:
    """What somebody comes for: pages of one intent.

    icon: a name of Google's Material Symbols. words: what is found there, in a sentence.
    """

    id: str
    icon: str
    words: str

    @property
    def material_icon(self) -> str:
        """The icon as Streamlit writes it."""
        return f":material/{self.icon}:"


SECTIONS = by_id(
    (
        Section("Learn", "school", "Lessons, the words, and what the papers found."),
        Section("Explore", "explore", "Move epsilon and see what happens to recommendations."),
        Section("Choose", "checklist", "An algorithm and an epsilon for data of yours."),
        Section("Verify", "verified", "Account for every release, and attack it."),
        Section("Work", "work", "What has been computed here."),
    )
)

# fmt: off
PAGES = (
    Page("start", "dpmf", "balance", "", None, in_lessons=False, also=("home", "index", "dpmf")),
    Page("lessons", "Lessons", "school", "Learn", None,
         also=("lesson", "course")),
    Page("glossary", "Glossary", "menu_book", "Learn", None,
         also=("terms", "words")),
    Page("papers", "Papers", "fact_check", "Learn", None,
         also=("paper", "theory?section=bounds", "errata?section=corrections",
               "erratum?section=corrections", "sketch?paper=balu-2016&section=method",
               "sketches?paper=balu-2016&section=method",
               "retention?paper=vallet-2014&section=method")),
    Page("explore", "Explore", "explore", "Explore", takes_parts=True, also=("explorer",)),
    Page("trade-off", "Trade-off", "query_stats", "Explore", unused=("epsilon", *ONE_RUN),
         takes_parts=True, also=("trade-offs", "compare")),
    Page("topics", "Topics", "article", "Explore", "documents", also=("topic", "documents")),
    Page("faces", "Faces", "face", "Explore", "images", also=("face", "images", "parts")),
    Page("choose", "Choose", "recommend", "Choose", None, in_lessons=False,
         also=("chooser", "advice")),
    Page("tune", "Tune", "tune", "Choose", unused=("row_count",), takes_parts=True,
         also=("tuning", "search")),
    Page("data", "Data", "upload_file", "Choose", None,
         also=("upload", "datasets")),
    Page("accountant", "Accountant", "calculate", "Verify", takes_parts=True, has_dial=False,
         also=("account", "accounting")),
    Page("audit", "Audit", "policy", "Verify", None, also=("audits", "attack")),
    Page("runs", "Runs", "history", "Work", None, also=("run",)),
    Page("operator", "Operator", "monitoring", "Work", None, in_lessons=False, for_operator=True,
         also=("admin",)),
)
# fmt: on
BY_ID = by_id(PAGES)
HOME = PAGES[0].id  # where the server's address alone leads


def _plain(address: str) -> str:
    """An address as somebody remembers it: its letters and digits."""
    return "".join(filter(str.isalnum, address.lower()))


_FIRST = {it.section: it.id for it in reversed(PAGES)}
_ADDRESSES = {_plain(section): (_FIRST[section], "") for section in SECTIONS}
for _page in PAGES:
    for _name, _, _query in (it.partition("?") for it in (*_page.also, _page.id)):
        _ADDRESSES[_plain(_name)] = (_page.id, _query)


def page_meant(address: str) -> tuple[str, dict[str, str]] | None:
    """The id of the page that an address means, exact or as somebody remembers it, and what it adds
    to the address; None where there is no such page.
    """
    page, query = _ADDRESSES.get(_plain(address), ("", ""))
    return (page, dict(parse_qsl(query))) if page else None


def page_address(name: str) -> str | None:
    """The address of the page that a name means, with what the name adds to it; '' of the first
    page, None where there is none.
    """
    page, query = _ADDRESSES.get(_plain(name), (None, ""))
    return "" if page == HOME else f"{page}?{query}" if query else page
