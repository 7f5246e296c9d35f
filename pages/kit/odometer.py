"""Private data on pages: nothing is trained on them unasked, every button has its price, and one figure says what was drawn so far."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

import datasets
from dpmf_core import algorithms
from dpmf_core.accounts import Account
from dpmf_core.engine import engine
from dpmf_core.errors import BadInput
from dpmf_core.experiment import RunSpec
from dpmf_core.glossary import linked
from dpmf_core.privacy import default_delta
from dpmf_core.privacy.odometer import Charge, Line, Total
from dpmf_core.privacy.odometer import check as fits
from dpmf_core.spending import account_of, charges_of
from pages.kit import guarantee, said

Work = Any  # a RunSpec or a Measurement
LOOK = 1.0  # seconds between looks at an account while runs go on
BOUGHT = "odometer.bought"  # what this session asked for by a button and has not been handed to the engine yet
NO_PROMISE = (
    "It is the composition of what was drawn. Read off after results were seen, and with the next run chosen in their light, it is no guarantee by itself: "
    "for one, set a budget before you begin."
)
PROMISE = (
    "The budget is a privacy filter: whatever is chosen next in the light of results, nothing with an ε is drawn that would exceed it while the file is here. "
    "It does not cover what has no ε: errors on raw data, runs without noise, runs for which nothing is proved."
)


def is_public(data_id: str) -> bool:
    """Whether a data set is published or simulated, so that what is computed on it costs nobody privacy."""
    return bool((st.session_state.get("data.own", {}).get(data_id) or datasets.described(data_id)).public)


def private(work: Work) -> bool:
    """Whether a run or other work is on data that are not declared public; an audit's worlds are simulated."""
    data = getattr(work, "data", None)
    return data is not None and not is_public(data.id)


def private_among(works: Mapping[str, Work]) -> set[str]:
    """Names of those that are on private data; each data set is looked up once, for there may be thousands on one."""
    ids = {name: data.id for name, work in works.items() if (data := getattr(work, "data", None)) is not None}
    secret = {data_id for data_id in set(ids.values()) if not is_public(data_id)}
    return {name for name, data_id in ids.items() if data_id in secret}


# ---- asking -----------------------------------------------------------------------------------------------------------


def _identity(work: Work) -> str:
    return f"{type(work).__name__} {(work.canonical() if isinstance(work, RunSpec) else work).model_dump_json()}"


def buy(works: Sequence[Work]) -> None:
    """Work on private data that a person asked for by a button; as a callback, before the page is drawn."""
    st.session_state[BOUGHT] = st.session_state.get(BOUGHT, frozenset()) | {_identity(work) for work in works}


def let_through(specs: Mapping[str, Work], held: Mapping[str, Any]) -> tuple[dict[str, Work], bool]:
    """Of wanted work what may be handed to the engine: all on public data; on private data what was asked for, or costs nothing because it is there.
    And whether anything was asked for by a button.

    held: what this session has a handle on already, by name.
    """
    bought: frozenset[str] = st.session_state.get(BOUGHT, frozenset())
    secret = private_among(specs)
    through = {name: work for name, work in specs.items() if name not in secret or held.get(name) == work or _identity(work) in bought or engine().had(work)}
    left = bought - {_identity(work) for work in through.values()} if bought else bought
    st.session_state[BOUGHT] = left
    return through, left != bought


def offer(page: str, withheld: Mapping[str, Work], specs: Mapping[str, Work]) -> None:
    """A button for each part of the wanted work that was not asked for, with the total before and after."""
    parts: dict[str, list[Work]] = {}
    for name, work in withheld.items():
        parts.setdefault(_part(name, work, specs), []).append(work)
    if not parts:
        return
    with st.container(border=True):
        st.markdown(linked("**Your data are private: nothing is trained on them unasked.**"))
        columns = st.columns(min(len(parts), 2))
        for place, (title, works) in enumerate(parts.items()):
            many = f"{title} ({len(works)} runs)" if len(works) > 1 else title
            with columns[place % len(columns)]:
                _button(f"{page}.buy.{title}", many, works, primary=title in ("Run", "This run"))


def _part(name: str, work: Work, specs: Mapping[str, Work]) -> str:
    """What a button asks for: the run that the page is about, what stands beside it, further draws of all."""
    main = specs.get("main")
    if main is None:
        return "Run"
    if name == "main":
        return "This run"
    if work.seed != main.seed:
        return "Further draws of each"
    return "Other private methods" if algorithms.find(work.algorithm).plan is not algorithms.Algorithm.plan else "Without privacy"


def _button(key: str, title: str, works: Sequence[Work], primary: bool) -> None:
    account = account_of(works[0].data.id)
    if account is None:
        return
    charges = charges_of(works)
    st.button(
        f"{title}: {priced(account, charges)}", key=key, type="primary" if primary else "secondary", width="stretch", on_click=buy, args=(works,),
        disabled=bool(refusal := _refusal(account, charges)),
    )  # fmt: skip
    st.caption(said.harmless(refusal) if refusal else _beside(account, charges))


def priced(account: Account, charges: Sequence[Charge]) -> str:
    """What the charges add: total ε 2.00 → 2.83, or that they have none."""
    before, after = account.total, account.after(charges)
    if not _draws(charges):
        return f"no ε of its own, total stays {guarantee.shown(before.epsilon)}"
    return f"total ε {guarantee.shown(before.epsilon)} → {guarantee.shown(after.epsilon)}"


