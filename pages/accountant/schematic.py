"""Who sees what of an accountant, who reads a ledger."""

from pages.kit.who_sees_what import Schematic

WHO_SEES_WHAT = Schematic(
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
    "An accountant needs no data: what was released, how often and with which noise says all."
    " The ledger itself is public.",
)
