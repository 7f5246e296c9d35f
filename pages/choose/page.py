"""Which private method, at which epsilon, for my data? Three questions, one answer with figures."""

import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.machine import duration
from dpmf_core.tuning.choosing import wording
from dpmf_core.tuning.choosing.answer import Answer, answer
from dpmf_core.tuning.choosing.finding import Finding
from dpmf_core.tuning.choosing.question import Runs
from pages.choose import controls, figures, take_away
from pages.choose.controls import Inquiry
from pages.kit import charts, safe_text, time_estimate, who_sees_what
from pages.kit.runs import ask, queue

INQUIRY_KEY, BUTTON_KEY = "choose.asked", "choose.pressed"  # in the session


# ---- asking --------------------------------------------------------------------------------------


def _press(in_full: bool) -> None:
    """A button asks what the controls say when the page is drawn next: a number that was typed just
    before counts.
    """
    st.session_state[BUTTON_KEY] = in_full


def draw_button(inquiry: Inquiry, runs: Runs) -> None:
    """The button that asks, and how long the answer takes."""
    stored = time_estimate.stored_names(runs.specs)
    missing = {key: spec for key, spec in runs.specs.items() if key not in stored}
    amount = "all stored"
    if missing:
        amount = f"about {duration(time_estimate.seconds(missing))} (an estimate)"
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
        f" {inquiry.question.draws} draws each, and the same without privacy: {len(runs.specs)}"
        f" runs, {amount}. {queue()}"
    )


def current_inquiry(inquiry: Inquiry, runs: Runs) -> Inquiry | None:
    """The question that is answered on the page: the last one that the button asked, or the one in
    the controls where it takes no further run.
    """
    in_full = st.session_state.pop(BUTTON_KEY, None)
    if in_full is not None:
        st.session_state[INQUIRY_KEY] = inquiry.in_full() if in_full else inquiry
    current: Inquiry | None = st.session_state.get(INQUIRY_KEY)
    if current is None or current.entry.id != inquiry.entry.id:
        return None
    now = inquiry.in_full() if current.question.every else inquiry
    if set(runs.specs) <= set(Runs(current.question, current.shape).specs):
        current = st.session_state[INQUIRY_KEY] = now
    return current


# ---- the answer ----------------------------------------------------------------------------------


def find(inquiry: Inquiry) -> Finding | None:
    """What is found once every run has finished; before that, how far they are."""
    runs = Runs(inquiry.question, inquiry.shape)
    finished_runs = ask("choose", runs.specs, by_button=True, whole=())
    result, entry = answer(runs, finished_runs), inquiry.entry
    if result is None:
        st.title(f"Trying {len(runs.methods)} methods", anchor=False)
        st.write(
            "A method is recommended when all runs have finished. You can open other pages"
            " meanwhile: the work continues, and the answer appears here."
        )
        return None
    return Finding(runs, result, entry.title, inquiry.path, entry.public, entry.assumptions)


def draw_answer(inquiry: Inquiry, result: Answer) -> None:
    """The answer on top, the figure, and more draws on request."""
    title, question = wording.headline(result), inquiry.question
    twin = ", on a simulated twin of your data" * inquiry.on_twin
    st.title(f"{title}{twin}", anchor=False)
    st.write(" ".join(wording.sentences(result)))
    where = "on a simulated twin of its shape" if inquiry.on_twin else "on the data themselves"
    caption = (
        f"The ring is the answer; its line is thick. For {question.whom},"
        f" {safe_text.escape_letters(inquiry.entry.title)}, tried {where}: medians and 95%"
        f" intervals over {question.draws} draws of split and noise."
    )
    fig, table = figures.front(result), figures.table(result)
    charts.show(fig, "choose.front", title, table, leaves=True, caption=caption)
    if question.every:
        return
    full = inquiry.in_full()
    runs = Runs(full.question, full.shape)
    amount = duration(time_estimate.seconds(runs.specs))
    words, button = st.columns([3, 1], vertical_alignment="center")
    words.caption(
        f"This is a first answer. {len(runs.methods)} methods with {full.question.draws} draws give"
        f" narrower intervals: {len(runs.specs)} runs, at most {amount} (an estimate)."
    )
    button.button("Refine", key="choose.refine", width="stretch", on_click=_press, args=(True,))


def main() -> None:
    controls.prepare()
    head, below = st.container(), st.container(border=True)
    with below:
        inquiry = controls.draw()
        runs = Runs(inquiry.question, inquiry.shape)
        draw_button(inquiry, runs)
    current = current_inquiry(inquiry, runs)
    if current is None:
        head.title("Which method, at which ε?", anchor=False)
        head.write(
            "Answer three questions. Every proven private method is tried at public values of ε and"
            " compared with non-private versions. One is recommended."
        )
        return
    with head:
        finding = find(current)
        if finding is None:
            return
        draw_answer(current, finding.answer)
        if inquiry not in (current, current.first()):
            st.info("The questions below have changed. Press the button to answer them.")
    finding = take_away.check(finding, current.entry)
    take_away.draw(finding, current.entry)
    who_sees_what.draw(who_sees_what.USERS)
    engine().start()


try:
    main()
except BadInput as error:
    safe_text.error(error)
