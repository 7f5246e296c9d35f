"""Which requests the server answers, and what a browser may do with the answers."""

import base64
import functools
import hashlib
import ipaddress
import logging
import re
import resource
from pathlib import Path
from urllib.parse import urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpmf_core.base.errors import BadInput
from dpmf_core.base.settings import Settings, settings
from pages.server import streamlit_internals

log = logging.getLogger("dpmf.server")
METRICS = "/_stcore/metrics"
EVERY_ADDRESS = ("0.0.0.0", "::")
# files opened by their address are not pages
MEDIA_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
# developers' messages of Streamlit's client, which empty all caches, write a
# folder next to the app, or stop the server
FOR_DEVELOPERS = {
    "clear_cache",
    "set_run_on_save",
    "load_git_info",
    "install_skills",
    "dismiss_skills_nudge",
    "debug_disconnect_websocket",
    "debug_shutdown_runtime",
}
FULL = 1013  # the websocket code for "try again later"
DESCRIPTORS = 65_536  # requested of the system
PER_SESSION = 4  # descriptors of one session
OTHERS = 256  # descriptors of everything else


# ---- names ---------------------------------------------------------------------------------------


def names_at(now: Settings, listens_at: str | None, login: bool) -> frozenset[str]:
    """The names that a server has in addition to loopback.

    Parameters
    ----------
    now
        The settings of the server.
    listens_at
        The server's address; None for every address.
    login
        Whether a login is required.

    Raises
    ------
    BadInput
        If others could reach the server without a login.
    """
    name = listens_at or "0.0.0.0"
    names = frozenset(now.hosts)
    if is_loopback(name):
        return names
    if not (login or now.open):
        raise BadInput(
            f"The server does not start: it would listen on {name}, where others can reach it,"
            " without a login. Configure a login in .streamlit/secrets.toml (docs/SERVING.md),"
            " listen on 127.0.0.1 behind a proxy, or set DPMF_OPEN=on-purpose to admit everyone."
        )
    if name in EVERY_ADDRESS:
        return names
    return names | {name.lower()}


def names() -> frozenset[str]:
    """This server's names in addition to loopback. Raises BadInput.

    Others may reach the port directly if it is not on loopback: log that it needs a proxy.
    """
    listens_at = st.get_option("server.address")
    names = names_at(settings(), listens_at, login_described())
    warning = proxy_warning(listens_at, most_files())
    if warning:
        log.warning(warning)
    return names


def proxy_warning(listens_at: str | None, files: int) -> str:
    """The reason why an address that others can reach needs a proxy.

    Parameters
    ----------
    listens_at
        The server's address; None for every address.
    files
        The number of files and connections that the process can hold open.

    Returns
    -------
    str
        '' on loopback.
    """
    address = listens_at or "0.0.0.0"
    if is_loopback(address):
        return ""
    return (
        f"The server listens on {address}. Let only a reverse proxy reach this port: the server"
        " waits without a time limit for the rest of a request that was begun, so about"
        f" {files:,} connections that send nothing would shut everyone out. docs/SERVING.md,"
        " 'The proxy', has a configuration with limits."
    )


def host_name(host: str) -> str:
    """The lower-case name in a Host header, without port; '' if malformed."""
    try:
        parts = urlsplit(f"//{host}")
        port = parts.port
    except ValueError:
        return ""
    if parts.netloc != host or parts.username is not None or port == 0:
        return ""
    return (parts.hostname or "").removesuffix(".")


def is_loopback(name: str) -> bool:
    """Whether a name or address is this machine's own."""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name.lower() == "localhost"


@functools.cache
def login_described() -> bool:
    """Whether the server's secrets describe a login, read once."""
    return bool(st.secrets.load_if_toml_exists()) and "auth" in st.secrets


# ---- requests and answers ------------------------------------------------------------------------


def policy(
    embed_in: tuple[str, ...] = (),
    page: Path = Path(st.__file__).parent / "static/index.html",
) -> str:
    """The Content-Security-Policy of pages.

    It allows only this server's scripts, and the inline scripts of Streamlit's page by their
    hashes.
    """
    inline = re.findall(r"<script>(.*?)</script>", page.read_text("utf-8"), re.S)
    scripts = ["'self'", "'wasm-unsafe-eval'", *map(_script_source, inline)]
    sources = {
        "default-src": "'self'",
        "script-src": " ".join(scripts),
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data: blob:",
        "font-src": "'self' data:",
        "media-src": "'self' data: blob:",
        "worker-src": "'self' blob:",
        "object-src": "'none'",
        "base-uri": "'self'",
        "form-action": "'self'",
        "frame-ancestors": " ".join(("'self'", *embed_in)),
    }
    return "; ".join(f"{name} {source}" for name, source in sources.items())


