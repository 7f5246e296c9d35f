"""What may each of several models cost? A total budget split over several models."""

import functools

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.privacy import Repeat
from dpmf_core.privacy.formatting import budget_text, delta_text
from dpmf_core.privacy.odometer import Charge
from dpmf_core.runs.conclusions import kept_at_words
from dpmf_core.runs.planning import epsilon_of_each, prepare
from dpmf_core.runs.specification import RunSpec
from dpmf_core.teaching.glossary import linked
from pages.accountant import own_accounts
from pages.kit import sidebar
from pages.kit.base import links, safe_text
from pages.kit.controls import sidebar_values
from pages.kit.controls.session_widgets import (
    bind,
    number_within,
    page_values,
    within,
    write_to_address,
)
from pages.kit.controls.sidebar_values import SidebarChoice
from pages.kit.privacy import account_summary
from pages.kit.running import epsilon_grid

PRIVATE = (
    "What each model keeps of your data is not known without a release; `dpmf fit --measure`"
    " measures what one brought."
)
WAYS = {"explore": "See one of them in Explore", "choose": "Choose again"}
MOST_MODELS = 1000
MOST_YEARS = 100
TOTALS = (0.01, 1000.0)
VALUES = page_values(
    "accountant",
    {
        "models": (3, within(int, 1, MOST_MODELS)),
        "years": (5, within(int, 1, MOST_YEARS)),
        "total": (2.0, within(float, *TOTALS)),
    },
)


def many_models(heading: DeltaGenerator) -> None:
    """Draw what each of several models may cost, and what they cost together."""
    choice = sidebar.choice()
    models, years, total = _ask()
    times = models * years
    spec = choice.spec(epsilon=total)
    each = epsilon_of_each(spec, choice.shape, times)
    share_words, title = _share_words(choice, spec, each)
    data = choice.entry.title
    with heading:
        own_accounts.draw_heading(
            f"{times:,} models over {years} years at a total of {total:g}: each at ε ="
            f" {budget_text(each)}"
        )
    st.write(
        f"{share_words} For {title} on {safe_text.escape_letters(data)}, at δ ="
        f" {delta_text(choice.delta)} for all models together. The total covers people whose"
        " ratings are in every model, and models that depend on earlier ones."
    )
    _draw_decision(choice, each, times)
    links.draw_ways("accountant.next", WAYS, functools.partial(_use, each))


def _share_words(choice: SidebarChoice, spec: RunSpec, each: float) -> tuple[str, str]:
    """What a model keeps at an epsilon in a sentence, and the title of its method.

    If no method was chosen, it is the best proven one at each epsilon. On private data it does
    not say what is kept: a plan may not rest on errors on raw rows.
    """
    if not choice.entry.public:
        return PRIVATE, choice.title
    judgement = epsilon_grid.read(spec, choice.shape, also=(each,)).by("rmse")
    title = choice.title
    line = judgement.line(title)
    if choice.is_best and judgement.best_line:
        line = judgement.best_line
        epsilon = epsilon_grid.nearest((one.epsilon or each for one in line), each)
        title = next(one.label for one in line if (one.epsilon or each) == epsilon)
    words = kept_at_words(judgement, judgement.shares_along(line), each)
    if not words:
        return "What each model keeps is not measured yet; Explore measures it.", title
    return f"**Each {words}.**", title


def _draw_decision(choice: SidebarChoice, each: float, times: int) -> None:
    """Draw the total of the models and of what was drawn from the data before."""
    ready = prepare(choice.spec(epsilon=each), choice.shape, choice.assumptions)
    planned = Charge.of(
        choice.algorithm,
        Repeat(ready.plan, times),
        ready.guarantee,
        choice.spec().budget,
    )
    if not planned.covered:
        return
    decision = account_summary.decision_about(choice.entry.id, [planned])
    st.write(
        linked(
            f"{decision.cost}. {decision.certainty.words()} {decision.not_counted}".rstrip()
        )
    )


def _ask() -> tuple[int, int, float]:
    """Ask for the models a year, the years and the total epsilon; put them into the address."""
    for value in VALUES.values():
        value.start()
    left, middle, right = st.columns(3)
    models = VALUES["models"]
    left.number_input("Models a year", 1, MOST_MODELS, **bind(models.key))
    years = VALUES["years"]
    middle.number_input("Years", 1, MOST_YEARS, **bind(years.key))
    total = number_within(right.container(), "Total ε", VALUES["total"].key, *TOTALS)
    write_to_address(VALUES.values())
    return int(models.value), int(years.value), total


def _use(each: float) -> None:
    sidebar_values.put("epsilon", each)
    st.session_state["choose.wish"] = "spend"


own_accounts.draw_with(many_models)
