"""The Sketch page: the claim in quotation marks and no epsilon of ours, the figures, the sketch
itself.
"""

import pytest
from streamlit.testing.v1 import AppTest

from dpmf_core.teaching.sketch_collisions import sketch_layout
from tests.pages.driving import behind_sidebar, settled

SCRIPT = behind_sidebar("sketch/page.py")


def page() -> AppTest:
    app = AppTest.from_string(SCRIPT, default_timeout=120)
    app.query_params["data"] = "cinema-small"
    return app


@pytest.mark.slow
def test_the_claim_is_quoted_and_contradicted() -> None:
    app = settled(page())
    assert float(app.title[0].value.rsplit("≥", 1)[1]) > 2
    assert any("Fig. 3" in it.value for it in (*app.success, *app.warning))


def test_the_sketch_that_is_drawn_is_the_one_that_is_told_of() -> None:
    app = settled(page())
    app.select_slider(key="sketch.gamma").set_value(4.0)
    app.selectbox(key="sketch.vector").set_value("item 2")
    settled(app)
    sketch = sketch_layout(3, 2, 4.0)
    (text,) = [it.value for it in app.markdown if "share their cell" in it.value]
    assert text.startswith(f"**{sketch.shared:.0%} of all components")
    assert f"{len(sketch.beside('item 2'))} of the 11 others" in text
