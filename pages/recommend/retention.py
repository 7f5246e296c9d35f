"""What if the server keeps nothing? Factorisation without user data retention beside what keeps everything."""

import pandas as pd
import streamlit as st

from dpmf_core.algorithms.retention import MEMORY
from dpmf_core.errors import BadInput
from dpmf_core.experiment import Run
from dpmf_core.subpoena import MOMENTS, stream
from pages.kit import charts, odometer, retained, runs, said, seen, sidebar
from pages.kit.sidebar import Choice

VIEWS = {"shares": "By what is known from the start", "activity": "By the user's activity", "windows": "Stretch by stretch in time"}
ORDERS = {"random": "in random order", "time": "by time, the latest held out"}
EXCESS = "RMSE above the baseline's, %"


def finding(choice: Choice, done: dict[str, Run]) -> None:
    at = f"{retained.MIDDLE:g}"
    if "baseline" not in done or f"rated {at}" not in done:
        st.title("What does it cost to keep nothing?", anchor=False)
        st.write(odometer.unasked("retention", "Training. Variants appear as they finish."))
        return
    found = retained.shares(done)
    cost = found[(found["variant"] == "rated") & (found["share"] == retained.MIDDLE)]["excess"].iloc[0]
    effect = f"costs {cost:.1%} in RMSE" if cost >= 0 else f"lowers the RMSE by {-cost:.1%}"
    st.title(f"Keeping nothing of users {effect} where half of the ratings arrive one by one", anchor=False)
    st.write(
        f"On {choice.entry.title}, held-out RMSE **{found['rmse'].iloc[0]:.3f}** with everything kept. A server that drops each user's ratings and "
        "vector after every interaction learns from them all the same, through the item factors, which stay."
    )


def by_share(done: dict[str, Run]) -> None:
    found = retained.shares(done)
    fig = charts.against(retained.points(found[found["variant"] != "baseline"], "share"), "share", EXCESS, "share of the ratings known from the start, Rₛ")
    alt = "Excess RMSE over the baseline against the static share: " + "; ".join(
        f"{variant} at {share:g}: {excess:.1%}" for variant, share, excess in found[["variant", "share", "excess"]].dropna().itertuples(index=False)
    )
    charts.show(fig, "retention.shares", alt, found)
    st.caption(
        "**static**: frozen at the start. **online**: all is kept, vectors are fitted anew. **new**, **rated**: nothing of users is kept; whoever comes brings "
        "her ratings, and the item she rates now, or all that she has rated, learns from them. **slope one** learns mean differences between pairs of items."
    )
    st.caption(
        "For comparison, on other data. Vallet, Friedman & Berkovsky 2014, Table 1, mean excess on MovieLens 10M: static 3.22%, rated 2.09%, new 1.98%, "
        "online 0.37%, slope one 4.28%. On MovieLens 1M, 200 epochs, mean of 3 seeds and of Rₛ from 0 to .9: static 5.45%, rated 0.55%, new 1.50%, online "
        "-0.51%, slope one 2.14%. With a tenth of the ratings what is frozen early knows less, and Slope One is nearer to a baseline that knows less too; "
        "online here refits by least squares, which is a little better than the baseline's gradients. All of it again: `sweep --preset vallet-table1`."
    )


def by_activity(done: dict[str, Run]) -> None:
    found = retained.activity(done)
    fig = charts.against(retained.points(found, "group"), "group", EXCESS, "ratings of the user, quarters")
    charts.show(fig, "retention.activity", "Excess RMSE by how many ratings a user has.", found)
    st.caption(
        f"At Rₛ = {retained.BY_ACTIVITY:g}, as in the source's Fig. 2 (its quarters on MovieLens end at 35, 69 and 156 ratings). Who rates little brings "
        "little when she comes, and frozen factors knew less of her."
    )


def by_window(choice: Choice, epochs: int) -> None:
    done = runs.wanted("retention.windows", retained.by_window(choice, epochs))
    found = retained.windows(done)
    lines = retained.points(found[found["variant"] != "baseline"], "window")
    if not len(lines):
        return
    charts.show(charts.against(lines, "window", EXCESS, "stretch of time that is predicted"), "retention.windows", "Excess RMSE by stretch of time.", found)
    st.caption(
        f"Time is cut into {retained.WINDOWS} stretches with equally many ratings; the first {retained.START} are known from the start, and each later one is "
        "predicted after those before it have arrived. The baseline is trained anew each time. In the source (Fig. 3, 72 months, from the first 4) the gap "
        "falls from about 2% to nothing. Where only the order within each user is known, her own stretches count."
    )


def memory() -> None:
    """The retention ledger, and a stream that is really run."""
    st.header("What is kept, where, for how long", anchor=False)
    rows = [{"variant": name, "what": entry.what, "where": entry.where, "how long": entry.how_long} for name, kept in MEMORY.items() for entry in kept]
    said.table(pd.DataFrame(rows))
    st.header("What would a subpoena get?", anchor=False)
    number = st.slider("Moment", 1, MOMENTS, 1, key="retention.moment")
    moment = stream()[number - 1]
    st.write(f"**{moment.user.capitalize()} rates {moment.item} with {moment.rating:g}.** Right after, the servers hold:")
    held = [
        {"variant": one.variant, "ratings": one.ratings, "numbers about users": one.user_numbers, "numbers about items": one.item_numbers,
         "there for a moment only": one.for_a_moment}
        for one in moment.holdings
    ]  # fmt: skip
    said.table(pd.DataFrame(held))
    st.caption(
        f"Four people, six items, three numbers each. In variant rated the item factors moved by {moment.moved:.3f} in this moment: they remember something."
    )


def main() -> None:
    choice = sidebar.choice()
    head = st.container()
    left, right = st.columns(2)
    arrival = left.selectbox("Ratings arrive", list(ORDERS), key="retention.arrival", format_func=ORDERS.__getitem__)
    epochs = right.number_input("Epochs over what is known from the start", 1, 2000, 30, key="retention.epochs", help="The source takes 200.") or 30
    done = runs.wanted("retention", retained.by_share(choice, arrival, epochs), first=retained.FIRST)
    with head:
        finding(choice, done)
        st.info(
            "**No differential privacy, and no ε.** It limits what a thief, a court or a curious employee finds on the server. It does not limit what the item "
            "factors, or recommendations to others, reveal: they learn from every rating, exactly. "
            "Source: D. Vallet, A. Friedman & S. Berkovsky, *Matrix Factorization without User Data Retention*, PAKDD 2014.",
            icon=":material/info:",
        )
        seen.draw(seen.RETENTION)
    if "baseline" in done:
        view = st.segmented_control("Excess", list(VIEWS), default="shares", required=True, key="retention.view", format_func=VIEWS.__getitem__) or "shares"
        if view == "windows":
            by_window(choice, epochs)
        else:
            {"shares": by_share, "activity": by_activity}[view](done)
    memory()


try:
    main()
except BadInput as error:
    said.error(error)
