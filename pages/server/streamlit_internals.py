"""What the server uses of Streamlit beyond its public functions, all of it here.

A new version of Streamlit may change any of it without notice. `CHECKED_VERSION` is the last one
for which each function here was compared with Streamlit's source.
"""

import json
import logging
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import streamlit as st
from google.protobuf.message import DecodeError
from streamlit.auth_util import encode_provider_token
from streamlit.components.v2.get_bidi_component_manager import (
    get_bidi_component_manager,
)
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state import SessionState
from streamlit.web.server.starlette.starlette_app_utils import decode_xsrf_token_string
from streamlit.web.server.starlette.starlette_server_config import (
    USER_COOKIE_NAME,
    XSRF_COOKIE_NAME,
)
from streamlit.web.server.starlette.starlette_websocket import (
    _get_signed_cookie_with_chunks,
)

__all__ = ["SessionState"]
CHECKED_VERSION = "1.67"
NO_VALUE = "internals.none"  # a key that is never set
MASKED_TOKEN = re.compile(r"2\|[0-9a-f]{8}\|(?:[0-9a-f]{2})+\|[0-9]{1,12}")


# ---- sessions ------------------------------------------------------------------------------------


def session_id() -> str:
    """The id of the session whose page is drawn; '' if there is none."""
    context = get_script_run_ctx()
    if context is None:
        return ""
    return context.session_id


def is_history_navigation() -> bool:
    """Whether the browser's back or forward button led to the page that is drawn."""
    context = get_script_run_ctx()
    return context is not None and context.is_history_navigation


def is_connected(ident: str) -> bool:
    """Whether a session's browser is connected."""
    return Runtime.exists() and Runtime.instance().is_active_session(ident)


def state_of(ident: str) -> SessionState | None:
    """The state of a session; None if Streamlit does not have it."""
    if not Runtime.exists():
        return None
    session = Runtime.instance().get_app_session(ident)
    if session is None:
        return None
    return session.session_state


def close(ident: str) -> None:
    """Close a session and remove its uploaded files."""
    runtime = Runtime.instance()
    runtime.close_session(ident)
    runtime.uploaded_file_mgr.remove_session_files(ident)


def uploaded_files() -> dict[str, dict[str, Any]]:
    """The uploaded files by session and file."""
    if not Runtime.exists():
        return {}
    files: dict[str, dict[str, Any]] = getattr(
        Runtime.instance().uploaded_file_mgr, "file_storage", {}
    )
    return files


# ---- scripts -------------------------------------------------------------------------------------


def end_if_unwanted() -> None:
    """End this script's thread, by an exception, if the browser has asked for another drawing.

    Streamlit checks that at each access to the session's state, and nowhere else while it waits.
    """
    st.session_state.get(NO_VALUE)


def fragment(draw: Callable[[], None], name: str, every: float | None) -> None:
    """Draw now and every `every` seconds, in a fragment of this name.

    Each drawing must use names of its own. A browser's request for a fragment may arrive just after
    a drawing has ended. It then starts another script, and Streamlit drops what the first one still
    has to send, so the page would freeze. Requests for fragments that no longer exist are ignored.
    """

    def draw_fragment() -> None:
        draw()

    draw_fragment.__qualname__ = name  # from which Streamlit makes the fragment's id
    st.fragment(draw_fragment, run_every=every)()


# at level info, Streamlit logs every request for a fragment that no longer exists
logging.getLogger("streamlit.runtime.app_session").setLevel(logging.WARNING)


# ---- what a browser sends ------------------------------------------------------------------------


def browser_token() -> bytes | None:
    """What the cookie against forged requests masks, the same in all tabs of a browser."""
    cookie = st.context.cookies.get(XSRF_COOKIE_NAME)
    # Streamlit would decode any other text as a token of its first version
    if not isinstance(cookie, str) or not MASKED_TOKEN.fullmatch(cookie.strip('"')):
        return None
    token, _ = decode_xsrf_token_string(cookie)
    return token or b""


def signed_user(cookies: Mapping[str, str]) -> dict[str, Any]:
    """What the cookie that Streamlit signs after a login says; empty without one."""
    text = _get_signed_cookie_with_chunks(dict(cookies), USER_COOKIE_NAME)
    user: dict[str, Any] = {} if text is None else json.loads(text)
    return user


def login_token() -> str:
    """The parameter with which `/auth/login` begins a login."""
    return encode_provider_token("default")


def client_message(frame: bytes | None) -> str | None:
    """The kind of a browser's message over its websocket; None for an unreadable one."""
    if not frame:
        return None
    try:
        request = BackMsg.FromString(frame)
    except DecodeError:
        return None  # Streamlit closes such a connection
    kind: str | None = request.WhichOneof("type")
    if kind == "backend_operation_request":
        kind = request.backend_operation_request.WhichOneof("payload")
    return kind


# ---- components ----------------------------------------------------------------------------------


def declare_component(project: str, version: str, parent: Path, folder: str) -> None:
    """Declare a folder of scripts and styles to this runtime, once.

    Streamlit finds such folders by itself only in manifests of installed packages.
    """
    manager = get_bidi_component_manager()
    if manager.get_component_asset_root(f"{project}.{folder}") is not None:
        return
    config = ComponentConfig(name=folder, asset_dir=folder)
    manager.register_from_manifest(
        ComponentManifest(project, version, components=[config]), parent
    )
