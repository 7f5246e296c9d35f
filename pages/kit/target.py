"""I need an error of at most x: the smallest epsilon that reaches it, and how sure that is."""

from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core.algorithms import REGISTRY
from dpmf_core.privacy import Relation, neighbours
from dpmf_core.sweeps import Method, Point, Summary, Sweep, reaches, summaries
from pages.kit import charts, guarantee, runs
from pages.kit.guarantee import loss
from pages.kit.sidebar import Choice
from pages.kit.swept import DIGITS, frame

EPSILONS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
DRAWS = 3


def needed(line: list[Summary], value: float) -> tuple[float | None, float | None, float | None]:
    """Epsilon at the median draw, at the best and at the worst."""

    def at(pick: Any) -> float | None:
        return reaches([Summary(it.label, it.algorithm, it.epsilon, it.grid, (pick(it.draws),)) for it in line], value, digits=DIGITS)

    return reaches(line, value, digits=DIGITS), at(min), at(max)


def words(line: list[Summary], value: float) -> str:
    """The answer, with its uncertainty: over draws of split and noise; never beyond what was measured."""
    median, best, worst = needed(line, value)
    top, most = min(line, key=lambda it: it.median), max(it.epsilon or 0 for it in line)
    if median is None:
        return f"No ε up to {loss(most)} reaches {value:.3f}: the best is {top.median:.3f} at ε = {loss(top.epsilon or 0)}."
    low = loss(round_two(best)) if best is not None else "?"
    high = loss(round_two(worst)) if worst is not None else f"more than {loss(most)}"
    least = min(it.epsilon or 0 for it in line)
    if median <= least and round(line[0].median, DIGITS) <= value:
        return f"**ε = {loss(least)} is enough**, the smallest that was tried."
    about = f"**ε of about {loss(round_two(median))}** reaches it, {low} to {high} over {len(top.draws)} draws of split and noise"
    return f"{about}, log-linear between the ε that were run."


def round_two(epsilon: float) -> float:
    """To two digits: what lies between measured points is known no better."""
    return float(f"{epsilon:.2g}")


def draw(choice: Choice, given: dict[str, Any], key: str, start: float) -> None:
    """A box for the error, the curve it is read off, and the answer."""
    if not st.toggle("I need an RMSE of at most ...", key=f"{key}.target"):
        return
    typed = st.number_input("RMSE, at most", 0.0, 100.0, round(start, 3), 0.005, "%.3f", key=f"{key}.target.value")
    value = None if typed is None else round(typed, DIGITS)  # what the box shows
    method = Method(algorithm=choice.algorithm, parameters=given, label="private")
    sweep = Sweep(data=choice.spec().data, methods=(method,), epsilons=EPSILONS, seeds=tuple(range(choice.seed, choice.seed + DRAWS)), delta=choice.delta)
    points: list[Point] = sweep.points()
    done = runs.wanted(f"{key}.target.runs", {point.key: point.spec for point in points})
    line = [it for it in summaries(points, done, "rmse") if it.epsilon is not None]
    if len(done) < len(points) or value is None:
        return
    if not line or any(it.epsilon is None for it in line):
        st.info("This algorithm takes no ε, so none can be asked for.")
        return
    st.markdown(words(line, value))
    unit = REGISTRY[choice.algorithm]().guarantee().unit
    terms = f"δ = {guarantee.small(choice.delta)}, per {unit}, {neighbours(unit, Relation.ADD_REMOVE)}, exact"
    st.caption(f"ε in total, {terms}. Errors are computed on raw data, not released.")
    table = frame(points, done, "rmse").assign(id=choice.algorithm)
    fig = charts.against(table, "epsilon", "held-out RMSE", "ε, total")
    fig.add_hline(y=value, line={"dash": "dot", "color": "#8b93a1"}, annotation={"text": f"at most {value:.3f}"})
    charts.show(fig, f"{key}.target.curve", f"Held-out RMSE against epsilon; {value:.3f} is asked for.", pd.DataFrame(table))
