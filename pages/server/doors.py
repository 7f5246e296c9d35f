"""The doors of the server: who may ask, what a browser may do with the answers, and where a
login leads.
"""

import base64
import hashlib
import ipaddress
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

import streamlit as st
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dpmf_core.errors import BadInput

COOKIE, SECONDS, LONGEST = "dpmf_opened", 600, 3500  # a cookie has room for 4,096 characters
METRICS = "/_stcore/metrics"
# a file opened by its address is no page of this server
MEDIA_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
NAME = re.compile(r"(?!-)[a-z0-9_-]+(\.[a-z0-9_-]+)*")
ORIGIN = re.compile(r"https?://[a-z0-9._-]+(:\d{1,5})?")


# ---- what the operator says ----------------------------------------------------------------------


@dataclass(frozen=True)
class Doors:
    """The operator's settings: host names beside loopback, origins that may embed the pages,
    and two things that are opened on purpose.
    """

    hosts: frozenset[str] = frozenset()
    embed_in: tuple[str, ...] = ()
    without_login: bool = False
    metrics: bool = False

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Doors":
        """DPMF_HOSTS, DPMF_EMBED_IN, DPMF_OPEN and DPMF_METRICS. Raises BadInput."""
        return cls(
            hosts=frozenset(
                _entries(
                    environment,
                    "DPMF_HOSTS",
                    NAME,
                    "host names such as dpmf.example.org, without https:// and port",
                )
            ),
            embed_in=_entries(
                environment, "DPMF_EMBED_IN", ORIGIN, "origins such as https://course.example.org"
            ),
            without_login=_flag(environment, "DPMF_OPEN", "on-purpose"),
            metrics=_flag(environment, "DPMF_METRICS", "open"),
        )

    def answers_to(self, host: str) -> bool:
        """Whether a Host header names this server."""
        name = host_name(host)
        return is_loopback(name) or name in self.hosts

    def listening_on(self, address: str | None, login: bool) -> "Doors":
        """The doors of a server at this address (None: every address).

        Raises BadInput where nobody would be asked for a login by mistake.
        """
        name = address or "0.0.0.0"
        if is_loopback(name):
            return self
        if not (login or self.without_login):
            raise BadInput(
                f"The server does not start: it would listen on {name}, where others can reach it,"
                " and asks nobody for a login. Describe a login in .streamlit/secrets.toml"
                " (docs/SERVING.md), let it listen on 127.0.0.1 behind a proxy, or set"
                " DPMF_OPEN=on-purpose to let everybody in."
            )
        return (
            self
            if _is_wildcard(name)
            else Doors(self.hosts | {name.lower()}, self.embed_in, self.without_login, self.metrics)
        )


def _entries(
    environment: Mapping[str, str], variable: str, form: re.Pattern[str], description: str
) -> tuple[str, ...]:
    """What a variable lists, separated by commas, in lower case. Raises BadInput."""
    entries = tuple(
        entry.strip().lower() for entry in environment.get(variable, "").split(",") if entry.strip()
    )
    for entry in entries:
        if not form.fullmatch(entry):
            raise BadInput(
                f"{variable} takes {description}, separated by commas. Got {entry[:100]!r}."
            )
    return entries


def _flag(environment: Mapping[str, str], variable: str, word: str) -> bool:
    """Whether a variable holds the one word that it takes. Raises BadInput."""
    value = environment.get(variable, "").strip()
    if value not in ("", word):
        raise BadInput(f"{variable} takes {word} or nothing. Got {value[:100]!r}.")
    return value == word


