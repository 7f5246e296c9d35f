"""Schedulers with worker processes, each with an environment and a folder of its own."""

import datetime
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import dpmf_core
from dpmf_core.engine.scheduler_security import VARIABLES, Scheduler
from tests.support.engines import wait_for

ROOT = Path(__file__).parents[2]


def certificates(folder: Path) -> dict[str, str]:
    """An authority and one certificate that it signed, as files, by the variables that name
    them.
    """
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    folder.mkdir()
    now = datetime.datetime.now(datetime.UTC)
    keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
    names = [
        x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        for name in ("authority", "dpmf")
    ]
    files = {part: folder / f"{part}.pem" for part in VARIABLES}
    for key, name, part in zip(keys, names, ("authority", "certificate"), strict=True):
        builder = x509.CertificateBuilder(
            names[0],
            name,
            key.public_key(),
            x509.random_serial_number(),
            now,
            now + datetime.timedelta(days=1),
        )
        certificate = builder.add_extension(
            x509.BasicConstraints(part == "authority", None), True
        ).sign(keys[0], hashes.SHA256())
        files[part].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    files["key"].write_bytes(
        keys[1].private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    )
    return {VARIABLES[part]: str(file) for part, file in files.items()}


def address_in(file: Path) -> str:
    """What a scheduler wrote there."""
    return str(json.loads(wait_for(lambda: file.exists() and file.read_text(), 60.0))["address"])


class Processes:
    """A scheduler and workers that are started below a folder, and end with `close`. encrypted:
    they speak TLS, with certificates made for them, `files`.
    """

    def __init__(self, folder: Path, encrypted: bool = False) -> None:
        self._folder, self._file = folder, folder / "scheduler.json"
        self.files = certificates(folder / "certificates") if encrypted else {}
        self._processes: list[subprocess.Popen[bytes]] = []
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: dict[str, subprocess.Popen[bytes]] = {}

    def serve(self, **workers: dict[str, str]) -> Scheduler:
        """The way to a scheduler with a worker process of each name, in these environments."""
        protocol = ["--protocol=tls"] if self.files else []
        self.scheduler = self._start("scheduler", "--port=0", *protocol, PYTHONPATH=str(ROOT))
        way = Scheduler(address_in(self._file), **self._parts())
        for name, environment in workers.items():
            self.join(name, **environment)
        with way.client() as client:
            client.wait_for_workers(len(workers), timeout=120)
        return way

    def join(self, name: str, **environment: str) -> None:
        """Start one worker more."""
        folder = f"--local-directory={self._folder / name}"
        options = (f"--name={name}", "--nthreads=1", "--no-nanny", folder)
        self.workers[name] = self._start("worker", *options, **environment)

    def _start(self, kind: str, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        there = [f"--scheduler-file={self._file}", "--dashboard-address=127.0.0.1:0"]
        names = {"authority": "ca-file", "certificate": "cert", "key": "key"}
        there += [f"--tls-{names[part]}={file}" for part, file in self._parts().items()]
        command = [sys.executable, "-m", "dask", kind, "--host=127.0.0.1", *options, *there]
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        environment = {**os.environ, **environment}
        process = subprocess.Popen(command, cwd=self._folder, env=environment, **quiet)
        self._processes.append(process)
        return process

    def _parts(self) -> dict[str, str]:
        """The certificates by what they are."""
        return {part: self.files[name] for part, name in VARIABLES.items() if self.files}

    def close(self) -> None:
        for process in reversed(self._processes):
            process.kill()
            process.wait()


def altered_copy(folder: Path) -> str:
    """A folder with a package that shares out a budget otherwise, under the same version."""
    package = Path(dpmf_core.__file__).parent
    shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    file = folder / package.name / "algorithms" / "item_offsets.py"
    text = file.read_text("utf-8")
    assert text.count("\nLEAST_VARIANCE = 0.5") == 1
    file.write_text(text.replace("\nLEAST_VARIANCE = 0.5", "\nLEAST_VARIANCE = 4.0"), "utf-8")
    return str(folder)
