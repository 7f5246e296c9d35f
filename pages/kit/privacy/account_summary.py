"""The account of private data on pages: what was released so far, its total, and its budget."""

import contextlib
import math
from collections.abc import Sequence
from typing import Any

import streamlit as st

from dpmf_core.base.errors import BadInput
from dpmf_core.privacy import default_delta, neighbours
from dpmf_core.privacy.accounts import NOT_COVERED, Account
from dpmf_core.privacy.budget import AccountBudget
from dpmf_core.privacy.decision import Decision, decide
from dpmf_core.privacy.formatting import delta_text, epsilon_text
from dpmf_core.privacy.odometer import AccountLine, Charge, Total, remaining
from dpmf_core.runs.planning import account_of
from dpmf_core.teaching.glossary import linked
from dpmf_datasets import is_own
from pages.kit.base import drawing, safe_text
from pages.kit.controls.session_widgets import UNBOUNDED, number_within, optional_number

LOOK = 1.0  # seconds between updates of an account while runs go on
WHOLE_PLAN = "Unfinished runs count at their full planned cost."
NO_PROMISE = (
    "This is the composition of all releases so far. If results influenced later runs, it is no"
    " guarantee by itself. For a guarantee, set a budget before you begin."
)
PROMISE = (
    "The budget is a privacy filter: it holds even if later runs depend on earlier results. It does"
    " not cover errors on raw data, runs without noise, or methods without a proof, and it ends"
    " when the file is removed."
)

# in the session: totals when they were first shown, by data set
HELD_BEFORE = "odometer.held"


def decision_about(data_id: str, planned: Sequence[Charge]) -> Decision:
    """The total and the certainty of a decision: the account's charges and planned ones."""
    account = account_of(data_id)
    if account is None:
        return decide((), planned)
    return decide([entry.charge for entry in account.entries], planned, account.budget)


def terms(total: Total) -> str:
    if total.delta is None:
        return "No release has an ε yet."
    return (
        f"ε in total: δ = {delta_text(total.delta)}, per {total.unit},"
        f" {neighbours(total.unit, total.relation)}, {total.rule}."
    )


def panel(
    entry: Any, where: str, *, awaits: bool = False, is_unfolded: bool = False
) -> None:
    """Draw a private data set's total, its account and its budget.

    Parameters
    ----------
    entry
        The data set.
    where
        Distinguishes places on a page.
    awaits
        Whether the page waits for work that may not be in the account yet.
    is_unfolded
        Whether the account is unfolded, with the total as its heading.
    """
    account = account_of(entry.id)
    if account is None:
        return
    ran = _is_running(account)
    # the total that the account held when this session first showed it
    totals = st.session_state.setdefault(HELD_BEFORE, {})
    held_before = totals.setdefault(entry.id, account.total.epsilon)

    def draw() -> None:
        """Draw again while runs go on, because their releases are known only at the end."""
        is_running = _is_running(account)
        if ran and not is_running:
            st.rerun()
        _draw_total(account, entry.title if is_unfolded else "")
        words = terms(account.total)
        if is_running:
            words += f" {WHOLE_PLAN}"
        st.caption(words)
        with contextlib.ExitStack() as folded:
            if not is_unfolded:
                folded.enter_context(st.popover("Details and budget", width="stretch"))
            elif account.total.delta is not None:
                st.write(linked(decision_about(entry.id, ()).certainty.words()))
            _draw_account(account, account.total)
            st.caption(linked(PROMISE if account.budget else NO_PROMISE))
            st.caption(f"{held_words(entry.id, held_before)} {NOT_COVERED}")
            _budget(account, where, entry.shape().n_units)

    drawing.repeat(draw, LOOK if ran or awaits else None)


def _draw_total(account: Account, title: str) -> None:
    """Draw what was drawn so far, and what a budget leaves."""
    total = account.total
    budget = account.budget
    what = f"ε = {epsilon_text(total.epsilon)}"
    if budget is not None:
        what += f" of {epsilon_text(budget.epsilon)}"
    if title:
        st.header(
            f"Released from {safe_text.escape_letters(title)} so far: {what}",
            anchor=False,
        )
    else:
        st.markdown(linked(f"**Released from these data so far: {what}**"))
    if budget is not None:
        st.caption(_left_words(account, budget))
    if total.n_uncovered:
        st.caption(f"Runs without a guarantee: {total.n_uncovered:,}.")


