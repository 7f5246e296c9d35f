"""Uploads beyond the quota are refused before parsing; uploads end with their session."""

import asyncio
import io
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.uploaded_file_manager import UploadedFileRec

from dpmf_core.base.errors import BadInput
from dpmf_datasets import session_files
from pages.server import sessions, streamlit_internals, upload_quota
from pages.server.sessions import GONE, Session, Sessions

MB = 1_000_000


@pytest.fixture
def storage(monkeypatch, configure):
    """Streamlit's own keeper of uploads, with a quota of 3 MB a session and 5 MB in all."""
    configure(upload_mb_per_session=3, upload_mb_total=5)
    manager = MemoryUploadedFileManager("/_stcore/upload_file")
    monkeypatch.setattr(
        streamlit_internals, "uploaded_files", lambda: manager.file_storage
    )
    monkeypatch.setattr(sessions, "registry", Sessions(lambda ident: True))
    return manager


@pytest.fixture
def send(storage):
    """send(session, file, bytes): an upload through the guard to an endpoint like Streamlit's."""

    async def put(request):
        form = await request.form()
        (file,) = form.values()
        assert not isinstance(file, str)
        storage.add_file(
            request.path_params["session"],
            UploadedFileRec(
                request.path_params["file"], file.filename or "", "", await file.read()
            ),
        )
        return Response(status_code=204)

    app = Starlette(
        routes=[Route("/_stcore/upload_file/{session}/{file}", put, methods=["PUT"])],
        middleware=[Middleware(upload_quota.UploadGuard)],
    )
    client = TestClient(app)

    def send_file(session, file, size):
        return client.put(
            f"/_stcore/upload_file/{session}/{file}",
            files={"file": ("big.csv", io.BytesIO(b"x" * size))},
        )

    return send_file


def must_be_there(file_id):
    """As a page asks for what it gets from the uploader."""
    upload_quota.must_be_there(SimpleNamespace(file_id=file_id, name="big.csv"))


def test_a_session_that_has_its_share_is_refused_in_a_sentence(storage, send):
    assert send("ada", "one", 2 * MB).status_code == 204
    must_be_there("one")
    # the page is drawn, and says why there is nothing
    assert send("ada", "two", 2 * MB).status_code == 204
    record = storage.file_storage["ada"]["two"]
    assert record.name == "big.csv"
    assert len(record.data) == 0
    with pytest.raises(BadInput):
        must_be_there("two")
    assert upload_quota.uploaded_by("ada") == 2 * MB
    assert send("bob", "three", 2 * MB).status_code == 204
    must_be_there("three")


def test_all_sessions_together_have_an_end(storage, send):
    for name in ("ada", "bob", "eve"):
        send(name, f"of-{name}", 2 * MB)
    with pytest.raises(BadInput):
        must_be_there("of-eve")
    assert upload_quota.uploaded_in_all() == 4 * MB


@pytest.mark.usefixtures("storage")
def test_idle_uploads_take_no_room_and_one_that_outgrows_it_is_refused():
    received = {}
    answers = []

    async def keeper(scope, receive, send):
        """As Streamlit: reads an upload to its end."""
        kinds = received.setdefault(scope["path"], [])
        while not kinds or kinds[-1] == "http.request":
            message = await receive()
            kinds.append(
                "done" if message.get("more_body") is False else message["type"]
            )
        if kinds[-1] == "http.disconnect":
            raise ClientDisconnect

    async def drive():
        leaving = asyncio.Event()
        queue = asyncio.Queue[Any]()

        async def silence():
            await leaving.wait()
            return {"type": "http.disconnect"}

        async def answered(message):
            answers.append(message.get("status"))

        def upload(session, receive):
            scope = {
                "type": "http",
                "method": "PUT",
                "path": f"/_stcore/upload_file/{session}/file",
                "headers": [(b"content-length", b"%d" % (3 * MB))],
            }
            return asyncio.create_task(
                upload_quota.UploadGuard(keeper)(scope, receive, answered)
            )

        idle = [upload(f"hostile-{number}", silence) for number in range(7)]
        first = upload("ada", queue.get)
        second = upload("bob", queue.get)
        for _ in range(3):
            for _ in (first, second):
                await queue.put(
                    {
                        "type": "http.request",
                        "body": b"x" * MB,
                        "more_body": True,
                    }
                )
        await queue.put(
            {
                "type": "http.request",
                "body": b"",
                "more_body": False,
            }
        )
        await asyncio.wait([first, second])
        leaving.set()
        await asyncio.gather(first, second, *idle)  # none of them fails

    asyncio.run(drive())
    ends = sorted(
        kinds[-1] for path, kinds in received.items() if "hostile" not in path
    )
    assert ends == ["done", "http.disconnect"]  # six megabytes, where five have room
    assert [status for status in answers if status] == [413]
    assert not upload_quota._coming.total()


def test_an_upload_of_no_declared_size_is_refused(send):
    app = Starlette(middleware=[Middleware(upload_quota.UploadGuard)])
    answer = TestClient(app).put(
        "/_stcore/upload_file/ada/one", content=iter([b"x" * 1000])
    )
    assert answer.status_code == 411
    assert "must be declared" in answer.text


def brought():
    rows = [f"p{u},thing {i},{1 + (u * i) % 5}" for u in range(30) for i in range(12)]
    content = "\n".join(["user,item,rating", *rows]).encode()
    return session_files.read(content, "mine.csv", {"bounds": "1,5"})


@pytest.fixture
def upload(storage):
    return brought()


def test_what_was_made_of_a_file_counts_too(storage, upload, monkeypatch):
    monkeypatch.setattr(sessions, "this", lambda: "ada")
    upload_quota.must_keep(upload.entry)
    size = session_files.size([upload.entry.id])
    assert size > 0
    assert upload_quota.uploaded_by("ada") == size == session_files.size()
    storage.add_file("ada", UploadedFileRec("one", "a", "", b"x" * 3 * MB))
    with pytest.raises(BadInput, match="no room"):
        upload_quota.must_keep(brought().entry)
    assert session_files.size() == size  # it has gone again


def test_what_is_read_after_its_session_has_ended_does_not_stay(upload, monkeypatch):
    registry = Sessions(lambda ident: False, clock=iter((0.0, 0.0, GONE)).__next__)
    monkeypatch.setattr(sessions, "registry", registry)
    sessions.here()
    registry.look()
    registry.look()
    with pytest.raises(BadInput, match="session has ended"):
        upload_quota.must_keep(upload.entry)
    assert session_files.size() == 0


def test_the_files_of_an_ended_session_go_with_what_was_opened_of_them(upload):
    from dpmf_core.runs import data_access
    from dpmf_core.runs.specification import DataSpec

    data_access.forget()
    data_access.open_data(DataSpec(id=upload.entry.id))
    assert data_access._raw.cache_info().currsize == 1
    sessions.release([Session("ada", own_data={upload.entry.id: upload.entry})])
    assert session_files.size() == 0
    assert session_files.origins() == frozenset()
    assert data_access._raw.cache_info().currsize == 0
