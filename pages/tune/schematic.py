"""Who sees what of a search for parameters."""

from pages.kit.who_sees_what import Schematic

WHO_SEES_WHAT = Schematic(
    {
        "train": "Ratings to train on",
        "validation": "Validation ratings\nscore every trial",
        "trials": "Trials\neach with noise of its own",
        "analyst": (
            "Analyst\nlooking at every trial: pays for all,\nseeing the winner only: for the"
            " selection"
        ),
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
    "Choosing looks at private ratings as well. On public or simulated data it costs nothing; on"
    " private data either every look is paid for, or nobody looks.",
    frozenset({"winner"}),
    frozenset({"analyst"}),
)
