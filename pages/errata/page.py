"""What does not hold in the sources?

Every correction with its size; one of them is opened, and both figures are computed on request.
"""

import pandas as pd
import streamlit as st

from dpmf_core.errors import BadInput
from dpmf_core.papers.errata.erratum import Attack, Comparison, Effect, Erratum
from dpmf_core.papers.errata.registry import ERRATA
from pages.kit import links, safe_text
from pages.kit.runs import ask

EVERY = "every source"
COLOURS = {
    Effect.LESS_PRIVATE: "orange",
    Effect.MORE_PRIVATE: "green",
    Effect.UNPROVEN: "red",
    Effect.MISPRINT: "gray",
    Effect.MEANINGS: "blue",
}


def headline() -> None:
    """How many corrections there are, and what they are not."""
    sources = {erratum.source for erratum in ERRATA.values()}
    st.title(f"{len(ERRATA)} corrections to {len(sources)} sources", anchor=False)
    st.write(
        "Everything here is built on these sources, so they were read line by line. This is what"
        " does not hold as printed, and by how much: each figure is computed from the source's own"
        " formula, or measured on its method. A correction says what an ε means; what the papers"
        " found about accuracy is judged on the page Papers. Several are in the sources' favour."
    )


def errata_of(source: str) -> list[Erratum]:
    """The corrections of one source or all."""
    return [it for it in ERRATA.values() if source in (EVERY, it.source)]


def overview(errata: list[Erratum]) -> None:
    """Source, what, and how large."""
    wide = {
        "source": 190,
        "correction": 390,
        "as stated": 130,
        "what holds": 150,
        "so it is": 200,
    }
    safe_text.table(
        pd.DataFrame(_row(it) for it in errata),
        column_config={
            name: st.column_config.TextColumn(width=width) for name, width in wide.items()
        },
        height="content",
    )


def _row(erratum: Erratum) -> dict[str, str]:
    source_figure, holds = erratum.figures
    return {
        "source": erratum.source,
        "correction": erratum.title,
        "as stated": source_figure,
        "what holds": holds,
        "so it is": str(erratum.effect),
    }


def draw_erratum(erratum: Erratum) -> None:
    """One correction: both statements, both figures, and the button that computes them."""
    st.header(erratum.title, anchor=False)
    st.markdown(
        f"{erratum.source}, {erratum.place} &nbsp;"
        f" :{COLOURS[erratum.effect]}-badge[{erratum.effect}]"
    )
    source_figure, holds = erratum.figures
    for column, name, text, figure in zip(
        st.columns(2, gap="large"),
        ("As stated", "What holds"),
        (erratum.statement, erratum.holds),
        (source_figure, holds),
        strict=True,
    ):
        with column, st.container(border=True):
            st.metric(name, figure)
            st.write(safe_text.escape(text))
    compute(erratum)
    st.caption(f'Derivation: docs/PRIVACY.md, "Corrections of the sources", "{erratum.section}".')
    onward(erratum)


def compute(erratum: Erratum) -> None:
    """The button, and what it found."""
    key = f"errata.compute.{erratum.id}"
    label = "Run the attack" if isinstance(erratum.means, Attack) else "Compute both"
    if st.button(label, type="primary", key=key, icon=":material/calculate:"):
        st.session_state["errata.asked"] = erratum.id
    st.caption(erratum.settings)
    if st.session_state.get("errata.asked") != erratum.id:
        return
    if not isinstance(erratum.means, Attack):
        with st.spinner("Computing both"):
            readings(erratum.compare())
        return
    audits = ask("errata", {"audit": erratum.means.spec}, by_button=True)
    if "audit" in audits:
        readings(erratum.means.read(audits["audit"]))


def readings(comparison: Comparison) -> None:
    """Every figure of a comparison with its name."""
    safe_text.table(
        pd.DataFrame({"figure": it.text, "what it is": it.name} for it in comparison.readings),
        column_config={
            "figure": st.column_config.TextColumn(width=180),
            "what it is": st.column_config.TextColumn(width=620),
        },
    )


def onward(erratum: Erratum) -> None:
    """Where to go on from here."""
    if isinstance(erratum.means, Attack):
        spec = erratum.means.spec
        settings = {"attack": spec.algorithm, "fault": spec.fault}
        links.to("audit", "Attack it with other settings on the Audit page", settings)
    elif erratum.effect in (Effect.LESS_PRIVATE, Effect.MORE_PRIVATE):
        links.to("accountant", "Account the sources' noise at another ε", {"from": "claim"})
    links.to("papers", "What the sources found, measured again", {})


def main() -> None:
    headline()
    sources = [EVERY, *dict.fromkeys(it.source for it in ERRATA.values())]
    source = st.selectbox("Source", sources, key="errata.source")
    errata = errata_of(source)
    overview(errata)
    names = {it.id: f"{it.source}: {it.title}" for it in errata}
    address_id = st.query_params.get("erratum", "")
    start = list(names).index(address_id) if address_id in names else 0
    erratum_id = st.selectbox(
        "One correction", list(names), start, names.__getitem__, key=f"errata.one.{source}"
    )
    if erratum_id:
        links.put_in_address({"erratum": erratum_id})
        draw_erratum(ERRATA[erratum_id])


try:
    main()
except BadInput as error:
    safe_text.error(error)
