"""What if the server keeps nothing? Factorisation without user data retention beside what keeps everything."""

import pandas as pd
import streamlit as st

from dpmf_core.algorithms.retention import MEMORY
from dpmf_core.errors import BadInput
from dpmf_core.experiment import Run, RunSpec
from dpmf_core.subpoena import MOMENTS, stream
from pages.kit import charts, runs, sidebar
from pages.kit.sidebar import Choice

VARIANTS = {
    "rated": "keeps nothing; all her items learn", "new": "keeps nothing; the new item learns", "online": "keeps all; users refitted", "static": "frozen",
    "baseline": "keeps all; trained on all",
}  # fmt: skip
SHARES = (0.15, 0.3, 0.5, 0.7, 0.9)
TINTS = {"rated": "spectral", "new": "dpfw", "online": "dpals", "static": "user-mean", "baseline": "als"}


def asked(choice: Choice, arrival: str, epochs: int) -> dict[str, RunSpec]:
    """Every variant at every share; the baseline knows no share."""

    def one(variant: str, share: float) -> RunSpec:
        given = {"variant": variant, "static_share": share, "arrival": arrival, "steps": epochs}
        return choice.spec("no-retention", given).canonical()

    specs = {"baseline": one("baseline", 0.5)}
    return specs | {f"{variant} {share:g}": one(variant, share) for share in SHARES for variant in VARIANTS if variant != "baseline"}


def table(done: dict[str, Run]) -> pd.DataFrame:
    """RMSE and excess over the baseline of every finished run."""
    base = float(done["baseline"].record["metrics"]["rmse"])
    rows = []
    for name, run in done.items():
        variant, _, share = name.partition(" ")
        rmse = float(run.record["metrics"]["rmse"])
        rows.append({"variant": variant, "share": float(share) if share else None, "rmse": rmse, "excess": rmse / base - 1})
    return pd.DataFrame(rows)


def finding(choice: Choice, done: dict[str, Run]) -> None:
    at = f"{SHARES[2]:g}"
    if "baseline" not in done or f"rated {at}" not in done:
        st.title("What does it cost to keep nothing?")
        st.write("Training. Variants appear as they finish.")
        return
    found = table(done)
    cost = found[(found["variant"] == "rated") & (found["share"] == SHARES[2])]["excess"].iloc[0]
    st.title(f"Keeping nothing of users costs {cost:.1%} in RMSE where half of the ratings arrive one by one")
    st.write(
        f"On {choice.entry.title}, held-out RMSE **{found['rmse'].iloc[0]:.3f}** with everything kept. A server that drops each user's ratings and "
        "vector after every interaction learns from them all the same, through the item factors, which stay."
    )


def figure(done: dict[str, Run]) -> None:
    found = table(done)
    points = pd.DataFrame(
        [{"name": row.variant, "id": TINTS[row.variant], "source": False, "value": 100 * row.excess, "share": row.share} for row in found.itertuples()]
    )
    fig = charts.against(points, "share", "RMSE above the baseline's, %", "share of the ratings known from the start, R_s")
    alt = "Excess RMSE over the baseline against the static share: " + "; ".join(
        f"{row.variant} at {row.share:g}: {row.excess:.1%}" for row in found.itertuples() if row.variant != "baseline"
    )
    charts.show(fig, "retention.shares", alt, found)
    st.caption(
        "Vallet, Friedman & Berkovsky 2014, Table 1, mean excess on ten times MovieLens 1M's ratings (10-fold): static 3.22%, rated 2.09%, new 1.98%, "
        "online 0.37%, slope one 4.28%. With fewer ratings the excess is larger; online here leaves item factors as they were at the start."
    )


def memory() -> None:
    """The retention ledger, and a stream that is really run."""
    st.subheader("What is kept, where, for how long")
    rows = [{"variant": name, "what": entry.what, "where": entry.where, "how long": entry.how_long} for name, kept in MEMORY.items() for entry in kept]
    st.dataframe(pd.DataFrame(rows), hide_index=True)
    st.subheader("What would a subpoena get?")
    number = st.slider("Moment", 1, MOMENTS, 1, key="retention.moment")
    moment = stream()[number - 1]
    st.write(f"**{moment.user.capitalize()} rates {moment.item} with {moment.rating:g}.** Right after, the servers hold:")
    held = [
        {"variant": one.variant, "ratings": one.ratings, "numbers about users": one.user_numbers, "numbers about items": one.item_numbers,
         "there for a moment only": one.for_a_moment}
        for one in moment.holdings
    ]  # fmt: skip
    st.dataframe(pd.DataFrame(held), hide_index=True)
    st.caption(
        f"Four people, six items, three numbers each. In variant rated the item factors moved by {moment.moved:.3f} in this moment: they remember something."
    )


def main() -> None:
    choice = sidebar.choice()
    head = st.container()
    left, right = st.columns(2)
    arrival = left.selectbox(
        "Ratings arrive", ["random", "time"], key="retention.arrival", format_func={"random": "in random order", "time": "by time"}.__getitem__
    )
    epochs = right.number_input("Epochs over what is known from the start", 1, 2000, 30, key="retention.epochs", help="The source takes 200.")
    done = runs.wanted("retention", asked(choice, arrival, epochs or 30))
    with head:
        finding(choice, done)
        st.info(
            "**No differential privacy, and no ε.** It limits what a thief, a court or a curious employee finds on the server. It does not limit what the item "
            "factors, or recommendations to others, reveal: they learn from every rating, exactly. The algorithm, ε and δ of the sidebar play no part here.",
            icon=":material/info:",
        )
    if "baseline" in done:
        figure(done)
    memory()


try:
    main()
except BadInput as error:
    st.error(str(error))
    st.caption("Your settings are kept. Change the one named above.")
