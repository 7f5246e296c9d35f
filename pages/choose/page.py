"""Which private method, at which epsilon, for my data? Three questions, one answer with figures."""

from dataclasses import replace

import streamlit as st

from dpmf_core.choosing import wording
from dpmf_core.choosing.answer import Answer, answer, so_far
from dpmf_core.choosing.finding import Finding
from dpmf_core.choosing.question import Runs
from dpmf_core.errors import BadInput
from dpmf_core.jobs.engine import engine
from pages.choose import controls, figures, own_data, take_away, waiting
from pages.choose.controls import Inquiry
from pages.kit import charts, safe_text, time_estimate, who_sees_what
from pages.kit.runs import ask, queue

NAME = "choose"


INQUIRY_KEY, BUTTON_KEY = "choose.asked", "choose.pressed"  # in the session


def _press(in_full: bool) -> None:
    """A button asks what the controls say when the page is drawn next: a number that was typed just
    before counts.
    """
    st.session_state[BUTTON_KEY] = in_full


def _take_up(inquiry: Inquiry) -> None:
    """What a button asked for is asked."""
    in_full = st.session_state.pop(BUTTON_KEY, None)
    if in_full is not None:
        st.session_state[INQUIRY_KEY] = inquiry.in_full() if in_full else inquiry


def _button(inquiry: Inquiry, runs: Runs) -> None:
    """The button that asks, and how long the answer takes."""
    stored_keys = time_estimate.stored_names(runs.specs)
    missing = {key: spec for key, spec in runs.specs.items() if key not in stored_keys}
    amount = "they are stored"
    if missing:
        seconds = time_estimate.words(time_estimate.seconds(missing))
        amount = f"about {seconds} (an estimate)"
    button, words = st.columns([1, 3], vertical_alignment="center")
    button.button(
        "Find the answer",
        type="primary",
        key="choose.go",
        width="stretch",
        on_click=_press,
        args=(False,),
    )
    words.caption(
        f"{len(runs.methods)} proven methods at {len(inquiry.question.epsilons)} epsilons,"
        f" {inquiry.question.draws} draws each: with those without privacy {len(runs.specs)}"
        f" trainings, {amount}."
        f" {queue()}"
    )


def _say(inquiry: Inquiry, result: Answer) -> None:
    """The answer on top, and the figure."""
    title = wording.headline(result)
    st.title(
        f"{title}, on a simulated twin of your data" if inquiry.on_twin else title, anchor=False
    )
    st.write(" ".join(wording.sentences(result)))
    where = "on a simulated twin of its shape" if inquiry.on_twin else "on the data themselves"
    charts.show(
        figures.front(result),
        "choose.front",
        title,
        figures.table(result),
        leaves=True,
        caption=(
            "The ring is the answer, its line is thick. For"
            f" {inquiry.question.whom}, {safe_text.escape_letters(inquiry.entry.title)}, tried"
            f" {where}: medians and 95% intervals over {inquiry.question.draws} draws of split"
            " and noise."
        ),
    )


def _refine(inquiry: Inquiry) -> None:
    """More draws and the slow methods, on request."""
    if inquiry.question.every:
        return
    full_inquiry = inquiry.in_full()
    runs = Runs(full_inquiry.question, full_inquiry.shape)
    amount = time_estimate.words(time_estimate.seconds(runs.specs))
    words, button = st.columns([3, 1], vertical_alignment="center")
    words.caption(
        f"A first look. {len(runs.methods)} methods and {full_inquiry.question.draws} draws make"
        f" the intervals narrower: {len(runs.specs)} trainings, at most {amount} (an estimate)."
    )
    button.button("Refine", key="choose.refine", width="stretch", on_click=_press, args=(True,))


def _finding(inquiry: Inquiry) -> Finding | None:
    """What is found once every run has finished; before that, how far they are."""
    runs = Runs(inquiry.question, inquiry.shape)
    finished_runs = ask(NAME, runs.specs, by_button=True, whole=())
    result = answer(runs, finished_runs)
    if result is None:
        waiting.draw(so_far(runs, finished_runs))
        return None
    return Finding(
        runs,
        result,
        inquiry.entry.title,
        inquiry.path,
        inquiry.entry.public,
        inquiry.entry.assumptions,
    )


def _current_inquiry(inquiry: Inquiry, runs: Runs) -> Inquiry | None:
    """The question that is answered on the page: the last one that the button asked, or what is
    asked now where it takes no further run.
    """
    current: Inquiry | None = st.session_state.get(INQUIRY_KEY)
    if current is None or current.entry.id != inquiry.entry.id:
        return None
    now = inquiry.in_full() if current.question.every else inquiry
    if set(runs.specs) <= set(Runs(current.question, current.shape).specs):
        current = st.session_state[INQUIRY_KEY] = now
    return current


def main() -> None:
    controls.prepare()
    head, below = st.container(), st.container(border=True)
    with below:
        inquiry = controls.draw()
        runs = Runs(inquiry.question, inquiry.shape)
        _button(inquiry, runs)
    _take_up(inquiry)
    current = _current_inquiry(inquiry, runs)
    if current is None:
        head.title("Which method, at which ε?", anchor=False)
        head.write(
            "Answer three questions. Every proven private method is then tried at a public grid of"
            " epsilons, beside the same without privacy, and one is recommended."
        )
        return
    with head:
        finding = _finding(current)
        if finding is None:
            return
        _say(current, finding.answer)
        _refine(current)
        if inquiry not in (current, current.first()):
            st.info("The questions below have changed since. The button finds their answer.")
    own_data.draw(current, finding)
    take_away.draw(
        replace(finding, selection=own_data.selection_result(current, finding)), current.entry
    )
    who_sees_what.draw(who_sees_what.USERS)
    engine().start()


try:
    main()
except BadInput as error:
    safe_text.error(error)
