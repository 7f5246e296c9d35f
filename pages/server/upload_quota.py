"""The upload quota, checked before a file is stored: of its session and in total."""

import contextlib
import re
from collections import Counter, OrderedDict
from typing import Any
from uuid import uuid4

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpmf_core.base.errors import BadInput
from dpmf_core.base.settings import WHOSE, settings
from dpmf_datasets import session_files
from pages.server import sessions, streamlit_internals

PATH = re.compile(r".*/_stcore/upload_file/(?P<session>[^/]+)/(?P<file>[^/]+)$")
MB = 1_000_000
HEAD = 8_192  # bytes that contain an uploaded file's name
MOST_REFUSALS = 1_000


_coming = Counter[str]()  # bytes received of unfinished uploads, by session
_refusals: OrderedDict[str, str] = OrderedDict()  # reason by file


def uploaded_by(ident: str) -> int:
    """The bytes of a session's files, uploaded and derived."""
    return _in_memory(ident) + session_files.size(sessions.registry.own_data_of(ident))


def uploaded_in_all() -> int:
    in_memory = sum(
        _in_memory(ident) for ident in list(streamlit_internals.uploaded_files())
    )
    return in_memory + session_files.size()


def _in_memory(ident: str) -> int:
    files = list(streamlit_internals.uploaded_files().get(ident, {}).values())
    return sum(len(file.data) for file in files)


def must_fit(ident: str, size: int) -> None:
    """Raise BadInput if `size` more bytes exceed the session's or the total limit."""
    now = settings()
    own = uploaded_by(ident) + _coming[ident]
    everybody = uploaded_in_all() + sum(_coming.values())
    for amount, most, whose in (
        (own, now.upload_mb_per_session, "One session"),
        (everybody, now.upload_mb_total, "All sessions together"),
    ):
        if amount + size > most * MB:
            raise BadInput(
                f"There is no room for this file of {size / MB:,.1f} MB. {whose} may store"
                f" {most:,} MB, and {amount / MB:,.1f} MB are in use. {WHOSE} Remove an uploaded"
                " file, or upload part of the data."
            )


def must_be_there(file: Any) -> None:
    """Raise BadInput if an upload was refused, with the reason."""
    sentence = _refusals.get(file.file_id)
    if sentence:
        raise BadInput(sentence)


def must_keep(entry: Any) -> None:
    """Keep the data made from a file in this session.

    Remove them and raise BadInput if there is no room or the session has ended.
    """
    try:
        session = _session()
        must_fit(session.id, session_files.size([entry.id]))
    except BadInput:
        session_files.remove(entry)
        raise
    session.own_data[entry.id] = entry


def must_fit_here(size: int) -> None:
    """Raise BadInput if `size` more bytes exceed this session's or the total limit."""
    must_fit(_session().id, size)


def exchange(before: Any, after: Any) -> None:
    """Replace a data set's id; its files stay."""
    session = _session()
    session.own_data.pop(before.id, None)
    session.own_data[after.id] = after


def _session() -> sessions.Session:
    session = sessions.here()
    if session is None:
        raise BadInput(
            "This session has ended. Reload the page and upload the file again."
        )
    return session


class UploadGuard:
    """Refuses uploads beyond the quota without keeping their content."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_put = scope["type"] == "http" and scope["method"] == "PUT"
        match = PATH.match(scope["path"]) if is_put else None
        if match:
            with contextlib.suppress(ClientDisconnect):  # no one is left to answer
                await self._upload(
                    match["session"], match["file"], scope, receive, send
                )
        else:
            await self.app(scope, receive, send)

    async def _upload(
        self, ident: str, file: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        size = Headers(scope=scope).get("content-length", "")
        if not size.isdecimal():
            refusal = PlainTextResponse("The size of an upload must be declared.", 411)
            await refusal(scope, receive, send)
            return
        try:
            must_fit(ident, int(size))
        except BadInput as error:
            await self._refuse(str(error), file, scope, receive, send)
            return
        _refusals.pop(file, None)
        n_arrived = n_counted = 0
        reason = ""

        async def next_piece() -> Message:
            """The next piece, or a disconnect if there is no room left.

            The bytes that arrived count, not those declared: an upload that declares much and sends
            nothing blocks no one.
            """
            nonlocal n_arrived, n_counted, reason
            message = await receive()
            n_arrived += len(message.get("body", b""))
            if n_arrived - n_counted >= MB:
                _coming[ident] += n_arrived - n_counted
                n_counted = n_arrived
                try:
                    must_fit(ident, 0)
                except BadInput as error:
                    reason = str(error)
                    return {"type": "http.disconnect"}
            return message

        try:
            await self.app(scope, next_piece, send)
        except ClientDisconnect:
            if not reason:
                raise
            await PlainTextResponse(reason, 413)(scope, receive, send)
        finally:
            _coming.subtract({ident: n_counted})

    async def _refuse(
        self, sentence: str, file: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Discard the content and pass an empty file on, so that the page can show the reason."""
        head = b""
        length = 0
        most = (int(st.get_option("server.maxUploadSize")) + 1) << 20
        async for piece in Request(scope, receive).stream():
            length += len(piece)
            head += piece[: HEAD - len(head)]
            if length > most:
                await PlainTextResponse(sentence, 413)(scope, receive, send)
                return
        _refusals[file] = sentence
        while len(_refusals) > MOST_REFUSALS:
            _refusals.popitem(last=False)
        await self.app(*_empty(scope, head), send)


def _empty(scope: Scope, head: bytes) -> tuple[Scope, Receive]:
    """The same request with an empty file of the same name.

    The head is its first bytes, with the boundary and the part's header up to an empty line.
    """
    boundary = uuid4().hex
    part_header = head.partition(b"\r\n\r\n")[0].partition(b"\r\n")[2]
    body = b"--%b\r\n%b\r\n\r\n\r\n--%b--\r\n" % (
        boundary.encode(),
        part_header,
        boundary.encode(),
    )
    new_scope = {**scope, "headers": list(scope["headers"])}
    headers = MutableHeaders(scope=new_scope)
    headers["content-length"] = str(len(body))
    headers["content-type"] = f"multipart/form-data; boundary={boundary}"

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return new_scope, receive
