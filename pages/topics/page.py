"""What happens to topics? Words that belong together, found with and without privacy."""

import pandas as pd
import streamlit as st

from dpmf_core.data.samples import (
    VOCABULARY_IS_PUBLIC,
    WEIGHTS_ARE_PUBLIC,
    WORDS_ARE_PUBLIC,
)
from dpmf_core.runs.inspection import pairs, topics, typical
from dpmf_core.runs.record import Run, Runs
from pages.kit.base import lesson, safe_text
from pages.kit.controls.sidebar_values import SidebarChoice
from pages.kit.figures import charts, colours
from pages.kit.first_views import factorisation
from pages.kit.first_views.factorisation import TOPICS, RowPreparation

WEIGHTS = {"tfidf": "TF-IDF", "tf": "word shares (TF)", "none": "counts"}
AT_ONCE = 10  # topics


def ask_preparation(choice: SidebarChoice) -> RowPreparation:
    """Ask how documents become rows; return it, and what is taken as public.

    No link holds these settings, so a lesson that fixes parameters uses the defaults.
    """
    weighting = "tfidf"
    buckets = None
    if lesson.fixed_value("parameters") is None:
        left, right = st.columns(2)
        weighting = left.selectbox(
            "Weights of words",
            WEIGHTS,
            key="topics.weights",
            format_func=WEIGHTS.__getitem__,
            help="IDF weights depend on all documents: the guarantee then holds only if they"
            " are public. Word shares depend on one document alone.",
        )
        buckets = right.number_input(
            "Hashed buckets",
            16,
            4096,
            None,
            key="topics.hashed",
            placeholder="no: a vocabulary of words",
            step=64,
            help="A hashed vocabulary learns nothing from the documents. Words in the same bucket"
            " cannot be distinguished.",
        )
    most_words = choice.most_words
    public = list(choice.assumptions)
    if buckets:  # they learn nothing from the words
        most_words = None
        learned = (WORDS_ARE_PUBLIC, VOCABULARY_IS_PUBLIC)
        public = [assumption for assumption in public if assumption not in learned]
    if weighting == "tfidf":
        public.insert(0, WEIGHTS_ARE_PUBLIC)
    data = {"weighting": weighting, "hashed": buckets, "most_words": most_words}
    return data, tuple(public)


def draw_one_topic(runs: Runs) -> None:
    """Draw a topic's weights as bars, and the documents in which it is strongest."""
    private = topics(runs["main"])
    partners = {
        pair.component: pair.partner for pair in pairs(runs["main"], runs["best"])
    }
    names = {}
    for component in partners:
        words = ", ".join(word for word, _ in private[component][:3])
        names[component] = words or f"topic {component + 1}"
    part = st.selectbox(
        "Topic",
        names,
        key=f"topics.one.{runs['main'].key}",
        format_func=names.__getitem__,
    )
    sides = [(runs["main"], private[part])]
    partner = partners[part]
    if partner is not None:
        sides.append((runs["best"], topics(runs["best"])[partner]))
    rows = [
        (word, run.record.title, run.spec.algorithm, weight)
        for run, side in sides
        for word, weight in side
    ]
    bars = pd.DataFrame(rows, columns=["word", "name", "id", "weight"])
    fig = charts.figure(
        "weight", "", height=80 + 24 * bars["word"].nunique(), barmode="group"
    )
    for (name, ident), own in bars.groupby(["name", "id"], sort=False):
        fig.add_bar(
            y=own["word"],
            x=own["weight"],
            name=name,
            orientation="h",
            marker={"color": colours.of(str(ident))},
            hovertemplate="%{y}: %{x:.2f}<extra></extra>",
        )
    from_below = list(dict.fromkeys(bars["word"]))[::-1]
    fig.update_yaxes(
        categoryorder="array",
        categoryarray=from_below,
        title=None,
    )
    charts.show(
        fig,
        "topics.words",
        f"Weights of the heaviest words of the topic {names[part]}, with privacy and without.",
        bars,
    )
    if st.toggle("Documents most typical of this topic", key="topics.typical"):
        _draw_typical(runs["main"], part)


def _draw_typical(run: Run, topic: int) -> None:
    """Draw the documents in which a topic is strongest."""
    st.warning(
        "Documents are private data. This list is only for the people who hold them; it is not"
        " released."
    )
    rows = [
        (document.row + 1, document.title, document.share)
        for document in typical(run, topic)
    ]
    safe_text.table(rows, ["document", "begins with", "share of this topic"])


def draw_below(_: SidebarChoice, runs: Runs) -> None:
    if "main" in runs and "best" in runs:
        with st.expander("A topic in full"):
            draw_one_topic(runs)


def most(count: int) -> int:
    """The number of topics to show; a toggle shows all."""
    if count <= AT_ONCE or st.toggle(f"All {count} topics", key="topics.all"):
        return count
    return AT_ONCE


factorisation.draw_page(
    TOPICS, "Topics, words and parameters", ask_preparation, most, draw_below
)
