"""What if the server keeps nothing?

Factorisation without user data retention, compared with a server that keeps everything.
"""

from collections.abc import Collection

import pandas as pd
import streamlit as st

from dpmf_core import first_views
from dpmf_core.data.splits import SplitSpec
from dpmf_core.errors import BadInput
from dpmf_core.papers.registry import figures_of
from dpmf_core.papers.vallet_2014.retention_excess import AXIS_TITLE
from dpmf_core.runs.record import Run
from dpmf_core.runs.specification import RunSpec
from dpmf_core.teaching.subpoena import IN_TRANSIT, MEMORY, MOMENTS, at_rest, stream
from pages.kit import (
    charts,
    odometer,
    published_figures,
    safe_text,
    sidebar,
    sweep_charts,
    who_sees_what,
)
from pages.kit.choice import Choice
from pages.kit.runs import ask, goes_on, note_shipped

ORDERS = {"random": "in random order", "time": "by time, the latest held out"}
MIDDLE = 0.5
FIRST = ("baseline", f"rated {MIDDLE:g}")  # what the headline needs
# the variants, with the method whose colour each has
TINTS = {
    "rated": "spectral",
    "new": "dpfw",
    "online": "dpals",
    "static": "user-mean",
    "slope one": "private-svd",
}


def specs_of(choice: Choice, arrival: str, epochs: int) -> dict[str, RunSpec]:
    """Every variant at every share, by name; the baseline and Slope One know no share."""
    split = SplitSpec(kind="time") if arrival == "time" else SplitSpec()
    specs = first_views.retention(choice.spec(), arrival, epochs)
    return {name: spec.model_copy(update={"split": split}) for name, spec in specs.items()}


def by_share(runs: dict[str, Run]) -> pd.DataFrame:
    """A row a run: name, share (empty for a level), RMSE, and value, its excess over the baseline
    in percent; and how figures draw it.
    """
    base, rows = runs["baseline"].record.metric("rmse"), []
    for name, run in runs.items():
        variant, _, share = name.rpartition(" ")
        if not share[0].isdigit():
            variant, share = name, "nan"
        error = run.record.metric("rmse")
        values = {"share": float(share), "RMSE": error, "value": 100 * (error / base - 1)}
        rows.append({"name": variant, "id": TINTS.get(variant, "als"), "source": False} | values)
    return pd.DataFrame(rows)


def headline(choice: Choice, names: Collection[str], runs: dict[str, Run]) -> None:
    """What keeping nothing costs. names: of all runs that were asked for."""
    if goes_on("retention"):
        st.title(f"{len(runs)} of {len(names)} runs have finished", anchor=False)
        st.write("The cost of keeping nothing appears when all have.")
        return
    if not set(FIRST) <= runs.keys():
        st.title("What does it cost to keep nothing?", anchor=False)
        st.write(odometer.opening_text("retention"))
        return
    base, middle = (runs[name].record.metric("rmse") for name in FIRST)
    cost = middle / base - 1
    does = f"costs {cost:.1%} in RMSE" if cost >= 0 else f"lowers the RMSE by {-cost:.1%}"
    st.title(f"Keeping no user data {does} if half of the ratings arrive one by one", anchor=False)
    missing = len(names) - len(runs)
    st.write(
        f"On {choice.entry.title}, held-out RMSE is **{base:.3f}** with everything kept. A server"
        " that drops each user's ratings and vector after every interaction still learns from them:"
        " the item factors stay." + f" {missing} runs are missing." * bool(missing)
    )


def draw_shares(runs: dict[str, Run]) -> None:
    """The excess of every variant by the share of ratings that are known from the start."""
    table = by_share(runs)
    lines = table[table["name"] != "baseline"]
    if lines["share"].nunique() < 2:  # one point makes no line
        return
    axis = "share of the ratings known from the start, Rₛ"
    charts.show(
        sweep_charts.against(lines, "share", AXIS_TITLE, axis),
        "retention.shares",
        "Excess RMSE over the baseline by the share of ratings known from the start.",
        table.rename(columns={"value": "excess, %"}),
        caption=(
            "**static**: frozen at the start. **online**: everything is kept, vectors are updated."
            " **new**, **rated**: no user data is kept. Users send all their ratings each time, and"
            " the newly rated item, or all rated items, are updated. **slope one** learns mean"
            " differences between pairs of items."
        ),
    )


# ---- what is kept --------------------------------------------------------------------------------


def memory() -> None:
    """What each variant keeps, who could get it, and a small stream that is really run."""
    st.header("What is kept, where and for how long", anchor=False)
    rows = [(name, it.what, it.where, it.how_long) for name, its in MEMORY.items() for it in its]
    columns = ["variant", "what", "where", "how long"]
    safe_text.words_table(pd.DataFrame(rows, columns=columns))
    st.header("What would a subpoena get, and what a wiretap?", anchor=False)
    exposed = [(name, ", ".join(at_rest(name)), message) for name, message in IN_TRANSIT.items()]
    columns = ["variant", "a subpoena gets, at rest", "a wiretap gets, of one interaction"]
    safe_text.words_table(pd.DataFrame(exposed, columns=columns))
    st.caption(
        "The source's claim is about storage: neither ratings nor user vectors stay on the server"
        " (abstract), so a subpoena finds only item factors. In return, users without a stored"
        " profile send all their ratings each time, and one tapped interaction reveals them. A"
        " server that keeps ratings receives only the new one. Recommendations are sent in every"
        " variant."
    )
    moment = stream()[st.slider("Moment", 1, MOMENTS, 1, key="retention.moment") - 1]
    st.write(
        f"**Person {moment.user} rates item {moment.item} with {moment.rating:g}.** The servers now"
        " hold:"
    )
    rows_now = [
        {
            "variant": it.variant,
            "ratings": it.ratings,
            "numbers about users": it.user_numbers,
            "numbers about items": it.item_numbers,
            "only for a moment": it.for_a_moment,
            "ratings sent": it.ratings_sent,
        }
        for it in moment.holdings
    ]
    safe_text.words_table(pd.DataFrame(rows_now))
    st.caption(
        "Four people, six items, three numbers each. In variant rated the item factors moved by"
        f" {moment.item_move:.3f}: they remember something."
    )


def main() -> None:
    choice = sidebar.choice()
    head = st.container()
    left, right = st.columns(2)
    arrival = left.selectbox(
        "Ratings arrive", list(ORDERS), key="retention.arrival", format_func=ORDERS.__getitem__
    )
    epochs = right.number_input(
        "Epochs over what is known from the start",
        1,
        2000,
        first_views.EPOCHS,
        key="retention.epochs",
        help="The source takes 200.",
    )
    specs = specs_of(choice, arrival, epochs or first_views.EPOCHS)
    runs = ask("retention", specs, first=FIRST, whole=())
    with head:
        headline(choice, specs, runs)
        st.info(
            "**No differential privacy, and no ε.** This limits what a thief, a court or a curious"
            " employee finds on the server. It does not limit what the item factors, or other"
            " people's recommendations, reveal: they learn exactly from every rating. Source: D."
            " Vallet, A. Friedman & S. Berkovsky, *Matrix Factorization without User Data"
            " Retention*, PAKDD 2014.",
            icon=":material/info:",
        )
    if "baseline" in runs:
        draw_shares(runs)
        note_shipped(list(specs.values()))
    who_sees_what.draw(who_sees_what.RETENTION)
    published_figures.choice("retention", figures_of("retention"))
    memory()


try:
    main()
except BadInput as error:
    safe_text.error(error)
