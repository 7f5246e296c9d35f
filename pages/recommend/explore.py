"""What does this algorithm do at this epsilon? One private run in full, beside its non-private twin."""

import pandas as pd
import streamlit as st

from dpmf_core.cli import show as words
from dpmf_core.compare import comparison
from dpmf_core.errors import BadInput
from dpmf_core.experiment import Run, prepare
from dpmf_core.privacy import NOTHING, Budget
from dpmf_core.recommend import Suggestion, liked, recommend, someone
from dpmf_core.store import to_json
from pages.kit import charts, forms, guarantee, runs, said, seen, sidebar, target
from pages.kit.comparison import curve_rows, ladder_rows, rmse
from pages.kit.findings import verdict
from pages.kit.sidebar import Choice

LIST_EPSILONS = (0.5, 1.0, 2.0, 5.0, 10.0)


def finding(choice: Choice, done: dict[str, Run]) -> None:
    """The sentence first."""
    if "main" not in done:
        st.title(f"What does ε = {choice.epsilon:g} cost?", anchor=False)
        st.write("Training. The privacy card below needs no data and already holds.")
        return
    record, private = done["main"].record, rmse(done["main"])
    at = f"At ε = {choice.epsilon:g}"
    if choice.calibration == "source":
        at = f"At the source's ε = {choice.epsilon:g}, truly {record['epsilon']['exact']:.2f}"
    if "twin" not in done or "trivial" not in done:
        st.title(f"{at}, {record['title']} errs by {private:.3f}", anchor=False)
        return
    twin, trivial = rmse(done["twin"]), rmse(done["trivial"])
    st.title(f"{at}, {record['title']} {verdict(private, twin, trivial, done['twin'].record['title'], 'does no better than guessing the mean')}", anchor=False)
    st.write(
        f"Held-out RMSE **{private:.3f}** with privacy in this draw of split and noise, **{twin:.3f}** without ({done['twin'].record['title']}), "
        f"**{trivial:.3f}** by guessing the mean, on {choice.entry.title}; {record['split']}."
    )  # fmt: skip


def price(done: dict[str, Run]) -> None:
    """The primary figure by step, and every method at this epsilon."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.subheader("Error by step", anchor=False)
        st.caption("Computed on raw data, not released.")
        curves = pd.DataFrame([row for name in done if name in ("main", "twin") or name.startswith("draw") for row in curve_rows(done, name)])
        fig = charts.steps(curves, rmse(done["trivial"]) if "trivial" in done else None)
        charts.show(fig, "explore.steps", "Held-out and train RMSE by step, private beside non-private.", curves)
    with right:
        st.subheader("Every method, at this ε", anchor=False)
        points = pd.DataFrame(ladder_rows(done))
        st.caption("A dot is one draw of split and noise, the bar their median.")
        charts.show(charts.ladder(points), "explore.ladder", "Held-out RMSE of each method: " + alt(points), points)


def alt(points: pd.DataFrame) -> str:
    return "; ".join(f"{name} {value:.3f}" for name, value in points.groupby("name")["rmse"].median().sort_values().items())


def listed(title: str, items: tuple[Suggestion, ...], other: tuple[Suggestion, ...] = ()) -> None:
    both = {suggestion.item for suggestion in other}
    st.subheader(title, anchor=False)
    rows = [{"item": f"✓ {s.title}" if s.item in both else s.title, "rating": round(s.rating, 1)} for s in items]
    said.table(pd.DataFrame(rows), column_config={"rating": st.column_config.NumberColumn(format="%.1f", width="small")})


def lists(choice: Choice, done: dict[str, Run], given: dict[str, object]) -> None:
    """One user's recommendations, private beside non-private, and how they change with epsilon."""
    st.header("One user's list", anchor=False)
    user = st.number_input("User", 0, choice.entry.n_users - 1, value=someone(done["main"].spec), key=f"explore.user.{choice.data}", step=1)
    if user is None:
        st.info("Give a user's number.")
        return
    private, twin = recommend(done["main"], user), recommend(done["twin"], user)
    shared = len({s.item for s in private} & {s.item for s in twin})
    st.write(f"**{shared} of {len(private)} recommendations stay the same with privacy** (✓). Her ratings, at left, are private: this is her own view.")
    lists = {
        "What she rated highest": (liked(done["main"].spec, user), ()),
        "Private": (private, twin),
        f"Without privacy ({done['twin'].record['title']})": (twin, private),
    }
    for column, (title, (items, other)) in zip(st.columns(3), lists.items(), strict=True):
        with column:
            listed(title, items, other)
    if st.toggle("How the list changes with ε", key="explore.lists"):
        at = runs.wanted("explore.lists", {f"{eps:g}": choice.spec(parameters=given, epsilon=eps) for eps in LIST_EPSILONS})
        if at:
            table = pd.DataFrame({f"ε = {eps}": [s.title for s in recommend(run, user)] for eps, run in sorted(at.items(), key=lambda pair: float(pair[0]))})
            said.table(table)


def take_away(main: Run) -> None:
    """Downloads, the script, the share link."""
    st.header("Take it away", anchor=False)
    record = main.export()
    script = words.script(record)
    left, middle, right = st.columns(3)
    left.download_button("The run as JSON", to_json(record, indent=1), f"{main.name}.json", "application/json", width="stretch")
    middle.download_button("The script", script, f"{main.name}.py", "text/x-python", width="stretch")
    with right.popover("Share link", width="stretch"):
        st.code(
            f"{(st.context.url or '').split('?')[0]}?" + "&".join(f"{name}={value}" for name, value in st.query_params.items()), language=None, wrap_lines=True
        )
        st.caption("Holds data set, algorithm, ε, δ and seed. Whoever opens it sees this result.")
    with st.expander("The script"):
        st.code(script, language="python")


def main() -> None:
    choice = sidebar.choice()
    budget = Budget(epsilon=choice.epsilon, delta=choice.delta, calibration=choice.calibration)
    head = st.container()
    with st.expander("Parameters of the algorithm"):
        given = forms.parameters(choice.algorithm, choice.shape, budget, "explore")
    spec = choice.spec(parameters=given)
    ready = prepare(spec, choice.shape, choice.assumptions)
    guarantee.card(ready.plan, ready.guarantee, choice.delta)  # before the run, for it needs none
    guarantee.attack_link(choice.algorithm)
    st.header("What this ε means", anchor=False)
    guarantee.meaning(ready.plan, choice.delta, "explore.meaning")
    with head:
        place = st.container()
        done = runs.wanted("explore", comparison(spec))
        with place:
            finding(choice, done)
            guarantee.together(done.values(), choice.delta)
            seen.draw(seen.of(choice.algorithm))
        if "main" in done:
            price(done)
    if "main" in done and ready.plan != NOTHING:
        target.draw(choice, given, "explore", rmse(done["main"]))
    if "main" in done and "twin" in done:
        lists(choice, done, given)
        take_away(done["main"])


try:
    main()
except BadInput as error:
    said.error(error)
