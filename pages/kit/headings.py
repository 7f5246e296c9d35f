"""What the columns of a figure's numbers are called in another language; in English and in files
they keep the names that code has for them.
"""

import pandas as pd

from dpmf_core.language import ENGLISH, phrase
from pages.kit import language
from pages.kit.language import say

CODES = ["id", "source"]  # columns for figures alone: names say the same in words
HEADINGS = {
    "fpr": phrase("false positives"),
    "fnr": phrase("false negatives"),
    "rmse": phrase("RMSE"),
    "answer": phrase("answer"),
    "with you": phrase("with you"),
    "without you": phrase("without you"),
    "excess": phrase("excess"),
    "lowest draw": phrase("lowest draw"),
    "highest draw": phrase("highest draw"),
    "films": phrase("films"),
    "film": phrase("film"),
    "share": phrase("share"),
    "published": phrase("published"),
    "others": phrase("all others"),
    "difference": phrase("difference"),
    "seen": phrase("seen"),
    "estimate": phrase("estimate"),
    "chance": phrase("probability"),
    "people": phrase("people"),
    "central": phrase("a curator adds noise"),
    "local": phrase("everybody adds noise"),
    "norm": phrase("clip norm C"),
    "cut": phrase("cut off"),
    "noise": phrase("noise"),
    "both": phrase("both"),
    "people_cut": phrase("people who are shortened"),
    "steps": phrase("steps"),
    "exactly": phrase("exactly"),
    "sum": phrase("sum of ε"),
    "stars": phrase("stars"),
    "true": phrase("true, which nobody sees"),
    "afterwards": phrase("afterwards"),
    "photographs": phrase("photographs of you"),
    "epsilon": "ε",
    "value": phrase("value"),
    "seed": phrase("seed"),
    "source": phrase("noise by the source's rule"),
    "guarantee": phrase("guarantee"),
    "true ε": phrase("true ε"),
    "seconds to train": phrase("seconds to train"),
    "kept": phrase("ratings that are kept"),
    "by": phrase("parted by"),
    "activity": phrase("activity"),
    "popularity": phrase("popularity"),
    "items": phrase("share of items, most observed first"),
    "observations": phrase("share of observations"),
    "one": phrase("one photograph"),
    "before": phrase("before"),
    "after": phrase("after, at most"),
    "unmoved": phrase("nothing learnt"),
    "group": phrase("group"),
    "name": phrase("method"),
    "method": phrase("method"),
    "step": phrase("step"),
    "draw": phrase("draw"),
    "part": phrase("part of the data"),
    "objective": phrase("objective"),
    "word": phrase("word"),
    "weight": phrase("weight"),
    "published unit": phrase("unit of the published error"),
    "rows of norm 1": phrase("rows of norm 1"),
    "sessions": phrase("sessions"),
    "false alarms": phrase("false alarms"),
    "misses": phrase("misses"),
}


def read(table: pd.DataFrame) -> pd.DataFrame:
    """The table with headings and words in the session's language; its figures as they are."""
    if language.current() == ENGLISH:
        return table
    display_table = table.drop(columns=CODES, errors="ignore")
    words = {name: say(HEADINGS.get(str(name), str(name))) for name in display_table.columns}
    for place, kind in enumerate(display_table.dtypes):
        if pd.api.types.is_object_dtype(kind) or pd.api.types.is_string_dtype(kind):
            cells = [say(it) if isinstance(it, str) else it for it in display_table.iloc[:, place]]
            display_table.isetitem(place, cells)
    return display_table.rename(columns=words)
