"""Which parameters? A search on validation ratings, the winner on test ratings, and what choosing cost."""

import streamlit as st

from dpmf_core import algorithms
from dpmf_core.engine import engine
from dpmf_core.errors import BadInput
from dpmf_core.experiment import Run, prepare
from dpmf_core.fresh import outcome
from dpmf_core.tune import MOST_DRAWS, Search, TuneSpec, default_range
from pages.kit import forecast, odometer, runs, said, seen, selected, sidebar, target, tuned
from pages.kit.presence import presence, session
from pages.kit.sidebar import Choice
from pages.kit.swept import level, parameter

SCORE = "validation RMSE"
OPENLY, PRIVATELY = "look at every trial", "see the winner only"


def asked(choice: Choice) -> tuple[TuneSpec, int]:
    """What the controls say."""
    spec = choice.spec().canonical()
    made = prepare(spec, choice.shape, choice.assumptions).algorithm
    names = list(type(made).model_fields)
    usual = [name for name in ("rank", "steps", "clip_norm", "regularisation", "shrinkage", "row_clip") if name in names]
    left, right, last = st.columns([4, 1, 1])
    moving = left.multiselect(
        "Parameters that may move", names, usual[:4] or names[:3], key=f"tune.moving.{choice.algorithm}",
        format_func=lambda name: parameter(name, [choice.algorithm]), help="Each from a quarter of its recommended value to four times that.",
    )  # fmt: skip
    trials = right.number_input("Trials", 2, 500, 20, 10, key="tune.trials") or 20
    draws = last.number_input("Draws of each", 1, MOST_DRAWS, 3, 1, key="tune.draws", help="Splits and noises of each trial. Its score is their mean.") or 3
    if not moving:
        raise BadInput("No parameter may move. Choose at least one.")
    search = {name: default_range(algorithms.find(choice.algorithm), name, getattr(made, name)) for name in moving}
    return TuneSpec.parse(data=spec.data, algorithm=spec.algorithm, search=search, budget=spec.budget, seed=spec.seed, draws=int(draws)), int(trials)


@st.fragment(run_every=0.7)
def _watch(search: Search) -> None:
    """Moves the search on, and the page when something has finished."""
    before = sum(trial.score is not None for trial in search.trials)
    more = tuned.advanced(search)
    settled = sum(trial.state in ("done", "stopped") for trial in search.trials)
    st.progress(min(settled / search.asked, 1.0), f"{settled} of {search.asked} trials; {sum(t.state == 'running' for t in search.trials)} running")
    if not more or sum(trial.score is not None for trial in search.trials) > before:
        st.rerun()


def _go(key: str, trials: int) -> None:
    st.session_state["tune.asked"], st.session_state["tune.now"] = (key, trials), True


def _asked_now() -> bool:
    """Whether the button was pressed just now: on private data an old search is shown as long as it is there, and never begun anew."""
    return bool(st.session_state.pop("tune.now", False))


def main() -> None:
    choice = sidebar.choice()
    head = st.container()
    seen.draw(seen.TUNING)
    spec, trials = asked(choice)
    way = st.segmented_control("How to choose", [OPENLY, PRIVATELY], default=OPENLY, key="tune.way", required=True)
    if way == PRIVATELY:
        selected.page(spec.model_copy(update={"draws": 1}), trials, head)  # a private trial is one training
        return
    st.button(odometer.label("Search", spec.trial({}), trials * spec.draws), type="primary", key="tune.go", on_click=_go, args=(spec.key, trials))
    wanted = st.session_state.get("tune.asked")
    seconds = forecast.cost(spec.trial({})) * trials * spec.draws / engine().width
    st.caption(f"{trials * spec.draws} trainings, about {forecast.words(seconds)} (an estimate). {runs.queue()}")
    if wanted is not None and wanted[0] == spec.key and not runs.confirmed("tune", seconds, "This search", f"{spec.key} {trials}"):
        wanted = None
    search = None if wanted is None or wanted[0] != spec.key else tuned.shared(spec, wanted[1], begin=not odometer.private(spec) or _asked_now())
    if search is None:
        head.title("Which parameters?")
        head.write(
            "A search tries parameters on validation ratings, each on the same draws of split and noise. The winner is then compared with the recommended "
            "parameters over fresh draws, on test ratings."
        )
        return
    if tuned.advanced(search):
        presence().hold(session(), "tune", tuned.Searching(search), asked=True)
        with head:
            _watch(search)
    if search.failure:
        raise BadInput(search.failure)
    table, best = tuned.frame(search.trials), search.best
    if best is None or best.score is None:
        head.title("Searching")
        return
    moved = ", ".join(f"{parameter(name, [spec.algorithm])} {level(value)}" for name, value in best.moved.items())
    with head:
        st.title(f"{'Best so far' if search.busy else f'The best of {search.asked} trials'}: {SCORE} {best.score:.4f}", anchor=False)
        between = "" if best.interval is None else ", {:.4f} to {:.4f} (95%) over its {} draws".format(*best.interval, len(best.draws))
        st.write(f"With {moved}; trial {best.number + 1} of {search.asked}{between}, on {choice.entry.title}. The best of many is partly luck.")
    done: dict[str, Run] = {}
    if not search.busy:
        done = runs.wanted("tune.final", spec.fresh(best.moved), asked=True)
        if found := outcome(done, spec.metric):
            (head.success if found.verdict == "better" else head.info)(f"On test ratings: {found.words}")
    tuned.figures(search, table, SCORE)
    if "winner 0" in done:
        winner = done["winner 0"]
        tuned.costs(choice, search, bool(winner.record["public"]))
        tuned.take_away(winner)
        target.draw(choice, dict(best.moved), "tune", float(winner.record["metrics"]["rmse"]))


try:
    main()
except BadInput as error:
    said.error(error)
