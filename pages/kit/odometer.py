"""Private data on pages: training on request, prices on buttons, and the total so far."""

import contextlib
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dpmf_core import algorithms
from dpmf_core.base.errors import BadInput
from dpmf_core.jobs.engine import engine
from dpmf_core.privacy import default_delta, neighbours
from dpmf_core.privacy.accounts import NOT_COVERED, Account
from dpmf_core.privacy.budget import AccountBudget
from dpmf_core.privacy.decision import Decision, decide
from dpmf_core.privacy.formatting import delta_text, epsilon_text
from dpmf_core.privacy.odometer import Charge, Total, remaining
from dpmf_core.privacy.odometer import check as fits
from dpmf_core.runs.planning import account_of, charges_of
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.tuning.private_selection import PrivateSelection
from dpmf_core.runs.tuning.selection_budget import under_budget
from dpmf_core.teaching.glossary import linked
from dpmf_datasets import is_own
from pages.kit import data_sets, drawing, safe_text
from pages.kit.session_widgets import UNBOUNDED, number_within, optional_number

Work = Any  # a RunSpec or a Measurement
LOOK = 1.0  # seconds between updates of an account while runs go on
# in the session: requested work that has not been submitted yet
BOUGHT_WORK = "odometer.bought"
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

HELD_BEFORE = "odometer.held"  # in the session: totals when they were first shown, by data set
FIRST = ("Run", "This run")  # a single run; the page's own among others


def is_private(work: Work) -> bool:
    """Return whether work is on data that are not public; an audit's data are simulated."""
    return bool(names_of_private({"": work}))


def names_of_private(works: Mapping[str, Work]) -> set[str]:
    """Return names of works on private data, looking up each data set once."""
    secret = functools.cache(lambda data_id: not data_sets.is_public(data_id))
    datas = {name: getattr(work, "data", None) for name, work in works.items()}
    return {name for name, data in datas.items() if data is not None and secret(data.id)}


# ---- requests ------------------------------------------------------------------------------------


def _identity(work: Work) -> str:
    canonical = work.canonical() if isinstance(work, RunSpec) else work
    return f"{type(work).__name__} {canonical.model_dump_json()}"


def buy(works: Sequence[Work]) -> None:
    """Mark work on private data as requested. Use it as a callback, before the page is drawn."""
    st.session_state[BOUGHT_WORK] = st.session_state.get(BOUGHT_WORK, frozenset()) | {
        _identity(work) for work in works
    }


def admit(
    specs: Mapping[str, Work], current_work: Mapping[str, Any]
) -> tuple[dict[str, Work], bool]:
    """Return the works that may be submitted, and whether any of them was requested by a button.

    All work on public data may. On private data, work that was requested, or is finished and
    therefore costs nothing.

    current_work: works that this session has already submitted, by name.
    """
    purchases: frozenset[str] = st.session_state.get(BOUGHT_WORK, frozenset())
    secret = names_of_private(specs)
    through = {
        name: work
        for name, work in specs.items()
        if name not in secret
        or current_work.get(name) == work
        or _identity(work) in purchases
        or engine().had(work)
    }
    # none as a rule, and an identity takes its time
    remaining = purchases and purchases - {_identity(work) for work in through.values()}
    st.session_state[BOUGHT_WORK] = remaining
    return through, remaining != purchases


def offer(page: str, withheld: Mapping[str, Work], specs: Mapping[str, Work]) -> None:
    """Draw a button for each kind of withheld work, with the total before and after."""
    parts: dict[str, list[Work]] = {}
    for name, work in withheld.items():
        parts.setdefault(_part(name, work, specs.get("main")), []).append(work)
    if not parts:
        return
    with st.container(border=True):
        st.markdown(linked("**Your data are private: nothing is trained on them until you ask.**"))
        columns = st.columns(min(len(parts), 2))
        for place, (title, works) in enumerate(parts.items()):
            many = f"{title} ({len(works)} runs)" if len(works) > 1 else title
            with columns[place % len(columns)]:
                _button(f"{page}.buy.{title}", many, works, primary=title in FIRST)


def _part(name: str, work: Work, main: Work) -> str:
    """Return what a button asks for: the page's run, further draws, or other methods."""
    if main is None:
        return FIRST[0]
    if name == "main":
        return FIRST[1]
    if work.seed != main.seed:
        return "Further draws of each"
    private = issubclass(algorithms.find(work.algorithm), algorithms.PrivateAlgorithm)
    without_noise = isinstance(work, RunSpec) and work.without_noise
    return "Other private methods" if private and not without_noise else "Without privacy"


