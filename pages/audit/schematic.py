"""Who sees what of an audit."""

from pages.kit.who_sees_what import Schematic

WHO_SEES_WHAT = Schematic(
    {
        "world": "A world that the auditor made\nwith or without the canary",
        "training": "The algorithm\nas it is, or with a planted fault",
        "shared": "All that is shared,\nand every release",
        "auditor": "Auditor, as adversary\nknows everybody but the canary,\nguesses: was it there?",
        "bound": "How often she is right\nbounds ε from below",
    },
    (
        ("world", "training", ""),
        ("training", "shared", "noise, says the ledger"),
        ("shared", "auditor", ""),
        ("auditor", "bound", ""),
    ),
    "The auditor plays the strongest adversary that the promise speaks of. No real data are"
    " here: the world is her own.",
)
