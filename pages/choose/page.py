"""Which private method, at which epsilon, for my data? Three questions, one answer with figures."""

from dataclasses import replace

import streamlit as st

from dpmf_core.choosing import wording
from dpmf_core.choosing.answer import Answer, answer, so_far
from dpmf_core.choosing.finding import Finding
from dpmf_core.choosing.question import Runs
from dpmf_core.engine.executor import engine
from dpmf_core.errors import BadInput
from pages.choose import controls, figures, own_data, take_away, waiting
from pages.choose.controls import Asked
from pages.kit import charts, run_progress, safe_text, time_estimate, who_sees_what

NAME = "choose"


ASKED, PRESSED = "choose.asked", "choose.pressed"  # in the session


def _press(refined: bool) -> None:
    """A button asks what the controls say when the page is drawn next: a number that was typed just
    before counts.
    """
    st.session_state[PRESSED] = refined


def _take_up(asked: Asked) -> None:
    """What a button asked for is asked."""
    refined = st.session_state.pop(PRESSED, None)
    if refined is not None:
        st.session_state[ASKED] = asked.refined() if refined else asked


def _button(asked: Asked, runs: Runs) -> None:
    """The button that asks, and how long the answer takes."""
    known = time_estimate.stored(runs.specs)
    left = {key: spec for key, spec in runs.specs.items() if key not in known}
    amount = "they are stored"
    if left:
        seconds = time_estimate.words(time_estimate.seconds(left))
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
        f"{len(runs.methods)} proven methods at {len(asked.question.epsilons)} epsilons,"
        f" {asked.question.draws} draws each: with those without privacy {len(runs.specs)}"
        f" trainings, {amount}."
        f" {run_progress.queue()}"
    )


def _say(asked: Asked, found: Answer) -> None:
    """The answer on top, and the figure."""
    title = wording.headline(found)
    st.title(f"{title}, on a simulated twin of your data" if asked.on_twin else title, anchor=False)
    st.write(" ".join(wording.sentences(found)))
    tried = "on a simulated twin of its shape" if asked.on_twin else "on the data themselves"
    charts.show(
        figures.front(found),
        "choose.front",
        title,
        figures.table(found),
        leaves=True,
        caption=(
            "The ring is the answer, its line is thick. For"
            f" {asked.question.whom}, {safe_text.escape_letters(asked.entry.title)}, tried {tried}:"
            f" medians and 95% intervals over {asked.question.draws} draws of split and noise."
        ),
    )


def _refine(asked: Asked) -> None:
    """More draws and the slow methods, on request."""
    if asked.question.every:
        return
    refined = asked.refined()
    runs = Runs(refined.question, refined.shape)
    amount = time_estimate.words(time_estimate.seconds(runs.specs))
    words, button = st.columns([3, 1], vertical_alignment="center")
    words.caption(
        f"A first look. {len(runs.methods)} methods and {refined.question.draws} draws make the"
        f" intervals narrower: {len(runs.specs)} trainings, at most {amount} (an estimate)."
    )
    button.button("Refine", key="choose.refine", width="stretch", on_click=_press, args=(True,))


def _answered(asked: Asked) -> Finding | None:
    """What is found once every run has finished; before that, how far they are."""
    runs = Runs(asked.question, asked.shape)
    finished = run_progress.request(NAME, runs.specs, asked=True, whole=())
    found = answer(runs, finished)
    if found is None:
        waiting.draw(so_far(runs, finished))
        return None
    return Finding(
        runs, found, asked.entry.title, asked.path, asked.entry.public, asked.entry.assumptions
    )


def _held(asked: Asked, runs: Runs) -> Asked | None:
    """The question that is answered on the page: the last one that the button asked, or what is
    asked now where it takes no further run.
    """
    held: Asked | None = st.session_state.get(ASKED)
    if held is None or held.entry.id != asked.entry.id:
        return None
    now = asked.refined() if held.question.every else asked
    if set(runs.specs) <= set(Runs(held.question, held.shape).specs):
        held = st.session_state[ASKED] = now
    return held


def main() -> None:
    controls.prepare()
    head, below = st.container(), st.container(border=True)
    with below:
        asked = controls.draw()
        runs = Runs(asked.question, asked.shape)
        _button(asked, runs)
    _take_up(asked)
    held = _held(asked, runs)
    if held is None:
        head.title("Which method, at which ε?", anchor=False)
        head.write(
            "Answer three questions. Every proven private method is then tried at a public grid of"
            " epsilons, beside the same without privacy, and one is recommended."
        )
        return
    with head:
        found = _answered(held)
        if found is None:
            return
        _say(held, found.answer)
        _refine(held)
        if asked not in (held, held.first()):
            st.info("The questions below have changed since. The button finds their answer.")
    own_data.draw(held, found)
    take_away.draw(replace(found, selected=own_data.selected(held, found)), held.entry)
    who_sees_what.draw(who_sees_what.USERS)
    engine().start()


try:
    main()
except BadInput as error:
    safe_text.error(error)
