"""Several server processes behind one address: started, told apart in the log, started again where
one ends, and ended together.

They share the data folder, so each run is computed once and found by all, and one set of workers,
which this process starts.
"""

import asyncio
import contextlib
import ctypes
import functools
import os
import signal
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpmf_core.administration.front import HERE, Front, nginx
from dpmf_core.engine import machine, workers
from dpmf_core.engine.scheduler_security import OURS, Scheduler
from dpmf_core.errors import BadInput
from dpmf_core.paths import create_folder, workplace
from dpmf_core.serving.settings import settings

PAUSE = 1.0  # seconds before a process starts again
PATIENCE = 300.0  # seconds until a server answers for the first time; it may have to compile
GRACE = 15.0  # seconds to end in
LOOK = 5.0  # seconds between looks at the workers' scheduler
INTERRUPT_CODE = -signal.SIGINT
DEATH = 1  # PR_SET_PDEATHSIG of Linux: what a process gets when the one that started it ends


class ProcessEnded(RuntimeError):
    """A process that the others cannot do without has ended, or never answered. code: its own."""

    def __init__(self, name: str, code: int) -> None:
        super().__init__(f"{name} has ended ({_how(code)}).")
        self.code = code


def _how(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"code {code}"


def log_line(name: str, text: str) -> None:
    """A line of the log, with whose it is."""
    print(f"[{name}] {text}", file=sys.stderr, flush=True)


@dataclass
class KeptProcess:
    """A process that is started again whenever it ends, once it has answered. port: where it is
    asked over HTTP whether it does.
    """

    name: str
    command: Sequence[str]
    port: int
    env: Mapping[str, str] = field(default_factory=dict)
    answers: asyncio.Event = field(default_factory=asyncio.Event)
    process: asyncio.subprocess.Process | None = None
    _log_task: asyncio.Task[None] | None = None

    async def keep(self) -> None:
        """Until cancelled, which ends it. Raises Ended where it ends before it ever answered."""
        try:
            while True:
                code = await self._once()
                if not self.answers.is_set():
                    raise ProcessEnded(self.name, code)
                log_line(self.name, f"has ended ({_how(code)}) and is started again")
                await asyncio.sleep(PAUSE)
        finally:
            await self._end()

    async def _once(self) -> int:
        read, write = os.pipe()  # asyncio's own would be waited for as long as anybody holds them
        try:
            self.process = await asyncio.create_subprocess_exec(
                *self.command,
                env={**os.environ, **self.env},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=write,
                stderr=write,
                start_new_session=True,  # Ctrl-C in the terminal is for us to answer
                preexec_fn=_ends_with_us,
            )
        finally:
            os.close(write)
            self._log_task = asyncio.create_task(_copy_log(self.name, read))
        asking = asyncio.create_task(self._ask())
        try:
            await self.process.wait()
            return await self._gone()
        finally:
            asking.cancel()

    async def _gone(self) -> int:
        """The code of a process that ends, once nothing of it is left and its log is written."""
        assert self.process is not None
        _end_group(self.process.pid)
        code = await self.process.wait()
        if self._log_task is not None:
            await asyncio.wait([self._log_task], timeout=GRACE)
        return code

    async def _ask(self) -> None:
        while not await healthy(self.port):
            await asyncio.sleep(0.2)
        self.answers.set()

    async def _end(self) -> None:
        process = self.process
        if process is None or process.returncode is not None:
            return
        process.terminate()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), GRACE)
        await self._gone()


async def _copy_log(name: str, read: int) -> None:
    """What is written into a pipe, line by line."""
    stream = asyncio.StreamReader(limit=1 << 20)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(read, "rb", 0)
    )
    while True:
        try:
            line = await stream.readline()
        except ValueError:  # a line of a megabyte: its beginning has gone
            continue
        if not line:
            return
        log_line(name, line.decode(errors="replace").rstrip())


