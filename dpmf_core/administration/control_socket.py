"""A server's door for its operator: a Unix socket in a folder that the server's account alone can
enter.

One line of JSON asks, one line answers. Who can open the socket may do what the server may do to
its own files, so nothing else is asked of her; on Linux the other end's account is looked at too.
"""

import contextlib
import errno
import json
import os
import secrets
import socket
import socketserver
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dpmf_core.errors import BadInput
from dpmf_core.paths import create_folder, data_folder

LONGEST = 100  # bytes of a socket's path that every system takes
SECONDS = 10.0  # to wait for an answer
LINE = 64_000  # bytes of a question
Answer = Callable[[dict[str, Any]], dict[str, Any]]


def folder() -> Path:
    return data_folder().absolute() / "operator"


class _Line(socketserver.StreamRequestHandler):
    """One question and its answer."""

    timeout = SECONDS
    server: "_Server"

    def handle(self) -> None:
        if not _same_account(self.request):
            return
        try:
            answer = self.server.answer(json.loads(self.rfile.readline(LINE)))
        except BadInput as error:
            answer = {"error": str(error)}
        except (ValueError, TypeError, KeyError):
            answer = {
                "error": "The question cannot be read. Use the same version of dpmf as the server."
            }
        self.wfile.write(json.dumps(answer).encode() + b"\n")


if hasattr(socketserver, "UnixStreamServer"):

    class _Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
        daemon_threads = True
        answer: Answer


def _same_account(connection: socket.socket) -> bool:
    """Whether the other end belongs to this account, or to root.

    Where the system does not say, the folder alone keeps others out.
    """
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    _, user, _ = struct.unpack(
        "3i", connection.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i"))
    )
    return user in (0, os.geteuid())


@contextlib.contextmanager
def _reachable(path: Path) -> Iterator[str]:
    """The path, or a shorter one to the same place where a system takes none so long."""
    if len(os.fsencode(path)) <= LONGEST:
        yield str(path)
        return
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        yield f"/proc/self/fd/{descriptor}/{path.name}"
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def door(answer: Answer) -> Iterator[Path]:
    """Within it, `answer` is asked through a socket of this process.

    A BadInput that it raises goes to whoever asked. Raises OSError where the system has no such
    sockets.
    """
    if not hasattr(socket, "AF_UNIX"):
        raise OSError(errno.EAFNOSUPPORT, "this system has no Unix sockets")
    create_folder(folder())
    folder().chmod(0o700)
    path = folder() / f"{os.getpid()}-{secrets.token_hex(3)}"
    with _reachable(path) as short:
        server = _Server(short, _Line)
    server.answer = answer
    threading.Thread(target=server.serve_forever, name="dpmf-operator", daemon=True).start()
    try:
        yield path
    finally:
        server.shutdown()
        server.server_close()
        path.unlink(missing_ok=True)


def ask(question: dict[str, Any]) -> list[dict[str, Any]]:
    """The answers of all servers that run on this data folder.

    Raises BadInput where there is none.
    """
    answers = []
    for path in sorted(folder().glob("*")) if folder().is_dir() else ():
        answer = _ask_server(path, question)
        if answer is not None:
            answers.append(answer)
    if not answers:
        raise BadInput(
            f"No server runs on the data folder {data_folder()}, or it belongs to another account."
            " Start it, or set DPMF_DATA to its folder."
        )
    return answers


def _ask_server(path: Path, question: dict[str, Any]) -> dict[str, Any] | None:
    """One server's answer; None, and its socket goes, where it does not run any more."""
    try:
        with socket.socket(socket.AF_UNIX) as connection, _reachable(path) as short:
            connection.settimeout(SECONDS)
            connection.connect(short)
            connection.sendall(json.dumps(question).encode() + b"\n")
            with connection.makefile("rb") as stream:
                line = stream.readline()
    except ConnectionRefusedError:
        path.unlink(missing_ok=True)
        return None
    except FileNotFoundError:  # it has just ended
        return None
    except OSError as error:
        reason = error.strerror or str(error)
        return {"error": f"The server behind {path} does not answer ({reason}): try again."}
    return json.loads(line) if line else None