def _button(key: str, title: str, works: Sequence[Work], primary: bool) -> None:
    account = draw_button(key, title, works, buy, (works,), primary=primary)
    if account is None:
        return
    charges = charges_of(works)
    words = "No noise: nothing limits what the result reveals about one person."
    if _draws(charges):
        words = terms(account.after(charges))
    st.caption(f"{words} Its errors are computed on raw data and have no ε.")


def draw_button(
    key: str,
    title: str,
    works: Sequence[Work],
    on_click: Callable[..., None],
    args: tuple[Any, ...],
    *,
    primary: bool = True,
) -> Account | None:
    """Draw a button for work on private data, with the total before and after.

    Return their account; None if they have none, or if a budget refuses the work: then it says why.
    """
    account = account_of(works[0].data.id)
    if account is None:
        return None
    charges, refusal = charges_of(works), ""
    try:
        if account.budget is not None:
            fits([entry.charge for entry in account.entries], charges, account.budget)
    except BadInput as error:
        refusal = safe_text.message(error)
    st.button(
        f"{title}: {price_text(account, charges)}",
        key=key,
        type="primary" if primary else "secondary",
        width="stretch",
        on_click=on_click,
        args=args,
        disabled=bool(refusal),
    )
    if refusal:
        st.caption(safe_text.escape(refusal))
        return None
    return account


def price_text(account: Account, charges: Sequence[Charge]) -> str:
    """Return the charges' price, such as "total ε 2.00 → 2.83, δ 1e-05 → 2e-05".

    δ is left out if it does not change, or if nothing was released before.
    """
    before, after = account.total, account.after(charges)
    if not _draws(charges):
        return f"no ε of its own; the total stays {epsilon_text(before.epsilon)}"
    price = f"total ε {epsilon_text(before.epsilon)} → {epsilon_text(after.epsilon)}"
    deltas = [delta_text(it.delta) for it in (before, after) if it.delta is not None]
    return f"{price}, δ {' → '.join(deltas)}" if len(set(deltas)) > 1 else price


def _draws(charges: Sequence[Charge]) -> bool:
    """Return whether any charge adds to the total."""
    return any(charge.covered and (charge.ledger or charge.price) for charge in charges)


def label(title: str, work: Work) -> str:
    """Return a button's text, on private data with the price."""
    account = account_of(work.data.id) if is_private(work) else None
    return title if account is None else f"{title}: {price_text(account, charges_of([work]))}"


def draw_selection_button(
    title: str, key: str, spec: PrivateSelection, on_click: Callable[[PrivateSelection], None]
) -> None:
    """Draw the button of a private selection, and what a budget of its data says about it."""
    account = account_of(spec.data.id) if is_private(spec) else None
    offer = under_budget(spec, account)
    is_refused = offer is not None and not offer.fits
    text = label(title, spec)
    st.button(text, key, type="primary", on_click=on_click, args=(spec,), disabled=is_refused)
    if offer is not None:
        st.caption(offer.words)


TRAINING = (
    "Loading stored runs and training missing ones. The privacy card below needs no data, so it"
    " already holds."
)


def opening_text(page: str, otherwise: str = TRAINING) -> str:
    if st.session_state.get(f"{page}.withheld"):
        return (
            "Nothing has been trained, because your data are private. Each button shows its price."
            " Privacy cards need no data, so they already hold."
        )
    return otherwise


def decision_about(data_id: str, planned: Sequence[Charge]) -> Decision:
    """Return the total and the certainty of a decision: the account's charges and planned ones."""
    account = account_of(data_id)
    if account is None:
        return decide((), planned)
    return decide([entry.charge for entry in account.entries], planned, account.budget)


# ---- the account ---------------------------------------------------------------------------------


def terms(total: Total) -> str:
    if total.delta is None:
        return "No release has an ε yet."
    return (
        f"ε in total: δ = {delta_text(total.delta)}, per {total.unit},"
        f" {neighbours(total.unit, total.relation)}, {total.rule}."
    )


def panel(data_id: str, where: str, units: int, *, awaits: bool = False, title: str = "") -> None:
    """Draw a private data set's total, its account and its budget.

    where: distinguishes places on a page. units: number of rows. awaits: whether the page waits for
    work that may not be in the account yet. title: of the data; then the account is unfolded, with
    the total as its heading.
    """
    account = account_of(data_id)
    if account is None:
        return
    ran = _is_running(account)
    held_before = _held_before(data_id, account)

    def draw() -> None:
        """Draw again while runs go on, because their releases are known only at the end."""
        is_running = _is_running(account)
        if ran and not is_running:
            st.rerun()
        _draw_total(account, title)
        st.caption(terms(account.total) + (f" {WHOLE_PLAN}" if is_running else ""))
        with contextlib.ExitStack() as folded:
            if not title:
                folded.enter_context(st.popover("Details and budget", width="stretch"))
            elif account.total.delta is not None:
                st.write(linked(decision_about(data_id, ()).certainty.words()))
            _draw_account(account, account.total)
            st.caption(linked(PROMISE if account.budget else NO_PROMISE))
            st.caption(f"{_held_words(data_id, held_before)} {NOT_COVERED}")
            _budget(account, where, units)

    drawing.repeat(draw, LOOK if ran or awaits else None)


