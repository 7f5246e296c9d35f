"""Who sees what: diagrams of the curator, the analyst, an adversary and the person.

`diagrams/` holds them in Graphviz's language. Boxes marked `$noisy` contain noise, `$bare` ones
show private data to others; dashed arrows carry no noise.
"""

from pathlib import Path
from string import Template

import streamlit as st

from dpmf_core.teaching.glossary import linked
from pages.kit import colours

FOLDER = Path(__file__).with_name("diagrams")
USERS, DOCUMENTS, IMAGES = "users", "documents", "images"
RATINGS, LOCAL, SKETCH, RETENTION = "ratings", "local", "sketch", "retention"
OF_ALGORITHM = {"input-perturbation": RATINGS, "dpnmf-laplace": RATINGS, "local-bias": LOCAL}
# joint differential privacy: what people have, what is theirs alone, what is shared, what they see
JOINT = {
    USERS: ("ratings", "factor", "Item factors and offsets", "Your recommendations"),
    DOCUMENTS: ("documents", "topic weights", "Topics: weights of words", "Your documents' topics"),
    IMAGES: ("images", "coefficients", "Components: a basis of images", "Your image as their sum"),
}
JOINT_WORDS = (
    "Joint differential privacy: others learn about you only through the noisy release. Your view"
    " is computed from it and your own {}. The curator, and anyone who sees your view, see private"
    " data: the guarantee protects people from each other."
)
WORDS = {name: JOINT_WORDS.format(facts[0]) for name, facts in JOINT.items()} | {
    RATINGS: "This protects the value of one rating, not a person. Which films a person rated is"
    " taken as public, and the guarantee weakens with each of their ratings.",
    LOCAL: "Local differential privacy: everyone adds noise before sending anything, so no one"
    " needs to trust the server. The noise of n messages is √n times that of one, so at the same ε"
    " the result is far less accurate than a curator's. ε also covers replacing your row by any"
    " other. A run simulates all users in one program.",
    SKETCH: "Hashing mixes people in cells but adds no noise: an adversary who knows the hash"
    " functions sees the exact effect of a rating.",
    RETENTION: "Not storing ratings limits what a seized server reveals. It is not differential"
    " privacy: item factors carry no noise.",
}


def _dot(name: str) -> str:
    dark = colours.is_dark()
    box, line, ink = (
        ("#1c222c", "#8b93a1", "#e6e9ef") if dark else ("#f4f5f7", "#6b7280", "#1d2330")
    )
    values = dict(zip(("many", "own", "shared", "view"), JOINT.get(name, ()), strict=False))
    values["noisy"] = 'fillcolor="#0072B2", fontcolor="white"'
    values["bare"] = f'fillcolor="{"#8a3b12" if dark else "#f6d9c8"}"'
    file = FOLDER / f"{'joint' if name in JOINT else name}.dot"
    return (
        'digraph { rankdir=TB; bgcolor="transparent"; nodesep=0.25; ranksep=0.35\n'
        'node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=12,'
        f' fillcolor="{box}", color="{line}", fontcolor="{ink}"]\n'
        f'edge [color="{line}", fontcolor="{ink}", fontname="sans-serif", fontsize=11]\n'
        f"{Template(file.read_text('utf-8')).substitute(values)}}}"
    )


def draw(name: str, unfolded: bool = False) -> None:
    """Draw a diagram, folded."""
    with st.expander("Who sees what", expanded=unfolded):
        st.graphviz_chart(_dot(name))
        st.markdown(f":small[{linked(WORDS[name])}]")


def of(algorithm: str) -> str:
    """Return the diagram of a private algorithm on ratings."""
    return OF_ALGORITHM.get(algorithm, USERS)
