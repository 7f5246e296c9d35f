"""Does hashing protect anyone? Factors in a count sketch, what is claimed for them, and what an attack shows."""

import streamlit as st

from dpmf_core.algorithms.sketch import Sketch
from dpmf_core.audit import AuditSpec
from dpmf_core.canaries import rounded
from dpmf_core.collisions import drawn, vectors
from dpmf_core.errors import BadInput
from dpmf_core.experiment import DataSpec, Run
from dpmf_core.other_roads import ROAD_PRESETS
from dpmf_core.sweeps import Point, summaries
from pages.kit import charts, guarantee, runs, said, seen, sidebar, sketched

FIGURES = {
    "balu-fig3": "Error against the threshold", "balu-fig4": "Divergence against the threshold", "balu-fig1": "Sensitivity to λ", "balu-fig2": "Best λ by size",
}  # fmt: skip
ATTACK = AuditSpec.parse(algorithm="sketch", runs=400, parameters={"rank": 4, "steps": 5, "threshold": 2.0})


def claim(done: dict[str, object]) -> None:
    """The sentence first; then the claim, and why it is none."""
    if "attack" in done:
        found = done["attack"]
        st.title(f"Hashing hides nobody: at the source's ε = 2 an attack shows ε ≥ {rounded(found.lower):.1f}", anchor=False)  # type: ignore[attr-defined]
    else:
        st.title("Does hashing protect anyone?", anchor=False)
    with st.container(border=True):
        given = Sketch().guarantee()
        st.markdown(f'Balu & Furon 2016 write that sketches "{given.claim}". :{guarantee.BADGES[given.status]}-badge[{given.status}]')
        st.write(
            "Their ε is a threshold: ratings that are predicted too badly are passed over, by analogy with drawing from a posterior. Nothing is drawn, "
            "though: given the hashes every step is determined, and the exact ratings that stay enter it without noise. The likelihood that the argument needs "
            "is no distribution once it is cut off, so no ε follows, and none is shown here but an attacker's."
        )
        st.caption(
            f"The attack trains {ATTACK.runs} times on a small simulated world, half of the time with one rating more, and looks at all that is shared; 95% "
            f"confidence, δ = {guarantee.small(ATTACK.delta)}, per rating, add/remove. The threshold is 2, at which the source's ε is 2."
        )
        guarantee.attack_link("sketch")
    seen.draw(seen.SKETCH)


def figure(choice: sidebar.Choice) -> None:
    """One of the source's figures, on the chosen data."""
    which = (
        st.segmented_control("Figure", list(FIGURES), default="balu-fig3", required=True, key="sketch.figure", format_func=FIGURES.__getitem__) or "balu-fig3"
    )
    preset = ROAD_PRESETS[which]
    left, right = st.columns(2)
    rank = left.select_slider("Dimension d", [4, 8, 16, 32], 8, key="sketch.rank", disabled=which == "balu-fig2")
    metric = preset.metric
    if which == "balu-fig4":
        metric = right.selectbox("Measured over", ["kl", "kl_top_users"], key="sketch.metric", format_func=sketched.MEASURES.__getitem__)
    chosen = choice.spec("sketch").data
    points = sketched.points(preset, DataSpec.model_validate(chosen.model_dump()), choice.seed, rank)
    sgld = f"SGLD at ε = {guarantee.loss(choice.epsilon)}, proved step by step"
    beside = [Point(choice.spec("sgld"), sgld, None)] if which == "balu-fig3" else []
    done: dict[str, Run] = runs.wanted("sketch", {point.key: point.spec for point in [*points, *beside]})
    table = sketched.frame([*points, *beside], done, metric)
    if not len(table):
        return
    if which == "balu-fig2":
        best = sketched.best(points, table)
        if len(best):
            charts.show(sketched.best_heat(best), "sketch.best", "Best regulariser by dimension and space gain.", best)
    else:
        alt = f"{sketched.MEASURES[metric]} against the {sketched.AXES[preset.axis]}."
        charts.show(sketched.against(table, preset, metric), f"sketch.{which}", alt, table)
    if all(point.key in done for point in points):
        verdict = preset.judge(summaries(points, done, metric))
        (st.success if verdict.reproduced else st.info)(f"**{preset.source}.** {verdict.words}")
    st.caption(
        "γ: how many times smaller than the factors the sketch is. k: rows of the sketch; with one it is feature hashing. The KL divergence is of the "
        "errors in training from those held out, both taken as normal: the source's measure of how little is learnt by heart (its eq. 19). "
        f"ε of the sidebar is SGLD's. At full size: `python -m dpmf_core sweep --preset {which}`."
    )


def itself() -> None:
    """A sketch that is small enough to be seen."""
    st.header("The sketch itself", anchor=False)
    columns = st.columns(4)
    gamma = columns[0].select_slider("Space gain γ", [0.5, 1.0, 2.0, 4.0, 8.0], 1.0, key="sketch.gamma")
    depth = columns[1].select_slider("Rows k", [1, 2, 4], 2, key="sketch.depth")
    d = columns[2].select_slider("Components d", [2, 3, 4, 6], 3, key="sketch.d")
    vector = columns[3].selectbox("Whose cells", vectors(), key="sketch.vector")
    sketch = drawn(d, depth, gamma)
    beside = sketch.beside(vector)
    st.write(
        f"**{sketch.shared:.0%} of all components share their cell with another.** {vector.capitalize()} shares cells with {len(beside)} of the "
        f"{len(vectors()) - 1} others{': ' + ', '.join(beside) if beside else ''}. What the sketch holds of her is the mean over the rows, with these signs: "
        "others add noise to it, but the same noise every time it is asked for."
    )
    alt = f"{depth} rows of {sketch.width} cells; {sketch.shared:.0%} of the components share a cell."
    charts.show(sketched.table_of_cells(sketch, vector), "sketch.cells", alt, sketched.cells(sketch))


def protects() -> None:
    with st.expander("What a sketch protects against, and what it does not"):
        st.markdown(
            "It makes a model smaller, and what it holds of one person is mixed with what it holds of others. Whoever has the hashes, as the server has, "
            "unmixes as well as the model itself does. It does **not** bound what anybody learns about one rating: collisions are fixed, not random for each "
            "question, and large sketches have few. Sources: R. Balu & T. Furon, *Differentially Private Matrix Factorization using Sketching Techniques*, "
            "IH&MMSec 2016; Z. Liu, Y.-X. Wang & A. Smola, *Fast Differentially Private Matrix Factorization*, RecSys 2015, whose posterior sampling it takes "
            "as its model; M. Charikar, K. Chen & M. Farach-Colton, *Finding Frequent Items in Data Streams*, 2002."
        )


def main() -> None:
    choice = sidebar.choice()
    head = st.container()
    with head:
        claim(runs.wanted("sketch.attack", {"attack": ATTACK}))
    figure(choice)
    itself()
    protects()


try:
    main()
except BadInput as error:
    said.error(error)
