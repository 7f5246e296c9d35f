"""Who sees what: diagrams of the curator, the analyst, an adversary and the person."""

from dataclasses import dataclass

import streamlit as st

from dpmf_core.teaching.glossary import linked
from pages.kit import colours

BELOW = "below"  # no arrow; the second box is below the first
Edge = tuple[str, str, str]  # from, to, text; a leading ~ means without noise


@dataclass(frozen=True)
class Schematic:
    """A diagram of who sees what.

    boxes: text by name; `noisy` boxes contain noise, `bare` ones show private data to others.
    words: the diagram in a sentence.
    """

    boxes: dict[str, str]
    edges: tuple[Edge, ...]
    words: str
    noisy: frozenset[str] = frozenset({"shared"})
    bare: frozenset[str] = frozenset()


EDGES: tuple[Edge, ...] = (  # of joint differential privacy
    ("you", "curator", ""),
    ("others", "curator", ""),
    ("curator", "shared", "noise, in the ledger"),
    ("shared", "adversary", ""),
    ("shared", "analyst", ""),
    ("adversary", "analyst", BELOW),
    ("shared", "view", ""),
    ("you", "view", "~" + "from your own row, no noise"),
)


def _joint(many: str, your_own: str, shared: str, view: str) -> Schematic:
    """Return the diagram of joint differential privacy."""
    return Schematic(
        {
            "you": f"You\nyour {many}, your own {your_own}",
            "others": f"Everyone else\ntheir {many}",
            "curator": f"Curator\nsees all {many}, adds noise",
            "shared": f"{shared}\nwith noise: all that is shared",
            "adversary": "Adversary\nsees what is shared,\nmay be everyone else",
            "view": f"{view}\nseen by you alone",
            "analyst": "Analyst\nsees what is shared; errors\nonly on public data",
        },
        EDGES,
        "Joint differential privacy: others learn about you only through the noisy release. Your"
        f" view is computed from it and your own {many}. The curator, and anyone who sees your"
        " view, see private data: the guarantee protects people from each other.",
    )


USERS = _joint("ratings", "factor", "Item factors and offsets", "Your recommendations")
DOCUMENTS = _joint(
    "documents", "topic weights", "Topics: weights of words", "Your documents' topics"
)
IMAGES = _joint(
    "images", "coefficients", "Components: a basis of images", "Your image as a sum of components"
)
RATINGS = Schematic(
    {
        "you": "You\nwhich films you rated,\nand how",
        "curator": "Curator\nadds noise to each rating",
        "noisy": "Every rating's value,\nwith noise",
        "which": "Which films you rated,\nunchanged",
        "shared": "Item factors",
        "adversary": "Adversary",
        "view": "Your recommendations",
    },
    (
        ("you", "curator", ""),
        ("curator", "noisy", "noise, in the ledger"),
        ("curator", "which", "~" + "no noise"),
        ("noisy", "shared", ""),
        ("which", "shared", ""),
        ("shared", "adversary", ""),
        ("shared", "view", ""),
    ),
    "This protects the value of one rating, not a person. Which films a person rated is taken as"
    " public, and the guarantee weakens with each of their ratings.",
    frozenset({"noisy"}),
    frozenset({"which"}),
)

LOCAL = Schematic(
    {
        "you": "You\nyour ratings, your own factor",
        "others": "Everyone else\ntheir ratings",
        "yours": "Your message\nwith noise of your own",
        "theirs": "Their messages\neach with noise of its own",
        "server": "Server\nsees every message,\nadds them up",
        "shared": "Item offsets\nfrom the noisy sum",
        "adversary": "Adversary\nmay be the server too",
        "view": "Your recommendations\nseen by you alone",
    },
    (
        ("you", "yours", "noise, in the ledger"),
        ("others", "theirs", "noise, in the ledger"),
        ("yours", "server", ""),
        ("theirs", "server", ""),
        ("server", "shared", ""),
        ("shared", "adversary", ""),
        ("shared", "view", ""),
        ("you", "view", "~" + "from your own row, no noise"),
    ),
    "Local differential privacy: everyone adds noise before sending anything, so no one needs to"
    " trust the server. The noise of n messages is √n times that of one, so at the same ε the"
    " result is far less accurate than a curator's. ε also covers replacing your row by any other."
    " A run simulates all users in one program.",
    frozenset({"yours", "theirs", "server", "shared"}),
)