def _end_group(leader: int) -> None:
    """What a process that has ended, or will not, started and left behind, such as nginx's own."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


async def healthy(port: int) -> bool:
    """Whether a server on this machine says that it is."""
    question = f"GET /_stcore/health HTTP/1.0\r\nHost: {HERE}:{port}\r\n\r\n".encode()
    try:
        async with asyncio.timeout(5):
            reader, writer = await asyncio.open_connection(HERE, port)
            try:
                writer.write(question)
                return b" 200 " in await reader.readline()
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return False


@functools.cache
def _prctl() -> Any:
    return getattr(ctypes.CDLL(None), "prctl", None) if sys.platform == "linux" else None


def _ends_with_us() -> None:
    """In the new process, before its program: it ends when this one does, however that ends."""
    if (prctl := _prctl()) is not None:
        prctl(DEATH, signal.SIGTERM)


def serve(script: Path, processes: int, address: str, port: int, options: Sequence[str]) -> int:
    """Serve until stopped; the exit code. options: of `streamlit run`, for each process.

    Raises BadInput where nginx is missing or the port is taken, KeyboardInterrupt on Ctrl-C, once
    all has ended.
    """
    program = nginx()
    _must_be_free(address, port)
    folder = create_folder(workplace() / "front")
    front = Front(address, port, [free_port() for _ in range(processes)], folder)
    (folder / "nginx.conf").write_text(front.configuration(), "utf-8")
    _prctl()
    with _workers(folder) as shared:
        scheduler = shared.get("DPMF_SCHEDULER", "")
        env = {**shared, **_own_share(processes), "DPMF_FRONT": address}
        servers = [
            KeptProcess(
                str(name),
                [sys.executable, str(script), *options, *_listening(inner)],
                inner,
                env,
            )
            for name, inner in enumerate(front.inner, 1)
        ]
        before = [program, "-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf")]
        proxy = KeptProcess("nginx", before, port)
        code = asyncio.run(_all(servers, proxy, front, scheduler))
    if code == INTERRUPT_CODE:
        raise KeyboardInterrupt
    return code


def _listening(port: int) -> list[str]:
    own = {
        "server.address": HERE,
        "server.port": str(port),
        "server.headless": "true",
        "logger.hideWelcomeMessage": "true",  # it would name the inner port
    }
    return [part for name, value in own.items() for part in (f"--{name}", value)]


def _own_share(processes: int) -> dict[str, str]:
    """Room for uploads is counted by each process: each has its share of all."""
    values = settings()
    share = max(values.upload_mb_per_session, values.upload_mb_total // processes)
    return {"DPMF_UPLOAD_MB_TOTAL": str(share)}


@contextlib.contextmanager
def _workers(folder: Path) -> Iterator[dict[str, str]]:
    """Variables that lead every process to the same workers; none where each computes by itself, or
    is told of a scheduler already.
    """
    kind = os.environ.get("DPMF_ENGINE") or ("threads" if machine.is_small() else "processes")
    if kind != "processes" or os.environ.get("DPMF_SCHEDULER"):
        yield {}
        return
    with workers.processes(workers.usual_count()) as way:
        yield _environment_of(way, folder)


def _environment_of(way: Scheduler, folder: Path) -> dict[str, str]:
    """The way to a scheduler as the environment of a process; keys lie in files of this user's
    alone, for others can read an environment more easily.
    """
    environment = {"DPMF_SCHEDULER": way.address, OURS: "1"}
    parts = {"CA": way.authority, "CERT": way.certificate, "KEY": way.key}
    for name, text in parts.items():
        path = folder / name.lower()
        path.touch(0o600)
        path.write_text(text, "utf-8")
        environment[f"DPMF_SCHEDULER_{name}"] = str(path)
    return environment


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HERE, 0))
        return int(probe.getsockname()[1])


def _must_be_free(address: str, port: int) -> None:
    """Raises BadInput where nobody can listen there."""
    try:
        family, _, _, _, place = socket.getaddrinfo(address, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as trying:
            trying.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trying.bind(place)
    except OSError as error:
        raise BadInput(
            f"Nothing can listen on {address}:{port} ({error.strerror}). Choose another --port."
        ) from None


async def _all(
    servers: Sequence[KeptProcess], proxy: KeptProcess, front: Front, scheduler: str
) -> int:
    """Keep the servers, and nginx once they answer, until a signal comes or one cannot start."""
    loop = asyncio.get_running_loop()
    stopping: asyncio.Future[int] = loop.create_future()
    for name, code in ((signal.SIGINT, INTERRUPT_CODE), (signal.SIGTERM, 0)):
        loop.add_signal_handler(name, _settle, stopping, code)
    tasks: list[asyncio.Future[None]] = [asyncio.create_task(it.keep()) for it in servers]
    tasks.append(asyncio.create_task(_then(servers, proxy, front)))
    if scheduler:
        tasks.append(asyncio.create_task(_watch(scheduler)))
    try:
        awaited_tasks: list[asyncio.Future[Any]] = [*tasks, stopping]
        await asyncio.wait(awaited_tasks, return_when=asyncio.FIRST_COMPLETED)
        return stopping.result() if stopping.done() else _exit_code(tasks)
    finally:
        log_line("serve", "all processes end")
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _settle(stopping: asyncio.Future[int], code: int) -> None:
    if not stopping.done():
        stopping.set_result(code)


async def _watch(scheduler: str) -> None:
    """Raises Ended once nobody listens where the workers' scheduler did."""
    host, _, port = scheduler.rpartition("/")[2].rpartition(":")
    while True:
        await asyncio.sleep(LOOK)
        try:
            _, writer = await asyncio.open_connection(host, int(port))
        except ConnectionRefusedError:
            raise ProcessEnded("the workers' scheduler", 1) from None
        writer.close()


async def _then(servers: Sequence[KeptProcess], proxy: KeptProcess, front: Front) -> None:
    try:
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(it.answers.wait() for it in servers))
    except TimeoutError:
        raise ProcessEnded("a server that does not answer", 1) from None
    keeping = asyncio.create_task(proxy.keep())
    answering = asyncio.create_task(proxy.answers.wait())
    try:
        await asyncio.wait([keeping, answering], return_when=asyncio.FIRST_COMPLETED)
        if answering.done():
            log_line("serve", f"{len(servers)} processes at http://{front.address}:{front.port}")
        await keeping
    finally:
        answering.cancel()
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)


def _exit_code(tasks: Sequence[asyncio.Future[None]]) -> int:
    """The exit code where something could not be kept. Raises what is no end of a process."""
    error = next(task.exception() for task in tasks if task.done())
    if not isinstance(error, ProcessEnded):
        raise error or RuntimeError("what watches a process has ended")
    log_line("serve", str(error))
    return error.code if error.code > 0 else 1
