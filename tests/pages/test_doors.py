"""The server answers to its own names and pages alone and does not start open by mistake."""

import base64
import hashlib
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient, WebSocketDenialResponse
from starlette.websockets import WebSocketDisconnect
from streamlit.proto.BackMsg_pb2 import BackMsg

from dpmf_core.base.errors import BadInput
from dpmf_core.base.settings import Settings, read
from pages.server.doors import (
    FULL,
    HostGuard,
    most_streams,
    names_at,
    policy,
    proxy_warning,
)
from tests.support.engines import WAIT

ROOT = Path(__file__).parents[2]
HERE = "127.0.0.1:8501"
OURS = (
    "127.0.0.1:8501",
    "localhost:8501",
    "[::1]:8501",
    "127.0.0.1",
    "localhost",
    "LOCALHOST:80",
    "dpmf.example.org",
    "dpmf.example.org:443",
    "DPMF.example.org.",
)
FOREIGN = (
    "evil.example",
    "evil.example:8501",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil.example:8501@localhost",
    "localhost@evil.example",
    "",
    "xdpmf.example.org",
    "dpmf.example.org.evil.example",
    "192.0.2.2:8501",
    "0.0.0.0:8501",
    "[::]:8501",
    "localhost:x",
    "localhost/evil",
    "[::1",
    "localhost#x",
)
BAD_ORIGINS = (
    "http://evil.example",
    "http://localhost:3000",
    "null",
    "",
    "file://",
    "http://[evil",
    "https://127.0.0.1:8501.evil.example",
    "http://evil.example@127.0.0.1:8501",
)


async def _echo(websocket):
    await websocket.accept()
    await websocket.send_text(f"ours{websocket.headers.get('origin', '')}")
    await websocket.close()


async def _heard(websocket):
    """Say which frames have come."""
    await websocket.accept()
    async for frame in websocket.iter_bytes():
        await websocket.send_text(str(BackMsg.FromString(frame).WhichOneof("type")))


def _server(names=frozenset(), metrics="", **options):
    def answer(request):
        return PlainTextResponse(f"ours{request.headers.get('origin', '')}")

    routes = [
        WebSocketRoute("/_stcore/stream", _echo),
        WebSocketRoute("/heard", _heard),
        Route("/{path:path}", answer, methods=["GET", "POST", "OPTIONS"]),
    ]
    now = Settings(metrics=metrics)
    return TestClient(
        Starlette(
            routes=routes, middleware=[Middleware(HostGuard, names, now, **options)]
        ),
        base_url=f"http://{HERE}",
    )


@pytest.fixture(scope="module")
def server():
    with _server({"dpmf.example.org"}) as client:
        yield client


def _stream(server, **headers):
    """What a websocket gets: its first message, or the refusal with its status."""
    try:
        with server.websocket_connect("/_stcore/stream", headers=headers) as socket:
            return socket.receive_text()
    except WebSocketDenialResponse as refused:
        return f"{refused.status_code} {refused.text}"


@pytest.mark.parametrize("host", OURS)
def test_the_names_of_this_server_are_answered(server, host):
    assert server.get("/", headers={"host": host}).text == "ours"
    assert _stream(server, host=host) == "ours"


@pytest.mark.parametrize("host", FOREIGN)
def test_another_name_gets_a_sentence_and_nothing_else(server, host):
    answer = server.get("/_stcore/health", headers={"host": host})
    assert answer.status_code == 400
    assert f"{host!r}" in answer.text
    assert "DPMF_HOSTS" in answer.text


@pytest.mark.parametrize("origin", BAD_ORIGINS)
def test_a_page_of_another_origin_is_refused(server, origin):
    assert (
        server.post("/_stcore/upload_file", headers={"origin": origin}).status_code
        == 403
    )


def test_pages_of_this_server_are_accepted(server):
    """Streamlit compares a websocket's origin with the cookie, so the guard leaves it."""
    assert (
        server.post("/_stcore/upload_file", headers={"origin": f"http://{HERE}"}).text
        == "ours"
    )
    assert (
        _stream(
            server,
            host=HERE,
            origin=f"http://{HERE}",
        )
        == f"ourshttp://{HERE}"
    )
    assert (
        _stream(
            server,
            host="dpmf.example.org",
            origin="https://dpmf.example.org",
        )
        == "ourshttps://dpmf.example.org"
    )


