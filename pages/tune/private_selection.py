"""A private selection on a page: its controls, and the one thing that leaves it."""

from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpmf_core.privacy import Relation
from dpmf_core.privacy.formatting import budget_text, epsilon_in_full, epsilon_text
from dpmf_core.privacy.selection import SHAPES
from dpmf_core.runs.record import Run
from dpmf_core.runs.store import to_json
from dpmf_core.teaching.glossary import linked
from dpmf_core.tuning.private_selection import MOST, PrivateSelection, SelectionResult
from dpmf_core.tuning.search_space import TuneSpec
from pages.kit import odometer, safe_text
from pages.kit.runs import ask
from pages.kit.sidebar_values import Choice
from pages.tune.use import draw_use, in_words

RULE = "by the privacy profile of a trial"
LAWS = {name: "Poisson" if name == "poisson" else name for name in SHAPES}


def _select(spec: PrivateSelection) -> None:
    st.session_state["tune.selecting"] = spec
    odometer.buy([spec])


def page(choice: Choice, search: TuneSpec, trials: int, head: DeltaGenerator) -> None:
    """Controls here, begun by their button; the outcome at the head."""
    spec = _settings(choice, search, trials)
    st.button(
        odometer.label("Choose in private", spec),
        type="primary",
        key="tune.select",
        on_click=_select,
        args=(spec,),
    )
    with head:
        if st.session_state.get("tune.selecting") == spec:
            _draw(spec)
            return
        st.title("Tune privately", anchor=False)
        budget = spec.budget
        cost = epsilon_in_full(
            spec.epsilon, budget.delta, spec.kinds[0]().guarantee().unit, budget.relation, RULE
        )
        error = choice.shape.half_range / 2
        deviation = spec.score_deviation(error, choice.shape)
        st.write(
            linked(
                f"About {spec.trials:g} trials, their number and parameters drawn at random. Only"
                f" the winner and its noisy score leave: **{cost}** in all. Each training has ε ="
                f" {budget_text(float(f'{budget.epsilon:.3g}'))}. Noise moves a score by about ±"
                f" {2 * deviation:.2g} (95%) where the error is {error:g}."
            )
        )


def _settings(choice: Choice, search: TuneSpec, trials: int) -> PrivateSelection:
    """What the controls say. Raises BadInput."""
    left, middle, right = st.columns(3)
    cap = left.number_input(
        "The search may cost at most ε",
        0.01,
        1000.0,
        choice.epsilon,
        key=f"tune.cap.{choice.epsilon:g}",
        format="%g",
        help="Each training gets what this leaves after scoring and choosing.",
    )
    law = middle.selectbox(
        "Number of trials, at random",
        list(LAWS),
        key="tune.law",
        format_func=LAWS.__getitem__,
        help=(
            "At the same mean the first costs least: often it tries only one or two, now and then"
            " many. The binomial tries at most twice the mean."
        ),
    )
    noise = right.number_input(
        "Noise multiplier of each score",
        0.1,
        1000.0,
        5.0,
        key="tune.noise",
        format="%g",
        help="Each trial's score is computed from private validation ratings.",
    )
    return PrivateSelection.parse(
        searches=(search,),
        distribution=law,
        trials=float(min(trials, MOST)),
        score_noise=noise or 5.0,
    ).within(cap or choice.epsilon)


def _draw(spec: PrivateSelection) -> None:
    """The selection once it is asked for: sentence, what it cost, what the same epsilon buys
    without choosing.
    """
    selection: SelectionResult | None = ask(
        "tune.selection", {"selection": spec}, by_button=True
    ).get("selection")
    if selection is None:
        st.title("Choosing in private", anchor=False)
        return
    budget = spec.searches[0].budget
    cost = epsilon_in_full(
        selection.epsilon,
        budget.delta if budget else 0.0,
        selection.unit,
        budget.relation if budget else Relation.ADD_REMOVE,
        RULE,
    )
    if selection.score is None:
        st.title("No trial was drawn", anchor=False)
        st.write(
            "The number of trials is random, and was 0: nothing is released. The selection still"
            f" cost **{cost}**. Another seed draws again."
        )
        return
    st.title(f"The winner's validation RMSE, with noise: {selection.score:.3f}", anchor=False)
    algorithm = spec.searches[0].algorithm
    st.write(linked(f"With {in_words(algorithm, selection.winner)}. All in all: **{cost}**."))
    draw_use(algorithm, spec.searches[0].fixed | selection.winner)
    st.caption(
        f"{selection.guarantee} The theorem does not cover how long the selection took, which may"
        " reveal how many trials there were."
    )
    if selection.public:
        _compare(spec, selection)
    else:
        st.caption(
            "On private data nothing else is trained, and no error is computed: this is all that"
            " left."
        )
    st.download_button(
        "The selection as JSON",
        to_json(selection.export(), indent=1),
        "selection.json",
        "application/json",
    )


def _compare(spec: PrivateSelection, selection: SelectionResult) -> None:
    """What the same epsilon buys without choosing."""
    budget = spec.searches[0].budget
    whole = spec.searches[0].model_copy(
        update={
            "budget": budget.model_copy(update={"epsilon": selection.epsilon}) if budget else None,
            "seed": spec.searches[0].seed,
        }
    )
    runs: dict[str, Run] = ask(
        "tune.unchosen", {"same": whole.final({}), "one": spec.searches[0].final({})}
    )
    rows: list[dict[str, Any]] = [
        {
            "total ε": epsilon_text(selection.epsilon),
            "test RMSE": selection.test_rmse,
            "of": "the selection's winner",
        }
    ]
    for name, title in (
        ("same", "recommended parameters, the whole ε on one training"),
        ("one", "recommended parameters, one trial's ε"),
    ):
        if name in runs:
            record = runs[name].record
            rows.append(
                {
                    "total ε": epsilon_text(record.epsilon.exact),
                    "test RMSE": record.metrics["rmse"],
                    "of": title,
                }
            )
    safe_text.table(
        pd.DataFrame(rows),
        column_config={"test RMSE": st.column_config.NumberColumn(format="%.4f")},
    )
    st.caption("Test RMSE is computed on raw data, not released. " + _verdict(selection, runs))


def _verdict(selection: SelectionResult, runs: dict[str, Run]) -> str:
    if "same" not in runs or selection.test_rmse is None:
        return ""
    other = runs["same"].record.metric("rmse")
    if other <= selection.test_rmse:
        return (
            "Here choosing did not pay: spending the same ε on one training with recommended"
            " parameters gives a smaller error."
        )
    return (
        "Here choosing paid: spending the same ε on one training with recommended parameters gives"
        " a larger error."
    )
