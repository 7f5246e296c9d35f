"""What happens to topics? Words that belong together, found with privacy and without."""

import pandas as pd
import streamlit as st

from dpmf_core.compare import part_comparison
from dpmf_core.errors import BadInput
from dpmf_core.experiment import Run, prepare
from dpmf_core.explain import Pair, pairs, topics, typical
from dpmf_core.privacy import Budget
from dpmf_core.samples import WEIGHTS_ARE_PUBLIC
from pages.kit import charts, comparison, forms, guarantee, parts, runs, said, seen, sidebar, takeaway
from pages.kit.sidebar import SampleChoice

FIGURES = ("saha-fig2", "saha-fig3", "saha-table3", "saha-fig10", "topics-table")
WEIGHTS = {"tfidf": "TF-IDF", "tf": "word shares (TF)", "none": "counts"}
AT_ONCE = 10


def prepared(choice: SampleChoice) -> dict[str, object]:
    """How documents become rows: weights, or a hashed vocabulary."""
    left, right = st.columns(2)
    weighting = left.selectbox(
        "Weights of words", list(WEIGHTS), key="topics.weights", format_func=WEIGHTS.__getitem__,
        help="IDF weights look at all documents, so the promise then holds provided they are public. Word shares look at one document alone.",
    )  # fmt: skip
    hashed = right.number_input(
        "Hash words into buckets", 16, 4096, None, key="topics.hashed", placeholder="no: a vocabulary of words", step=64,
        help="A hashed vocabulary learns nothing from the documents. Words in one bucket cannot be told apart.",
    )  # fmt: skip
    return {"weighting": weighting, "hashed": hashed, "most_words": None if hashed else choice.most_words}


def alone(run: Run, title: str) -> None:
    """The topics of one side, while the other is still being trained."""
    st.header("Topics", anchor=False)
    st.markdown(f"**{title} ({run.record['title']})**")
    for topic in topics(run)[:AT_ONCE]:
        st.markdown(_listed([word for word, _ in topic], []))


def side_by_side(done: dict[str, Run]) -> list[Pair]:
    """Matched topics, words that both have in bold."""
    st.header("Topics, matched", anchor=False)
    private, plain, found = topics(done["main"]), topics(done["twin"]), pairs(done["main"], done["twin"])
    shown = found if len(found) <= AT_ONCE or st.toggle(f"All {len(found)} topics", key="topics.all") else found[:AT_ONCE]
    head = st.columns([1, 5, 5])
    for column, title in zip(head, ("alike", "with privacy", f"without privacy ({done['twin'].record['title']})"), strict=True):
        column.markdown(f"**{title}**")
    for pair in shown:
        mine = [word for word, _ in private[pair.part]]
        theirs = [] if pair.partner is None else [word for word, _ in plain[pair.partner]]
        row = st.columns([1, 5, 5])
        row[0].markdown(f"{pair.cosine:.0%}")
        row[1].markdown(_listed(mine, theirs))
        row[2].markdown(_listed(theirs, mine))
    coherence = {name: done[name].record["metrics"].get("coherence") for name in ("main", "twin")}
    if None not in coherence.values():
        st.caption(
            "Words in bold are among the ten heaviest on both sides. Coherence (TC-W2V, mean cosine of a topic's words in a Word2Vec space of these "
            f"documents): {coherence['main']:.3f} with privacy, {coherence['twin']:.3f} without."
        )  # fmt: skip
    return found


def _listed(words: list[str], others: list[str]) -> str:
    return " · ".join(f"**{word}**" if word in others else word for word in words) or "(nothing)"


def one_topic(done: dict[str, Run], found: list[Pair]) -> None:
    """A topic's weights as bars, and the documents it is strongest in."""
    private, plain = topics(done["main"]), topics(done["twin"])
    names = {pair.part: ", ".join(word for word, _ in private[pair.part][:3]) or f"topic {pair.part + 1}" for pair in found}
    chosen = st.selectbox("A topic in full", list(names), key=f"topics.one.{done['main'].key}", format_func=names.__getitem__)
    pair = next(pair for pair in found if pair.part == chosen)
    sides = [(done["main"], private[pair.part])] + ([] if pair.partner is None else [(done["twin"], plain[pair.partner])])
    bars = pd.DataFrame(
        [{"word": word, "name": run.record["title"], "id": run.spec.algorithm, "weight": weight} for run, side in sides for word, weight in side]
    )
    charts.show(charts.words(bars), "topics.words", f"Weights of the heaviest words of the topic {names[chosen]}, with privacy and without.", bars)
    if st.toggle("Documents most typical of this topic", key="topics.typical"):
        st.warning("Documents are private data: this list is for whoever holds them. It is not part of what is released.")
        listed = typical(done["main"], pair.part)
        said.table(pd.DataFrame([{"document": it.row + 1, "begins with": it.title, "share of this topic": it.share} for it in listed]))


def main() -> None:
    choice = sidebar.sample_choice()
    budget = Budget(epsilon=choice.epsilon, delta=choice.delta, calibration=choice.calibration, noise=choice.noise)
    head = st.container()
    with st.expander("Topics, words and parameters"):
        data = prepared(choice)
        given = forms.parameters(choice.algorithm, choice.shape, budget, "topics", {"n_components": choice.entry.n_components})
    spec = choice.spec(parameters=given, data=data)
    assumed = ((WEIGHTS_ARE_PUBLIC,) if data["weighting"] == "tfidf" else ()) + choice.assumptions(bool(data["hashed"]))
    ready = prepare(spec, choice.shape, assumed, choice.entry.unit)
    guarantee.card(ready.plan, ready.guarantee, choice.delta, public=choice.entry.public, each=choice.entry.each or guarantee.EACH)
    parts.per_step("topics", choice.delta)
    with head:
        place = st.container()
        asked = part_comparison(spec, choice.shape)
        done = runs.wanted("topics", asked.runs, first=comparison.first_draw(asked))
        with place:
            parts.finding(choice, asked, done, "topics")
            seen.draw(seen.DOCUMENTS)
        if "main" in done and "twin" in done:
            found = side_by_side(done)
            one_topic(done, found)
        else:
            for name, title in (("main", "with privacy"), ("twin", "without privacy")):
                if name in done:
                    alone(done[name], title)
        if "main" in done:
            parts.price(asked, done, "topics")
    parts.source_figures("topics", FIGURES)
    if "main" in done:
        takeaway.single(done["main"])


try:
    main()
except BadInput as error:
    said.error(error)
