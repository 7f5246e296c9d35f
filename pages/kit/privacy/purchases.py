"""Work on private data: done on request, with its price and the total on its button."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from dpmf_core import algorithms
from dpmf_core.base.errors import BadInput
from dpmf_core.jobs.engine import engine
from dpmf_core.jobs.job import Computation, Works
from dpmf_core.privacy.accounts import Account
from dpmf_core.privacy.formatting import delta_text, epsilon_text
from dpmf_core.privacy.odometer import Charge
from dpmf_core.privacy.odometer import check as fits
from dpmf_core.runs.planning import account_of, charges_of
from dpmf_core.runs.specification import DataSpec, RunSpec
from dpmf_core.runs.tuning.private_selection import PrivateSelection
from dpmf_core.runs.tuning.selection_budget import under_budget
from dpmf_core.teaching.glossary import linked
from pages.kit.base import data_sets, safe_text
from pages.kit.privacy.account_summary import terms

# in the session: requested work that has not been submitted yet
BOUGHT_WORK = "odometer.bought"
FIRST = ("Run", "This run")  # a single run; the page's own among others


def is_private(work: Computation) -> bool:
    """Whether work is on data that are not public; an audit's data are simulated."""
    return bool(names_of_private({"": work}))


def names_of_private(works: Works) -> set[str]:
    """Names of works on private data, looking up each data set once."""
    is_public = functools.cache(data_sets.is_public)
    data_ids = {name: _data_id(work) for name, work in works.items()}
    return {
        name for name, data_id in data_ids.items() if data_id and not is_public(data_id)
    }


def _data_id(work: Computation) -> str:
    """The id of the data that work is on; '' if it reads none."""
    data: DataSpec | None = getattr(work, "data", None)
    if data is None:
        return ""
    return data.id


def _identity(work: Computation) -> str:
    if isinstance(work, RunSpec):
        work = work.canonical()
    return f"{type(work).__name__} {work.model_dump_json()}"


def buy(works: Sequence[Computation]) -> None:
    """Mark work on private data as requested. Use it as a callback, before the page is drawn."""
    purchases = st.session_state.get(BOUGHT_WORK, frozenset())
    st.session_state[BOUGHT_WORK] = purchases | {_identity(work) for work in works}


def admit(
    specs: Works, current_work: Mapping[str, Any]
) -> tuple[dict[str, Computation], bool]:
    """The work that may be submitted, and whether a button requested any of it.

    All work on public data may be submitted. Work on private data may be submitted if a button
    requested it, if this session has already submitted it, or if it is finished and therefore costs
    nothing.

    Parameters
    ----------
    specs
        The wanted work by name.
    current_work
        The work that this session has already submitted, by name.
    """
    purchases: frozenset[str] = st.session_state.get(BOUGHT_WORK, frozenset())
    private_names = names_of_private(specs)
    admitted = {
        name: work
        for name, work in specs.items()
        if name not in private_names
        or current_work.get(name) == work
        or _identity(work) in purchases
        or engine().had(work)
    }
    remaining = purchases
    if purchases:  # a request is used once
        remaining -= {_identity(work) for work in admitted.values()}
    st.session_state[BOUGHT_WORK] = remaining
    return admitted, remaining != purchases


def offer(page: str, withheld: Works, specs: Works) -> None:
    """Draw a button for each kind of withheld work, with the total before and after."""
    parts: dict[str, list[Computation]] = {}
    for name, work in withheld.items():
        parts.setdefault(_part(name, work, specs.get("main")), []).append(work)
    if not parts:
        return
    with st.container(border=True):
        st.markdown(
            linked(
                "**Your data are private: nothing is trained on them until you ask.**"
            )
        )
        columns = st.columns(min(len(parts), 2))
        for place, (title, works) in enumerate(parts.items()):
            text = title
            if len(works) > 1:
                text += f" ({len(works)} runs)"
            with columns[place % len(columns)]:
                draw_button(
                    f"{page}.buy.{title}",
                    text,
                    works,
                    buy,
                    (works,),
                    primary=title in FIRST,
                    note="Its errors are computed on raw data and have no ε.",
                )


def _part(name: str, work: Computation, main: Computation | None) -> str:
    """What a button asks for: the page's run, further draws, or other methods."""
    if not isinstance(main, RunSpec) or not isinstance(work, RunSpec):
        return FIRST[0]
    if name == "main":
        return FIRST[1]
    if work.seed != main.seed:
        return "Further draws of each"
    private = issubclass(algorithms.find(work.algorithm), algorithms.PrivateAlgorithm)
    if not private or work.without_noise:
        return "Without privacy"
    return "Other private methods"


def draw_button(
    key: str,
    title: str,
    works: Sequence[Computation],
    on_click: Callable[..., None],
    args: tuple[Any, ...],
    *,
    primary: bool = True,
    note: str = "",
) -> None:
    """Draw a button for work on private data, with the total before and after, and its terms.

    If a budget refuses the work, it says why. `note` follows the terms.
    """
    account = account_of(_data_id(works[0]))
    if account is None:
        return
    charges = charges_of(works)
    refusal = ""
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
    words = "No noise: nothing limits what the result reveals about one person."
    if _draws(charges):
        words = terms(account.after(charges))
    if refusal:
        st.caption(safe_text.escape(refusal))
    else:
        st.caption(f"{words} {note}".rstrip())


def price_text(account: Account, charges: Sequence[Charge]) -> str:
    """The charges' price, such as "total ε 2.00 → 2.83, δ 1e-05 → 2e-05".

    δ is left out if it does not change, or if nothing was released before.
    """
    before = account.total
    after = account.after(charges)
    if not _draws(charges):
        return f"no ε of its own; the total stays {epsilon_text(before.epsilon)}"
    price = f"total ε {epsilon_text(before.epsilon)} → {epsilon_text(after.epsilon)}"
    if before.delta is None or after.delta is None:
        return price
    delta_before = delta_text(before.delta)
    delta_after = delta_text(after.delta)
    if delta_before == delta_after:
        return price
    return f"{price}, δ {delta_before} → {delta_after}"


def _draws(charges: Sequence[Charge]) -> bool:
    """Whether any charge adds to the total."""
    return any(charge.covered and (charge.ledger or charge.price) for charge in charges)


def draw_selection_button(title: str, key: str, spec: PrivateSelection) -> None:
    """Draw the button of a private selection, and what a budget of its data says about it."""
    account = None
    if is_private(spec):
        account = account_of(_data_id(spec))
    if account is not None:
        title += f": {price_text(account, charges_of([spec]))}"
    limit = under_budget(spec, account)
    st.button(
        title,
        key,
        type="primary",
        on_click=_select,
        args=(key, spec),
        disabled=limit is not None and not limit.fits,
    )
    if limit is not None:
        st.caption(limit.words)


def _select(key: str, spec: PrivateSelection) -> None:
    st.session_state[f"{key}.requested"] = spec
    buy([spec])


def is_selected(key: str, spec: PrivateSelection) -> bool:
    """Whether the button of this key was pressed for this selection last."""
    return bool(st.session_state.get(f"{key}.requested") == spec)


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