@pytest.mark.parametrize(
    "path",
    [
        "/_stcore/metrics",
        "/_stcore/metrics/",
        "/_stcore/%6detrics",
        "/base/_stcore/metrics",
        "/_stcore/metrics?families=x",
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_metrics_are_closed_until_the_operator_opens_them(server, path, method):
    assert server.request(method, path).status_code == 404
    assert _server(metrics="open").request(method, path).status_code in (200, 405)


def test_every_answer_tells_browsers_how_far_to_trust_it(server):
    for answer in (
        server.get("/"),
        server.get("/", headers={"host": "evil.example"}),
        server.get("/_stcore/metrics"),
    ):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert "frame-ancestors 'self'" in answer.headers[
            "content-security-policy"
        ].split("; ")
        assert "'unsafe-eval'" not in answer.headers["content-security-policy"]
    headers = server.get("/media/0123.html").headers
    assert headers["content-security-policy"].endswith("sandbox")
    assert headers["cache-control"] == "no-store"  # it may be private
    assert "frame-ancestors 'self' https://course.example.org" in policy(
        ("https://course.example.org",)
    )


FOR_DEVELOPERS = [
    BackMsg(clear_cache=True),
    BackMsg(set_run_on_save=True),
    BackMsg(load_git_info=True),
    BackMsg(debug_shutdown_runtime=True),
    BackMsg(backend_operation_request={"install_skills": {}}),
    BackMsg(backend_operation_request={"dismiss_skills_nudge": {}}),
]
FOR_VISITORS = {
    "rerun_script": BackMsg(rerun_script={}),
    "stop_script": BackMsg(stop_script=True),
    "backend_operation_request": BackMsg(
        backend_operation_request={"deferred_file": {"file_id": "1"}}
    ),
}


def test_frames_for_developers_do_not_reach_streamlit(server):
    with server.websocket_connect("/heard", headers={"host": HERE}) as socket:
        for frame in [*FOR_DEVELOPERS, *FOR_VISITORS.values()]:
            socket.send_bytes(frame.SerializeToString())
        assert [socket.receive_text() for _ in FOR_VISITORS] == list(FOR_VISITORS)


def test_a_full_server_refuses_and_says_so_once(caplog):
    with _server(most_streams=1) as server:
        with server.websocket_connect("/heard", headers={"host": HERE}):
            for _ in range(2):
                with pytest.raises(WebSocketDisconnect) as refused:
                    _stream(server, host=HERE)
                assert refused.value.code == FULL
        assert _stream(server, host=HERE) == "ours"
    assert len(caplog.records) == 1


@pytest.mark.parametrize(
    ("allowed", "expected"),
    [((1024, 4096), 960), ((1024, 10**6), 16_320), ((512, 512), 64)],
)
def test_descriptors_are_raised_as_far_as_the_system_allows(
    monkeypatch, allowed, expected
):
    monkeypatch.setattr(resource, "getrlimit", lambda kind: allowed)
    monkeypatch.setattr(resource, "setrlimit", lambda kind, limits: None)
    assert most_streams() == expected


def test_a_server_with_too_few_descriptors_does_not_start(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (256, 256))
    with pytest.raises(BadInput):
        most_streams()


def test_of_inline_scripts_those_of_streamlits_page_alone_run(tmp_path):
    page = tmp_path / "index.html"
    page.write_text("<script>ours()</script><script src='x.js'></script>")
    ours = base64.b64encode(hashlib.sha256(b"ours()").digest()).decode()
    assert f"script-src 'self' 'wasm-unsafe-eval' 'sha256-{ours}'" in policy(
        page=page
    ).split("; ")


def test_the_operators_settings(monkeypatch):
    monkeypatch.setenv("DPMF_HOSTS", " dpmf.example.org, Other.example.org ,")
    monkeypatch.setenv("DPMF_EMBED_IN", "https://course.example.org")
    monkeypatch.setenv("DPMF_OPEN", "on-purpose")
    now = read()
    assert names_at(now, None, login=False) == {"dpmf.example.org", "other.example.org"}
    assert now.embed_in == ("https://course.example.org",)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("DPMF_HOSTS", "https://dpmf.example.org"),
        ("DPMF_HOSTS", "dpmf.example.org:443"),
        ("DPMF_HOSTS", "*"),
        ("DPMF_HOSTS", "a b"),
        ("DPMF_HOSTS", "-dpmf.example.org"),
        ("DPMF_EMBED_IN", "course.example.org"),
        ("DPMF_EMBED_IN", "https://course.example.org/page"),
        ("DPMF_EMBED_IN", "*"),
        ("DPMF_EMBED_IN", "https://a; script-src *"),
        ("DPMF_OPEN", "yes"),
        ("DPMF_METRICS", "1"),
    ],
)
def test_a_setting_that_is_not_understood_is_refused(variable, value, monkeypatch):
    monkeypatch.setenv(variable, value)
    with pytest.raises(BadInput, match=variable):
        read()


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_on_loopback_nobody_has_to_log_in(address):
    assert not names_at(Settings(), address, login=False)


@pytest.mark.parametrize(
    "address", [None, "0.0.0.0", "::", "192.0.2.2", "dpmf.example.org", ""]
)
def test_elsewhere_there_is_a_login_or_a_purpose(address):
    with pytest.raises(BadInput, match="DPMF_OPEN=on-purpose"):
        names_at(Settings(), address, login=False)
    # a named address is a name of the server
    named = {address} if address in ("192.0.2.2", "dpmf.example.org") else set()
    for now, login in ((Settings(), True), (Settings(open="on-purpose"), False)):
        assert names_at(now, address, login) == named


@pytest.mark.parametrize("address", [None, "0.0.0.0", "::", "192.0.2.2"])
def test_a_port_that_others_can_reach_needs_a_proxy(address):
    warning = proxy_warning(address, files=1024)
    assert "reverse proxy" in warning
    assert "1,024 connections" in warning


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "::1"])
def test_a_port_on_loopback_needs_no_proxy(address):
    assert proxy_warning(address, files=1024) == ""


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("app.py",), marks=pytest.mark.slow, id="python"),
        pytest.param(("-m", "streamlit", "run", "app.py"), id="streamlit"),
    ],
)
def test_the_server_does_not_start_in_the_open_by_mistake(command, tmp_path):
    options = {"HEADLESS": "true", "ADDRESS": "0.0.0.0", "PORT": "0"}
    settings = {f"STREAMLIT_SERVER_{name}": value for name, value in options.items()}
    process = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env={**os.environ, **settings, "DPMF_DATA": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=WAIT,
        check=False,
    )
    assert process.returncode == 2
    assert "Traceback" not in process.stderr
    assert "0.0.0.0" in process.stderr
