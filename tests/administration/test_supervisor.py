"""Processes that are kept: told apart, started again, ended with all that they started."""

import asyncio
import sys
import time
from pathlib import Path

import psutil
import pytest

from dpmf_core.administration import supervisor
from dpmf_core.administration.supervisor import KeptProcess, ProcessEnded, free_port, healthy

SERVER = """
import http.server, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(sys.argv[2], "a").write(f"{child.pid}\\n")
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
    def log_message(self, *_):
        pass
print("here I am", flush=True)
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
"""


def serving(tmp_path: Path) -> tuple[KeptProcess, Path]:
    """A small server with a child of its own, and where it writes which."""
    port, log = free_port(), tmp_path / "started"
    return KeptProcess("7", [sys.executable, "-c", SERVER, str(port), str(log)], port), log


def test_one_that_ends_is_started_again_and_all_end_together(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "PAUSE", 0.1)
    process, log = serving(tmp_path)

    async def run_servers() -> None:
        keeping = asyncio.create_task(process.keep())
        await asyncio.wait_for(process.answers.wait(), 60)
        assert process.process is not None
        first = process.process
        first.kill()
        while process.process is first or not await healthy(process.port):
            assert not keeping.done()
            await asyncio.sleep(0.05)
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)
        assert process.process.returncode is not None

    asyncio.run(asyncio.wait_for(run_servers(), 120))
    lines = capfd.readouterr().err.splitlines()
    assert lines == [
        "[7] here I am",
        "[7] has ended (signal 9) and is started again",
        "[7] here I am",
    ]
    children = [int(line) for line in log.read_text().split()]
    assert len(children) == 2
    until = time.monotonic() + 20
    while any(map(_runs, children)):
        assert time.monotonic() < until
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_one_that_never_answers_is_not_started_again() -> None:
    process = KeptProcess("1", [sys.executable, "-c", "raise SystemExit(2)"], free_port())
    with pytest.raises(ProcessEnded, match=r"1 has ended \(code 2\)") as error:
        asyncio.run(asyncio.wait_for(process.keep(), 60))
    assert error.value.code == 2


def test_each_process_has_its_share_of_the_room_for_uploads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        supervisor,
        "settings",
        lambda: supervisor_settings(upload_mb_per_session=200, upload_mb_total=600),
    )
    assert supervisor._own_share(2) == {"DPMF_UPLOAD_MB_TOTAL": "300"}
    assert supervisor._own_share(8) == {"DPMF_UPLOAD_MB_TOTAL": "200"}  # one session fits


def supervisor_settings(**values: int) -> object:
    from dpmf_core.serving.settings import Settings

    return Settings(**values)
