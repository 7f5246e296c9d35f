"""Who may speak to a Dask scheduler.

Whoever may can run any code as its workers' user, so a scheduler of ours takes certificates of its
own alone.
"""

import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from dpmf_core.errors import BadInput

HERE = "127.0.0.1"
LOOPBACK_NAMES = {HERE, "::1", "localhost"}
# no dashboard; the small HTTP servers that Dask starts all the same take any port of this machine
# alone
LOOPBACK: dict[str, Any] = {
    "dashboard_address": f"{HERE}:0",
    "worker_dashboard_address": f"{HERE}:0",
    "scheduler_kwargs": {"dashboard": False},
    "silence_logs": 40,
}
NO_HTTP = {  # they have no page, and stop before a worker registers
    f"distributed.{role}.{setting}": value
    for role in ("scheduler", "worker")
    for setting, value in {"http.routes": [], "preload": [__name__]}.items()
}
# their `dask_setup` is called in each worker process while it starts
PRELOADS = {"distributed.worker.preload": [__name__, "dpmf_core.jobs.workers"]}
VARIABLES = {
    "authority": "DPMF_SCHEDULER_CA",
    "certificate": "DPMF_SCHEDULER_CERT",
    "key": "DPMF_SCHEDULER_KEY",
}

ADDRESS = re.compile(r"(?:(?:tls|tcp|ucx|inproc)://)?\S+:\d+|inproc://\S+")  # Dask's own


@dataclass(frozen=True, repr=False)  # a key is in no message
class Scheduler:
    """Where a scheduler listens and what a client shows it. authority, certificate, key: PEM
    text or names of files; "" without TLS.
    """

    address: str
    authority: str = ""
    certificate: str = ""
    key: str = ""

    @classmethod
    def from_environment(cls, instead: str | None = None) -> Self | None:
        """DPMF_SCHEDULER, or the address `instead`, and, for TLS, the files that DPMF_SCHEDULER_CA,
        DPMF_SCHEDULER_CERT and DPMF_SCHEDULER_KEY name; None where none is named. Raises BadInput
        on what is no address.
        """
        address = instead or os.environ.get("DPMF_SCHEDULER")
        if not address:
            return None
        if not ADDRESS.fullmatch(address):
            raise BadInput(
                f"{'--scheduler' if instead else 'DPMF_SCHEDULER'} is an address as tls://host:8786"
                f" or tcp://host:8786. Got {address!r}."
            )
        return cls(
            address,
            **{part: os.environ.get(name, "") for part, name in VARIABLES.items()},
        )

    @property
    def is_encrypted(self) -> bool:
        """Whether nobody reads on the way what is sent to it."""
        return urlsplit(self.address).scheme in ("tls", "inproc")

    def must_protect(self, data_id: str, what: str) -> None:
        """Raises BadInput where what is known of a private data set would travel to another
        machine for anybody to read. what: in words, the subject of "would travel".
        """
        address = self.address if "://" in self.address else f"tcp://{self.address}"
        if self.is_encrypted or urlsplit(address).hostname in LOOPBACK_NAMES:
            return
        raise BadInput(
            f"{data_id} is private, and {what} would travel to {self.address} for anybody to read."
            " Take a scheduler with TLS: tls://host:port."
        )

    def client(self) -> Any:
        """A Dask client. Raises BadInput where certificates are missing or cannot be used,
        ConnectionError where nobody answers.
        """
        from distributed import Client

        options = {"set_as_default": False, "name": "dpmf"}
        try:
            return Client(self.address, security=self.security(), **options)  # type: ignore[no-untyped-call]
        except OSError as error:
            raise ConnectionError(
                f"the scheduler at {self.address} does not answer or does not take its certificate"
                f" ({_first_line(error)})"
            ) from error

    def security(self) -> Any:
        """What `tls://` needs. Raises BadInput where it is not there or is no certificate."""
        if not self.address.startswith("tls://"):
            return None
        from distributed.security import Security

        for part, name in VARIABLES.items():
            value = getattr(self, part)
            if not value:
                raise BadInput(
                    f"{self.address} speaks TLS: name the files of {', '.join(VARIABLES.values())}."
                    f" Missing: {name}."
                )
            if "\n" not in value and not (Path(value).is_file() and os.access(value, os.R_OK)):
                raise BadInput(f"{name} names no file that can be read: {value}. Give a PEM file.")
        files = {
            "tls_ca_file": self.authority,
            "tls_client_cert": self.certificate,
            "tls_client_key": self.key,
        }
        credentials: Any = Security(require_encryption=True, **files)  # type: ignore[no-untyped-call]
        try:
            credentials.get_connection_args("client")
        except OSError as error:  # ssl.SSLError is one
            raise BadInput(
                f"The certificates of {', '.join(VARIABLES.values())} cannot be used:"
                f" {_first_line(error)}."
            ) from error
        return credentials

    def as_dict(self) -> dict[str, Any]:
        """For a pipe between two processes of one user: it holds the key."""
        return asdict(self)


def local_cluster(workers: int, folder: Path, **more: Any) -> tuple[Any, Scheduler]:
    """A scheduler and its worker processes on loopback, which answer to certificates made for them
    alone; and the way to it.

    folder: where workers may write, their user's alone. The certificates' key is never written
    where another user could read it.
    """
    import dask
    from distributed import LocalCluster
    from distributed.security import Security

    dask.config.set(NO_HTTP | PRELOADS)
    security = Security.temporary()  # type: ignore[no-untyped-call]
    cluster = LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=workers,
        threads_per_worker=1,
        host=HERE,
        security=security,
        local_directory=str(folder),
        **LOOPBACK,
        **more,
    )
    return cluster, Scheduler(
        cluster.scheduler_address,
        security.tls_ca_file,
        security.tls_client_cert,
        security.tls_client_key,
    )


def threads_cluster(workers: int, folder: Path) -> Any:
    """A scheduler with its workers as threads of this process; it listens nowhere."""
    import dask
    from distributed import LocalCluster

    dask.config.set(NO_HTTP)
    return LocalCluster(
        n_workers=1,
        threads_per_worker=workers,
        processes=False,
        local_directory=str(folder),
        **LOOPBACK,
    )  # type: ignore[no-untyped-call]


def dask_setup(node: Any) -> None:
    """Called by a scheduler or worker of ours while it starts (`preload`): its HTTP server
    stops.
    """
    node.http_server.stop()


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
