"""Who sees what of the store of runs."""

from pages.kit.who_sees_what import Schematic

WHO_SEES_WHAT = Schematic(
    {
        "you": "You",
        "others": "Others on this server",
        "store": "Runs on catalogue data\none store for all",
        "own": "Runs on what you brought\nyour session alone",
        "notes": "Notes and tags\nseen by all",
    },
    (
        ("you", "store", ""),
        ("others", "store", ""),
        ("you", "notes", ""),
        ("others", "notes", ""),
        ("you", "own", "~"),
    ),
    "Runs on public and simulated data are shared by everyone who uses this server, and computed"
    " once.",
    frozenset(),
    frozenset(),
)
