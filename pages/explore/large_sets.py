"""Which runs Explore asks for on ratings in parts: a run reads each part again and again."""

from dpmf_core.runs.comparison import Comparison, split_name
from dpmf_core.runs.specification import RunSpec
from pages.kit import data_sets, run_progress, time_estimate
from pages.kit.choice import Choice
from pages.kit.comparison import BESIDE
from pages.kit.language import say


def runs(choice: Choice, selection: Comparison) -> dict[str, RunSpec]:
    """The runs of a comparison that are asked for by now: all of them, unless the set is in parts
    and public. Then those that are stored; the first draw of the chosen run and what stands beside
    it; and the rest; each once a button says so where it takes long.
    """
    if not (choice.entry.public and data_sets.is_in_parts(choice.data)):
        return selection.runs
    stored = time_estimate.stored(selection.runs)
    left = {name: spec for name, spec in selection.runs.items() if name not in stored}
    first = {name: spec for name, spec in left.items() if _is_first(name)}
    rest = {name: spec for name, spec in left.items() if name not in first}
    asked = set(stored)
    if _confirmed("explore", first, say("This run, with the two that it is measured by,")):
        asked |= first.keys()
        if _confirmed("explore.rest", rest, say("The other methods, and two more draws of each,")):
            asked |= rest.keys()
    return {name: spec for name, spec in selection.runs.items() if name in asked}


def _is_first(name: str) -> bool:
    who, draw = split_name(name)
    return draw == 0 and who in BESIDE


def _confirmed(page: str, left: dict[str, RunSpec], what: str) -> bool:
    """Whether these may be asked for; what takes long has a button."""
    seconds = time_estimate.seconds(left) if left else 0.0
    names = " ".join(sorted(spec.model_dump_json() for spec in left.values()))
    return run_progress.confirmed(page, seconds, what, names)
