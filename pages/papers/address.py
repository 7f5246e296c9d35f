"""The parameters in the page's address: which paper, which section, and what is open in it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from dpmf_core.base.registry import by_id
from dpmf_core.papers.paper import Paper
from dpmf_core.papers.registry import PAPERS
from pages.kit.base import lesson, links, safe_text
from pages.kit.controls.session_widgets import bind

# by parameter of the address: what it can open of a paper
OPENED: dict[str, Callable[[Paper], Sequence[str]]] = {
    "claim": lambda paper: [claim.id for claim in paper.claims],
    "erratum": lambda paper: [erratum.id for erratum in paper.errata],
    "bound": lambda paper: [bound.id for bound in paper.bounds],
    "preset": lambda paper: [preset.id for preset in paper.presets],
}
SECTIONS = {"erratum": "corrections", "bound": "bounds", "preset": "method"}
FIRST = "claims"


def values() -> Mapping[str, str]:
    """The parameters of the address, or of the lesson that fixes the page."""
    fixed_values = lesson.page_values()
    if fixed_values is None:
        return st.query_params
    return fixed_values


def paper_id() -> str | None:
    """The paper that the address names directly or by what it opens; None for none."""
    texts = values()
    if "paper" in texts:
        return texts["paper"]
    for name, opened in OPENED.items():
        for paper in PAPERS.values():
            if texts.get(name) in opened(paper):
                return paper.id
    if "section" in texts:
        return next(iter(PAPERS))
    return None


def section() -> str:
    """The section that the address names or implies."""
    texts = values()
    implied = (place for name, place in SECTIONS.items() if name in texts)
    return texts.get("section") or next(implied, FIRST)


def select(name: str, label: str, titles: Mapping[str, str]) -> str:
    """Ask for one of these ids and put it into the address."""
    options = list(titles)
    choice = st.selectbox(
        label,
        options,
        format_func=titles.__getitem__,
        **bind(start(name, options), options),
    )
    return write(name, choice)


def pick(
    name: str, label: str, things: Sequence[Any], title_of: Callable[[Any], str]
) -> Any:
    """Ask for one of these things, by its title, and put its id into the address."""
    titles = {thing.id: title_of(thing) for thing in things}
    return by_id(things)[select(name, label, titles)]


def start(name: str, options: Sequence[str], first: str = "") -> str:
    """Set a widget's value before it is drawn; return its key.

    A new value in the address or in a lesson wins over the widget.
    """
    key = f"papers.{name}"
    text = values().get(name, first)
    is_new = lesson.page_values() is not None or text != st.session_state.get(
        f"{key}.address"
    )
    if text in options and is_new:
        st.session_state[key] = text
    elif st.session_state.get(key) not in options:
        st.session_state[key] = options[0]
        if text and is_new:
            st.warning(
                safe_text.escape(
                    f"This paper has no {name} '{text[:40]}'. The first one is shown."
                )
            )
    return key


def write(name: str, choice: str) -> str:
    """Put a choice into the address."""
    st.session_state[f"papers.{name}.address"] = choice
    links.put_in_address({name: choice})
    return choice
