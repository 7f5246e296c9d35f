"""A comparison's runs (dpmf_core.compare) as rows of figures, and as the sentence above them: over draws that all of them share."""

import statistics
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from dpmf_core import machine
from dpmf_core.compare import PLAIN, Comparison, clearly_better, split_name
from dpmf_core.experiment import Run
from pages.kit import swept
from pages.kit.frames import Columns, framed

BESIDE = ("main", "twin", "trivial", "user-mean")
NAMES = {PLAIN: "DPALS without biases"}
STEP: Columns = {"name": str, "id": str, "draw": int, "step": int, "part": str}
Draws = Sequence[tuple[float, ...]]  # private, twin, trivial: of one draw each


def rmse(run: Run) -> float:
    return float(run.record["metrics"]["rmse"])


def title(who: str, run: Run, unit: str = "user") -> str:
    """What a method is called beside the others, with what keeps its epsilon from meaning the same as theirs. unit: what those protect."""
    name = NAMES.get(who, str(run.record["title"]))
    note = swept.caution(run.record, unit)
    return f"{name} ({note})" if note else name


def curves(done: Mapping[str, Run], parts: Mapping[str, str], metric: str) -> pd.DataFrame:
    """The curves of the chosen run and its twin; further draws with the first part only. parts: their names, by their key in a record's curve."""
    rows = []
    for name, run in done.items():
        who, draw = split_name(name)
        if who not in ("main", "twin"):
            continue
        common = {"name": run.record["title"], "id": run.record["spec"]["algorithm"], "draw": draw}
        for key, part in list(parts.items())[: 1 if draw else None]:
            rows += [common | {"step": int(point["step"]), "part": part, metric: point[key]} for point in run.record["curves"]]
    return framed(rows, {**STEP, metric: float})


def ladder(done: Mapping[str, Run], metric: str) -> pd.DataFrame:
    """A figure of every method in every draw that has finished; the chosen one is told apart from its kind with default parameters."""
    rows = []
    own = next((run.record for name, run in done.items() if split_name(name)[0] == "main"), None)
    unit = own["guarantee"]["unit"] if own else "user"
    again = own is not None and own["spec"]["algorithm"] in {split_name(name)[0] for name in done} - {
        "main"
    }  # its kind with default parameters is there as well
    for name, run in done.items():
        who, draw = split_name(name)
        spec = run.record["spec"]
        label = title(who, run, unit) + (", your parameters" if who == "main" and again else "")
        rows.append({"name": label, "id": who if who in NAMES else spec["algorithm"], "draw": draw, metric: float(run.record["metrics"][metric])})
    return framed(rows, {"name": str, "id": str, "draw": int, metric: float})


def first_draw(asked: Comparison) -> list[str]:
    """What a page is begun with: the first draw; where there is little memory, of the chosen run and what stands beside it alone."""
    first = [name for name in asked.runs if split_name(name)[1] == 0]
    return [name for name in first if name in BESIDE] if machine.is_small() else first


def heading(asked: Comparison) -> str:
    return "Every private method, at this ε" if asked.every else "Selected methods, at this ε"


def explanation(asked: Comparison, done: Mapping[str, Run]) -> str:
    """What dots and bars are; which draws are still missing; which methods do not suit the data."""
    draws = max(split_name(name)[1] for name in asked.runs) + 1
    words = f"A dot is one draw of split and noise, a bar a median; every method has the same {draws} draws."
    if left := len(asked.runs) - len(done):
        words += f" {left} of {len(asked.runs)} runs are still missing, so an order is no result yet."
    return words + "".join(f" {name} is not here: {why}" for name, why in asked.refused.items())


# ---- the sentence -----------------------------------------------------------------------------------------------------


def median(draws: Draws, place: int) -> float:
    return statistics.median(draw[place] for draw in draws)


def kept(draws: Draws, without: str, no_better: str) -> str:
    """What the private runs kept, in a clause: the median draw, and the range of all. draws: (private, twin, trivial) errors.

    without: the twin's name; no_better: said of runs that are no better than the trivial ones.
    """
    private, twin, trivial = (median(draws, place) for place in range(3))
    if private >= trivial:
        return no_better
    if private <= twin:
        return f"does no worse than {without}, which has no privacy"
    shares = [(guess - own) / (guess - plain) for own, plain, guess in draws if plain < guess]
    if len(shares) < len(draws):
        return f"keeps {(trivial - private) / (trivial - twin):.0%} of the gain over guessing"
    return f"keeps {statistics.median(shares):.0%} of the gain over guessing{_between([f'{share:.0%}' for share in sorted(shares)])}"


def _between(values: Sequence[str]) -> str:
    """The range of ascending values, as they are printed; nothing of one alone."""
    if len(values) < 2:
        return ""
    return f" ({values[0]} to {values[-1]})" if values[0] != values[-1] else " (in each draw)"


def so_far(draws: Draws, asked: Iterable[str]) -> str:
    """Where draws are missing: which there are."""
    every = sum(split_name(name)[0] == "main" for name in asked)
    if len(draws) >= every:
        return ""
    return ", in the first draw" if len(draws) == 1 else f", in {len(draws)} of {every} draws"


def figure(draws: Draws, place: int, digits: int = 3) -> str:
    """A median with its range, for a sentence."""
    values = [draw[place] for draw in draws]
    return f"**{statistics.median(values):.{digits}f}**{_between([f'{value:.{digits}f}' for value in sorted(values)])}"


def beaten(done: Mapping[str, Run], asked: Iterable[str], metric: str) -> tuple[str, str]:
    """Where another proven method is clearly better: a clause for the title, a sentence below it."""
    found = clearly_better(done, asked, metric)
    if found is None:
        return "", ""
    who, gap = found
    low, high = gap.interval
    name, digits = title(who, done[who], done[who].record["guarantee"]["unit"]), 3 if metric == "rmse" else 4
    return f"; {name} does better", (
        f" **{name} errs less in each of the {len(gap.differences)} draws**, by {-gap.mean:.{digits}f} on average ({-high:.{digits}f} to {-low:.{digits}f}, "
        "95% over draws)."
    )
