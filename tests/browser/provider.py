"""An OpenID Connect provider on loopback that lets everyone in as `person`."""

import base64
import json
import secrets
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT = "dpmf-class"
SECRET = "a secret of the client"


class Provider(ThreadingHTTPServer):
    """Its key, the person who logs in next, its codes, and how often it gave a token."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.key = RSAKey.generate_key(
            2048, {"kid": "one", "use": "sig", "alg": "RS256"}
        )
        self.person: dict[str, Any] = {"sub": "1", "name": "A Teacher"}
        self.codes: dict[str, dict[str, str]] = {}
        self.tokens = 0

    def configuration(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }

    def token(self, request: dict[str, str], user: str) -> dict[str, Any]:
        """For a code, once, and for the client alone. Raises KeyError."""
        authorization = self.codes.pop(request["code"])
        if (
            user != f"{CLIENT}:{SECRET}"
            or request["redirect_uri"] != authorization["redirect_uri"]
        ):
            raise KeyError("client")
        self.tokens += 1
        now = int(time.time())
        claims = {
            "iss": self.url,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 600,
            "nonce": authorization["nonce"],
            **self.person,
        }
        return {
            "access_token": secrets.token_hex(),
            "token_type": "Bearer",
            "id_token": jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.key),
        }


class Answers(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        where = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(where.query))
        if where.path == "/.well-known/openid-configuration":
            self._say(self.server.configuration())
        elif where.path == "/keys":
            self._say({"keys": [self.server.key.as_dict(private=False)]})
        elif where.path == "/authorize" and query.get("client_id") == CLIENT:
            code = secrets.token_hex()
            self.server.codes[code] = query
            self.send_response(302)
            self.send_header(
                "Location",
                f"{query['redirect_uri']}?{urllib.parse.urlencode({'code': code, 'state': query['state']})}",  # noqa: E501
            )
            self.end_headers()
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        form = dict(
            urllib.parse.parse_qsl(
                self.rfile.read(int(self.headers["Content-Length"])).decode()
            )
        )
        scheme, _, credentials = self.headers.get("Authorization", "").partition(" ")
        if scheme == "Basic":
            user = urllib.parse.unquote_plus(base64.b64decode(credentials).decode())
        else:
            user = ""
        try:
            self._say(self.server.token(form, user))
        except KeyError:
            self.send_error(401)

    def _say(self, what: object) -> None:
        body = json.dumps(what).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: the test looks at what was asked, not at a log."""


@contextmanager
def provider() -> Iterator[Provider]:
    with Provider() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()
