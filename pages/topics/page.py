"""What happens to topics? Words that belong together, found with privacy and without."""

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpmf_core.data.samples import WEIGHTS_ARE_PUBLIC
from dpmf_core.errors import BadInput
from dpmf_core.papers.registry import figures_of
from dpmf_core.privacy import NOTHING, Budget
from dpmf_core.runs.comparison import Comparison, part_comparison
from dpmf_core.runs.inspection import pairs, topics, typical
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.record import Run
from pages.kit import (
    charts,
    colours,
    drawing,
    epsilon_grid,
    exports,
    forms,
    lesson,
    parts,
    published_figures,
    safe_text,
    sidebar,
    who_sees_what,
)
from pages.kit.choice import SampleChoice
from pages.kit.parts_words import TOPICS
from pages.topics import units

WEIGHTS = {"tfidf": "TF-IDF", "tf": "word shares (TF)", "none": "counts"}
SIDES = {"main": "with privacy ({name})", "twin": "without privacy ({name})"}
AT_ONCE, ALL = 10, "topics.all"


def preparation(choice: SampleChoice) -> dict[str, object]:
    """How documents become rows: weights, or a hashed vocabulary. No link holds them, so that a
    lesson that fixes parameters leaves them as they are at first.
    """
    if lesson.fixed_value("parameters") is not None:
        return {"weighting": "tfidf", "hashed": None, "most_words": choice.most_words}
    left, right = st.columns(2)
    weighting = left.selectbox(
        "Weights of words",
        list(WEIGHTS),
        key="topics.weights",
        format_func=lambda name: WEIGHTS[name],
        help=(
            "IDF weights look at all documents, so the promise then holds provided they are public."
            " Word shares look at one document alone."
        ),
    )
    buckets = right.number_input(
        "Hash words into buckets",
        16,
        4096,
        None,
        key="topics.hashed",
        placeholder="no: a vocabulary of words",
        step=64,
        help="A hashed vocabulary learns nothing from the documents. Words in one bucket cannot be"
        " told apart.",
    )
    return {
        "weighting": weighting,
        "hashed": buckets,
        "most_words": None if buckets else choice.most_words,
    }


def one_side(run: Run, title: str, most: int) -> None:
    """The topics of one side, while the other is still being trained."""
    st.header("Topics", anchor=False)
    st.markdown(f"**{title.format(name=run.record.title)}**")
    for topic in topics(run)[:most]:
        st.markdown(_words_text([word for word, _ in topic]))


def _words_text(words: list[str]) -> str:
    """Words of documents, which may hold anything."""
    return " · ".join(safe_text.escape_letters(word) for word in words) or "(nothing)"


def weights(bars: pd.DataFrame) -> go.Figure:
    """A topic's heaviest words beside those of its partner. bars: word, name, id, weight."""
    fig = charts.figure("weight", "", height=80 + 24 * bars["word"].nunique(), barmode="group")
    for (name, ident), rows in bars.groupby(["name", "id"], sort=False):
        fig.add_bar(
            y=rows["word"],
            x=rows["weight"],
            name=name,
            orientation="h",
            marker={"color": colours.of(str(ident))},
            hovertemplate="%{y}: %{x:.2f}<extra></extra>",
        )
    fig.update_yaxes(
        categoryorder="array", categoryarray=list(dict.fromkeys(bars["word"]))[::-1], title=None
    )
    return fig


def one_topic(runs: dict[str, Run]) -> None:
    """A topic's weights as bars, and the documents it is strongest in."""
    matched_pairs = pairs(runs["main"], runs["twin"])
    private, plain = topics(runs["main"]), topics(runs["twin"])
    names = {
        pair.component: ", ".join(word for word, _ in private[pair.component][:3])
        or f"topic {pair.component + 1}"
        for pair in matched_pairs
    }
    part = st.selectbox(
        "A topic in full",
        list(names),
        key=f"topics.one.{runs['main'].key}",
        format_func=names.__getitem__,
    )
    pair = next(pair for pair in matched_pairs if pair.component == part)
    sides = [(runs["main"], private[pair.component])]
    if pair.partner is not None:
        sides.append((runs["twin"], plain[pair.partner]))
    bars = pd.DataFrame(
        [
            {
                "word": word,
                "name": run.record.title,
                "id": run.spec.algorithm,
                "weight": weight,
            }
            for run, side in sides
            for word, weight in side
        ]
    )
    charts.show(
        weights(bars),
        "topics.words",
        f"Weights of the heaviest words of the topic {names[part]}, with privacy and without.",
        bars,
    )
    if st.toggle("Documents most typical of this topic", key="topics.typical"):
        st.warning(
            "Documents are private data: this list is for whoever holds them. It is not part of"
            " what is released."
        )
        _draw_documents(runs["main"], pair.component)


def _draw_documents(run: Run, topic: int) -> None:
    """The documents that a topic is strongest in, a row each."""
    rows = [
        {
            "document": it.row + 1,
            "begins with": it.title,
            "share of this topic": it.share,
        }
        for it in typical(run, topic)
    ]
    safe_text.table(pd.DataFrame(rows))


def below(selection: Comparison, view: parts.FirstView, most: int) -> None:
    """What stands under the first view and needs runs."""
    runs = view.runs
    who_sees_what.draw(who_sees_what.DOCUMENTS)
    if "main" in runs and "twin" in runs:
        one_topic(runs)
    elif not view.has_parts:
        for name, title in SIDES.items():
            if name in runs:
                one_side(runs[name], title, most)
    if "main" in runs:
        parts.price(selection, runs, TOPICS)


def main() -> None:
    choice = sidebar.sample_choice()
    budget = Budget(
        epsilon=choice.epsilon,
        delta=choice.delta,
        calibration=choice.calibration,
        noise=choice.noise,
    )
    head, card, beneath = (st.container() for _ in range(3))
    with st.expander("Topics, words and parameters"):
        data = preparation(choice)
        parameters = forms.parameters(
            choice.algorithm,
            choice.shape,
            budget,
            "topics",
            {"n_components": choice.entry.n_components},
        )
    spec = choice.spec(parameters=parameters, data=data)
    assumptions = (
        (WEIGHTS_ARE_PUBLIC,) if data["weighting"] == "tfidf" else ()
    ) + choice.assumptions(bool(data["hashed"]))
    ready = prepare(spec, choice.shape, assumptions, choice.entry.unit)
    with card:
        parts.label(choice, ready)
    proved = ready.plan != NOTHING and ready.guarantee.has_epsilon
    with head:
        selection = part_comparison(spec, choice.shape)
        count = int(spec.parameters["n_components"])
        most = count if st.session_state.get(ALL) else AT_ONCE
        view = parts.draw_first_view(TOPICS, choice, spec, selection, proved, most)
        if count > AT_ONCE:
            st.toggle(f"All {count} topics", key=ALL)
    drawing.first_view_ends(view.has_parts)
    with beneath:
        below(selection, view, most)
    if proved and len(view.runs) == len(selection.runs):
        epsilon_grid.keep_filling("topics", spec, view.grid)
    with st.expander("ε and units of the source"):
        parts.per_step("topics", choice.delta)
        units.section()
    published_figures.choice("topics", figures_of("topics"))
    st.caption(
        "Its Fig. 9, a topic's words as bars, is “A topic in full” above. Its Fig. 1 is a"
        " drawing of the protocol."
    )
    if "main" in view.runs:
        exports.draw(view.runs["main"])


try:
    main()
except BadInput as error:
    safe_text.error(error)
