"""Who sees what of data that a visitor uploads."""

from pages.kit.who_sees_what import Schematic

WHO_SEES_WHAT = Schematic(
    {
        "you": "You\nthe file in your browser",
        "server": "This server\nkeeps it for this session alone",
        "runs": "Runs on it\nin this session, not in the store",
        "others": "Others on this server\nsee neither file nor runs",
        "export": "What you download or share\nholds no raw figure of private data",
    },
    (
        ("you", "server", "upload"),
        ("server", "runs", ""),
        ("runs", "export", "ledger and factors with noise"),
        ("runs", "others", "~nothing"),
    ),
    "Whoever runs this server can read what you upload. Other people who use it cannot; 'Remove'"
    " deletes it.",
    frozenset({"export"}),
    frozenset({"server"}),
)