def host_name(host: str) -> str:
    """The name in a Host header, without its port, in lower case; '' where the header is
    malformed.
    """
    try:
        parts = urlsplit(f"//{host}")
        plain = (
            parts.netloc == host
            and parts.username is None
            and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        return ""
    return (parts.hostname or "").removesuffix(".") if plain else ""


def is_loopback(name: str) -> bool:
    """Whether a name or an address is this machine's own."""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name.lower() == "localhost"


def _is_wildcard(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_unspecified
    except ValueError:
        return False


def login_described() -> bool:
    """Whether the server's secrets describe a login."""
    return bool(st.secrets.load_if_toml_exists()) and "auth" in st.secrets


def address() -> str | None:
    """Where browsers, or the proxy, come to this process; None: every address."""
    host: str | None = st.get_option("server.address")
    return host


def doors() -> Doors:
    """The doors of this server, at the address where browsers come. Raises BadInput."""
    return Doors.from_environment().listening_on(address(), login_described())


# ---- who may ask, and what the answer allows -----------------------------------------------------


def policy(
    embed_in: tuple[str, ...] = (), page: Path = Path(st.__file__).parent / "static/index.html"
) -> str:
    """The Content-Security-Policy of every page: this server's own scripts alone, and the
    inline ones of Streamlit's page by their hashes.
    """
    inline = re.findall(r"<script>(.*?)</script>", page.read_text("utf-8"), re.S)
    hashes = " ".join(
        f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
        for script in inline
    )
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' 'wasm-unsafe-eval' {hashes}".rstrip(),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "media-src 'self' data: blob:",
            "worker-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            " ".join(("frame-ancestors 'self'", *embed_in)),
        )
    )


class Guard:
    """Answers to this server's names and to its own pages alone, over HTTP and websockets, and
    tells browsers how far to trust the answers.

    Another name would be a page elsewhere whose name was bound to this address (DNS rebinding);
    another origin, a page elsewhere that asks here.
    """

    def __init__(self, app: ASGIApp, doors: Doors) -> None:
        self.app, self.doors, self.policy = app, doors, policy(doors.embed_in)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = MutableHeaders(
            {"x-content-type-options": "nosniff", "referrer-policy": "same-origin"}
        )
        headers["content-security-policy"] = (
            MEDIA_POLICY if "/media/" in scope["path"] else self.policy
        )

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(headers)
            await send(message)

        refusal = self._refusal(Headers(scope=scope), scope["path"])
        # an origin that was found to be ours is of no more use; Streamlit would ask outside for
        # this machine's address, to compare
        if scope["type"] == "http":
            scope = {
                **scope,
                "headers": [(name, value) for name, value in scope["headers"] if name != b"origin"],
            }
        await (refusal or self.app)(scope, receive, with_headers)

    def _refusal(self, headers: Headers, path: str) -> PlainTextResponse | None:
        """What is answered instead of the page; None where nothing speaks against it."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self.doors.answers_to(host):
            return PlainTextResponse(
                f"This server does not answer to {host[:100]!a}. Its operator lists its names in"
                " DPMF_HOSTS.\n",
                400,
            )
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return PlainTextResponse(
                f"This server answers to its own pages alone, not to those of {origin[:100]!a}.\n",
                403,
            )
        if not self.doors.metrics and path.rstrip("/").endswith(METRICS):
            return PlainTextResponse("Not found\n", 404)
        return None


# ---- where a login leads -------------------------------------------------------------------------


class BackToTheLink:
    """Streamlit's login ends at the root: this notes, in the browser, what was open when it began,
    and leads back there.

    Only a place on this server is ever noted or followed.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "") if scope["type"] == "http" else ""
        if path not in ("/auth/login", "/oauth2callback"):
            await self.app(scope, receive, send)
            return
        request = Request(scope)

        async def with_redirect(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in (302, 307):
                (_note if path == "/auth/login" else _lead)(request, MutableHeaders(scope=message))
            await send(message)

        await self.app(scope, receive, with_redirect)


def _note(request: Request, headers: MutableHeaders) -> None:
    """What was open, by what the browser says it comes from."""
    referer = urlsplit(request.headers.get("referer", ""))
    place = quote(f"{referer.path or '/'}?{referer.query}")
    if referer.netloc == request.headers.get("host") and len(place) <= LONGEST:
        headers.append(
            "set-cookie", f"{COOKIE}={place}; Max-Age={SECONDS}; Path=/; HttpOnly; SameSite=Lax"
        )


def _lead(request: Request, headers: MutableHeaders) -> None:
    """To what was noted, where Streamlit would lead to the root."""
    place = unquote(request.cookies.get(COOKIE, ""))
    if place.startswith("/") and place[1:2] not in ("/", "\\") and place.isprintable():
        headers["location"] = quote(place, safe="/?&=%:,.~+-_")
        headers.append("set-cookie", f"{COOKIE}=; Max-Age=0; Path=/")
