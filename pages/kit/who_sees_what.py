"""Who sees what: the curator, the analyst, an adversary and the person herself, drawn for each
family of methods.
"""

from dataclasses import dataclass

import streamlit as st

from dpmf_core.language import phrase
from dpmf_core.teaching.glossary import linked
from pages.kit import colours
from pages.kit.language import say

BELOW = "below"  # no arrow: a place for the second box
Edge = tuple[str, str, str]  # from, to, what goes along it; with a ~ before it: without noise


@dataclass(frozen=True)
class Schematic:
    """A drawing of who sees what.

    boxes: by name, what is in each; those in `noisy` hold noise, those in `bare` show private data
    to others. words: the drawing in a sentence.
    """

    boxes: dict[str, str]
    edges: tuple[Edge, ...]
    words: str
    noisy: frozenset[str] = frozenset({"shared"})
    bare: frozenset[str] = frozenset()


EDGES: tuple[Edge, ...] = (  # of joint differential privacy
    ("you", "curator", ""),
    ("others", "curator", ""),
    ("curator", "shared", phrase("noise, in the ledger")),
    ("shared", "adversary", ""),
    ("shared", "analyst", ""),
    ("adversary", "analyst", BELOW),
    ("shared", "view", ""),
    ("you", "view", "~" + phrase("from your own row, no noise")),
)
ADVERSARY = phrase("Adversary\nsees what is shared,\nmay be everyone else")
ANALYST = phrase("Analyst\nsees what is shared; errors\nonly on public data")

USERS = Schematic(
    {
        "you": phrase("You\nyour ratings, your own factor"),
        "others": phrase("Everyone else\ntheir ratings"),
        "curator": phrase("Curator\nsees all ratings, adds noise"),
        "shared": phrase("Item factors and offsets\nwith noise: all that is shared"),
        "adversary": ADVERSARY,
        "view": phrase("Your recommendations\nseen by you alone"),
        "analyst": ANALYST,
    },
    EDGES,
    phrase(
        "Joint differential privacy: what others could learn about you passes through the noisy"
        " release. Your view is computed from it and your own ratings. Someone who opens it, and"
        " the curator, see private data: the promise protects people from each other."
    ),
)
DOCUMENTS = Schematic(
    {
        "you": phrase("You\nyour documents, your own topic weights"),
        "others": phrase("Everyone else\ntheir documents"),
        "curator": phrase("Curator\nsees all documents, adds noise"),
        "shared": phrase("Topics: weights of words\nwith noise: all that is shared"),
        "adversary": ADVERSARY,
        "view": phrase("Your documents' topics\nseen by you alone"),
        "analyst": ANALYST,
    },
    EDGES,
    phrase(
        "Joint differential privacy: what others could learn about you passes through the noisy"
        " release. Your view is computed from it and your own documents. Someone who opens it, and"
        " the curator, see private data: the promise protects people from each other."
    ),
)
IMAGES = Schematic(
    {
        "you": phrase("You\nyour images, your own coefficients"),
        "others": phrase("Everyone else\ntheir images"),
        "curator": phrase("Curator\nsees all images, adds noise"),
        "shared": phrase("Parts: a basis of images\nwith noise: all that is shared"),
        "adversary": ADVERSARY,
        "view": phrase("Your image as a sum of parts\nseen by you alone"),
        "analyst": ANALYST,
    },
    EDGES,
    phrase(
        "Joint differential privacy: what others could learn about you passes through the noisy"
        " release. Your view is computed from it and your own images. Someone who opens it, and"
        " the curator, see private data: the promise protects people from each other."
    ),
)

OPEN = Schematic(
    {
        "you": phrase("You\nyour ratings"),
        "others": phrase("Everyone else\ntheir ratings"),
        "curator": phrase("Curator\nsees all ratings"),
        "shared": phrase("Item factors\nwithout noise"),
        "adversary": phrase("Adversary\nmay subtract what she knows\nand read you off the rest"),
        "view": phrase("Your recommendations"),
    },
    (
        ("you", "curator", ""),
        ("others", "curator", ""),
        ("curator", "shared", "~" + phrase("no noise")),
        ("shared", "adversary", "~"),
        ("shared", "view", ""),
    ),
    phrase("Without privacy: nothing limits what the shared factors tell about one person."),
    frozenset(),
    frozenset({"shared"}),
)

RATINGS = Schematic(
    {
        "you": phrase("You\nwhich films you rated,\nand how"),
        "curator": phrase("Curator\nadds noise to each rating"),
        "noisy": phrase("Every rating's value,\nwith noise"),
        "which": phrase("Which films you rated,\nas it is"),
        "shared": phrase("Item factors"),
        "adversary": phrase("Adversary"),
        "view": phrase("Your recommendations"),
    },
    (
        ("you", "curator", ""),
        ("curator", "noisy", phrase("noise, in the ledger")),
        ("curator", "which", "~" + phrase("no noise")),
        ("noisy", "shared", ""),
        ("which", "shared", ""),
        ("shared", "adversary", ""),
        ("shared", "view", ""),
    ),
    phrase(
        "One rating's value is protected, not a person: which films somebody rated is taken as"
        " public, and the promise weakens with every rating of hers."
    ),
    frozenset({"noisy"}),
    frozenset({"which"}),
)

