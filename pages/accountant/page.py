"""What does this composition cost?

Compose releases by hand, or load those of a run, a method or a paper, and account them by every
rule.
"""

import functools
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core import algorithms
from dpmf_core.base.errors import BadInput
from dpmf_core.jobs.engine import engine
from dpmf_core.papers.source_noise import SOURCE_NOISE
from dpmf_core.privacy import (
    VALUE,
    Event,
    Guarantee,
    Relation,
    Repeat,
    Status,
    neighbours,
    normal_form,
)
from dpmf_core.privacy.accounting import epsilon as epsilon_of
from dpmf_core.privacy.formatting import budget_text, delta_text, epsilon_in_full, epsilon_text
from dpmf_core.privacy.odometer import Charge
from dpmf_core.runs.planning import epsilon_of_each, prepare
from dpmf_core.teaching.glossary import linked
from pages.accountant import ledger
from pages.kit import (
    data_sets,
    epsilon_grid,
    links,
    odometer,
    privacy_card,
    safe_text,
    session_widgets,
    sidebar,
    sidebar_values,
)
from pages.kit.comparison import best_known_title
from pages.kit.privacy_card import Promise
from pages.kit.session_widgets import bind, number_within
from pages.kit.sidebar_values import Choice

Loaded = tuple[Event, float, Promise]  # a ledger, its delta and its guarantee
HERE = Guarantee(
    Status.CONDITIONAL,
    "unit",
    ("the ledger lists every release of the run with its true noise multiplier",),
)
STATED = Guarantee(
    Status.CONDITIONAL, "unit", ("the source states its releases and sensitivities correctly",)
)


# ---- where a ledger comes from -------------------------------------------------------------------


def by_hand() -> Loaded:
    """Draw the editable table. The link holds it; so does the session while the table is hidden."""
    state = st.session_state
    if "accountant.editor" not in state:
        if "accountant.held" not in state:
            start = ledger.START
            session_widgets.start("accountant.text", "ledger", start, ledger.checked_text)
            state["accountant.held"] = ledger.table(state["accountant.text"])
        state["accountant.rows"] = state["accountant.held"]
    rows = st.data_editor(
        state["accountant.rows"],
        num_rows="dynamic",
        hide_index=True,
        key="accountant.editor",
        column_config=ledger.columns(),
    )
    state["accountant.held"] = rows.reset_index(drop=True)
    event = ledger.event_of(rows)
    links.put_in_address({"from": "hand", "ledger": ledger.text_of(rows)})
    return event, sidebar.choice().delta, HERE


def from_plan() -> Loaded:
    choice = sidebar.choice()
    ready = prepare(choice.spec(), choice.shape, choice.assumptions)
    st.caption(f"{ready.algorithm.title} on {choice.entry.title} with the sidebar's settings.")
    return ready.plan, choice.delta, ready.guarantee


def from_run() -> Loaded:
    rows = {row["key"]: row for row in engine().store.rows() if row["epsilon"] and row["public"]}
    if not rows:
        raise BadInput("No private run is stored yet. Train one on Explore.")
    text = "{title} on {dataset}, ε = {cost}, seed {seed}".format
    names = {key: text(**row, cost=epsilon_text(row["epsilon"])) for key, row in rows.items()}
    run_key = st.selectbox("Run", list(rows), format_func=names.__getitem__, key="accountant.run")
    run = engine().store.get(run_key)
    if run is None:
        raise BadInput("This run has been deleted. Choose another.")
    return run.record.event, run.record.delta or 0.0, run.record.guarantee


def from_claim() -> Loaded:
    left, right = st.columns(2)
    look: dict[str, Any] = {"key": "accountant.claim", "persist_state": "session"}
    look["format_func"] = lambda name: SOURCE_NOISE[name].id
    which = left.selectbox("Source", list(SOURCE_NOISE), **look)
    source, key = SOURCE_NOISE[which], f"accountant.nominal.{which}"
    st.session_state.setdefault(key, source.usual_epsilon)
    nominal = number_within(right.container(), "Nominal ε", key, 0.01, 50.0)
    claims = source.claims(nominal)
    main = claims[0]
    st.write(
        f"**{main.title}** says: {main.words} (δ = {delta_text(main.delta)}). The noise of the"
        " whole run costs:"
    )
    rows = [
        {"the same noise": it.title, "nominal ε": budget_text(nominal)}
        | {
            f"exact total ε, {neighbours('unit', relation)}": epsilon_text(
                epsilon_of(it.event, it.delta, relation)
            )
            for relation in Relation
        }
        for it in claims
    ]
    safe_text.table(pd.DataFrame(rows))
    return main.event, main.delta, STATED


SOURCES = {
    "hand": ("By hand", by_hand),
    "plan": ("The sidebar's method", from_plan),
    "run": ("A stored run", from_run),
    "claim": ("A paper's claim", from_claim),
}


# ---- what it costs -------------------------------------------------------------------------------


def edit_by_hand(event: Event) -> None:
    st.session_state["accountant.held"] = ledger.rows_of(normal_form(event))
    st.session_state["accountant.source"] = "hand"


def draw_account(heading: DeltaGenerator) -> None:
    start = st.query_params.get("from", "hand")
    st.session_state.setdefault("accountant.source", start if start in SOURCES else "hand")
    look: dict[str, Any] = {"format_func": lambda name: SOURCES[name][0], "required": True}
    look |= {"key": "accountant.source", "persist_state": "session"}
    source = st.segmented_control("Ledger", list(SOURCES), **look) or "hand"
    if source != "hand":
        links.put_in_address({"from": source, "ledger": None})
    event, delta, promise = SOURCES[source][1]()
    if not promise.has_epsilon:
        st.info(promise.words)
        return
    ledger.check(event)
    if source != "hand" and normal_form(event):
        label, key = "Edit this ledger by hand", "accountant.take"
        st.button(label, on_click=edit_by_hand, args=(event,), key=key)
    with heading:
        draw_headline(event, delta, promise)
    privacy_card.draw(event, promise, delta)
    st.header("What this ε means", anchor=False)
    privacy_card.meaning(event, delta, promise.unit, "accountant.meaning")
    ledger.draw_figures(event, delta)


