"""The one module that uses Streamlit beyond its public functions."""

import ast
from importlib import metadata
from pathlib import Path

import pytest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.testing.v1 import AppTest

from pages.server import streamlit_internals

PAGES = Path(__file__).parents[2] / "pages"
ADAPTER = Path(streamlit_internals.__file__)
# types that annotate what public functions return or take
PUBLIC = {"streamlit.delta_generator", "streamlit.components.v2.types"}


def test_the_internals_were_compared_with_the_installed_streamlit():
    """A new minor version may change internals: compare them, then raise `CHECKED_VERSION`."""
    installed = metadata.version("streamlit").split(".")
    assert ".".join(installed[:2]) == streamlit_internals.CHECKED_VERSION


def internals_imported(path: Path) -> list[str]:
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    modules = [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return [
        name for name in modules if name.startswith("streamlit.") and name not in PUBLIC
    ]


def test_no_other_module_of_the_pages_imports_internals():
    found = {path: internals_imported(path) for path in PAGES.rglob("*.py")}
    assert found.pop(ADAPTER)
    assert not any(found.values())


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (BackMsg(clear_cache=True).SerializeToString(), "clear_cache"),
        (BackMsg(rerun_script={}).SerializeToString(), "rerun_script"),
        (
            BackMsg(
                backend_operation_request={"install_skills": {}}
            ).SerializeToString(),
            "install_skills",
        ),
        (b"\xff", None),
        (b"", None),
        (None, None),
    ],
)
def test_a_message_has_the_name_of_its_kind(frame, kind):
    assert streamlit_internals.client_message(frame) == kind


def page():
    import streamlit as st

    from pages.server import streamlit_internals

    streamlit_internals.end_if_unwanted()
    st.write(f"drawn in {streamlit_internals.session_id()}")
    streamlit_internals.fragment(lambda: st.write("part"), "part.1", None)


def test_a_wanted_page_is_drawn_to_its_end():
    app = AppTest.from_function(page).run()
    assert not app.exception
    first, second = (markdown.value for markdown in app.markdown)
    assert first.removeprefix("drawn in ")
    assert second == "part"


def test_outside_a_page_there_is_no_session():
    assert streamlit_internals.session_id() == ""
    assert not streamlit_internals.is_history_navigation()
    assert streamlit_internals.uploaded_files() == {}
    assert streamlit_internals.state_of("nobody") is None
    assert streamlit_internals.signed_user({}) == {}
