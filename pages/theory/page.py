"""What do the published error bounds promise, and what is measured?

A bound's curve, with its constant fitted on one measured point, beside measured runs.
"""

from collections.abc import Sequence
from typing import cast

import pandas as pd
import streamlit as st

from dpmf_core.errors import BadInput
from dpmf_core.papers import bounds, results, theory
from dpmf_core.papers.bounds import BOUNDS, Axis, Bound, Place
from dpmf_core.papers.clauses import MissingResult, Results
from dpmf_core.papers.registry import CLAIMS, figures_of
from dpmf_core.papers.theory import Comparison
from dpmf_core.papers.theory_claims import EACH, MAIN_BOUNDS, PLACES, claim_id
from dpmf_core.privacy.formatting import budget_text, delta_text
from pages.kit import charts, links, safe_text
from pages.kit.published_figures import command
from pages.kit.runs import ask
from pages.kit.session_widgets import bind
from pages.theory import figures

AXES: dict[Axis, str] = {"users": "users n", "items": "items m", "epsilon": "ε"}
DELTA = 1e-5
ITEMS = (
    f" About {EACH} ratings of a user whatever items stay; of DPALS the better of 3 and 6 steps."
)


def from_address(name: str, options: Sequence[str]) -> str:
    """A choice that the address may hold; put into the session once."""
    key = f"theory.{name}"
    if key not in st.session_state:
        choice = st.query_params.get(name, options[0])
        if choice not in options:
            st.warning(
                safe_text.escape(
                    f"'{name}' in the link must be one of {', '.join(options)}; got"
                    f" '{choice[:40]}'. {options[0]} is used instead."
                )
            )
            choice = options[0]
        st.session_state[key] = choice
    return key


def controls() -> tuple[Bound, Axis]:
    """The bound and the axis, which the address holds."""
    left, right = st.columns([3, 2])
    key = from_address("bound", list(BOUNDS))
    bound_id = left.selectbox(
        "Bound", list(BOUNDS), format_func=lambda it: BOUNDS[it].title, **bind(key, list(BOUNDS))
    )
    key = from_address("axis", list(AXES))
    axis = right.selectbox(
        "Along", list(AXES), format_func=lambda it: AXES[cast("Axis", it)], **bind(key, list(AXES))
    )
    links.put_in_address({"bound": bound_id, "axis": axis})
    return BOUNDS[bound_id], cast("Axis", axis)


def last_results(algorithm: str, axis: Axis) -> Results:
    """The last results of an algorithm along an axis. Raises MissingResult where there are none."""
    last = results.last(CLAIMS[claim_id(algorithm, axis)])
    if last is None:
        raise MissingResult(f"{algorithm} was not measured along {axis} yet")
    return last.summaries


def measured_here(bound: Bound, axis: Axis) -> Results:
    """Runs of this machine, at page size. Raises MissingResult until they have ended."""
    claim = figures_of("theory")[claim_id(bound.algorithm, axis)]
    points = claim.points()
    runs = ask("theory", {point.key: point.spec for point in points})
    if any(point.key not in runs for point in points):
        raise MissingResult("not all runs have finished")
    return claim.results(points, runs)


def beside(bound: Bound, axis: Axis) -> Comparison | None:
    """The printed bound of the other algorithm, by its last results."""
    other = next(it for it in MAIN_BOUNDS if it.algorithm != bound.algorithm)
    try:
        return theory.compare_bound(other, axis, last_results(other.algorithm, axis))
    except MissingResult:
        return None


def draw(it: Comparison, other: Comparison | None) -> None:
    """The curves and the measured errors; what they say."""
    lines = [it, *([other] if other else [])]
    st.markdown(f"**{theory.verdict(it)}**")
    alt = f"{it.bound.title}: error against {AXES[it.axis]}. {theory.verdict(it)}"
    charts.show(
        figures.against(lines, AXES[it.axis]),
        f"theory.{it.bound.id}.{it.axis}",
        alt,
        figures.table(lines),
        leaves=True,
        caption=(
            "Dots and solid lines are measured. A dashed line is a bound, moved up or down to meet"
            " its method's first measured point: look at how steeply it falls."
        ),
    )
    sentences = [theory.promise(it), theory.users_for(it), theory.price_of_half(it)]
    sentences += [theory.stall(it)]
    sentences += [theory.preference(it, other)] if other else []
    st.subheader("What it says to somebody who chooses an algorithm", anchor=False)
    st.markdown("\n".join(f"- {sentence}" for sentence in sentences if sentence))


