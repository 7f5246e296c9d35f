"""Who may give work to the workers: only who holds the certificates.

Tried against every port that they listen on, also as another user of the machine.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from dpmf_core import paths
from dpmf_core.jobs import workers
from dpmf_core.jobs.engine import Engine
from dpmf_core.jobs.scheduler_security import Scheduler
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store

QUICK = {
    "data": {"id": "cinema-small"},
    "algorithm": "private-bias",
    "budget": {"epsilon": 2.0, "delta": 1e-5},
}
ANOTHER, ANOTHER_GROUP = "nobody", 65534
KNOCK = """
import json, socket, ssl, sys
from concurrent.futures import ThreadPoolExecutor
def plain(port, words):
    with socket.create_connection(("127.0.0.1", port), 5) as line:
        line.settimeout(2)
        line.sendall(words)
        return line.recv(4096)
def encrypted(port):
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), 5) as line, context.wrap_socket(line) as channel:
        channel.settimeout(2)
        channel.sendall(bytes(64))
        return channel.recv(4096)
def answer(act):
    try:
        return act().decode("latin-1")
    except OSError as error:
        return type(error).__name__
ways = [lambda p: plain(p, b""), lambda p: plain(p, b"GET / HTTP/1.0\\r\\n\\r\\n"), encrypted]
tried = [lambda p=int(port), way=way: way(p) for port in sys.argv[1:] for way in ways]
print(json.dumps(list(ThreadPoolExecutor(len(tried)).map(answer, tried))))
"""  # what each port says to whoever listens, to a browser, and to TLS without a certificate  # noqa: E501
SILENT = {
    "",
    "TimeoutError",
    "ConnectionResetError",
    "SSLError",
    "SSLEOFError",
    "SSLZeroReturnError",
}


@pytest.fixture(scope="module")
def way() -> Iterator[Scheduler]:
    with workers.processes(1) as scheduler:
        yield scheduler


def our_processes(way: Scheduler) -> list[psutil.Process]:
    """The scheduler's process and those below it."""
    port = int(way.address.rpartition(":")[2])
    for child in psutil.Process().children():
        if port in ports_of([child]):
            return [child, *child.children(recursive=True)]
    raise AssertionError("nobody listens there")


def ports_of(processes: list[psutil.Process]) -> list[int]:
    return sorted(
        {
            at.laddr.port
            for one in processes
            for at in one.net_connections("tcp")
            if at.status == psutil.CONN_LISTEN
        }
    )


async def spoken(address: str, security: Any) -> Any:
    """What a port answers to somebody who speaks Dask: a scheduler, a worker and a nanny all
    know `identity`.
    """
    from distributed.core import rpc

    async with rpc(
        address, timeout=10, connection_args=security.get_connection_args("client")
    ) as line:
        return await line.identity()


def test_every_port_refuses_who_has_not_the_certificate(way: Scheduler) -> None:
    from distributed.security import Security

    ports = ports_of(our_processes(way))
    assert len(ports) == 3  # scheduler, nanny, worker; no HTTP
    for port in ports:
        assert asyncio.run(spoken(f"tls://127.0.0.1:{port}", way.security()))["type"] in (
            "Scheduler",
            "Nanny",
            "Worker",
        )
        for address, security in (
            (f"tcp://127.0.0.1:{port}", Security()),
            (f"tls://127.0.0.1:{port}", Security.temporary()),
        ):
            with pytest.raises(OSError):
                asyncio.run(spoken(address, security))


def test_no_port_says_a_word_without_tls(way: Scheduler) -> None:
    ports = ports_of(our_processes(way))
    answers = json.loads(
        subprocess.run(
            [sys.executable, "-c", KNOCK, *map(str, ports)],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
    )
    assert len(answers) == 9 and set(answers) <= SILENT


def test_the_key_is_in_no_command_line_environment_or_file(way: Scheduler) -> None:
    line = way.key.splitlines()[5]
    for one in our_processes(way):
        assert line not in " ".join(one.cmdline()) and line not in str(one.environ())
    files = [file for file in paths.workplace().rglob("*") if file.is_file()]
    assert not any(line.encode() in file.read_bytes() for file in files)
    assert line not in repr(way)


def test_threads_listen_nowhere(tmp_path: Path) -> None:
    before = set(ports_of([psutil.Process()]))
    own_engine = Engine(Store(tmp_path), processes=False, workers=1)
    try:
        assert own_engine.submit(RunSpec.parse(**QUICK)).result(60).key
        assert set(ports_of([psutil.Process()])) == before
    finally:
        own_engine.close()


# ---- a scheduler elsewhere -----------------------------------------------------------------------
