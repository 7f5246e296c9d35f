"""Which private method, at which epsilon, for my data? The question, its answer, the take-away."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import streamlit as st

from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.machine import duration
from dpmf_core.privacy.formatting import budget_text
from dpmf_core.runs import conclusions
from dpmf_core.runs.draws import Draws
from dpmf_core.runs.measurements import Point
from dpmf_core.runs.planning import account_of
from dpmf_core.runs.record import summarise
from dpmf_core.runs.specification import DataSpec
from dpmf_core.runs.tuning.choosing.answer import Answer
from dpmf_core.runs.tuning.choosing.answer import find as find_answer
from dpmf_core.runs.tuning.choosing.finding import Finding
from dpmf_core.runs.tuning.choosing.private_finding import (
    TRIALS,
    PrivateFinding,
    among_the_best,
)
from dpmf_core.runs.tuning.choosing.public_finding import PublicFinding
from dpmf_core.runs.tuning.choosing.question import MANY, QuestionRuns
from dpmf_core.runs.tuning.choosing.unpaid_range import UnpaidRange, WorldRuns
from dpmf_core.teaching.glossary import linked
from pages.choose import export, measuring, question_controls
from pages.choose.answer_figures import draw_figure
from pages.choose.question_controls import Inquiry
from pages.kit.base import data_sets, links, safe_text
from pages.kit.base.page_table import BY_ID
from pages.kit.controls import forms, sidebar_values
from pages.kit.privacy import account_summary, observer_diagram, purchases
from pages.kit.running import time_estimate
from pages.kit.running.epsilon_grid import WINNERS
from pages.kit.running.runs import ask, queue, request_at

WAITING = (
    "The answer appears here when all runs have finished. You can leave this page."
)


def draw_button(inquiry: Inquiry, runs: QuestionRuns | WorldRuns) -> None:
    stored = time_estimate.stored_names(runs.specs)
    missing = {key: spec for key, spec in runs.specs.items() if key not in stored}
    amount = "all stored"
    if missing:
        amount = f"about {duration(time_estimate.seconds(missing))} (an estimate)"
    with st.container(key="choose.ask"):
        button, words = st.columns([1, 3], vertical_alignment="center")
    button.button(
        "Find the answer",
        type="primary",
        key="choose.go",
        width="stretch",
        on_click=question_controls.press,
        args=(False,),
    )
    n_epsilons = len(inquiry.question.epsilons)
    if isinstance(runs, WorldRuns):
        words.caption(
            f"The recommended method at {n_epsilons} values of ε and non-private ones, in"
            f" {len(runs.worlds)} worlds: {len(runs.specs)} runs, {amount}. {queue()}"
        )
        return
    words.caption(
        f"{len(runs.methods)} proven methods at {n_epsilons} values of ε,"
        f" {inquiry.question.draws} draws each, and non-private ones: {len(runs.specs)} runs,"
        f" {amount}. Close methods get up to {MANY} draws. {queue()}"
    )


def asked_inquiry(inquiry: Inquiry, runs: QuestionRuns | WorldRuns) -> Inquiry | None:
    """The question to answer: the one asked last, or the current one if it needs no runs."""
    in_full = st.session_state.get(question_controls.BUTTON_KEY)
    # deleted last: Streamlit may end this script at each access
    if in_full is not None:
        st.session_state[question_controls.INQUIRY] = inquiry.in_full(in_full)
        del st.session_state[question_controls.BUTTON_KEY]
    current = question_controls.current(inquiry)
    if current is None:
        return None
    if set(runs.specs) <= set(current.runs().specs):
        current = inquiry.in_full(current.question.every)
        st.session_state[question_controls.INQUIRY] = current
    return current


def find(inquiry: Inquiry) -> Finding | None:
    """Draw the progress until every run has finished, then give the finding."""
    finding: Finding | None
    if inquiry.question.is_private:
        finding = _private_finding(inquiry)
    else:
        finding = _public_finding(inquiry)
    if finding is None or not finding.algorithm:
        return finding
    method = finding.algorithm
    st.session_state[question_controls.METHOD] = (inquiry.entry.id, method)
    parameters = forms.of_address(method)
    forms.write_to_address(method, parameters)
    finding = replace(finding, parameters=parameters)
    run = finding.run
    assert run is not None  # a data set has a name
    is_trained = export.is_trained(export.on_data(run, inquiry.entry.id))
    return replace(finding, is_trained_on_all=is_trained)


def _public_finding(inquiry: Inquiry) -> PublicFinding | None:
    entry = inquiry.entry
    runs = QuestionRuns(inquiry.question, inquiry.shape)
    answer = _answer(runs)
    if answer is None:
        return None
    return PublicFinding(
        question=inquiry.question,
        runs=runs,
        answer=answer,
        title=entry.title,
        path=str(entry.id),
        assumptions=entry.assumptions,
    )


def _private_finding(inquiry: Inquiry) -> PrivateFinding | None:
    """Have the runs of the range computed, draw their progress, and give the range."""
    entry = inquiry.entry
    runs = inquiry.runs()
    assert isinstance(runs, WorldRuns)
    ask("choose", runs.specs, by_button=True, whole=())
    expected = UnpaidRange.of(runs, _finished(runs.points))
    if expected is None:
        st.title(
            f"Trying a method in {len(runs.worlds)} simulated worlds", anchor=False
        )
        st.write(WAITING)
        return None
    finding = PrivateFinding(
        question=inquiry.question,
        expected=expected,
        title=entry.title,
        path=export.command_path(entry),
        assumptions=entry.assumptions,
    )
    finding = replace(finding, steps=measuring.steps_of(finding.question, entry))
    finding = _with_account(finding, entry)
    spec = among_the_best(finding.question, DataSpec(id=entry.id))
    if spec is None:
        return finding
    selection = st.session_state.setdefault(WINNERS, {}).get(spec.model_dump_json())
    if selection is None:
        return finding
    return finding.with_selection(selection)


def _answer(runs: QuestionRuns) -> Answer | None:
    """Have the next runs computed, draw their progress, and give the answer.

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
    """The table of these runs as far as this session or the store has them."""
    here = request_at("choose").results
    others = [point for point in points if point.key not in here]
    stored = engine().known_runs.find_all([point.spec for point in others])
    summaries = dict(zip([point.key for point in others], stored, strict=True))
    for point in points:
        if point.key in here:
            summaries[point.key] = summarise(here[point.key].record)
    return Draws.of(points, [summaries[point.key] for point in points])