def _draw_total(account: Account, title: str) -> None:
    """Draw what was drawn so far, and what a budget leaves."""
    total, budget = account.total, account.budget
    limit = f" of {epsilon_text(budget.epsilon)}" if budget else ""
    what = f"ε = {epsilon_text(total.epsilon)}{limit}"
    if title:
        st.header(f"Released from {safe_text.escape_letters(title)} so far: {what}", anchor=False)
    else:
        st.markdown(linked(f"**Released from these data so far: {what}**"))
    if budget is not None:
        st.caption(_left_words(account, budget))
    if total.n_uncovered:
        st.caption(f"Runs without a guarantee: {total.n_uncovered:,}.")


def _left_words(account: Account, budget: AccountBudget) -> str:
    """Return how much the budget leaves, rounded down."""
    try:
        left = remaining([entry.charge for entry in account.entries], budget)
    except BadInput as error:
        return safe_text.escape(str(error.args[0]))
    text = f"{math.floor(left * 100) / 100:.2f}"
    return f"Left: Gaussian releases of ε = {text} at δ = {delta_text(budget.delta)}."


def _held_before(data_id: str, account: Account) -> float:
    """Return the total that the account held when this session first showed it."""
    totals: dict[str, float] = st.session_state.setdefault(HELD_BEFORE, {})
    return totals.setdefault(data_id, account.total.epsilon)


def _held_words(data_id: str, held_before: float) -> str:
    """Return which totals this account holds, and which it does not."""
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

    def cell(epsilon: float | None, unit: str = "") -> str:
        if epsilon is None:
            return "none"
        return f"{epsilon_text(epsilon)} per {unit}" if unit else epsilon_text(epsilon)

    table = pd.DataFrame(
        {
            "what": line.title,
            "times": line.times,
            "ε each": cell(line.each, line.unit if line.together is None else ""),
            "ε together": cell(line.together),
            "state": line.state,
            "first (UTC)": line.first[:16].replace("T", " "),
            "last (UTC)": line.last[:16].replace("T", " "),
        }
        for line in lines
    )
    safe_text.table(table)
    if not (raw := account.n_raw_errors):
        return
    sentence = (
        f"Errors of {raw} run{'s' * (raw != 1)} were computed on the raw data, and only you see"
        " them: they have no ε, and the total does not cover them."
    )
    if total.n_uncovered:
        sentence += (
            f" Nor does it cover what {total.n_uncovered} of these runs released: nothing is"
            f" proved for one {total.unit}."
        )
    st.caption(sentence)


def _budget(account: Account, where: str, units: int) -> None:
    budget = account.budget
    st.markdown("**A budget for all releases from these data**")
    left, right = st.columns(2)
    epsilon_key = f"{where}.budget.epsilon"
    delta_key = f"{where}.budget.delta"
    st.session_state.setdefault(epsilon_key, budget.epsilon if budget else None)
    st.session_state.setdefault(delta_key, budget.delta if budget else default_delta(units))
    epsilon = optional_number(
        left.container(), "Total ε", epsilon_key, 0, UNBOUNDED, placeholder="none"
    )
    delta = number_within(right.container(), "Total δ", delta_key, 1e-15, 0.49)
    allow_unprotected = st.checkbox(
        "Also allow methods without a guarantee",
        budget.allow_unprotected if budget else False,
        key=f"{where}.budget.unprotected",
    )
    if st.button(
        "Change the budget" if budget else "Set the budget",
        key=f"{where}.budget.set",
        disabled=epsilon is None,
        width="stretch",
    ):
        _set(account, epsilon, delta, allow_unprotected)
    if budget and st.button("Remove the budget", key=f"{where}.budget.none", width="stretch"):
        _set(account, None, None)
    st.caption(
        "Runs that would exceed the budget are refused before they release anything. If you raise"
        " it after seeing results, it no longer covers choices based on them."
    )


def _set(
    account: Account, epsilon: float | None, delta: float | None, allow_unprotected: bool = False
) -> None:
    try:
        account.set_budget(epsilon, delta, allow_unprotected=allow_unprotected)
    except BadInput as error:
        safe_text.error(error, "")
    else:
        st.rerun()