def _draws(charges: Sequence[Charge]) -> bool:
    """Whether any of them adds to the total."""
    return any(charge.covered and (charge.ledger or charge.price) for charge in charges)


def _beside(account: Account, charges: Sequence[Charge]) -> str:
    raw = "Its errors are computed on raw data and have no ε."
    if not _draws(charges):
        return f"Raw: nothing limits what the result tells about one person. {raw}"
    return f"{terms(account.after(charges))} {raw}"


def _refusal(account: Account, charges: Sequence[Charge]) -> str:
    budget = account.budget
    try:
        if budget is not None:
            fits([entry.charge for entry in account.entries], charges, budget)
    except BadInput as error:
        return str(error)
    return ""


def label(title: str, work: Work, times: int = 1) -> str:
    """A button's text: on private data with the price of asking for this work so often, at most."""
    if not private(work):
        return title
    account = account_of(work.data.id)
    return title if account is None else f"{title}: {priced(account, charges_of([work]) * times)}" + (" at most" if times > 1 else "")


def unasked(page: str, otherwise: str = "Training. The privacy card below needs no data and already holds.") -> str:
    """What a page says before its first run: that it waits to be asked, where its data are private."""
    waits = "Nothing has been trained: your data are private. Each button says what it would cost; privacy cards need no data and already hold."
    return waits if st.session_state.get(f"{page}.withheld") else otherwise


# ---- the one figure ---------------------------------------------------------------------------------------------------


def terms(total: Total) -> str:
    """Under which the total is meant."""
    if total.delta is None:
        return f"ε in total, per {total.unit}."
    return f"ε in total: {guarantee.full(total.epsilon, total.delta, total.unit, total.relation, total.rule).partition(' (')[2].removesuffix(')')}."


def panel(data_id: str, where: str, units: int) -> None:
    """What was drawn so far from a private data set, what that is made of, and its budget. where: tells places of one page apart; units: rows of the data."""
    account = account_of(data_id)
    if account is not None:
        st.fragment(_panel, run_every=LOOK if _running(account) else None)(account, where, units, _running(account))


def _running(account: Account) -> bool:
    return any(entry.state == "running" for entry in account.entries)


def _panel(account: Account, where: str, units: int, watched: bool) -> None:
    """Drawn again and again while runs go on, for what they draw in the end is known only then."""
    if watched and not _running(account):
        st.rerun()
    total, budget = account.total, account.budget
    allowed = f" of {guarantee.shown(budget.epsilon)}" if budget else ""
    st.markdown(linked(f"**Drawn from these data so far: ε = {guarantee.shown(total.epsilon)}{allowed}**"))
    st.caption(terms(total) + (" Of what is running the whole plan counts." if watched else ""))
    with st.popover("What it is made of", width="stretch"):
        _made_of(account, total)
        st.caption(linked(PROMISE if budget else NO_PROMISE))
        _budget(account, where, units)


def table(found: Sequence[Line]) -> pd.DataFrame:
    """What an account's total is made of."""
    return pd.DataFrame(
        [
            {"what": line.title, "times": line.times, "ε each": _or_none(line.each, line.unit if line.together is None else ""),
             "ε together": _or_none(line.together, ""), "state": line.state,
             "first (UTC)": _minute(line.first), "last (UTC)": _minute(line.last)}
            for line in found
        ]
    )  # fmt: skip


def _minute(moment: str) -> str:
    return moment[:16].replace("T", " ")


def _or_none(epsilon: float | None, unit: str) -> str:
    return "none" if epsilon is None else guarantee.shown(epsilon) + (f" per {unit}" if unit else "")


def _made_of(account: Account, total: Total) -> None:
    lines = account.lines
    if not lines:
        st.write("Nothing was drawn from them yet.")
        return
    said.table(table(lines))
    raw = sum(line.times for line in lines)
    st.caption(
        f"Errors of {raw} run{'s' if raw > 1 else ''} were computed on the raw data, for your eyes: they have no ε, and the total does not cover them."
        + (f" Nor does it cover what {total.uncovered} of them released: nothing is proved of it for one {total.unit}." if total.uncovered else "")
    )


def _budget(account: Account, where: str, units: int) -> None:
    """A budget for all that is drawn from the data: set, or taken away."""
    held = account.budget
    st.markdown("**A budget for everything that is drawn from these data**")
    left, right = st.columns(2)
    epsilon = left.number_input("ε, in all", 1e-4, 1000.0, held.epsilon if held else None, key=f"{where}.budget.epsilon", format="%g", placeholder="none")
    delta = right.number_input("δ, in all", 1e-15, 0.49, held.delta if held else default_delta(units), key=f"{where}.budget.delta", format="%.1e")
    if st.button("Set the budget" if not held else "Change the budget", key=f"{where}.budget.set", disabled=epsilon is None, width="stretch"):
        _set(account, epsilon, delta)
    if held and st.button("Take it away", key=f"{where}.budget.none", width="stretch"):
        _set(account, None, None)
    st.caption("Runs that do not fit are refused before they draw. A budget that is raised after results were seen says nothing about what was chosen by them.")


def _set(account: Account, epsilon: float | None, delta: float | None) -> None:
    try:
        account.set_budget(epsilon, delta)
    except BadInput as error:
        said.error(error, "")
    else:
        st.rerun()