def _draw_waiting(runs: QuestionRuns, points: Sequence[Point]) -> None:
    further = [
        point.label for point in points[len(runs.points) :] if point.epsilon is not None
    ]
    if not further:
        st.title(f"Trying {len(runs.methods)} methods", anchor=False)
        st.write(WAITING)
        return
    names = conclusions.names_text(list(dict.fromkeys(further)))
    st.title(f"More draws of {names}", anchor=False)
    st.write(f"The first draws leave the answer open. {WAITING}")


def _with_account(finding: PrivateFinding, entry: Any) -> PrivateFinding:
    """The finding with what was drawn from the data so far."""
    account = account_of(entry.id)
    if account is None:
        return finding
    earlier = tuple(charged.charge for charged in account.entries)
    return replace(finding, earlier=earlier, budget=account.budget)


def draw_check(finding: PrivateFinding, entry: Any) -> None:
    st.header("Or let your data choose the method", anchor="own-data")
    spec = among_the_best(finding.question, DataSpec(id=entry.id))
    if spec is None:
        st.caption(
            "On private data only errors of predicted ratings can be compared. Choose Ratings."
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
    requested = purchases.is_selected("choose.own", spec)
    if finding.selection is None and not requested:
        selected = replace(finding, earlier=(*finding.earlier, *spec.charges)).decision
        if selected is not None:
            st.write(linked(f"With one training afterwards: {selected.cost}."))
        purchases.draw_selection_button("Choose on my data", "choose.own", spec)
    total = st.container()
    if finding.selection is not None:
        st.success(safe_text.escape(finding.confirmation))
    elif requested and (
        results := ask("choose.own", {"selection": spec}, by_button=True)
    ):
        st.session_state[WINNERS][spec.model_dump_json()] = results["selection"]
        st.rerun()
    with total:  # after the request, which enters the account
        waits = finding.selection is None and request_at("choose.own").busy
        account_summary.panel(entry, "choose", awaits=waits)


def use(finding: Finding, entry: Any) -> None:
    """Choose the data set and the answer on every page. Call it before widgets are drawn."""
    data_sets.choose(entry)
    sidebar_values.put("algorithm", finding.algorithm)
    sidebar_values.put("epsilon", finding.question.of_one(finding.epsilon))
    sidebar_values.put("delta", finding.question.delta)


# ---- steps ---------------------------------------------------------------------------------------


def draw_answer(inquiry: Inquiry, finding: Finding) -> None:
    st.title(finding.headline, anchor=False)
    st.write(" ".join(finding.sentences))
    draw_figure(finding)
    if finding.public and not inquiry.question.every:
        draw_refinement(inquiry.in_full())
    if finding.algorithm:
        ways = {
            "take-away": "Export",
            "tune": "Tune it (optional)",
            "explore": "Explore it",
        }
        links.draw_ways(
            "choose.next",
            ways,
            partial(use, finding, inquiry.entry),
            question_controls.go,
        )


def draw_refinement(full: Inquiry) -> None:
    runs = QuestionRuns(full.question, full.shape)
    amount = duration(time_estimate.seconds(runs.specs))
    with st.container(key="choose.more"):
        words, button = st.columns([3, 1], vertical_alignment="center")
    words.caption(
        f"For narrower intervals, compare {len(runs.methods)} methods with {full.question.draws}"
        f" draws: {len(runs.specs)} runs, at most {amount} (an estimate)."
    )
    button.button(
        "Refine",
        key="choose.refine",
        width="stretch",
        on_click=question_controls.press,
        args=(True,),
    )


def draw_answer_step() -> None:
    if question_controls.is_file_missing():
        question_controls.draw_missing_file()
    head = st.container()
    below = st.container(border=True)
    with below:
        inquiry = question_controls.draw()
        current = None
        if inquiry is None:
            st.info("Say about how many ratings a person gives to continue.")
        else:
            runs = inquiry.runs()
            draw_button(inquiry, runs)
            current = asked_inquiry(inquiry, runs)
    question_controls.write_to_address()
    if current is None or inquiry is None:
        head.title("Which method, at which ε?", anchor=False)
        head.write(
            "Answer three questions. We try the proven private methods at public values of ε,"
            " compare them with non-private ones, and recommend one. Where no difference is found,"
            " we say so. Private ratings are not used: simulated worlds of their shape give the"
            " least and the most that a method may bring."
        )
        return
    with head:
        finding = find(current)
        if finding is None:
            return
        draw_answer(current, finding)
        if isinstance(finding, PrivateFinding):
            measuring.draw(finding, current.entry)
            draw_check(finding, current.entry)
        if inquiry not in (current, current.in_full(False)):
            st.info("The question below has changed. Press the button to answer it.")
    observer_diagram.draw_folded(observer_diagram.USERS)


question_controls.prepare()
if st.query_params.get("step") == BY_ID["take-away"].view:
    export.draw(find)
else:
    draw_answer_step()
engine().start()
