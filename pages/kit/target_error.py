"""I need an error of at most x: the smallest epsilon that reaches it, and how sure that is."""

from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.algorithms import REGISTRY
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.privacy import Relation, neighbours
from dpmf_core.privacy.formatting import budget_text, delta_text
from dpmf_core.runs.comparison import DRAWS
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.sweep import Method, Point, Summary, Sweep, summaries
from pages.kit import charts, run_progress, sweep_charts, time_estimate
from pages.kit.choice import Choice
from pages.kit.epsilon_grid import COARSE
from pages.kit.sweep_frames import first_epsilon, frame

DIGITS = METRICS["rmse"].digits


def needed_epsilons(
    line: list[Summary], value: float
) -> tuple[float | None, float | None, float | None]:
    """Epsilon at the median draw, at the best and at the worst."""

    def at(pick: Any) -> float | None:
        one_draw = [
            Summary(it.label, it.algorithm, it.epsilon, it.grid, (pick(it.draws),)) for it in line
        ]
        return first_epsilon(one_draw, value, "rmse")

    return first_epsilon(line, value, "rmse"), at(min), at(max)


def words(line: list[Summary], value: float) -> str:
    """The answer, with its uncertainty: over draws of split and noise; never beyond what was
    measured.
    """
    median, best, worst = needed_epsilons(line, value)
    top, most = min(line, key=lambda it: it.median), max(it.epsilon or 0 for it in line)
    if median is None:
        return (
            f"No ε up to {budget_text(most)} reaches {value:.3f}: the best is {top.median:.3f} at"
            f" ε = {budget_text(top.epsilon or 0)}."
        )
    low = budget_text(two_digits(best)) if best is not None else "?"
    high = f"more than {budget_text(most)}"
    if worst is not None:
        high = budget_text(two_digits(worst))
    least = min(it.epsilon or 0 for it in line)
    if median <= least and round(line[0].median, DIGITS) <= value:
        return f"**ε = {budget_text(least)} is enough**, the smallest that was tried."
    return (
        f"**ε of about {budget_text(two_digits(median))}** reaches it, {low} to {high} over"
        f" {len(top.draws)} draws of split and noise, log-linear between the ε that were run."
    )


def two_digits(epsilon: float) -> float:
    """To two digits: what lies between measured points is known no better."""
    return float(f"{epsilon:.2g}")


def _may_begin(page: str, specs: dict[str, RunSpec]) -> bool:
    """Whether the runs may be asked for; what takes long has a button."""
    missing = specs.keys() - time_estimate.stored_names(specs)
    seconds = time_estimate.seconds({key: specs[key] for key in missing}) if missing else 0.0
    what = f"The {len(missing)} runs of this curve"
    return run_progress.may_begin(page, seconds, what, " ".join(specs))


def draw(choice: Choice, parameters: dict[str, Any], key: str, start: float) -> None:
    """A box for the error, the curve it is read off, and the answer."""
    if not st.toggle("I need an RMSE of at most ...", key=f"{key}.target"):
        return
    box = f"{key}.target.value"
    first = round(start, 3)
    limit = st.number_input("RMSE, at most", 0.0, 100.0, first, 0.005, "%.3f", key=box)
    value = None if limit is None else round(limit, DIGITS)  # what the box shows
    method = Method(algorithm=choice.algorithm, parameters=parameters, label="private")
    sweep = Sweep(
        data=choice.spec().data,
        methods=(method,),
        epsilons=COARSE,
        seeds=tuple(range(choice.seed, choice.seed + DRAWS)),
        delta=choice.delta,
    )
    points: list[Point] = sweep.points()
    specs = {point.key: point.spec for point in points}
    if choice.entry.public and not _may_begin(f"{key}.target", specs):
        return
    runs = run_progress.request(f"{key}.target.runs", specs)
    line = [it for it in summaries(points, runs, "rmse") if it.epsilon is not None]
    if len(runs) < len(points) or value is None:
        return
    if not line or any(it.epsilon is None for it in line):
        st.info("This algorithm takes no ε, so none can be asked for.")
        return
    st.markdown(words(line, value))
    unit = REGISTRY[choice.algorithm]().guarantee().unit
    st.caption(
        f"ε in total, δ = {delta_text(choice.delta)}, per {unit},"
        f" {neighbours(unit, Relation.ADD_REMOVE)}, exact. Errors are computed on raw data,"
        " not released."
    )
    table = frame(points, runs, "rmse").assign(id=choice.algorithm)
    fig = sweep_charts.against(table, "epsilon", "held-out RMSE", "ε, total")
    fig.add_hline(
        y=value,
        line={"dash": "dot", "color": "#8b93a1"},
        annotation={"text": f"at most {value:.3f}"},
    )
    charts.show(
        fig,
        f"{key}.target.curve",
        f"Held-out RMSE against epsilon; {value:.3f} is asked for.",
        pd.DataFrame(table),
    )
