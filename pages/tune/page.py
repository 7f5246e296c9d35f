"""Which parameters? A search on validation ratings, its winner on test ratings, and its cost."""

import functools
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core import algorithms
from dpmf_core.base.errors import BadInput
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.machine import duration
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.record import Run
from dpmf_core.tuning.confirmation import outcome
from dpmf_core.tuning.search import Search, Trial
from dpmf_core.tuning.search_space import MOST_DRAWS, TuneSpec, default_range
from pages.choose import controls
from pages.kit import data_sets, drawing, forms, safe_text, sidebar, time_estimate
from pages.kit.runs import ask, may_begin, queue
from pages.kit.sidebar_values import Choice
from pages.kit.sweep_frames import parameter
from pages.server import sessions
from pages.tune import open_search, private_selection

SCORE = "validation RMSE"
FIRST, LATER = 0.3, 0.7  # seconds between updates, before and after the first trial
OPENLY, PRIVATELY = "open", "private"
WAYS = {OPENLY: "on synthetic data, free", PRIVATELY: "on your own data, for ε"}


def parameters(choice: Choice) -> dict[str, Any]:
    """Ask for the method's parameters, which all pages and the command use."""
    budget = choice.spec().budget
    assert budget is not None  # the sidebar has no choice without noise
    with st.expander("Set parameters yourself"):
        return forms.parameters(choice.algorithm, choice.shape, budget, "explore")


def search_settings(choice: Choice, parameters: dict[str, Any]) -> tuple[TuneSpec, int]:
    """Return the controls' search. parameters: set by a person; they stay unless searched."""
    names = list(algorithms.find(choice.algorithm).model_fields)
    usual = [
        name
        for name in ("rank", "steps", "clip_norm", "regularisation", "shrinkage", "row_clip")
        if name in names
    ]
    left, right, last = st.columns([4, 1, 1])
    text = "Each from a quarter to four times its recommended value."
    moving = left.multiselect(
        "Parameters to search",
        names,
        usual[:4] or names[:3],
        key=f"tune.moving.{choice.algorithm}",
        format_func=lambda name: parameter(name, [choice.algorithm]),
        help=text,
    )
    trials = right.number_input("Trials", 2, 500, 20, 10, key="tune.trials") or 20
    text = "Draws of split and noise for each trial; its score is their mean."
    draws = last.number_input("Draws", 1, MOST_DRAWS, 3, 1, key="tune.draws", help=text) or 3
    if not moving:
        raise BadInput("Choose at least one parameter to search.")
    fixed = {name: value for name, value in parameters.items() if name not in moving}
    spec = choice.spec(parameters=fixed).canonical()
    algorithm = prepare(spec, choice.shape, choice.assumptions).algorithm
    search = {
        name: default_range(type(algorithm), name, getattr(algorithm, name)) for name in moving
    }
    return TuneSpec.parse(
        data=spec.data,
        algorithm=spec.algorithm,
        search=search,
        fixed=fixed,
        budget=spec.budget,
        seed=spec.seed,
        draws=int(draws),
    ), int(trials)


def _watch(search: Search) -> None:
    """Advance the search; draw the page again when a trial has finished."""
    before = sum(trial.score is not None for trial in search.trials)
    more = open_search.advance(search)
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(
        min(search.n_settled / search.n_trials, 1.0),
        f"{search.n_settled} of {search.n_trials} trials;"
        f" {sum(t.state == 'running' for t in search.trials)} running",
    )
    if button.button("Cancel", key="tune.cancel", width="stretch"):
        st.session_state["tune.cancelled"] = search.spec.key
        sessions.registry.let_go(sessions.this(), "tune")
        st.rerun()
    if not more or sum(trial.score is not None for trial in search.trials) > before:
        st.rerun()


def _begin(key: str, trials: int) -> None:
    st.session_state["tune.asked"], st.session_state["tune.now"] = (key, trials), True