def _left_words(account: Account, budget: AccountBudget) -> str:
    """How much the budget leaves, rounded down."""
    try:
        left = remaining([entry.charge for entry in account.entries], budget)
    except BadInput as error:
        return safe_text.escape(str(error.args[0]))
    text = f"{math.floor(left * 100) / 100:.2f}"  # never more than is left
    return f"Left: Gaussian releases of ε = {text} at δ = {delta_text(budget.delta)}."


def held_words(data_id: str, held_before: float) -> str:
    """Which totals this account holds, and which it does not."""
    if not is_own(data_id):
        return "This account is kept with the data, also after a reload."
    beginning = "Its account began at 0 when it was uploaded here."
    if held_before:
        beginning = (
            "An earlier upload of this file is still held: its account had ε ="
            f" {epsilon_text(held_before)} when the file was uploaded here."
        )
    return (
        f"{beginning} A reload deletes the file, and its account with the last copy. Totals of"
        " uploads that were deleted before are not held: add them yourself, because releases stay"
        " public."
    )


def _is_running(account: Account) -> bool:
    return any(entry.state == "running" for entry in account.entries)


def _draw_account(account: Account, total: Total) -> None:
    lines = account.lines
    if not lines:
        st.write("Nothing has been released yet.")
        return

    safe_text.table(map(_row, lines))
    if not account.n_raw_errors:
        return
    runs = safe_text.count_text(account.n_raw_errors, "run")
    sentence = (
        f"Errors of {runs} were computed on the raw data, and only you see them: they have no ε,"
        " and the total does not cover them."
    )
    if total.n_uncovered:
        sentence += (
            f" Nor does it cover what {total.n_uncovered} of these runs released: nothing is"
            f" proved for one {total.unit}."
        )
    st.caption(sentence)


def _row(line: AccountLine) -> dict[str, Any]:
    """A line of an account as a row of its table."""
    each = _epsilon_cell(line.each)
    if line.each is not None and line.together is None:
        each += f" per {line.unit}"  # it differs from the total's
    return {
        "what": line.title,
        "times": line.times,
        "ε each": each,
        "ε together": _epsilon_cell(line.together),
        "state": line.state,
        "first (UTC)": line.first[:16].replace("T", " "),
        "last (UTC)": line.last[:16].replace("T", " "),
    }


def _epsilon_cell(epsilon: float | None) -> str:
    if epsilon is None:
        return "none"
    return epsilon_text(epsilon)


def _budget(account: Account, where: str, units: int) -> None:
    """Draw the boxes and buttons of the budget."""
    budget = account.budget
    first_epsilon = None
    first_delta = default_delta(units)
    allowed_before = False
    verb = "Set"
    if budget is not None:
        first_epsilon = budget.epsilon
        first_delta = budget.delta
        allowed_before = budget.allow_unprotected
        verb = "Change"
    st.markdown("**A budget for all releases from these data**")
    left, right = st.columns(2)
    epsilon_key = f"{where}.budget.epsilon"
    delta_key = f"{where}.budget.delta"
    st.session_state.setdefault(epsilon_key, first_epsilon)
    epsilon = optional_number(
        left.container(), "Total ε", epsilon_key, 0, UNBOUNDED, placeholder="none"
    )
    delta = number_within(
        right.container(), "Total δ", delta_key, 1e-15, 0.49, first=first_delta
    )
    allow_unprotected = st.checkbox(
        "Also allow methods without a guarantee",
        allowed_before,
        key=f"{where}.budget.unprotected",
    )
    if st.button(
        f"{verb} the budget",
        key=f"{where}.budget.set",
        disabled=epsilon is None,
        width="stretch",
    ):
        _set(account, epsilon, delta, allow_unprotected)
    if budget and st.button(
        "Remove the budget", key=f"{where}.budget.none", width="stretch"
    ):
        _set(account, None, None)
    st.caption(
        "Runs that would exceed the budget are refused before they release anything. If you raise"
        " it after seeing results, it no longer covers choices based on them."
    )


def _set(
    account: Account,
    epsilon: float | None,
    delta: float | None,
    allow_unprotected: bool = False,
) -> None:
    try:
        account.set_budget(epsilon, delta, allow_unprotected=allow_unprotected)
    except BadInput as error:
        safe_text.error(error)
    else:
        st.rerun()