SKETCH = Schematic(
    {
        "you": "You\nyour ratings",
        "others": "Everyone else\ntheir ratings",
        "server": "Server\nsees each rating as it comes,\nadds gradients to hashed cells",
        "shared": "Cells of the sketch\nseveral users and items in each,\nno noise",
        "adversary": "Adversary\nknows the hash functions:\nsees what a rating moved",
        "view": "Your recommendations\nread from your cells",
    },
    (
        ("you", "server", ""),
        ("others", "server", ""),
        ("server", "shared", "~" + "hashed, no noise"),
        ("shared", "adversary", "~"),
        ("shared", "view", ""),
    ),
    "Hashing mixes people in cells but adds no noise: an adversary who knows the hash functions"
    " sees the exact effect of a rating.",
    frozenset(),
    frozenset({"shared"}),
)

RETENTION = Schematic(
    {
        "you": "You\nyour ratings, kept with you",
        "server": "Server, for one interaction\nyour ratings and your vector,\nthen forgets both",
        "wiretap": "Wiretap\nsees all your ratings",
        "shared": "Item factors and biases\nwithout noise",
        "subpoena": "Subpoena\nfinds item factors and biases",
        "view": "Your recommendations",
    },
    (
        ("you", "server", "all your ratings, each time"),
        ("you", "wiretap", "~"),
        ("server", "shared", "~" + "no noise"),
        ("server", "view", ""),
        ("shared", "subpoena", "~"),
    ),
    "Not storing ratings limits what a seized server reveals. It is not differential privacy: item"
    " factors carry no noise.",
    frozenset(),
    frozenset({"shared", "wiretap"}),
)


OF_ALGORITHM = {"input-perturbation": RATINGS, "dpnmf-laplace": RATINGS, "local-bias": LOCAL}


def _dot(schematic: Schematic) -> str:
    dark = colours.is_dark()
    box, line, ink = (
        ("#1c222c", "#8b93a1", "#e6e9ef") if dark else ("#f4f5f7", "#6b7280", "#1d2330")
    )
    fills = dict.fromkeys(schematic.noisy, ("#0072B2", "white")) | dict.fromkeys(
        schematic.bare, ("#8a3b12" if dark else "#f6d9c8", ink)
    )
    lines = [
        'digraph { rankdir=TB; bgcolor="transparent"; nodesep=0.25; ranksep=0.35',
        (
            'node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=12,'
            f' fillcolor="{box}", color="{line}", fontcolor="{ink}"]'
        ),
        f'edge [color="{line}", fontcolor="{ink}", fontname="sans-serif", fontsize=11]',
    ]
    for name, text in schematic.boxes.items():
        fill, letters = fills.get(name, (box, ink))
        label = text.replace("\n", "\\n")
        lines.append(f'{name} [label="{label}", fillcolor="{fill}", fontcolor="{letters}"]')
    for start, end, text in schematic.edges:
        style = "invis" if text == BELOW else "dashed" if text.startswith("~") else "solid"
        edge_label = "" if text == BELOW else text.lstrip("~")
        lines.append(f'{start} -> {end} [label=" {edge_label}", style={style}]')
    return "\n".join([*lines, "}"])


def draw(schematic: Schematic, unfolded: bool = False) -> None:
    """Draw a diagram, folded.

    Blue boxes contain noise, red-brown ones show private data to others; dashed arrows carry no
    noise.
    """
    with st.expander("Who sees what", expanded=unfolded):
        st.graphviz_chart(_dot(schematic))
        st.markdown(f":small[{linked(schematic.words)}]")


def of(algorithm: str) -> Schematic:
    """Return the diagram of a private algorithm on ratings."""
    return OF_ALGORITHM.get(algorithm, USERS)
