"""Who sees what: the curator, the analyst, an adversary and the person herself, drawn for each family of methods."""

from dataclasses import dataclass

import streamlit as st

from dpmf_core.glossary import linked
from pages.kit import charts

BELOW = "below"  # no arrow: a place for the second box
Edge = tuple[str, str, str]  # from, to, what goes along it; with a ~ before it: without noise


@dataclass(frozen=True)
class Sight:
    """boxes: by name, what is in each; the ones in `noisy` hold noise, the ones in `bare` show private data to others. words: the drawing in a sentence."""

    boxes: dict[str, str]
    edges: tuple[Edge, ...]
    words: str
    noisy: frozenset[str] = frozenset({"shared"})
    bare: frozenset[str] = frozenset()


def _joint(what: str, own: str, shared: str, view: str) -> Sight:
    return Sight(
        {
            "you": f"You\nyour {what}, your own {own}",
            "others": f"Everyone else\ntheir {what}",
            "curator": f"Curator\nsees all {what}, adds noise",
            "shared": f"{shared}\nwith noise: all that is shared",
            "adversary": "Adversary\nsees what is shared,\nmay be everyone else",
            "view": f"{view}\nseen by you alone",
            "analyst": "Analyst\nsees what is shared; errors\nonly on public data",
        },
        (
            ("you", "curator", ""),
            ("others", "curator", ""),
            ("curator", "shared", "noise, in the ledger"),
            ("shared", "adversary", ""),
            ("shared", "analyst", ""),
            ("adversary", "analyst", BELOW),
            ("shared", "view", ""),
            ("you", "view", "~from your own row, no noise"),
        ),
        f"Joint differential privacy: what others could learn about you passes through the noisy release. Your view is computed from it and your own {what}. "
        "Someone who opens it, and the curator, see private data: the promise protects people from each other.",
    )


USERS = _joint("ratings", "factor", "Item factors and offsets", "Your recommendations")
DOCUMENTS = _joint("documents", "topic weights", "Topics: weights of words", "Your documents' topics")
IMAGES = _joint("images", "coefficients", "Parts: a basis of images", "Your image as a sum of parts")

OPEN = Sight(
    {
        "you": "You\nyour ratings",
        "others": "Everyone else\ntheir ratings",
        "curator": "Curator\nsees all ratings",
        "shared": "Item factors\nwithout noise",
        "adversary": "Adversary\nmay subtract what she knows\nand read you off the rest",
        "view": "Your recommendations",
    },
    (("you", "curator", ""), ("others", "curator", ""), ("curator", "shared", "~no noise"), ("shared", "adversary", "~"), ("shared", "view", "")),
    "Without privacy: nothing limits what the shared factors tell about one person.",
    frozenset(),
    frozenset({"shared"}),
)

RATINGS = Sight(
    {
        "you": "You\nwhich films you rated,\nand how",
        "curator": "Curator\nadds noise to each rating",
        "noisy": "Every rating's value,\nwith noise",
        "which": "Which films you rated,\nas it is",
        "shared": "Item factors",
        "adversary": "Adversary",
        "view": "Your recommendations",
    },
    (
        ("you", "curator", ""),
        ("curator", "noisy", "noise, in the ledger"),
        ("curator", "which", "~no noise"),
        ("noisy", "shared", ""),
        ("which", "shared", ""),
        ("shared", "adversary", ""),
        ("shared", "view", ""),
    ),
    "One rating's value is protected, not a person: which films somebody rated is taken as public, and the promise weakens with every rating of hers.",
    frozenset({"noisy"}),
    frozenset({"which"}),
)

SKETCH = Sight(
    {
        "you": "You\nyour ratings",
        "others": "Everyone else\ntheir ratings",
        "server": "Server\nsees each rating as it comes,\nadds gradients to hashed cells",
        "shared": "Cells of the sketch\nseveral users and items in each,\nno noise",
        "adversary": "Adversary\nknows the hash functions:\nsees what a rating moved",
        "view": "Your recommendations\nread from your cells",
    },
    (("you", "server", ""), ("others", "server", ""), ("server", "shared", "~hashed, no noise"), ("shared", "adversary", "~"), ("shared", "view", "")),
    "Hashing mixes people in cells; it adds no noise of its own, so that a rating moves what an adversary sees by exactly as much as it does.",
    frozenset(),
    frozenset({"shared"}),
)

RETENTION = Sight(
    {
        "you": "You\nyour ratings and your factor,\nkept with you",
        "server": "Server\nuses a rating once, then forgets it",
        "static": "Static share\nratings that are kept",
        "shared": "Item factors\nwithout noise",
        "subpoena": "Whoever seizes the server\nitem factors and the static share",
        "view": "Your recommendations",
    },
    (
        ("you", "server", "passes through"),
        ("server", "static", "~share Rₛ, kept"),
        ("server", "shared", "~no noise"),
        ("static", "subpoena", "~"),
        ("shared", "subpoena", "~"),
        ("shared", "view", ""),
        ("you", "view", "your own factor"),
    ),
    "Not keeping ratings limits what a seized server holds. It is no differential privacy: item factors carry no noise.",
    frozenset(),
    frozenset({"shared", "static"}),
)

