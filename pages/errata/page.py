"""What does not hold in the sources?

Every correction with its size; one of them is opened, and both figures are computed on request.
"""

import pandas as pd
import streamlit as st

from dpmf_core.errors import BadInput
from dpmf_core.papers.erratum import Attack, Comparison, Erratum, Status
from dpmf_core.papers.registry import ERRATA
from pages.kit import links, safe_text
from pages.kit.runs import ask

EVERY = "every source"
COLOURS = {
    Status.ERROR: "orange",
    Status.AMBIGUOUS: "blue",
    Status.LOOSE: "green",
    Status.CONCEDED: "gray",
}
# columns of the list, with their widths
WIDE = {
    "source": 190,
    "correction": 390,
    "as stated": 130,
    "what holds": 150,
    "so it is": 200,
}


def _columns(wide: dict[str, int]) -> dict[str, object]:
    return {name: st.column_config.TextColumn(width=width) for name, width in wide.items()}


def overview(errata: list[Erratum]) -> None:
    """Source, what, and how large."""
    rows = [(it.source, it.title, *it.figures, str(it.status)) for it in errata]
    table = pd.DataFrame(rows, columns=list(WIDE))
    safe_text.table(table, column_config=_columns(WIDE), height="content")


def draw_erratum(erratum: Erratum) -> None:
    """One correction: both statements, both figures, and the button that computes them."""
    st.header(erratum.title, anchor=False)
    badge = f":{COLOURS[erratum.status]}-badge[{erratum.status}]"
    st.markdown(f"{erratum.source}, {erratum.place} &nbsp; {badge}")
    for column, name, text, figure in zip(
        st.columns(2, gap="large"),
        ("As stated", "What holds"),
        (erratum.statement, erratum.holds),
        erratum.figures,
        strict=True,
    ):
        with column, st.container(border=True):
            st.metric(name, figure)
            st.write(safe_text.escape(text))
    compute(erratum)
    st.caption(f'Derivation: docs/PRIVACY.md, "Corrections of the sources", "{erratum.section}".')
    if isinstance(erratum.means, Attack):
        spec = erratum.means.spec
        settings = {"attack": spec.algorithm, "fault": spec.fault}
        links.to("audit", "Attack it with other settings on the Audit page", settings)
    elif "ε" in erratum.figures[0]:
        links.to("accountant", "Account the sources' noise at another ε", {"from": "claim"})
    links.to("papers", "What the sources found, measured again", {})


def compute(erratum: Erratum) -> None:
    """The button, and what it found."""
    label = "Run the attack" if isinstance(erratum.means, Attack) else "Compute both"
    key = f"errata.compute.{erratum.id}"
    if st.button(label, type="primary", key=key, icon=":material/calculate:"):
        st.session_state["errata.asked"] = erratum.id
    st.caption(erratum.settings)
    if st.session_state.get("errata.asked") != erratum.id:
        return
    if isinstance(erratum.means, Attack):
        audits = ask("errata", {"audit": erratum.means.spec}, by_button=True)
        if "audit" in audits:
            readings(erratum.means.read(audits["audit"]))
        return
    with st.spinner("Computing both"):
        readings(erratum.compare())


def readings(comparison: Comparison) -> None:
    """Every figure of a comparison with its name."""
    rows = [(it.text, it.name) for it in comparison.readings]
    wide = {"figure": 180, "what it is": 620}
    safe_text.table(pd.DataFrame(rows, columns=list(wide)), column_config=_columns(wide))


def main() -> None:
    sources = list(dict.fromkeys(it.source for it in ERRATA.values()))
    st.title(f"{len(ERRATA)} corrections to {len(sources)} sources", anchor=False)
    st.write(
        "Everything here is built on these sources, so we read them line by line. This page lists"
        " what does not hold as printed, and by how much. Each figure is computed from the source's"
        " own formula, or measured on its method. A correction says what an ε means; Papers judges"
        " what the sources found about accuracy. Several corrections are in the sources' favour."
    )
    source = st.selectbox("Source", [EVERY, *sources], key="errata.source")
    errata = [it for it in ERRATA.values() if source in (EVERY, it.source)]
    overview(errata)
    names = {it.id: f"{it.source}: {it.title}" for it in errata}
    ids, address_id = list(names), st.query_params.get("erratum", "")
    start = ids.index(address_id) if address_id in ids else 0
    key = f"errata.one.{source}"
    erratum_id = st.selectbox("One correction", ids, start, names.__getitem__, key=key)
    if erratum_id:
        links.put_in_address({"erratum": erratum_id})
        draw_erratum(ERRATA[erratum_id])


try:
    main()
except BadInput as error:
    safe_text.error(error)
