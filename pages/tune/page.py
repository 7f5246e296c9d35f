"""Which parameters? A search on validation ratings, its winner on test ratings, and its cost."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core import algorithms
from dpmf_core.algorithms.base import Parameters
from dpmf_core.base.documents import to_json
from dpmf_core.base.errors import BadInput
from dpmf_core.evaluation.registry import METRICS
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.machine import duration
from dpmf_core.privacy.decision import planned_run
from dpmf_core.privacy.formatting import budget_text, epsilon_in_full
from dpmf_core.runs.planning import prepare
from dpmf_core.runs.record import Runs
from dpmf_core.runs.tuning.private_selection import (
    MOST,
    PrivateSelection,
    SelectionResult,
)
from dpmf_core.runs.tuning.search import Search, Trial
from dpmf_core.runs.tuning.search_space import (
    MOST_DRAWS,
    TuneSpec,
    default_range,
    outcome,
)
from dpmf_core.teaching.glossary import linked
from pages.choose import export, question_controls
from pages.kit import sidebar
from pages.kit.base import data_sets, drawing, links
from pages.kit.controls import forms, sidebar_values
from pages.kit.controls.session_widgets import (
    PageValue,
    bind,
    number_within,
    within,
    write_to_address,
)
from pages.kit.controls.sidebar_values import SidebarChoice
from pages.kit.figures.sweep_charts import parameter
from pages.kit.privacy import account_summary, purchases
from pages.kit.running import time_estimate
from pages.kit.running.runs import ask, may_begin, queue
from pages.server import sessions
from pages.tune import open_search

SCORE = METRICS["validation_rmse"]
RULE = "by the privacy profile of a trial"
USUAL = ("rank", "steps", "clip_norm", "regularisation", "shrinkage", "row_clip")
WAYS = {"take-away": "Export", "explore": "Explore it", "choose": "Back to the answer"}
FORM = "tune.form"  # in the session: the method with the open form of parameters
TRIALS = 2, 500  # the range of the number of trials
N_TRIALS = PageValue("tune.trials", "trials", 20, within(int, *TRIALS))
DRAWS = PageValue("tune.draws", "trial_draws", 3, within(int, 1, MOST_DRAWS))
FIRST = 0.3  # seconds between updates before the first trial
LATER = 0.7  # and after it
OPENLY = "open"
PRIVATELY = "private"
WHERE = {OPENLY: "on synthetic data, free", PRIVATELY: "on your own data, for ε"}


def parameters(choice: SidebarChoice) -> Parameters:
    """Ask for the method's parameters; the form is open once one differs from the recommended."""
    budget = choice.spec().require_budget()
    forms.read_address(choice.algorithm)
    if forms.set_parameters(choice.algorithm):
        # it stays open when the last one is emptied
        st.session_state[FORM] = choice.algorithm
    is_open = st.session_state.get(FORM) == choice.algorithm
    with st.expander("Set parameters yourself", expanded=is_open):
        return forms.parameters(choice.algorithm, choice.shape, budget)


def _names_of(text: str, names: Sequence[str]) -> list[str]:
    """The parameters in a link. Raises ValueError on an unknown one."""
    moving = text.split(",")
    if not set(moving) <= set(names):
        raise ValueError
    return moving


def search_settings(choice: SidebarChoice, parameters: Parameters) -> TuneSpec:
    """The search that the controls set. `n_trials` is its number of trials.

    Parameters
    ----------
    choice
        The choice in the sidebar.
    parameters
        The parameters that a person set. They stay unless they are searched.
    """
    names = list(algorithms.find(choice.algorithm).model_fields)
    usual = [name for name in USUAL if name in names]
    left, right, last = st.columns([4, 1, 1])
    searched = PageValue(
        f"tune.moving.{choice.algorithm}",
        "search",
        usual[:4] or names[:3],
        lambda text: _names_of(text, names),
    )
    for value in (searched, N_TRIALS, DRAWS):
        value.start()
    moving = left.multiselect(
        "Parameters to search",
        names,
        searched.value,
        key=searched.key,
        format_func=lambda name: parameter(name, [choice.algorithm]),
        help="Each from a quarter to four times its recommended value.",
        persist_state="session",
    )
    right.number_input("Trials", *TRIALS, **bind(N_TRIALS.key), step=10)
    last.number_input(
        "Draws",
        1,
        MOST_DRAWS,
        **bind(DRAWS.key),
        step=1,
        help="Draws of split and noise for each trial; its score is their mean.",
    )
    write_to_address([searched, N_TRIALS, DRAWS])
    if not moving:
        raise BadInput("Choose at least one parameter to search.")
    fixed = {name: value for name, value in parameters.items() if name not in moving}
    return _search_spec(choice, moving, fixed)


