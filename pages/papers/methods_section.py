"""A paper's methods to try: presets with its published settings, and how the method works."""

from collections.abc import Callable

import streamlit as st

from dpmf_core.algorithms.count_sketch import Sketch
from dpmf_core.papers.figures import Preset
from dpmf_core.papers.paper import Paper
from dpmf_core.runs.specification import RunSpec
from pages.kit.base import data_sets, links, safe_text
from pages.kit.controls import sidebar_values
from pages.kit.controls.forms import PAGES
from pages.kit.privacy import observer_diagram, privacy_card
from pages.papers import address, claim_figure

# for each variant without retention: what the server keeps, and what it receives each time
STORED = ["variant", "a subpoena reveals", "a wiretap of one interaction reveals"]
VARIANTS = (
    (
        "baseline, online",
        "all ratings, user factors, item factors, item biases",
        "the one new rating",
    ),
    (
        "static",
        "user factors, item factors and item biases, frozen since the start",
        "the request; no rating",
    ),
    (
        "new, rated",
        "item factors, item biases",
        "all that the user has ever rated, each time",
    ),
)


# ---- how a method works --------------------------------------------------------------------------


def sketch() -> None:
    """Draw how Balu & Furon's method works, and why no epsilon follows."""
    promise = Sketch().guarantee()
    st.markdown(
        f'The paper states that sketches "{promise.claim}".'
        f" {privacy_card.badge(promise.status)} Its ε is a threshold: it skips ratings with too"
        " large an error, as in posterior sampling with a clipped likelihood. The paper notes that"
        " this is no longer a valid conditional probability (section 4.3). No noise is drawn: the"
        " hashes, the order of the ratings and the exact remaining ratings determine every step."
        " So no ε follows; an attack measures how much is learned about one rating."
    )
    links.to("papers", "What the attack shows", {"erratum": "balu-distribution"})
    privacy_card.attack_link("sketch")
    observer_diagram.draw_folded(observer_diagram.SKETCH)


def retention() -> None:
    """Draw how Vallet et al.'s method works: what each variant keeps and receives."""
    st.info(
        "**No differential privacy, and no ε.** This limits what a thief, a court or a curious"
        " employee finds on the server. It does not limit what the item factors or other people's"
        " recommendations reveal: they learn from every exact rating.",
        icon=":material/info:",
    )
    st.header("What would a subpoena or a wiretap reveal?", anchor=False)
    safe_text.words_table(VARIANTS, STORED)
    st.caption(
        "The paper's claim is about storage: neither ratings nor user vectors stay on the server"
        " (abstract), so a subpoena finds only item factors and item biases. Ratings stay on the"
        " users' own devices, and their vector is on the server during the interaction alone. In"
        " return, users send all their ratings each time, and one tapped interaction reveals them."
        " The paper notes this itself, and that a wiretap must be activated first (section 5). A"
        " server that keeps ratings receives only the new one. Every variant sends recommendations."
    )
    observer_diagram.draw_folded(observer_diagram.RETENTION)


OWN: dict[str, Callable[[], None]] = {"balu-2016": sketch, "vallet-2014": retention}


# ---- the section ---------------------------------------------------------------------------------


def draw(paper: Paper) -> None:
    if paper.presets:
        published = address.pick(
            "preset", "As in the paper", paper.presets, lambda preset: preset.title
        )
        preset(published)
    if paper.id in OWN:
        OWN[paper.id]()


def preset(published: Preset) -> None:
    """Draw a method with its published settings, its command, and a link that opens one run."""
    st.write(published.words)
    st.markdown(f"**Published settings.** {published.settings}")
    if published.run is None:
        st.write(
            "No page opens this method with its settings, because pages offer private methods, and"
            " this one has no ε. The command runs it."
        )
    elif st.button("Open it with these settings", type="primary", key="papers.open"):
        open_run(published.run)
    st.caption(f"Run it as in the paper: `{claim_figure.command(published)}`.")


def open_run(run: RunSpec) -> None:
    """Open the page that draws such a run, with all its settings."""
    kind = data_sets.find(run.data.id).holds
    sidebar_values.forget(kind)
    for name in run.kind.model_fields:
        st.session_state.pop(f"{PAGES[kind]}.{run.algorithm}.{name}", None)
    links.go(PAGES[kind], sidebar_values.link_of(run))
