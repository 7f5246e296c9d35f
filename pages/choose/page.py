"""Which private method, at which epsilon, for my data? The question, its answer, the take-away."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

import dpmf_datasets as datasets
from dpmf_core import algorithms
from dpmf_core.base.program import start
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.machine import duration
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs.planning import account_of
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.tuning.choosing import wording
from dpmf_core.runs.tuning.choosing.answer import Answer, Place, answer, interval
from dpmf_core.runs.tuning.choosing.finding import (
    ON_STAND_IN,
    TRIALS,
    Finding,
    among_the_best,
    notebook,
    report,
)
from dpmf_core.runs.tuning.choosing.question import Runs
from dpmf_core.runs.tuning.private_selection import PrivateSelection
from dpmf_core.teaching.glossary import linked
from dpmf_datasets import session_files
from pages.choose import controls
from pages.choose.controls import Inquiry
from pages.kit import (
    charts,
    colours,
    data_sets,
    forms,
    links,
    odometer,
    privacy_card,
    safe_text,
    time_estimate,
)
from pages.kit.exports import draw_files
from pages.kit.page_table import BY_ID
from pages.kit.runs import ask, queue, request_at
from pages.server import visitor

BUTTON_KEY = "choose.pressed"  # in the session: whether all methods were asked for
SELECTING = "choose.selecting"  # in the session: the requested selection
WINNERS = "choose.selected"  # in the session: results of selections, by specification


def _press(in_full: bool) -> None:
    """Ask the current question on the next rerun, including a number typed just before."""
    st.session_state[BUTTON_KEY] = in_full


def draw_button(inquiry: Inquiry, runs: Runs) -> None:
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
        session_files.command_path(entry.id) if datasets.is_own(entry.id) else str(entry.id),
        entry.public,
        entry.assumptions,
        # with its full path for someone at their own machine
        program=start() if visitor.asker().alone else ("dpmf",),
    )
    finding = _with_account(finding, entry)
    spec = _selection_spec(finding, entry)
    selection = st.session_state.setdefault(WINNERS, {}).get(spec and spec.model_dump_json())
    if selection is not None:
        finding = finding.with_selection(selection)
    if finding.place is None:
        return finding
    method = finding.place.method
    forms.read_address(method)
    parameters = forms.set_parameters(method)
    forms.write_to_address(method, parameters)
    return replace(finding, parameters=parameters)


def _with_account(finding: Finding, entry: Any) -> Finding:
    """Return the finding with what was drawn from private data so far."""
    account = None if entry.public else account_of(entry.id)
    if account is None:
        return finding
    earlier = tuple(charged.charge for charged in account.entries)
    return replace(finding, earlier=earlier, budget=account.budget)


def _selection_spec(finding: Finding, entry: Any) -> PrivateSelection | None:
    """Return the private selection; None on public data or without noisy errors to compare."""
    if finding.public:
        return None
    return among_the_best(finding.question, finding.answer, DataSpec(id=entry.id))


def check(finding: Finding, entry: Any) -> None:
    if finding.public:
        return
    st.subheader("Check it on your own data", anchor="own-data")
    spec, best = _selection_spec(finding, entry), finding.answer.best
    if spec is None or best is None:
        st.caption(
            "On private data only errors of predicted ratings can be compared. Choose Ratings, and"
            " a goal that at least two methods reach."
        )
        return
    methods = wording.names([kind.id for kind in spec.kinds])
    st.write(
        linked(
            f"A private selection trains {methods} on your ratings, about {TRIALS:g} times in"
            f" total, each time at ε = {budget_text(best.epsilon)}. It scores each with noise, and"
            " releases only the winner and its noisy error."
        )
    )
    requested = st.session_state.get(SELECTING) == spec
    if finding.selection is None and not requested:
        selected = replace(finding, earlier=(*finding.earlier, spec.charge)).decision
        if selected is not None:
            st.write(linked(f"With one training afterwards: {selected.cost}."))
        odometer.draw_selection_button("Choose on my data", "choose.own", spec, _select)
    total = st.container()
    if finding.selection is not None:
        st.success(safe_text.escape(finding.confirmation))
    elif requested and (results := ask("choose.own", {"selection": spec}, by_button=True)):
        st.session_state[WINNERS][spec.model_dump_json()] = results["selection"]
        st.rerun()
    with total:  # after the request, which enters the account
        waits = finding.selection is None and request_at("choose.own").busy
        odometer.panel(entry.id, "choose", entry.n_users, awaits=waits)


def _select(spec: PrivateSelection) -> None:
    st.session_state[SELECTING] = spec
    odometer.buy([spec])


def use(finding: Finding, entry: Any) -> None:
    """Choose the data set and the answer on every page. Call it before widgets are drawn."""
    place, question = finding.place, finding.question
    assert place is not None
    data_sets.choose(entry)
    epsilon = question.of_one(place.epsilon)
    values = {"algorithm": place.method, "epsilon": epsilon, "delta": question.delta}
    for name, value in values.items():
        st.session_state[data_sets.session_key(name, "ratings")] = value


def draw_files_of(finding: Finding, entry: Any) -> None:
    st.code(finding.train, language="bash", wrap_lines=True)
    where = " Run it in the folder of your file." * datasets.is_own(entry.id)
    st.caption(f"{safe_text.escape(finding.cost)} {finding.training}{where}")
    files = {
        "which-method.html": ("Page to print", report(finding)),
        "which-method.ipynb": ("Notebook", notebook(finding)),
    }
    draw_files(files, first="which-method.html")
    total = {"accountant.total": finding.configuration["epsilon"]}
    if st.button("Split ε over several models", on_click=st.session_state.update, args=(total,)):
        links.go("accountant")
    st.caption("The files contain public, synthetic, declared and noisy figures, no private rows.")


# ---- the figure ----------------------------------------------------------------------------------


def front(answer: Answer) -> go.Figure:
    """Return every candidate at every epsilon; the answer's line is thick, with its interval."""
    lines: dict[str, list[Place]] = {}
    for place in answer.ranked:
        lines.setdefault(place.method, []).append(place)
    best, question = answer.best, answer.question
    axis = "liked items in a list of 20" if question.goal == "lists" else "RMSE of predictions"
    ticks = [budget_text(it) for it in question.epsilons]
    x_axis = {"type": "log", "tickvals": question.epsilons, "ticktext": ticks}
    fig = charts.figure("ε, total (log scale)", axis, 400, xaxis=x_axis)
    for method, places in lines.items():
        title, is_thick = algorithms.find(method).title, best is not None and method == best.method
        fig.add_scatter(
            x=[it.epsilon for it in places],
            y=[it.value for it in places],
            name=title,
            mode="lines+markers",
            line={"color": colours.of(method), "width": 3.5 if is_thick else 1.2},
            marker={"symbol": colours.marker(method), "size": 8 if is_thick else 5},
            hovertemplate=f"{title}<br>ε = %{{x:g}}: %{{y:.3f}}<extra></extra>",
        )
    if best:
        _mark(fig, best, lines[best.method])
    for line in answer.lines:
        charts.reference_line(fig, line, colours.of(best.method) if best else "")
    return fig