def requested_search(spec: TuneSpec, trials: int) -> tuple[Search | None, bool]:
    """Return the requested search, and whether this session waits for more of it.

    It does not after a cancellation. A long search needs a second button.
    """
    st.button("Search", type="primary", key="tune.go", on_click=_begin, args=(spec.key, trials))
    seconds = time_estimate.cost(spec.trial({})) * trials * spec.draws / engine().width
    st.caption(
        f"{trials * spec.draws} trainings, about {duration(seconds)} (an estimate). {queue()}"
    )
    key, trial_count = st.session_state.get("tune.asked", (None, 0))
    if key != spec.key:
        return None, False
    if not may_begin("tune", seconds, "This search", f"{spec.key} {trials}"):
        return None, False
    pressed = bool(st.session_state.pop("tune.now", False))
    search = open_search.search_of(spec, trial_count)
    if pressed:
        st.session_state.pop("tune.cancelled", None)
    called_off = st.session_state.get("tune.cancelled") == spec.key
    return search, pressed or not (called_off or search.cancelled)


def finding(choice: Choice, search: Search, best: Trial) -> None:
    """Draw the best trial so far and its score."""
    settings = forms.in_words(search.spec.algorithm, best.place)
    unfinished = search.busy or search.cancelled
    st.title(
        f"{'Best so far' if unfinished else f'The best of {search.n_trials} trials'}: {SCORE}"
        f" {best.score:.4f}",
        anchor=False,
    )
    between = ""
    if best.interval is not None:
        low, high = best.interval
        between = f", {low:.4f} to {high:.4f} (95%) over its {len(best.draws)} draws"
    st.write(
        f"With {settings}; trial {best.number + 1} of {search.n_trials}{between}, on"
        f" {choice.entry.title}. The best of many trials is partly luck."
    )


def _draw_outcome(choice: Choice, search: Search, best: Trial, head: DeltaGenerator) -> None:
    """Draw the winner on test ratings, the trials, and the cost of choosing."""
    spec, runs = search.spec, dict[str, Run]()
    if not (search.busy or search.cancelled):
        runs = ask("tune.final", spec.fresh(best.place), by_button=True)
        if result := outcome(runs, spec.metric):
            with head:
                (st.success if result.verdict == "better" else st.info)(
                    f"On test ratings: {result.words}"
                )
                private_selection.draw_use(spec.algorithm, spec.fixed | best.place)
    open_search.figures(search, open_search.frame(search.trials), SCORE)
    if "winner 0" in runs:
        open_search.costs(choice, search)


def draw_search(choice: Choice, spec: TuneSpec, trials: int, head: DeltaGenerator) -> None:
    """Draw a search that shows every trial; raise BadInput."""
    search, waits = requested_search(spec, trials)
    if search is None:
        head.title("Which parameters?", anchor=False)
        head.write(
            "A search scores parameters on validation ratings, all on the same draws of split and"
            " noise. It then compares the winner with the recommended parameters on test ratings of"
            " new draws."
        )
        return
    if waits and open_search.advance(search):
        sessions.registry.hold(
            sessions.this(), "tune", open_search.Searching(search), by_button=True
        )
        with head:
            drawing.repeat(functools.partial(_watch, search), LATER if search.best else FIRST)
    if search.failure:
        raise BadInput(search.failure)
    best = search.best
    if best is None:
        head.title("Searching" if waits else "No trial has finished", anchor=False)
    else:
        with head:
            finding(choice, search, best)
    if not waits:
        head.caption(
            f"Cancelled after {search.n_settled} of {search.n_trials} trials. Press Search to"
            " continue."
        )
    if best is not None:
        _draw_outcome(choice, search, best, head)


def main() -> None:
    controls.prepare()
    controls.write_to_address()
    own = sidebar.choice()
    choice = replace(own, dataset=data_sets.stand_in(own.entry).id)
    head, way = st.container(), OPENLY
    spec, trials = search_settings(choice, parameters(own))
    if choice != own:
        st.caption(
            "Your data are private, and every look at them costs privacy. So the search runs on **a"
            " synthetic data set of the same shape**, unless you choose your own data."
        )
        st.session_state.setdefault("tune.way", OPENLY)
        look: dict[str, Any] = {"format_func": WAYS.__getitem__, "required": True}
        way = st.segmented_control("Where to search", list(WAYS), key="tune.way", **look)
    if way == PRIVATELY:
        # a private trial trains once
        changes = {"draws": 1, "data": own.spec().canonical().data}
        private_selection.page(own, spec.model_copy(update=changes), trials, head)
    else:
        draw_search(choice, spec, trials, head)


try:
    main()
except BadInput as error:
    safe_text.error(error)