def n_trials() -> int:
    return int(N_TRIALS.value)


def _search_spec(
    choice: SidebarChoice, moving: Sequence[str], fixed: Parameters
) -> TuneSpec:
    """The search of some parameters, each around its recommended value."""
    spec = choice.spec(parameters=fixed).canonical()
    algorithm = prepare(spec, choice.shape, choice.assumptions).algorithm
    ranges = {
        name: default_range(type(algorithm), name, getattr(algorithm, name))
        for name in moving
    }
    return TuneSpec.parse(
        data=spec.data,
        algorithm=spec.algorithm,
        budget=spec.budget,
        seed=spec.seed,
        search=ranges,
        fixed=fixed,
        draws=int(DRAWS.value),
    )


def _watch(search: Search) -> None:
    """Advance the search; draw the page again when a trial has finished."""
    before = _n_scored(search)
    more = search.advance()
    n_running = sum(trial.state == "running" for trial in search.trials)
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(
        min(search.n_settled / search.n_trials, 1.0),
        f"{search.n_settled} of {search.n_trials} trials; {n_running} running",
    )
    if button.button("Cancel", key="tune.cancel", width="stretch"):
        st.session_state["tune.cancelled"] = search.spec.key
        sessions.registry.let_go(sessions.this(), "tune")
        st.rerun()
    if not more or _n_scored(search) > before:
        st.rerun()


def _n_scored(search: Search) -> int:
    return sum(trial.score is not None for trial in search.trials)