LOCAL = Schematic(
    {
        "you": phrase("You\nyour ratings, your own factor"),
        "others": phrase("Everyone else\ntheir ratings"),
        "yours": phrase("Your message\nwith noise of your own"),
        "theirs": phrase("Their messages\neach with noise of its own"),
        "server": phrase("Server\nsees every message,\nadds them up"),
        "shared": phrase("Item offsets\nfrom the noisy sum"),
        "adversary": phrase("Adversary\nmay be the server too"),
        "view": phrase("Your recommendations\nseen by you alone"),
    },
    (
        ("you", "yours", phrase("noise, in the ledger")),
        ("others", "theirs", phrase("noise, in the ledger")),
        ("yours", "server", ""),
        ("theirs", "server", ""),
        ("server", "shared", ""),
        ("shared", "adversary", ""),
        ("shared", "view", ""),
        ("you", "view", "~" + phrase("from your own row, no noise")),
    ),
    phrase(
        "Local differential privacy: noise is added before anything leaves you, so that nobody is"
        " trusted, not even the server. The noise of n messages adds up to √n times that of one: at"
        " the same ε the result is far worse than a curator's. The same ε holds where your row is"
        " replaced by any other. A run simulates all users in one program."
    ),
    frozenset({"yours", "theirs", "server", "shared"}),
)

SKETCH = Schematic(
    {
        "you": phrase("You\nyour ratings"),
        "others": phrase("Everyone else\ntheir ratings"),
        "server": phrase("Server\nsees each rating as it comes,\nadds gradients to hashed cells"),
        "shared": phrase("Cells of the sketch\nseveral users and items in each,\nno noise"),
        "adversary": phrase("Adversary\nknows the hash functions:\nsees what a rating moved"),
        "view": phrase("Your recommendations\nread from your cells"),
    },
    (
        ("you", "server", ""),
        ("others", "server", ""),
        ("server", "shared", "~" + phrase("hashed, no noise")),
        ("shared", "adversary", "~"),
        ("shared", "view", ""),
    ),
    phrase(
        "Hashing mixes people in cells; it adds no noise of its own, so that a rating moves what an"
        " adversary sees by exactly as much as it does."
    ),
    frozenset(),
    frozenset({"shared"}),
)

RETENTION = Schematic(
    {
        "you": phrase("You\nyour ratings and your factor,\nkept with you"),
        "server": phrase("Server\nuses a rating once, then forgets it"),
        "static": phrase("Static share\nratings that are kept"),
        "shared": phrase("Item factors\nwithout noise"),
        "subpoena": phrase("Whoever seizes the server\nitem factors and the static share"),
        "view": phrase("Your recommendations"),
    },
    (
        ("you", "server", phrase("passes through")),
        ("server", "static", "~" + phrase("share Rₛ, kept")),
        ("server", "shared", "~" + phrase("no noise")),
        ("static", "subpoena", "~"),
        ("shared", "subpoena", "~"),
        ("shared", "view", ""),
        ("you", "view", phrase("your own factor")),
    ),
    phrase(
        "Not keeping ratings limits what a seized server holds. It is no differential privacy: item"
        " factors carry no noise."
    ),
    frozenset(),
    frozenset({"shared", "static"}),
)


OF_ALGORITHM = {
    "input-perturbation": RATINGS,
    "dpnmf-laplace": RATINGS,
    "local-bias": LOCAL,
    "sketch": SKETCH,
    "no-retention": RETENTION,
}


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
        label = say(text).replace("\n", "\\n")
        lines.append(f'{name} [label="{label}", fillcolor="{fill}", fontcolor="{letters}"]')
    for start, end, text in schematic.edges:
        style = "invis" if text == BELOW else "dashed" if text.startswith("~") else "solid"
        edge_label = "" if text == BELOW else say(text.lstrip("~"))
        lines.append(f'{start} -> {end} [label=" {edge_label}", style={style}]')
    return "\n".join([*lines, "}"])


def draw(schematic: Schematic, unfolded: bool = False) -> None:
    """The schematic, folded.

    Blue holds noise; red-brown shows private data to others; dashed arrows carry no noise.
    """
    with st.expander(say("Who sees what"), expanded=unfolded):
        st.graphviz_chart(_dot(schematic))
        st.markdown(f":small[{linked(say(schematic.words))}]")


def of(algorithm: str, private: bool = True) -> Schematic:
    """The schematic of an algorithm on ratings."""
    return OF_ALGORITHM.get(algorithm, USERS if private else OPEN)
