"""What is this, what does it say, and where do I begin?"""

import streamlit as st

from dpmf_core.privacy.formatting import budget_text
from dpmf_core.teaching.lessons import LESSONS
from pages.kit import charts, colours, links
from pages.kit.components import price_curve
from pages.kit.page_table import PAGES, SECTIONS
from pages.start import price

DOORS = ("Learn", "Explore", "Choose")
FIRST = 2.0  # the epsilon that the figure shows first: there both sides of the price are seen
EPSILON = "start.epsilon"


def words() -> price_curve.Words:
    """What stands in the figure."""
    return price_curve.Words(
        name="Epsilon",
        low="more private",
        high="more accurate",
        twin="without privacy",
        trivial="guessing the mean",
        price="the price of privacy",
    )


def choose(epsilon: float) -> None:
    st.session_state[EPSILON] = epsilon


@st.fragment
def figure() -> None:
    """What is kept at each epsilon; its handle moves without the server."""
    choice = price.choice()
    price_curve.draw(
        "start.price",
        price.stops(choice.delta),
        FIRST,
        words(),
        colours.of(choice.algorithm),
        choose,
    )
    charts.below(
        "start.price",
        charts.Numbers("What is kept at each epsilon", price.table()),
        leaves=True,
        caption=price.caption(),
    )
    epsilon = st.session_state.get(EPSILON, FIRST)
    links.to(
        "explore",
        f"Explore ε = {budget_text(epsilon)} in full",
        {"eps": budget_text(epsilon)},
    )


def lesson_zero() -> None:
    """For whoever has never heard of any of this."""
    name, first = next(iter(LESSONS.items()))
    links.to("lessons", f"New here? Lesson 0: {first.title}", {"lesson": name})


def door(name: str) -> None:
    """What somebody may come for, and the pages behind it."""
    section, pages = SECTIONS[name], [it for it in PAGES if it.section == name]
    with st.container(border=True, height="stretch"):
        links.to(pages[0].id, f"**{name}**", {}, section.material_icon)
        st.write(section.words)
        with st.container(horizontal=True, gap="xsmall"):
            for page in pages:
                links.to(page.id, page.title, {})


def main() -> None:
    people = price.choice().entry.n_users
    with st.container(
        horizontal=True, horizontal_alignment="distribute", vertical_alignment="bottom"
    ):
        st.title("dpmf: what privacy costs", anchor=False, width="content")
        lesson_zero()
    st.markdown(
        f"Recommendations learned from {people:,} people. **How much worse do they get if"
        " nobody can tell whether you were among them?** Here the same recommender is trained"
        " with differential privacy and without, on the same data, and you see the"
        " difference."
    )
    if not price.grid().missing:
        figure()
    with st.container(key="start.doors"):
        for column, name in zip(st.columns(len(DOORS)), DOORS, strict=True):
            with column:
                door(name)


main()