def draw_headline(event: Event, delta: float, promise: Promise) -> None:
    is_example = st.query_params.get("ledger") == ledger.START
    releases, exact = sum(count for _, count in normal_form(event)), epsilon_of(event, delta)
    what = "This release costs" if releases == 1 else f"These {releases:,} releases cost"
    what = f"Example: {releases} releases cost" if is_example else what
    draw_heading(f"{what} ε = {epsilon_text(exact)}")
    words = linked(f"{epsilon_in_full(exact, delta, promise.unit)}, in total, not per release.")
    if promise.unit != VALUE:
        most = epsilon_text(epsilon_of(event, delta, Relation.REPLACE_ONE))
        words += f" If a unit is replaced rather than removed: at most {most}."
    if is_example:
        words += " To account for your own releases, choose or edit the ledger below."
    st.write(words)


def many_models() -> None:
    """Draw the inverse question: a total budget split over several models."""
    st.header("How much may each of several models cost?", anchor="many-models")
    choice = sidebar.choice()
    models, years, total = (
        _ask(column, name, *facts)
        for column, (name, facts) in zip(st.columns(3), MODELS.items(), strict=True)
    )
    links.put_in_address(
        {
            name: None if value == MODELS[name][1] else f"{value:g}"
            for name, value in zip(MODELS, (models, years, total), strict=True)
        }
    )
    times, spec = int(models * years), choice.spec(epsilon=total)
    each = epsilon_of_each(spec, choice.shape, times)
    line = epsilon_grid.read(spec, also=(each,)).kept
    title, data = algorithms.find(choice.algorithm).title, choice.entry.title
    st.subheader(
        f"{times:,} models over {years:g} years at a total of {total:g}: each at ε ="
        f" {budget_text(each)}",
        anchor=False,
    )
    st.write(
        f"{ledger.kept_words(line, each, best_known_title(choice.algorithm))} For {title} on"
        f" {safe_text.escape_letters(data)}, at δ = {delta_text(choice.delta)} for all models"
        " together. The total covers people whose ratings are in every model, and models that"
        " depend on earlier ones."
    )
    _draw_decision(choice, each, times)
    links.draw_ways("accountant.next", WAYS, functools.partial(_use, each))


def _draw_decision(choice: Choice, each: float, times: int) -> None:
    """Draw the total of the models and of what was drawn from the data before."""
    ready = prepare(choice.spec(epsilon=each), choice.shape, choice.assumptions)
    planned = Charge.of(
        choice.algorithm, Repeat(ready.plan, times), ready.guarantee, choice.spec().budget
    )
    if not planned.covered:
        return
    decision = odometer.decision_about(choice.entry.id, [planned])
    st.write(
        linked(f"{decision.cost}. {decision.certainty.words()} {decision.not_counted}".rstrip())
    )


WAYS = {"explore": "See one of them in Explore", "choose": "Choose again"}
MODELS: dict[str, tuple[str, float, session_widgets.Read]] = {
    "models": ("Models a year", 3, session_widgets.within(int, 1, 1000)),
    "years": ("Years", 5, session_widgets.within(int, 1, 100)),
    "total": ("Total ε", 2.0, session_widgets.within(float, 0.01, 1000)),
}


def _ask(column: DeltaGenerator, name: str, label: str, first: float, read: Any) -> Any:
    """Ask for a number of `MODELS`; an empty box means its default."""
    key = f"accountant.{name}"
    session_widgets.start(key, name, first, read)
    if isinstance(first, int):
        return column.number_input(label, 1, 1000, **bind(key)) or first
    return number_within(column.container(), label, key, 0.01, 1000.0)


def _use(each: float) -> None:
    sidebar_values.put("epsilon", each)
    st.session_state["choose.wish"] = "spend"


def private_entries() -> list[Any]:
    """Return the private data sets of this session: its uploads, and the chosen one."""
    entries = {entry.id: entry for entry in st.session_state.get(data_sets.OWN, {}).values()}
    first_entry = sidebar.choice().entry
    if first_entry.public:
        return list(entries.values())
    others = [entry for entry in entries.values() if entry.id != first_entry.id]
    return [first_entry, *others]


def draw_heading(text: str) -> None:
    """Draw the heading of a composition: the page's title, unless that is of private data."""
    if private_entries():
        st.header(text, anchor=False)
    else:
        st.title(text, anchor=False)


def draw_own_accounts(entries: Sequence[Any]) -> None:
    """Draw the account of each private data set of this session."""
    st.title("The account of your data", anchor=False)
    st.write(
        "What was drawn from your data: by which method, when, what it costs together, and what a"
        " budget leaves."
    )
    for entry in entries:
        odometer.panel(
            entry.id, f"account.{entry.id}", entry.shape().n_units, title=str(entry.title)
        )


own_entries = private_entries()
if own_entries:
    draw_own_accounts(own_entries)
    st.divider()
first, models, account = (st.container() for _ in range(3))
for place, part in ((account, functools.partial(draw_account, first)), (models, many_models)):
    with place:
        try:
            part()
        except BadInput as error:
            if place is account:
                with first:
                    draw_heading("Correct an entry")
            safe_text.error(error, "Your entries are kept.")
