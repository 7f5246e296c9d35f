"""Who sees what of an audit."""

from dpmf_core.language import phrase
from pages.kit.who_sees_what import Schematic

WHO_SEES_WHAT = Schematic(
    {
        "world": phrase("A world that the auditor made\nwith or without the canary"),
        "training": phrase("The algorithm\nas it is, or with a planted fault"),
        "shared": phrase("All that is shared,\nand every release"),
        "auditor": phrase(
            "Auditor, as adversary\nknows everybody but the canary,\nguesses: was it there?"
        ),
        "bound": phrase("How often she is right\nbounds ε from below"),
    },
    (
        ("world", "training", ""),
        ("training", "shared", phrase("noise, says the ledger")),
        ("shared", "auditor", ""),
        ("auditor", "bound", ""),
    ),
    phrase(
        "The auditor plays the strongest adversary that the promise speaks of. No real data are"
        " here: the world is her own."
    ),
)