def statement(bound: Bound, axis: Axis) -> None:
    """What is printed, where, and when it is valid."""
    at = PLACES[axis]
    st.latex(bound.formula)
    st.write(f"**{bound.source}:** {bound.statement}.")
    extra = ITEMS if axis == "items" else ""
    ratings_note = f" ({bound.ratings(at):,.0f} ratings here)" if bound.ratings else ""
    st.caption(
        f"Valid with {bound.needs}{ratings_note}, and where the error is below 1, which predicting"
        " 0 has. Simulated matrices of rank 5 with entries of standard deviation 1: the held-out"
        f" RMSE is the relative error. {_fixed_values(at, axis)} δ = {delta_text(DELTA)}, per"
        f" user, add/remove, exact.{extra}"
        f" The summary is of an earlier version, *{bounds.SUMMARY_TITLE}*; the theorems of the"
        " paper itself are not quoted here."
    )


def _fixed_values(at: Place, axis: Axis) -> str:
    fixed = {"users": f"{at.users:,.0f} users", "items": f"{at.items:,.0f} items"}
    fixed["epsilon"] = f"ε = {budget_text(at.epsilon)}"
    return f"Held: {', '.join(words for name, words in fixed.items() if name != axis)}."


def exponents(bound: Bound) -> None:
    """Every axis of this bound: predicted and measured exponent."""
    rows = []
    for axis, words in AXES.items():
        try:
            it = theory.compare_bound(bound, axis, last_results(bound.algorithm, axis))
        except MissingResult:
            rows.append({"along": words, "bound": f"{bound.exponents[axis]:+g}"})
            continue
        rows.append(
            {
                "along": words,
                "bound": f"{it.bound_exponent:+g}",
                "measured": f"{it.exponent.value:+.2f}",
                "95% interval": f"{it.exponent.low:+.2f} to {it.exponent.high:+.2f}",
                "statement": "holds" if it.holds else "does not hold",
            }
        )
    st.subheader("Exponents", anchor=False)
    safe_text.words_table(pd.DataFrame(rows).fillna("-"))
    st.caption(
        "Slopes of log error by least squares over all draws, with Student's interval. An upper"
        " bound is contradicted only where the whole interval is worse than it says. The rank is"
        " left out of every statement printed here; Papers measures its effect."
    )


def comparisons() -> None:
    """The printed comparisons, evaluated at sizes of one's choice."""
    st.header("The tables of comparison", anchor=False)
    left, right = st.columns(2)
    users = left.number_input("Users n", 1, 10**9, 20_000, 1_000, key="theory.n")
    items = right.number_input("Items m", 1, 10**9, 1_000, 100, key="theory.m")
    place = Place(users, items)
    complexity, errors = figures.sample_complexity(place), figures.low_rank(place)
    st.write(
        "Users that it takes for an error that vanishes, and orders of the Frobenius error of a"
        " low-rank approximation of a matrix that is seen whole. Orders only: constants,"
        " logarithms and privacy parameters are left out, so numbers compare growth, not methods"
        " at one size."
    )
    safe_text.words_table(complexity)
    safe_text.words_table(errors)
    st.caption(
        f"{bounds.TABLES}. Of the second, private Frank-Wolfe's output has a rank of the order"
        f" n^(2/5) / m^(1/5), {bounds.output_rank(place):.1f} here, and so many steps."
    )


def one_rating() -> None:
    """From an epsilon for one rating to one for a user."""
    st.header("From one rating to one user", anchor=False)
    left, right = st.columns(2)
    epsilon = left.number_input("ε for one rating", 0.01, 10.0, 1.0, 0.1, key="theory.entry")
    ratings = right.number_input("Ratings of a user", 1, 1_000, 40, key="theory.ratings")
    pure, gaussian = bounds.user_epsilon(epsilon, int(ratings), DELTA)
    st.markdown(
        f"For a user with {ratings:,} ratings, ε = {budget_text(epsilon)} per rating is **ε ="
        f" {pure:,.4g}** where δ = 0 (group privacy), and **ε = {gaussian:,.4g}** for Gaussian"
        f" noise at δ = {delta_text(DELTA)}."
    )
    st.caption(
        "Dwork & Roth 2014, Theorem 2.2; Dong, Roth & Su 2022, Theorem 2.14: μ grows as many times"
        " as there are ratings. Bounds for one rating are no bounds for one user."
    )


def main() -> None:
    head = st.container()
    bound, axis = controls()
    chart = st.container()
    statement(bound, axis)
    here = st.toggle("Measure it here, at page size", key="theory.measure")
    try:
        summaries = measured_here(bound, axis) if here else last_results(bound.algorithm, axis)
        it = theory.compare_bound(bound, axis, summaries)
    except MissingResult as missing:
        head.title("What do the error bounds promise, and what is measured?", anchor=False)
        chart.info(f"No exponent yet: {missing}.")
    else:
        head.title(figures.title(it), anchor=False)
        with chart:
            draw(it, beside(bound, axis))
    exponents(bound)
    st.caption(f"At full size: `{command(CLAIMS[claim_id(bound.algorithm, axis)])}`.")
    comparisons()
    one_rating()


try:
    main()
except BadInput as error:
    safe_text.error(error)