def _mark(fig: go.Figure, best: Place, places: Sequence[Place]) -> None:
    """Draw the intervals of the answer's method, and a ring around the answer."""
    lows, highs = zip(*(interval(place.values) for place in places), strict=True)
    x, colour = [place.epsilon for place in places], colours.of(best.method)
    quiet: dict[str, Any] = {"hoverinfo": "skip", "showlegend": False}
    band = {"x": [*x, *reversed(x)], "y": [*highs, *reversed(lows)], "mode": "none"}
    fig.add_scatter(**band, fill="toself", fillcolor=colour, opacity=0.15, **quiet)
    ring = {"color": "rgba(0,0,0,0)", "size": 22, "line": {"color": colour, "width": 3}}
    fig.add_scatter(x=[best.epsilon], y=[best.value], mode="markers", marker=ring, **quiet)


def draw_figure(finding: Finding) -> None:
    where = "" if finding.public else f" {ON_STAND_IN.capitalize()}."
    caption = (
        f"The ring marks the answer. For {finding.question.whom}: medians and 95% intervals over"
        f" {finding.question.draws} draws of split and noise.{where}"
    )
    answer, title = finding.answer, finding.answer.metric.title
    columns = ["ε", "method", title, "95%", "gain kept", "note"]
    table = pd.DataFrame(answer.rows, columns=columns).astype({"ε": float, title: float})
    headline = finding.headline
    charts.show(front(answer), "choose.front", headline, table, leaves=True, caption=caption)


# ---- steps ---------------------------------------------------------------------------------------


def draw_answer(inquiry: Inquiry, finding: Finding) -> None:
    st.title(finding.headline, anchor=False)
    st.write(" ".join(wording.sentences(finding.answer)))
    draw_figure(finding)
    if not inquiry.question.every:
        draw_refinement(inquiry.in_full())
    if finding.answer.best is not None:
        ways = {"take-away": "Export", "tune": "Tune it (optional)", "explore": "Explore it"}
        links.draw_ways("choose.next", ways, partial(use, finding, inquiry.entry), controls.go)


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


def draw_answer_step() -> None:
    if controls.is_file_missing():
        controls.draw_missing_file()
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
        check(finding, current.entry)
        if inquiry not in (current, current.in_full(False)):
            st.info("The question below has changed. Press the button to answer it.")
    privacy_card.who_sees_what(privacy_card.USERS)


def draw_take_away_step() -> None:
    if controls.is_file_missing():
        st.title("There is nothing to export", anchor=False)
        controls.draw_missing_file()
        return
    current = controls.current(controls.inquiry())
    controls.write_to_address()
    finding = None if current is None else find(current)
    if current is None:
        st.title("There is no answer to export yet", anchor=False)
        links.to("choose", "Ask the question", {})
    elif finding is not None and finding.place is None:
        st.title("No method is recommended, so there is nothing to export", anchor=False)
        links.to("choose", "Back to the answer", {})
    elif finding is not None:
        st.title(finding.name, anchor=False)
        st.markdown(f"**{safe_text.escape_letters(finding.summary)}**")
        draw_figure(finding)
        draw_files_of(finding, current.entry)


controls.prepare()
if st.query_params.get("step") == BY_ID["take-away"].view:
    draw_take_away_step()
else:
    draw_answer_step()
engine().start()
