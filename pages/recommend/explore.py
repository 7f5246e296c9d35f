"""What does this algorithm do at this epsilon? One private run in full, beside its non-private twin."""

import pandas as pd
import streamlit as st

from dpmf_core.compare import Comparison, same_draws
from dpmf_core.compare import comparison as compared_with
from dpmf_core.errors import BadInput
from dpmf_core.experiment import Run, prepare
from dpmf_core.privacy import NOTHING, Budget
from dpmf_core.recommend import Suggestion, liked, recommend, someone
from pages.kit import charts, comparison, forms, guarantee, odometer, runs, said, seen, sidebar, takeaway, target
from pages.kit.comparison import beaten, figure, kept, median, rmse, so_far
from pages.kit.findings import weak_twin
from pages.kit.guarantee import loss
from pages.kit.sidebar import Choice

LIST_EPSILONS = (0.5, 1.0, 2.0, 5.0, 10.0)
NO_BETTER = "does no better than guessing the mean"
EVERY = "explore.every"


def finding(choice: Choice, asked: Comparison, done: dict[str, Run]) -> None:
    """The sentence first."""
    if "main" not in done:
        st.title(f"What does ε = {loss(choice.epsilon)} cost?", anchor=False)
        st.write(odometer.unasked("explore"))
        return
    record, private = done["main"].record, rmse(done["main"])
    at = f"At ε = {loss(choice.epsilon)}"
    if record["guarantee"]["status"] == "UNPROVEN":
        at = "With nothing proved"
    elif choice.calibration == "source":
        at = f"At the source's ε = {loss(choice.epsilon)}, truly {guarantee.shown(record['epsilon']['exact'])}"
    draws = same_draws(done, "main", "twin", "trivial")
    if not draws:
        st.title(f"{at}, {record['title']} errs by {private:.3f} in the first draw", anchor=False)
        return
    without = done["twin"].record["title"]
    clause, sentence = beaten(done, asked.runs, "rmse")
    st.title(f"{at}, {record['title']} {kept(draws, without, NO_BETTER)}{so_far(draws, asked.runs)}{clause}", anchor=False)
    what = f"medians and ranges of {len(draws)} draws of split and noise" if len(draws) > 1 else "in this draw of split and noise"
    st.write(
        f"Held-out RMSE {figure(draws, 0)} with privacy, {figure(draws, 1)} without ({without}), {figure(draws, 2)} by guessing the mean: {what}, on "
        f"{choice.entry.title}; {record['split']}.{sentence}"
    )
    if line := weak_twin(done):
        st.warning(line)


def price(asked: Comparison, done: dict[str, Run]) -> None:
    """The primary figure by step, and the methods at this epsilon."""
    left, right = st.columns([3, 2], gap="large")
    with left:
        st.subheader("Error by step", anchor=False)
        st.caption("Computed on raw data, not released. Further draws are faint.")
        lines = comparison.curves(done, {"test_rmse": "held-out", "train_rmse": "train"}, "rmse")
        guessed = same_draws(done, "trivial")
        fig = charts.steps(lines, median(guessed, 0) if guessed else None)
        charts.show(fig, "explore.steps", "Held-out and train RMSE by step, private beside non-private.", lines)
    with right:
        st.subheader(comparison.heading(asked), anchor=False)
        points = comparison.ladder(done, "rmse")
        st.caption(comparison.explanation(asked, done))
        charts.show(charts.ladder(points), "explore.ladder", "Held-out RMSE of each method: " + alt(points), points)
        if choice_of_peers(asked):
            st.toggle("Every private method", key=EVERY, help="Trains all that there are with the same seeds; the slowest take a minute on large data.")


def choice_of_peers(asked: Comparison) -> bool:
    """Whether there are more methods than are shown, or were."""
    return not asked.every or bool(st.session_state.get(EVERY))


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
    user = st.number_input("User", 0, choice.entry.n_users - 1, value=someone(done["main"]), key=f"explore.user.{choice.data}", step=1)
    if user is None:
        st.info("Give a user's number.")
        return
    private, twin = recommend(done["main"], user), recommend(done["twin"], user)
    shared = len({s.item for s in private} & {s.item for s in twin})
    st.write(f"**{shared} of {len(private)} recommendations stay the same with privacy** (✓). Her ratings, at left, are private: this is her own view.")
    lists = {
        "What she rated highest": (liked(done["main"], user), ()),
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


def main() -> None:
    choice = sidebar.choice()
    budget = Budget(epsilon=choice.epsilon, delta=choice.delta, calibration=choice.calibration, noise=choice.noise)
    head = st.container()
    with st.expander("Parameters of the algorithm"):
        given = forms.parameters(choice.algorithm, choice.shape, budget, "explore")
    spec = choice.spec(parameters=given)
    ready = prepare(spec, choice.shape, choice.assumptions)
    guarantee.card(ready.plan, ready.guarantee, choice.delta, public=choice.entry.public)  # before the run, for it needs none
    guarantee.attack_link(choice.algorithm)
    if ready.guarantee.has_epsilon:
        st.header("What this ε means", anchor=False)
        guarantee.meaning(ready.plan, choice.delta, "explore.meaning")
    with head:
        place = st.container()
        asked = compared_with(spec, choice.shape, every=bool(st.session_state.get(EVERY)))
        done = runs.wanted("explore", asked.runs, first=comparison.first_draw(asked))
        with place:
            finding(choice, asked, done)
            seen.draw(seen.of(choice.algorithm))
        if "main" in done:
            price(asked, done)
    if "main" in done and ready.plan != NOTHING and ready.guarantee.has_epsilon:
        target.draw(choice, given, "explore", rmse(done["main"]))
    if "main" in done and "twin" in done:
        lists(choice, done, given)
        takeaway.single(done["main"])


try:
    main()
except BadInput as error:
    said.error(error)
