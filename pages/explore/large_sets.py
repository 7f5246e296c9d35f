"""Which runs Explore asks for on ratings in parts: a run reads each part again and again."""

from collections.abc import Collection

from dpmf_core.runs.comparison import Comparison, split_name
from dpmf_core.runs.specification import RunSpec
from pages.kit import data_sets, time_estimate
from pages.kit.choice import Choice
from pages.kit.runs import may_begin

HEADLINE = ("main", "twin", "trivial")  # the methods of which the headline speaks
NOT_YET = (
    "Nothing has been trained here yet: so many ratings take long. The privacy card below needs no"
    " data and already holds."
)


def runs(choice: Choice, selection: Comparison) -> dict[str, RunSpec]:
    """The runs of a comparison that are asked for by now: all of them, unless the set is in parts
    and public. Then those that are stored, what the headline speaks of in the first draw, and when
    that is there the rest; each once a button says so where it takes long.
    """
    every = selection.runs
    if not (choice.entry.public and data_sets.is_in_parts(choice.data)):
        return every
    stored_names = time_estimate.stored_names(every)
    first = {name for name in every if _is_first(name)} - stored_names
    rest = every.keys() - first - stored_names
    names = set(stored_names)
    if first:
        what = "This run, with the two that it is measured by,"
        names |= first if _may_start("explore", every, first, what) else set()
    else:
        what = "The other methods, and two more draws of each,"
        names |= rest if _may_start("explore.rest", every, rest, what) else set()
    return {name: spec for name, spec in every.items() if name in names}


def _is_first(name: str) -> bool:
    who, draw = split_name(name)
    return draw == 0 and who in HEADLINE


def _may_start(page: str, every: dict[str, RunSpec], missing: Collection[str], what: str) -> bool:
    """Whether what is left may be asked for; what takes long has a button."""
    seconds = time_estimate.seconds({name: every[name] for name in missing}) if missing else 0.0
    signature = " ".join(spec.model_dump_json() for spec in every.values())
    return may_begin(page, seconds, what, signature)
