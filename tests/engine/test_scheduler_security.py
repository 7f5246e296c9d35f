"""Who may give work to the workers: only who holds the certificates.

Tried against every port that they listen on, also as another user of the machine.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from dask import config as dask_config

from dpmf_core import paths
from dpmf_core.engine import workers
from dpmf_core.engine.executor import Engine
from dpmf_core.engine.scheduler_security import VARIABLES, Scheduler
from dpmf_core.errors import BadInput
from dpmf_core.runs.specification import RunSpec
from dpmf_core.runs.store import Store
from tests.support.clusters import ROOT, Processes, certificates

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


def python_for(user: str) -> str | None:
    """A Python that this user may run."""
    for path in (sys.executable, shutil.which("python3", path="/usr/bin:/usr/local/bin:/bin")):
        try:
            if (
                path
                and subprocess.run(
                    [path, "-c", "import ssl"],
                    user=user,
                    cwd="/",
                    capture_output=True,
                    timeout=60,
                    check=False,
                ).returncode
                == 0
            ):
                return path
        except (OSError, LookupError):
            continue
    return None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_user_of_the_machine_can_do_nothing(way: Scheduler) -> None:
    python = python_for(ANOTHER)
    if python is None:
        pytest.skip(f"no Python here that {ANOTHER} may run")
    ports, folder = ports_of(our_processes(way)), str(paths.workplace())
    look = (
        f"import os\ntry:\n    print(os.listdir({folder!r}))\nexcept OSError as error:\n   "
        " print(type(error).__name__)\n"
    )
    outputs = [
        subprocess.run(
            [python, "-c", code, *map(str, ports)],
            user=ANOTHER,
            group=ANOTHER_GROUP,
            extra_groups=[],
            cwd="/",
            env={},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        for code in (KNOCK, look)
    ]
    assert set(json.loads(outputs[0])) <= SILENT
    assert outputs[1].strip() == "PermissionError"


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


def name_files(monkeypatch: pytest.MonkeyPatch, address: str, files: dict[str, str]) -> None:
    monkeypatch.setenv("DPMF_SCHEDULER", address)
    for name in VARIABLES.values():
        monkeypatch.delenv(name, raising=False)
    for name, file in files.items():
        monkeypatch.setenv(name, file)


def test_certificates_that_are_missing_or_are_none_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = certificates(tmp_path / "ours")
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("not a certificate")
    cases = [
        (
            {name: file for name, file in files.items() if name != "DPMF_SCHEDULER_KEY"},
            "Missing: DPMF_SCHEDULER_KEY",
        ),
        (
            {**files, "DPMF_SCHEDULER_CA": str(tmp_path / "none.pem")},
            "DPMF_SCHEDULER_CA names no file",
        ),
        ({**files, "DPMF_SCHEDULER_CERT": str(wrong)}, "cannot be used"),
    ]
    for names, words in cases:
        name_files(monkeypatch, "tls://127.0.0.1:1", names)
        own_engine = Engine.from_environment(Store(tmp_path / "runs"))
        try:
            with pytest.raises(BadInput, match=words):
                own_engine.submit(RunSpec.parse(**QUICK)).result(60)
        finally:
            own_engine.close()


@pytest.mark.slow
def test_a_scheduler_with_tls_serves_who_has_certificates_of_its_authority(
    tmp_path: Path, tls_processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = tls_processes.serve(one={"PYTHONPATH": str(ROOT)}).address
    assert address.startswith("tls://")
    engines = []
    try:
        name_files(monkeypatch, address, tls_processes.files)
        engines.append(Engine.from_environment(Store(tmp_path / "runs")))
        assert engines[-1].submit(RunSpec.parse(**QUICK)).result(120).record.cached is False
        with dask_config.set({"distributed.comm.timeouts.connect": "5s"}):
            name_files(monkeypatch, address, certificates(tmp_path / "others"))
            engines.append(Engine.from_environment(Store(tmp_path / "runs")))
            with pytest.raises(RuntimeError, match="does not take its certificate"):
                engines[-1].submit(RunSpec.parse(**QUICK, seed=7)).result(120)
    finally:
        for own_engine in engines:
            own_engine.close()
