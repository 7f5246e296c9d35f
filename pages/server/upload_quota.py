"""Quota for uploads: before a file's content is kept the server looks whether there is room for
it, for this session and for all.
"""

import re
from collections import Counter, OrderedDict
from typing import Any
from uuid import uuid4

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpmf_core.base.errors import BadInput
from dpmf_core.base.settings import WHOSE, settings
from dpmf_datasets import session_files
from pages.server import sessions

PATH = re.compile(r".*/_stcore/upload_file/(?P<session>[^/]+)/(?P<file>[^/]+)$")
MB = 1_000_000
HEAD = 8_192  # bytes in which the name of an uploaded file stands
MOST_REFUSALS = 1_000  # refusals

_coming = Counter[str]()  # bytes of unfinished uploads that have arrived, by session
_tables: dict[str, int] = {}  # bytes of the table last read, by session
_refusals: OrderedDict[str, str] = OrderedDict()  # sentence by file


def uploaded_by(ident: str) -> int:
    """Bytes that a session's files take: those uploaded, and those kept of them."""
    return _in_memory(ident) + session_files.size(sessions.registry.own_data_of(ident))


def uploaded_in_all() -> int:
    """Bytes that the files of all sessions take."""
    in_memory = sum(_in_memory(ident) for ident in list(sessions.uploaded_files()))
    return in_memory + session_files.size()


def _in_memory(ident: str) -> int:
    files = list(sessions.uploaded_files().get(ident, {}).values())
    return sum(len(file.data) for file in files) + (_tables.get(ident, 0) if files else 0)


def count_table(size: int) -> None:
    """Count the bytes of the table that was last read in this session, which stays in memory."""
    if (session := sessions.here()) is not None:
        _tables[session.id] = size
    for ident in set(_tables) - set(sessions.uploaded_files()):
        _tables.pop(ident, None)


def must_fit(ident: str, size: int) -> None:
    """Raises BadInput where `size` more bytes exceed what the session or all may upload and
    keep.
    """
    now = settings()
    own, everybody = (
        uploaded_by(ident) + _coming[ident],
        uploaded_in_all() + sum(_coming.values()),
    )
    for amount, most, whose in (
        (own, now.upload_mb_per_session, "One session"),
        (everybody, now.upload_mb_total, "All sessions together"),
    ):
        if amount + size > most * MB:
            raise BadInput(
                f"There is no room for this file of {size / MB:,.1f} MB. {whose} may upload and"
                f" keep {most:,} MB, and {amount / MB:,.1f} MB are taken. {WHOSE} Remove a file"
                " that you brought, or take a part of the data."
            )


def must_be_there(file: Any) -> None:
    """Raises BadInput, the sentence with which an uploaded file was refused."""
    if sentence := _refusals.get(file.file_id):
        raise BadInput(sentence)


def must_keep(entry: Any) -> None:
    """What was made of a file stays, if there is room for it in this session.

    Raises BadInput, and removes it, where there is none or nobody is there.
    """
    try:
        session = _session()
        must_fit(session.id, session_files.size([entry.id]))
    except BadInput:
        session_files.remove(entry)
        raise
    session.own_data[entry.id] = entry


def must_fit_here(size: int) -> None:
    """Raises BadInput where `size` more bytes exceed what this session or all may keep."""
    must_fit(_session().id, size)


def exchange(before: Any, after: Any) -> None:
    """A data set of this session is known by another id, its files where they were."""
    session = _session()
    session.own_data.pop(before.id, None)
    session.own_data[after.id] = after


def _session() -> sessions.Session:
    session = sessions.here()
    if session is None:
        raise BadInput("This session has ended. Open the page anew and bring the file again.")
    return session


class Guard:
    """Refuses uploads beyond the quota without keeping their content."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_put = scope["type"] == "http" and scope["method"] == "PUT"
        match = PATH.match(scope["path"]) if is_put else None
        if match:
            await self._upload(match["session"], match["file"], scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _upload(
        self, ident: str, file: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        size = Headers(scope=scope).get("content-length", "")
        if not size.isdecimal():
            await PlainTextResponse("The size of an upload must be declared.", 411)(
                scope, receive, send
            )
            return
        try:
            must_fit(ident, int(size))
        except BadInput as error:
            await self._refuse(str(error), file, scope, receive, send)
            return
        _refusals.pop(file, None)
        upload = _Upload(ident, receive)
        try:
            await self.app(scope, upload.next_piece, send)
        finally:
            _coming.subtract({ident: upload.n_counted})

    async def _refuse(
        self, sentence: str, file: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """The content is passed over piece by piece; an empty file goes on in its place, so
        that the page is drawn and can say why.
        """
        head, length, most = b"", 0, (int(st.get_option("server.maxUploadSize")) + 1) << 20
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


class _Upload:
    """An upload that takes the room of what has arrived, not of what it declares, so that one that
    declares much and sends nothing keeps nobody else from uploading.
    """

    def __init__(self, ident: str, receive: Receive) -> None:
        self.ident, self._receive, self._arrived, self.n_counted = ident, receive, 0, 0

    async def next_piece(self) -> Message:
        """The next piece, or the end of the connection where there is no room left."""
        message = await self._receive()
        self._arrived += len(message.get("body", b""))
        if self._arrived - self.n_counted >= MB:
            _coming[self.ident] += self._arrived - self.n_counted
            self.n_counted = self._arrived
            try:
                must_fit(self.ident, 0)
            except BadInput:
                return {"type": "http.disconnect"}
        return message


def _empty(scope: Scope, head: bytes) -> tuple[Scope, Receive]:
    """The same request with a file of the same name and no content. head: its first bytes: a
    boundary, and what is said of the file, up to an empty line.
    """
    boundary = uuid4().hex
    part_header = head.partition(b"\r\n\r\n")[0].partition(b"\r\n")[2]
    body = b"--%b\r\n%b\r\n\r\n\r\n--%b--\r\n" % (boundary.encode(), part_header, boundary.encode())
    new_scope = {**scope, "headers": list(scope["headers"])}
    headers = MutableHeaders(scope=new_scope)
    headers["content-length"], headers["content-type"] = (
        str(len(body)),
        f"multipart/form-data; boundary={boundary}",
    )

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return new_scope, receive
