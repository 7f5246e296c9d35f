"""Which private method, at which epsilon, for my data? The question, its answer, the take-away."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

import dpmf_datasets as datasets
from dpmf_core.base.program import start
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.machine import duration
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs import conclusions
from dpmf_core.runs.conclusions import Reference
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.measurements import Measured, Point
from dpmf_core.runs.planning import account_of
from dpmf_core.runs.record import summarise
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.tuning.choosing import wording
from dpmf_core.runs.tuning.choosing.answer import Answer
from dpmf_core.runs.tuning.choosing.answer import find as find_answer
from dpmf_core.runs.tuning.choosing.finding import (
    ON_STAND_IN,
    TRIALS,
    Finding,
    among_the_best,
    notebook,
    report,
)
from dpmf_core.runs.tuning.choosing.question import MANY, Runs
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
from pages.kit.epsilon_grid import WINNERS
from pages.kit.exports import draw_files
from pages.kit.page_table import BY_ID
from pages.kit.runs import ask, note_shipped, queue, request_at
from pages.server import visitor

BUTTON_KEY = "choose.pressed"  # in the session: whether all methods were asked for
SELECTING = "choose.selecting"  # in the session: the requested selection
SHARE, FIGURE = "share", "metric"  # what the figure shows
SCALE = "choose.scale"  # in the session: one of these


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
        f" {amount}. Close methods get up to {MANY} draws. {queue()}"
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
    runs, entry = Runs(inquiry.question, inquiry.shape), inquiry.entry
    result = _answer(runs)
    if result is None:
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
    method = finding.place.algorithm
    forms.read_address(method)
    parameters = forms.set_parameters(method)
    forms.write_to_address(method, parameters)
    return replace(finding, parameters=parameters)


def _answer(runs: Runs) -> Answer | None:
    """Return the answer, or have its next runs computed and draw the progress.

    What it needs more after its first runs follows from these.
    """
    while True:
        points, result = find_answer(runs, _finished)
        specs = {point.key: point.spec for point in points}
        finished_runs = ask("choose", specs, by_button=True, whole=())
        if result is not None:
            return result
        if len(finished_runs) < len(specs):
            _draw_waiting(runs, points)
            return None


def _finished(points: Sequence[Point]) -> Draws:
    """Return the table of these runs as far as this session or the store has them."""
    here = request_at("choose").results
    others = [point.spec for point in points if point.key not in here]
    summaries = iter(engine().known_runs.find_all(others))
    return Draws.of(
        points,
        [
            summarise(here[point.key].record) if point.key in here else next(summaries)
            for point in points
        ],
    )


def _draw_waiting(runs: Runs, points: Sequence[Point]) -> None:
    where = "The answer appears here when all runs have finished. You can leave this page."
    further = [point.label for point in points[len(runs.points) :] if point.epsilon is not None]
    if not further:
        st.title(f"Trying {len(runs.methods)} methods", anchor=False)
        st.write(where)
        return
    names = conclusions.names_text(list(dict.fromkeys(further)))
    st.title(f"More draws of {names}", anchor=False)
    st.write(f"The first draws leave the answer open. {where}")


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
    spec = _selection_spec(finding, entry)
    if spec is None:
        st.caption(
            "On private data only errors of predicted ratings can be compared. Choose Ratings, and"
            " a goal that at least two methods reach."
        )
        return
    methods = conclusions.names_text([kind.title for kind in spec.kinds])
    st.write(
        linked(
            f"A private selection trains {methods} on your ratings, about {TRIALS:g} times in"
            f" total, each time at ε = {budget_text(finding.epsilon)}. It scores each with noise,"
            " and releases only the winner and its noisy error."
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
    epsilon = question.of_one(finding.epsilon)
    values = {"algorithm": place.algorithm, "epsilon": epsilon, "delta": question.delta}
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


def front(answer: Answer, scale: str) -> go.Figure:
    """Return every candidate at every epsilon; the answer's line is thick, with its interval.

    scale: SHARE or FIGURE.
    """
    best, question, judgement = answer.best, answer.question, answer.judgement
    ticks = [budget_text(epsilon) for epsilon in question.epsilons]
    x_axis = {"type": "log", "tickvals": question.epsilons, "ticktext": ticks}
    title, references = answer.metric.label, conclusions.reference_lines(judgement, best)
    y_axis: dict[str, Any] = {}
    if scale == SHARE:
        title = "Share kept"
        y_axis = {"tickformat": ".0%", "autorangeoptions": {"clipmin": charts.LOWEST_SHARE}}
        references = conclusions.share_lines(judgement, best)
    fig = charts.figure("ε, total (log scale)", title, 400, xaxis=x_axis, yaxis=y_axis)
    for label in dict.fromkeys(one.label for one in judgement.ranked):
        line = judgement.line(label)
        if scale == SHARE:
            line = judgement.shares_along(line)
        _draw_line(fig, line, best, "%{y:.0%}" if scale == SHARE else "%{y:.3f}")
    colour = colours.of(best.algorithm) if best else ""
    is_up = scale == SHARE or bool(answer.metric.larger_is_better)
    for end in references:
        charts.reference_line(fig, end, colour, above=is_up != (end.reference is Reference.FLOOR))
    return fig


def _draw_line(fig: go.Figure, line: Sequence[Measured], best: Measured | None, value: str) -> None:
    """Draw a method's medians; for the answer's also intervals and a ring. value: of the hover."""
    if not line:
        return
    method, label = line[0].algorithm, line[0].label
    is_best = best is not None and label == best.label
    colour, x = colours.of(method), [one.epsilon for one in line]
    fig.add_scatter(
        x=x,
        y=[one.median for one in line],
        name=label,
        mode="lines+markers",
        line={"color": colour, "width": 3.5 if is_best else 1.2},
        marker={"symbol": colours.marker(method), "size": 8 if is_best else 5},
        hovertemplate=f"{label}<br>ε = %{{x:g}}: {value}<extra></extra>",
    )
    if best is None or not is_best:
        return
    # a share of medians alone has no interval
    ends = [one.interval if len(one.draws) > 1 else (one.median, one.median) for one in line]
    fig.add_scatter(
        x=[*x, *reversed(x)],
        y=[*(high for _, high in ends), *(low for low, _ in reversed(ends))],
        mode="none",
        fill="toself",
        fillcolor=colour,
        opacity=0.15,
        **charts.SILENT,
    )
    heights = [one.median for one in line if one.epsilon == best.epsilon]
    fig.add_scatter(
        x=[best.epsilon for _ in heights],
        y=heights,
        mode="markers",
        marker={
            "color": "rgba(0,0,0,0)",
            "size": 22,
            "line": {"color": colour, "width": 3},
        },
        **charts.SILENT,
    )


def draw_figure(finding: Finding) -> None:
    answer = finding.answer
    scale = FIGURE
    if answer.judgement.is_sharing_worth:
        scale = _scale(answer)
    where = "" if finding.public else f" {ON_STAND_IN.capitalize()}."
    caption = (
        f"The ring marks the answer. For {finding.question.whom}: medians over draws of split and"
        f" noise, with 95% intervals for the answer's method.{where}"
    )
    numbers = {"ε": float, answer.metric.title: float, "draws": int}
    table = pd.DataFrame(answer.rows, columns=answer.columns).astype(numbers)
    headline = finding.headline
    charts.show(front(answer, scale), "choose.front", headline, table, leaves=True, caption=caption)
    note_shipped(list(finding.runs.specs.values()))


def _scale(answer: Answer) -> str:
    """Ask whether the figure shows the share kept or the metric."""
    options = {SHARE: "Share kept", FIGURE: answer.metric.label}
    st.session_state.setdefault(SCALE, SHARE)
    scale: str = st.segmented_control(
        "Scale",
        list(options),
        default=st.session_state[SCALE],
        key=SCALE,
        persist_state="session",
        format_func=options.__getitem__,
        label_visibility="collapsed",
        required=True,
    )
    return scale


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
            "Answer three questions. We try the proven private methods at public values of ε,"
            " compare them with non-private ones, and recommend one. Where no difference is found,"
            " we say so."
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
