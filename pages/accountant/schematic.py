"""Who sees what of an accountant, who reads a ledger."""

from dpmf_core.language import phrase
from pages.kit.who_sees_what import Schematic

WHO_SEES_WHAT = Schematic(
    {
        "people": phrase("People\ntheir rows"),
        "curator": phrase("Curator\ncomputes statistics"),
        "shared": phrase("Releases\neach with its noise"),
        "ledger": phrase("Ledger\nwhich noise, how often:\nno data at all"),
        "analyst": phrase("Analyst\nreads ε off the ledger"),
        "adversary": phrase("Adversary\nsees every release"),
    },
    (
        ("people", "curator", ""),
        ("curator", "shared", phrase("noise")),
        ("shared", "adversary", ""),
        ("shared", "ledger", phrase("is written down")),
        ("ledger", "analyst", ""),
    ),
    phrase(
        "An accountant needs no data: what was released, how often and with which noise says all."
        " The ledger itself is public."
    ),
)