def requested_search(spec: TuneSpec) -> tuple[Search | None, bool]:
    """The requested search, and whether this session waits for more of it.

    It does not after a cancellation. A long search needs a second button.
    """
    trials = n_trials()
    st.button(
        "Search",
        type="primary",
        key="tune.go",
        on_click=st.session_state.update,
        args=({"tune.asked": (spec.key, trials), "tune.now": True},),
    )
    seconds = time_estimate.cost(spec.trial({})) * trials * spec.draws / engine().width
    st.caption(
        f"{trials * spec.draws} runs, about {duration(seconds)} (an estimate). {queue()}"
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


def draw_finding(choice: SidebarChoice, search: Search, best: Trial) -> None:
    assert best.score is not None
    settings = forms.in_words(search.spec.algorithm, best.place)
    which = f"The best of {search.n_trials} trials"
    if search.busy or search.cancelled:
        which = "Best so far"
    st.title(f"{which}: {SCORE.title} {SCORE.text(best.score)}", anchor=False)
    between = ""
    if best.interval is not None:
        low, high = map(SCORE.text, best.interval)
        between = f", {low} to {high} (95%) over its {len(best.measured.draws)} draws"
    st.write(
        f"With {settings}; trial {best.number + 1} of {search.n_trials}{between}, on"
        f" {choice.entry.title}. The best of many trials is partly luck."
    )


def _draw_outcome(
    choice: SidebarChoice, search: Search, best: Trial, head: DeltaGenerator
) -> Parameters | None:
    """Draw the winner on test ratings, the trials, and the cost of choosing.

    Returns the winner's parameters once they have been compared.
    """
    spec = search.spec
    runs: Runs = {}
    winner = None
    if not (search.busy or search.cancelled):
        runs = ask("tune.final", spec.fresh(best.place), by_button=True)
        result = outcome(runs, spec.metric)
        if result:
            box = head.success if result.verdict == "better" else head.info
            box(f"On test ratings: {result.words}")
            winner = spec.fixed | best.place
    open_search.draw_figures(search, SCORE)
    if "winner 0" in runs:
        open_search.draw_costs(choice, search)
    return winner


def draw_search(
    choice: SidebarChoice, spec: TuneSpec, head: DeltaGenerator
) -> Parameters | None:
    """Draw a search that shows every trial, and return its winner. Raises BadInput."""
    search, waits = requested_search(spec)
    if search is None:
        head.title(f"Which parameters for {choice.words}?", anchor=False)
        head.write(
            "A search scores parameters on validation ratings, all on the same draws of split and"
            " noise. It then compares the winner with the recommended parameters on test ratings of"
            " new draws."
        )
        return None
    if waits and search.advance():
        sessions.registry.hold(sessions.this(), "tune", search, by_button=True)
        with head:
            drawing.repeat(
                functools.partial(_watch, search), LATER if search.best else FIRST
            )
    if search.failure:
        raise BadInput(search.failure)
    best = search.best
    if best is None:
        head.title("Searching" if waits else "No trial has finished", anchor=False)
    else:
        with head:
            draw_finding(choice, search, best)
    if not waits:
        head.caption(
            f"Cancelled after {search.n_settled} of {search.n_trials} trials. Press Search to"
            " continue."
        )
    if best is None:
        return None
    return _draw_outcome(choice, search, best, head)


# ---- a private selection -------------------------------------------------------------------------


def draw_private_search(
    choice: SidebarChoice, search: TuneSpec, head: DeltaGenerator
) -> Parameters | None:
    """Draw the controls and the button here, the outcome at the head; return the winner."""
    spec = _settings(choice, search)
    purchases.draw_selection_button("Tune on my data", "tune.select", spec)
    with head:
        if purchases.is_selected("tune.select", spec):
            return _draw_winner(choice, spec)
        st.title(f"Tune {choice.words} privately", anchor=False)
        budget = spec.budget
        cost = epsilon_in_full(
            spec.epsilon,
            budget.delta,
            spec.kinds[0]().guarantee().unit,
            budget.relation,
            RULE,
        )
        error = choice.shape.quarter_range
        deviation = spec.score_deviation(error, choice.shape)
        st.write(
            linked(
                f"About {spec.trials:g} trials; their number and parameters are random. Only the"
                f" winner and its noisy score are released: **{cost}** in total. Each training has"
                f" ε = {budget_text(float(f'{budget.epsilon:.3g}'))}. Noise moves a score by about"
                f" ± {2 * deviation:.2g} (95%) at an error of {error:g}."
            )
        )
    return None


def _settings(choice: SidebarChoice, search: TuneSpec) -> PrivateSelection:
    left, right = st.columns(2)
    cap = number_within(
        left.container(),
        "Largest total ε",
        f"tune.cap.{choice.epsilon:g}",
        0.01,
        1000.0,
        first=choice.epsilon,
        help="Trainings share what remains after scoring and choosing.",
    )
    noise = number_within(
        right.container(),
        "Noise multiplier of each score",
        "tune.noise",
        0.1,
        1000.0,
        first=5.0,
        help="Each trial's score is computed from private validation ratings.",
    )
    return PrivateSelection.parse(
        searches=(search,),
        distribution="geometric",  # the logarithmic one costs less, but often tries only one
        trials=float(min(n_trials(), MOST)),
        score_noise=noise,
    ).within(cap)


def _draw_winner(choice: SidebarChoice, spec: PrivateSelection) -> Parameters | None:
    """Draw the outcome of a private selection, and return its winner."""
    results = ask("tune.selection", {"selection": spec}, by_button=True)
    if not results:
        st.title("Tuning privately", anchor=False)
        return None
    selection: SelectionResult = results["selection"]
    budget = spec.budget
    cost = epsilon_in_full(
        selection.epsilon, budget.delta, selection.unit, budget.relation, RULE
    )
    if selection.score is None:
        st.title("No trial was drawn", anchor=False)
        st.write(
            "The random number of trials was 0, so nothing is released. The selection still cost"
            f" **{cost}**. Another seed draws again."
        )
        return None
    score = SCORE.text(selection.score)
    st.title(f"The winner's {SCORE.title}, with noise: {score}", anchor=False)
    algorithm = spec.searches[0].algorithm
    st.write(
        linked(
            f"With {forms.in_words(algorithm, selection.winner)}. The selection cost **{cost}**."
            f" {selection.floor_words}"
        )
    )
    training = planned_run(choice.epsilon, choice.delta)
    decision = account_summary.decision_about(choice.entry.id, [training])
    st.write(
        linked(
            f"With one training of the winner at ε = {budget_text(choice.epsilon)}:"
            f" **{decision.cost}**. {decision.certainty.words()} {decision.not_counted}"
        )
    )
    st.caption(
        f"{selection.guarantee} The theorem does not cover the duration, which may reveal the"
        " number of trials. Nothing else was trained, and no error was computed."
    )
    st.download_button(
        "The selection as JSON",
        to_json(selection.export(), indent=1),
        "selection.json",
        "application/json",
    )
    return spec.searches[0].fixed | selection.winner


# ---- what follows --------------------------------------------------------------------------------


def _use(choice: SidebarChoice, values: Mapping[str, Any]) -> None:
    """Set these parameters and their method in the session, and export them next."""
    forms.choose(choice.algorithm, values)
    sidebar_values.put("algorithm", choice.algorithm)
    export.send(choice.dataset, choice.algorithm)


def draw_next(choice: SidebarChoice, winner: Parameters | None) -> None:
    """Draw the button that uses the winner, or the next steps with the parameters that are set."""
    values = forms.set_parameters(choice.algorithm)
    if winner is not None and values != dict(winner):
        st.button(
            "Use these",
            key="tune.use",
            type="primary",
            on_click=_use,
            args=(choice, winner),
        )
        return
    if winner is not None:
        st.caption(
            f"In use for {choice.title}: in Explore, in the export and in its command."
        )
    links.draw_ways("tune.next", WAYS, functools.partial(_use, choice, values))


def _tuned_choice() -> SidebarChoice:
    """The session's choice; of several methods, the one that the last answer recommends."""
    choice = sidebar.choice()
    method = question_controls.answered_method(choice.entry)
    if choice.is_best and method:
        return replace(choice, algorithm=method, is_best=False)
    return choice


def draw_where(
    own: SidebarChoice,
    choice: SidebarChoice,
    spec: TuneSpec,
    head: DeltaGenerator,
) -> Parameters | None:
    """Ask where to search for private data, draw that search, and return its winner.

    Parameters
    ----------
    own
        The choice with these data.
    choice
        The choice with the synthetic data, which `spec` searches.
    spec
        The search.
    head
        The place of the headline.

    Returns
    -------
    mapping or None
        The parameters of the winner; None before there is one.
    """
    st.caption(
        "Your data are private, and every look at them costs privacy. So the search runs on **a"
        " synthetic data set of the same shape**, unless you choose your own data."
    )
    st.session_state.setdefault("tune.way", OPENLY)
    way = st.segmented_control(
        "Where to search",
        WHERE,
        key="tune.way",
        format_func=WHERE.__getitem__,
        required=True,
    )
    each = question_controls.draw_each(own.entry)
    if way == PRIVATELY:
        # a private trial trains once
        return draw_private_search(
            own,
            spec.model_copy(update={"draws": 1, "data": own.spec().canonical().data}),
            head,
        )
    if each is not None:
        return draw_search(choice, spec, head)
    head.title("Which parameters?", anchor=False)
    st.info("Say about how many ratings a person gives to search on synthetic data.")
    return None


def main() -> None:
    question_controls.prepare()
    question_controls.write_to_address()
    own = _tuned_choice()
    choice = replace(own, dataset=data_sets.stand_in(own.entry).id)
    head = st.container()
    spec = search_settings(choice, parameters(own))
    if choice == own:
        winner = draw_search(choice, spec, head)
    else:
        winner = draw_where(own, choice, spec, head)
    with head:
        draw_next(own, winner)


main()