def _script_source(script: str) -> str:
    """What allows an inline script: its hash."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"'sha256-{digest}'"


class HostGuard:
    """Answers only to this server's names and pages, over HTTP and websockets, and adds policies.

    A foreign name means a page with a name that was bound to this address (DNS rebinding). A
    foreign origin means a page that sends requests here.
    """

    def __init__(
        self,
        app: ASGIApp,
        names: frozenset[str],
        now: Settings,
        most_streams: int = 1000,
    ) -> None:
        self.app = app
        self.names = names
        self.policy = policy(now.embed_in)
        self.has_metrics = now.metrics == "open"
        self.most_streams = most_streams
        self._streams = 0
        self._was_full = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = MutableHeaders(
            {"x-content-type-options": "nosniff", "referrer-policy": "same-origin"}
        )
        headers["content-security-policy"] = self.policy
        if "/media/" in scope["path"]:  # figures and downloads, also of private data
            headers["content-security-policy"] = MEDIA_POLICY
            headers["cache-control"] = "no-store"

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(headers)
            await send(message)

        refusal = self._refusal(Headers(scope=scope), scope["path"])
        # the origin is checked; with it, Streamlit would ask an outside server for
        # this machine's address, to compare
        if scope["type"] == "http":
            kept_headers = [
                (name, text) for name, text in scope["headers"] if name != b"origin"
            ]
            scope = {**scope, "headers": kept_headers}
        if scope["type"] == "websocket" and refusal is None:
            await self._stream(scope, receive, with_headers)
        else:
            await (refusal or self.app)(scope, receive, with_headers)

    async def _stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one session's websocket if the process has descriptors left."""
        if self._streams >= self.most_streams:
            if not self._was_full:
                self._was_full = True
                log.warning(
                    "%s sessions are open, as many as this server takes.", self._streams
                )
            # a response would be logged
            await send({"type": "websocket.close", "code": FULL})
            return
        self._streams += 1
        try:
            await self.app(scope, functools.partial(_next_frame, receive), send)
        finally:
            self._streams -= 1

    def _refusal(self, headers: Headers, path: str) -> PlainTextResponse | None:
        host = headers.get("host", "")
        origin = headers.get("origin")
        name = host_name(host)
        if not (is_loopback(name) or name in self.names):
            return PlainTextResponse(
                f"This server does not answer to {host[:100]!a}. Its operator lists valid names in"
                " DPMF_HOSTS.\n",
                400,
            )
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return PlainTextResponse(
                f"This server accepts requests only from its own pages, not {origin[:100]!a}.\n",
                403,
            )
        if not self.has_metrics and path.rstrip("/").endswith(METRICS):
            return PlainTextResponse("Not found\n", 404)
        return None


async def _next_frame(receive: Receive) -> Message:
    """The client's next message that is not for developers."""
    while True:
        message = await receive()
        if (
            streamlit_internals.client_message(message.get("bytes"))
            not in FOR_DEVELOPERS
        ):
            return message


# ---- capacity ------------------------------------------------------------------------------------


def most_files() -> int:
    """How many files and connections the process can hold open.

    The process's limit is raised as far as allowed.
    """
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == resource.RLIM_INFINITY:
        limit = DESCRIPTORS
    else:
        limit = min(DESCRIPTORS, most)
    if now == resource.RLIM_INFINITY:
        return limit
    if now < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, most))
        return limit
    return now


def most_streams() -> int:
    """How many sessions the process can hold open. Raises BadInput below ten."""
    limit = most_files()
    count = (limit - OTHERS) // PER_SESSION
    if count < 10:
        raise BadInput(
            f"The server does not start: this system lets it open {limit} files, and it needs"
            f" {OTHERS + 10 * PER_SESSION} or more. Raise the limit (ulimit -n, or LimitNOFILE of"
            " the systemd unit)."
        )
    return count