ACCOUNTANT = Sight(
    {
        "people": "People\ntheir rows",
        "curator": "Curator\ncomputes statistics",
        "shared": "Releases\neach with its noise",
        "ledger": "Ledger\nwhich noise, how often:\nno data at all",
        "analyst": "Analyst\nreads ε off the ledger",
        "adversary": "Adversary\nsees every release",
    },
    (
        ("people", "curator", ""),
        ("curator", "shared", "noise"),
        ("shared", "adversary", ""),
        ("shared", "ledger", "is written down"),
        ("ledger", "analyst", ""),
    ),
    "An accountant needs no data: what was released, how often and with which noise says all. The ledger itself is public.",
)

AUDIT = Sight(
    {
        "world": "A world that the auditor made\nwith or without the canary",
        "training": "The algorithm\nas it is, or with a planted fault",
        "shared": "All that is shared,\nand every release",
        "auditor": "Auditor, as adversary\nknows everybody but the canary,\nguesses: was it there?",
        "bound": "How often she is right\nbounds ε from below",
    },
    (("world", "training", ""), ("training", "shared", "noise, says the ledger"), ("shared", "auditor", ""), ("auditor", "bound", "")),
    "The auditor plays the strongest adversary that the promise speaks of. No real data are here: the world is her own.",
)

TUNING = Sight(
    {
        "train": "Ratings to train on",
        "validation": "Validation ratings\nscore every trial",
        "trials": "Trials\neach with noise of its own",
        "analyst": "Analyst\nlooking at every trial: pays for all,\nseeing the winner only: for the selection",
        "winner": "The winner\nshared",
        "adversary": "Adversary\nsees the winner,\nand what the analyst tells",
    },
    (
        ("train", "trials", "noise"),
        ("validation", "trials", "scores"),
        ("trials", "analyst", "~all scores, if she looks"),
        ("trials", "winner", "the best"),
        ("winner", "adversary", ""),
    ),
    "Choosing looks at private ratings as well. On public or simulated data it costs nothing; on private data either every look is paid for, or nobody looks.",
    frozenset({"winner"}),
    frozenset({"analyst"}),
)

BROUGHT = Sight(
    {
        "you": "You\nthe file in your browser",
        "server": "This server\nkeeps it for this session alone",
        "runs": "Runs on it\nin this session, not in the store",
        "others": "Others on this server\nsee neither file nor runs",
        "export": "What you download or share\nholds no raw figure of private data",
    },
    (("you", "server", "upload"), ("server", "runs", ""), ("runs", "export", "ledger and factors with noise"), ("runs", "others", "~nothing")),
    "Whoever runs this server can read what you upload. Other people who use it cannot; 'Remove' deletes it.",
    frozenset({"export"}),
    frozenset({"server"}),
)

STORE = Sight(
    {
        "you": "You",
        "others": "Others on this server",
        "store": "Runs on catalogue data\none store for all",
        "own": "Runs on what you brought\nyour session alone",
        "notes": "Notes and tags\nseen by all",
    },
    (("you", "store", ""), ("others", "store", ""), ("you", "notes", ""), ("others", "notes", ""), ("you", "own", "~")),
    "Runs on public and simulated data are shared by everyone who uses this server, and computed once.",
    frozenset(),
    frozenset(),
)

OF_ALGORITHM = {"input-perturbation": RATINGS, "dpnmf-laplace": RATINGS, "sketch": SKETCH, "no-retention": RETENTION}


def _dot(sight: Sight) -> str:
    night = charts.dark()
    box, line, ink = ("#1c222c", "#8b93a1", "#e6e9ef") if night else ("#f4f5f7", "#6b7280", "#1d2330")
    fills = dict.fromkeys(sight.noisy, ("#0072B2", "white")) | dict.fromkeys(sight.bare, ("#8a3b12" if night else "#f6d9c8", ink))
    lines = [
        'digraph { rankdir=TB; bgcolor="transparent"; nodesep=0.25; ranksep=0.35',
        f'node [shape=box, style="rounded,filled", fontname="sans-serif", fontsize=12, fillcolor="{box}", color="{line}", fontcolor="{ink}"]',
        f'edge [color="{line}", fontcolor="{ink}", fontname="sans-serif", fontsize=11]',
    ]
    for name, text in sight.boxes.items():
        fill, letters = fills.get(name, (box, ink))
        told = text.replace("\n", "\\n")
        lines.append(f'{name} [label="{told}", fillcolor="{fill}", fontcolor="{letters}"]')
    for start, end, text in sight.edges:
        style = "invis" if text == BELOW else "dashed" if text.startswith("~") else "solid"
        lines.append(f'{start} -> {end} [label=" {text.lstrip("~")}", style={style}]')
    return "\n".join([*lines, "}"])


def draw(sight: Sight, unfolded: bool = False) -> None:
    """The schematic, folded. Blue holds noise; red-brown shows private data to others; dashed arrows carry no noise."""
    with st.expander("Who sees what", expanded=unfolded):
        st.graphviz_chart(_dot(sight))
        st.markdown(f":small[{linked(sight.words)}]")


def of(algorithm: str, private: bool = True) -> Sight:
    """The schematic of an algorithm on ratings."""
    return OF_ALGORITHM.get(algorithm, USERS if private else OPEN)
