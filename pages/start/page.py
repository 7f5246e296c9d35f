"""What is this, what does it show, and where do I begin?"""

from functools import partial

import streamlit as st

from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.first_views import DEFAULT_EPSILON
from dpmf_core.runs.references import paper_of
from dpmf_core.teaching.lessons import LESSONS
from pages.kit.base import links
from pages.kit.base.page_table import PAGES, SECTIONS, first_page
from pages.kit.components import draw_price_curve
from pages.kit.controls import sidebar_values
from pages.kit.figures import charts
from pages.kit.lessons import room
from pages.kit.running.epsilon_grid import nearest
from pages.start import price, you

IN_FRONT = ("learn", "explore", "choose")  # sections
PAPERS = "start.papers"  # in the session: whether the papers' methods are drawn


@st.fragment
def draw_figure() -> None:
    """Draw what is kept at each epsilon; the handle moves without the server."""
    epsilon = sidebar_values.dial(DEFAULT_EPSILON)
    places = price.places(epsilon)
    here = nearest(places, epsilon)
    with_papers = bool(st.session_state.get(PAPERS))
    draw_price_curve(
        "start.price",
        price.stops(places),
        here,
        price.words(),
        price.papers_lines() if with_papers else [],
        partial(sidebar_values.put, "epsilon"),
        follows=you.has_rated(),
    )
    draw_below_figure(here, with_papers)
    you.draw(epsilon)


def draw_below_figure(epsilon: float, with_papers: bool) -> None:
    """Draw the figure's numbers, what exactly they are, and the way to each method."""
    charts.below(
        "start.price",
        charts.Ready("What is kept at each epsilon", price.table(with_papers)),
        leaves=True,
        caption=price.caption(),
    )
    text = budget_text(epsilon)
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.popover("What exactly?", icon=":material/help:", type="tertiary"):
            st.markdown(price.exact_words(epsilon))
        links.to("explore", f"Explore ε = {text} in full", {"epsilon": text})
        st.toggle(
            "Compare with the papers' methods", key=PAPERS, persist_state="session"
        )
        if with_papers:
            for algorithm, shares in price.papers_shares().items():
                links.to(
                    "explore",
                    f"{shares[0].label} ({paper_of(algorithm)})",
                    {"algorithm": algorithm, "epsilon": text},
                )


def draw_section(name: str) -> None:
    described = SECTIONS[name]
    with st.container(border=True, height="stretch"):
        links.to(
            first_page(name).id, f"**{described.title}**", {}, described.material_icon
        )
        st.write(described.words)
        with st.container(horizontal=True, gap="xsmall"):
            for page in PAGES:
                if page.section == name:
                    links.to(page.id, page.title)


def main() -> None:
    lesson_id, first = next(iter(LESSONS.items()))
    with st.container(
        horizontal=True,
        horizontal_alignment="distribute",
        vertical_alignment="bottom",
    ):
        st.title("dpmf: what privacy costs", anchor=False, width="content")
        with st.container(
            width="content",
            horizontal=True,
            vertical_alignment="center",
        ):
            links.to(
                "lessons", f"New here? Lesson 0: {first.title}", {"lesson": lesson_id}
            )
            room.draw()
    st.markdown(
        f"We trained a film recommender on the ratings of {price.entry().n_users:,} synthetic"
        " people, with and without differential privacy. **How much worse does it get if noise"
        " hides whether you were one of them?**"
    )
    if price.best_shares():
        draw_figure()
    with st.container(key="start.doors"):
        for column, name in zip(st.columns(len(IN_FRONT)), IN_FRONT, strict=True):
            with column:
                draw_section(name)


main()
