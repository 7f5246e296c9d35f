"""nginx before several server processes: a browser stays with the one that answered it first, for
a session lives in one process.

Addresses would not do to tell browsers apart, for a whole class may share one.
"""

import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from dpmf_core.errors import BadInput

COOKIE = "dpmf_process"
HERE = "127.0.0.1"
KINDS = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")  # of nginx's temporary files


class _Text(Template):
    delimiter = "@"  # nginx's own variables begin with a dollar


CONFIGURATION = _Text(
    """\
daemon off;
worker_processes 1;
pid "@{folder}/nginx.pid";
error_log stderr warn;
events { worker_connections 4096; }
http {
    access_log off;
    server_tokens off;
    proxy_max_temp_file_size 0;
@temporary
    # a browser goes where its cookie says; one without a cookie to the next in turn
    map $cookie_@cookie $dpmf_wanted {
        default dpmf_any;
@wanted
    }
    # the cookie names who answered: where a process is down, its browsers move for good
    map $upstream_addr $dpmf_answered {
        default "";
@answered
    }
    map "$cookie_@cookie:$dpmf_answered" $dpmf_stay {
        default "@cookie=$dpmf_answered; Path=/; HttpOnly; SameSite=Lax$dpmf_secure";
        "~:$" "";
        "~^(?<dpmf_known>.+):\\k<dpmf_known>$" "";
    }
    # a proxy with TLS before this one says so
    map $http_x_forwarded_proto $dpmf_scheme { default $scheme; https https; }
    map $dpmf_scheme $dpmf_secure { default ""; https "; Secure"; }
    map $http_upgrade $dpmf_connection { default upgrade; "" close; }

    # limits go by the cookie of each browser; requests without one share a limit of their own
    map $cookie__streamlit_xsrf $dpmf_newcomers { default ""; "" new; }
    limit_req_zone  $cookie__streamlit_xsrf zone=dpmf_session:1m   rate=20r/s;
    limit_req_zone  $dpmf_newcomers         zone=dpmf_newcomers:1m rate=300r/s;
    limit_conn_zone $cookie__streamlit_xsrf zone=dpmf_streams:1m;
    limit_conn_zone $server_port            zone=dpmf_all:1m;
    limit_req_status  429;
    limit_conn_status 429;

@upstreams
    server {
        listen @listen;
        client_max_body_size 100m;
        client_body_timeout  60s;
        limit_conn dpmf_all 1000;
        location / {
            limit_req  zone=dpmf_session   burst=400 nodelay;
            limit_req  zone=dpmf_newcomers burst=3000 nodelay;
            limit_conn dpmf_streams 40;
            proxy_pass http://$dpmf_wanted;
            add_header Set-Cookie $dpmf_stay always;
            proxy_http_version 1.1;
            proxy_set_header Host $http_host;
            proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $dpmf_connection;
            proxy_set_header X-Forwarded-Proto $dpmf_scheme;
            proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
            proxy_connect_timeout 5s;
            proxy_read_timeout 1h;
            proxy_request_buffering off;
        }
    }
}
"""
)


@dataclass(frozen=True)
class Front:
    """address, port: where browsers come. inner: the port of each process on this machine, named 1,
    2, ... in this order. folder: where nginx may write.
    """

    address: str
    port: int
    inner: Sequence[int]
    folder: Path

    def configuration(self) -> str:
        """What nginx reads."""
        names = range(1, len(self.inner) + 1)
        servers = list(zip(names, self.inner, strict=True))
        address = f"[{self.address}]" if ":" in self.address else self.address
        upstreams = [_upstream("dpmf_any", self.inner, ())]
        for name, port in servers:
            upstreams.append(
                _upstream(f"dpmf_{name}", [port], [it for it in self.inner if it != port])
            )
        return CONFIGURATION.substitute(
            folder=self.folder,
            cookie=COOKIE,
            listen=f"{address}:{self.port}",
            temporary=_lines(f'{kind}_temp_path "{self.folder}/{kind}";' for kind in KINDS),
            wanted=_lines((f"{name} dpmf_{name};" for name in names), 8),
            answered=_lines((f'"~:{port}$" {name};' for name, port in servers), 8),
            upstreams="\n".join(upstreams),
        )


def _upstream(name: str, ports: Sequence[int], spare: Sequence[int]) -> str:
    servers = [f"server {HERE}:{port} fail_timeout=2s;" for port in ports]
    servers += [f"server {HERE}:{port} backup;" for port in spare]
    return f"    upstream {name} {{\n{_lines(servers, 8)}\n    }}"


def _lines(texts: Iterable[str], indent: int = 4) -> str:
    return "\n".join(" " * indent + text for text in texts)


def nginx() -> str:
    """The program. Raises BadInput where it is not installed."""
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"))
    program = shutil.which("nginx", path=path)
    if program is None:
        raise BadInput(
            "Several server processes need nginx before them, and it is not on this machine."
            " Install it (Debian, Ubuntu: apt-get install nginx-light; macOS: brew install nginx),"
            " or serve with one process: python -m dpmf_core app."
        )
    return program
