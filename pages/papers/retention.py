"""How the method of Vallet et al. 2014 works: what each variant keeps, and a small stream."""

import pandas as pd
import streamlit as st

from dpmf_core.teaching.subpoena import IN_TRANSIT, MEMORY, MOMENTS, at_rest, stream
from pages.kit import safe_text, who_sees_what


def draw() -> None:
    st.info(
        "**No differential privacy, and no ε.** This limits what a thief, a court or a curious"
        " employee finds on the server. It does not limit what the item factors, or other people's"
        " recommendations, reveal: they learn exactly from every rating.",
        icon=":material/info:",
    )
    st.subheader("What is kept, where and for how long", anchor=False)
    rows = [(name, it.what, it.where, it.how_long) for name, its in MEMORY.items() for it in its]
    columns = ["variant", "what", "where", "how long"]
    safe_text.words_table(pd.DataFrame(rows, columns=columns))
    st.subheader("What would a subpoena get, and what a wiretap?", anchor=False)
    exposed = [(name, ", ".join(at_rest(name)), message) for name, message in IN_TRANSIT.items()]
    columns = ["variant", "a subpoena gets, at rest", "a wiretap gets, of one interaction"]
    safe_text.words_table(pd.DataFrame(exposed, columns=columns))
    st.caption(
        "The paper's claim is about storage: neither ratings nor user vectors stay on the server"
        " (abstract), so a subpoena finds only item factors and item biases. In return, users"
        " without a stored profile send all their ratings each time, and one tapped interaction"
        " reveals them. The paper says so itself (section 5), and that a wiretap has to be"
        " activated. A server that keeps ratings receives only the new one. Recommendations are"
        " sent in every variant."
    )
    moment = stream()[st.slider("Moment", 1, MOMENTS, 1, key="papers.moment") - 1]
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
        "Four people, six items, three numbers each, and a sum and a count for each item's bias. In"
        f" variant rated the item factors moved by {moment.item_move:.3f}: they remember something."
    )
    who_sees_what.draw(who_sees_what.RETENTION)
