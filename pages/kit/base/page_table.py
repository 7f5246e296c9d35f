"""The sections of the app and their views, from the table in `page_table.toml`."""

import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from dpmf_core.base.registry import by_id
from dpmf_core.runs.first_views import DataKind

FOLDER = Path(__file__).parents[2]


@dataclass(frozen=True)
class Titled:
    """A section or a view.

    Attributes
    ----------
    icon
        A name of Google's Material Symbols.
    """

    id: str
    title: str
    icon: str

    @property
    def material_icon(self) -> str:
        return f":material/{self.icon}:"


@dataclass(frozen=True)
class AppSection(Titled):
    """A section of the app, shown in the header.

    Attributes
    ----------
    id
        Its address.
    words
        Its purpose in a sentence.
    parameter
        The address parameter that names its view.
    """

    words: str
    parameter: str = "view"


@dataclass(frozen=True)
class Page(Titled):
    """One view of a section.

    Attributes
    ----------
    id
        Its name in a lesson link; without hyphens also the name of its folder.
    title
        Its name in the switch between views.
    section
        The section that it belongs to.
    view
        Its name in the address; '' for the default view of a section.
    under
        The view that it is a tab of.
    tab
        Its name among tabs, if it is one.
    data_kind
        The kind of data in its sidebar; None without a sidebar.
    unused
        Sidebar controls that do not affect it, by their names in a link.
    takes_parts
        Whether it takes partitioned ratings.
    in_lessons
        Whether a lesson link may open it.
    for_operator
        Whether only an operator of the server may open it.
    has_dial
        Whether small screens have epsilon's slider at the bottom.
    also
        Further addresses that lead to it.
    parameters
        Address parameters that mean this view of the section if a link names no view.
    script_folder
        The folder of its script, if it differs from the one that the id names.
    """

    section: str
    view: str = ""
    data_kind: DataKind | None = None
    under: str = ""
    tab: str = ""
    unused: tuple[str, ...] = ()
    takes_parts: bool = False
    in_lessons: bool = True
    for_operator: bool = False
    has_dial: bool = True
    also: tuple[str, ...] = ()
    parameters: tuple[str, ...] = ()
    script_folder: str = ""

    @property
    def folder(self) -> str:
        return self.script_folder or self.id.replace("-", "")

    @property
    def script(self) -> Path:
        return FOLDER / self.folder / "page.py"

    @property
    def query(self) -> dict[str, str]:
        if not self.view:
            return {}
        return {SECTIONS[self.section].parameter: self.view}

    @property
    def address(self) -> str:
        return f"{self.section}?{urlencode(self.query)}".removesuffix("?")


def _entries(kind: str) -> Iterator[dict[str, Any]]:
    """The fields of each section or view in the table."""
    content = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    for entry in content[kind]:
        yield {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in entry.items()
        }


SECTIONS = by_id(AppSection(**entry) for entry in _entries("section"))
PAGES = tuple(Page(**entry) for entry in _entries("page"))
BY_ID = by_id(PAGES)
HOME = PAGES[0].section  # the server's address without a path


def first_page(section: str) -> Page:
    return next(page for page in PAGES if page.section == section and not page.view)


def _plain(address: str) -> str:
    return "".join(filter(str.isalnum, address.lower()))


def _pages_by_address() -> dict[str, Page]:
    pages = {_plain(page.section): page for page in PAGES if not page.view}
    for page in PAGES:
        for name in (*page.also, page.id):
            pages[_plain(name)] = page
    return pages


_ADDRESSES = _pages_by_address()


def page_meant(address: str) -> Page | None:
    """The page that an address means, exactly or nearly; or None."""
    return _ADDRESSES.get(_plain(address))


def view_meant(page: Page, parameters: Collection[str]) -> Page:
    """The view that a link to a section's first view means by its parameters."""
    if page.view or SECTIONS[page.section].parameter in parameters:
        return page
    for view in PAGES:
        if view.section == page.section and not set(view.parameters).isdisjoint(
            parameters
        ):
            return view
    return page


def page_address(name: str, parameters: Collection[str] = ()) -> str | None:
    """The address of the page that a name means; '' for the first page, None for none.

    Parameters
    ----------
    name
        The name.
    parameters
        The names of the parameters in the link.
    """
    page = page_meant(name)
    if page is None:
        return None
    if page.section == HOME:
        return ""
    return view_meant(page, parameters).address


def page_of(section: str, view: str) -> Page | None:
    """The view of a section that an address names; None for an unknown one."""
    if not view:
        return first_page(section)
    page = page_meant(view)
    if page is None or page.section != section:
        return None
    return page
