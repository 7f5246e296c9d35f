"""What is this, what does it show, and where do I begin?"""

import math
from functools import partial

import streamlit as st

from dpmf_core.algorithms import REGISTRY
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.needed_epsilon import share_kept
from dpmf_core.teaching.lessons import LESSONS
from pages.kit import charts, colours, links, sidebar_values
from pages.kit.components import draw_price_curve
from pages.kit.page_table import PAGES, SECTIONS, first_page
from pages.start import price, you

IN_FRONT = ("learn", "explore", "choose")  # sections
FIRST = 2.0  # the first epsilon: both sides of the price are visible there


@st.fragment
def figure() -> None:
    """Draw what is kept at each epsilon; the handle moves without the server."""
    choice, stops = price.choice(), price.stops()
    dial, best = sidebar_values.dial(FIRST), price.best_title()
    epsilons = [it["epsilon"] for it in stops]
    words = {
        "name": "Epsilon",
        "low": "more private",
        "high": "more accurate",
        "best": f"100%: the best known without privacy ({best})",
        "open": f"{REGISTRY[choice.algorithm].title} without noise",
        "trivial": "0%: guessing the mean",
        "price": "what noise costs",
    }
    draw_price_curve(
        "start.price",
        stops,
        share_kept([price.levels()]) or 0.0,
        min(epsilons, key=lambda it: abs(math.log(it / dial))),
        words,
        colours.of(choice.algorithm),
        partial(sidebar_values.put, "epsilon"),
        follows=you.has_rated(),
    )
    numbers = charts.Ready("What is kept at each epsilon", price.table())
    charts.below("start.price", numbers, leaves=True, caption=price.caption())
    epsilon = budget_text(dial)
    links.to("explore", f"Explore ε = {epsilon} in full", {"epsilon": epsilon})
    you.draw(dial)


def section(name: str) -> None:
    it = SECTIONS[name]
    with st.container(border=True, height="stretch"):
        links.to(first_page(name).id, f"**{it.title}**", {}, it.material_icon)
        st.write(it.words)
        with st.container(horizontal=True, gap="xsmall"):
            for page in PAGES:
                if page.section == name:
                    links.to(page.id, page.title, {})


def main() -> None:
    lesson_id, first = next(iter(LESSONS.items()))
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom"
    ):
        st.title("dpmf: what privacy costs", anchor=False, width="content")
        links.to("lessons", f"New here? Lesson 0: {first.title}", {"lesson": lesson_id})
    st.markdown(
        f"We trained a film recommender on {price.choice().entry.n_users:,} people's ratings."
        " **How much worse does it get if noise hides whether you were one of them?** We"
        " trained it on the same data with and without differential privacy."
    )
    if not price.grid().missing:
        figure()
    with st.container(key="start.doors"):
        for column, name in zip(st.columns(len(IN_FRONT)), IN_FRONT, strict=True):
            with column:
                section(name)


main()
