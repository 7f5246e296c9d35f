"""Which private method, at which epsilon, for my data? The question, its answer, the take-away."""

from functools import partial
from typing import Any

import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.machine import duration
from dpmf_core.tuning.choosing import wording
from dpmf_core.tuning.choosing.answer import answer
from dpmf_core.tuning.choosing.finding import ON_STAND_IN, Finding
from dpmf_core.tuning.choosing.question import Runs
from pages.choose import controls, figures, take_away
from pages.choose.controls import Inquiry
from pages.kit import charts, links, recommendations, safe_text, time_estimate, who_sees_what
from pages.kit.page_table import BY_ID
from pages.kit.runs import ask, queue

BUTTON_KEY = "choose.pressed"  # in the session: whether all methods were asked for


def _press(in_full: bool) -> None:
    """Ask the current question on the next rerun, including a number typed just before."""
    st.session_state[BUTTON_KEY] = in_full


def draw_button(inquiry: Inquiry, runs: Runs) -> None:
    """Draw the button and how long the answer takes."""
    stored = time_estimate.stored_names(runs.specs)
    missing = {key: spec for key, spec in runs.specs.items() if key not in stored}
    amount = "all stored"
    if missing:
        amount = f"about {duration(time_estimate.seconds(missing))} (an estimate)"
    with st.container(key="choose.ask"):
        button, words = st.columns([1, 3], vertical_alignment="center")
    press: dict[str, Any] = {"on_click": _press, "args": (False,), "width": "stretch"}
    button.button("Find the answer", type="primary", key="choose.go", **press)
    words.caption(
        f"{len(runs.methods)} proven methods at {len(inquiry.question.epsilons)} values of ε,"
        f" {inquiry.question.draws} draws each, and non-private ones: {len(runs.specs)} runs,"
        f" {amount}. {queue()}"
    )


def asked_inquiry(inquiry: Inquiry, runs: Runs) -> Inquiry | None:
    """Return the question to answer: the one asked last, or the current one if it needs no runs."""
    in_full = st.session_state.get(BUTTON_KEY)
    if in_full is not None:  # deleted last: Streamlit may end this script at each access
        st.session_state[controls.INQUIRY] = inquiry.in_full() if in_full else inquiry
        del st.session_state[BUTTON_KEY]
    current = controls.current(inquiry)
    if current is None:
        return None
    now = inquiry.in_full() if current.question.every else inquiry
    if set(runs.specs) <= set(Runs(current.question, current.shape).specs):
        current = st.session_state[controls.INQUIRY] = now
    return current


def find(inquiry: Inquiry) -> Finding | None:
    """Return the finding once every run has finished; before that, draw the progress."""
    runs = Runs(inquiry.question, inquiry.shape)
    finished_runs = ask("choose", runs.specs, by_button=True, whole=())
    result, entry = answer(runs, finished_runs), inquiry.entry
    if result is None:
        st.title(f"Trying {len(runs.methods)} methods", anchor=False)
        st.write("The answer appears here when all runs have finished. You can leave this page.")
        return None
    finding = Finding(
        runs,
        result,
        entry.title,
        take_away.command_path(entry),
        entry.public,
        entry.assumptions,
        program=take_away.program(),
    )
    return take_away.with_selection(finding, entry)


def draw_figure(inquiry: Inquiry, finding: Finding) -> None:
    """Draw all methods against epsilon, with the answer."""
    where = "" if finding.public else f" {ON_STAND_IN.capitalize()}."
    caption = (
        f"The ring marks the answer. For {finding.question.whom}: medians and 95% intervals over"
        f" {finding.question.draws} draws of split and noise.{where}"
    )
    fig, table = figures.front(finding.answer), figures.table(finding.answer)
    charts.show(fig, "choose.front", finding.headline, table, leaves=True, caption=caption)


def draw_answer(inquiry: Inquiry, finding: Finding) -> None:
    """Draw the answer, its figure, the button for more draws, and the next steps."""
    st.title(finding.headline, anchor=False)
    st.write(" ".join(wording.sentences(finding.answer)))
    draw_figure(inquiry, finding)
    if not inquiry.question.every:
        draw_refinement(inquiry.in_full())
    if finding.answer.best is not None:
        draw_ways_on(inquiry, finding)


def draw_refinement(full: Inquiry) -> None:
    runs = Runs(full.question, full.shape)
    amount = duration(time_estimate.seconds(runs.specs))
    with st.container(key="choose.more"):
        words, button = st.columns([3, 1], vertical_alignment="center")
    words.caption(
        f"For narrower intervals, compare {len(runs.methods)} methods with {full.question.draws}"
        f" draws: {len(runs.specs)} runs, at most {amount} (an estimate)."
    )
    button.button("Refine", key="choose.refine", width="stretch", on_click=_press, args=(True,))


def draw_ways_on(inquiry: Inquiry, finding: Finding) -> None:
    """Draw links to the next steps, with the answer's method and epsilon."""
    recommendation = take_away.recommendation(finding)
    recommendations.keep(inquiry.entry.id, recommendation)
    ways = {"take-away": "Export", "tune": "Tune it (optional)", "explore": "Explore it"}
    choose = partial(recommendations.choose, inquiry.entry, recommendation)
    links.draw_ways("choose.next", ways, choose, controls.go)


def draw_answer_step() -> None:
    head, below = st.container(), st.container(border=True)
    with below:
        inquiry = controls.draw()
        runs = Runs(inquiry.question, inquiry.shape)
        draw_button(inquiry, runs)
    current = asked_inquiry(inquiry, runs)
    controls.write_to_address()
    if current is None:
        head.title("Which method, at which ε?", anchor=False)
        head.write(
            "Answer three questions. We try every proven private method at public values of ε,"
            " compare it with non-private ones, and recommend one."
        )
        return
    with head:
        finding = find(current)
        if finding is None:
            return
        draw_answer(current, finding)
        take_away.check(finding, current.entry)
        if inquiry not in (current, current.first()):
            st.info("The question below has changed. Press the button to answer it.")
    who_sees_what.draw(who_sees_what.USERS)


def draw_take_away_step() -> None:
    current = controls.current(controls.inquiry())
    controls.write_to_address()
    finding = None if current is None else find(current)
    if current is None or finding is None or finding.place is None:
        if finding is not None:
            st.title("No method is recommended, so there is nothing to export", anchor=False)
            links.to("choose", "Back to the answer", {})
        elif current is None:
            st.title("There is no answer to export yet", anchor=False)
            links.to("choose", "Ask the question", {})
        return
    st.title(finding.name, anchor=False)
    st.markdown(f"**{safe_text.escape_letters(finding.summary)}**")
    draw_figure(current, finding)
    take_away.draw(finding, current.entry)


try:
    controls.prepare()
    if st.query_params.get("step") == BY_ID["take-away"].view:
        draw_take_away_step()
    else:
        draw_answer_step()
    engine().start()
except BadInput as error:
    safe_text.error(error)
