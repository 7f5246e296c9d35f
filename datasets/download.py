"""Download published data after showing their licence, and check their published checksums."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpmf_core.base.errors import BadInput
from dpmf_core.base.extras import extra
from dpmf_core.base.program import program
from dpmf_core.data.catalogue import DatasetFacts
from dpmf_core.data.samples import Samples

TellBytes = Callable[[int, int], None]


class _Bar:
    """The progress bar that pooch expects, as a function of (bytes done, bytes in all)."""

    def __init__(self, tell: TellBytes) -> None:
        self._tell = tell
        self._received_bytes = 0
        self.total = 0

    def update(self, amount: int) -> None:
        self._received_bytes += amount
        self._tell(self._received_bytes, self.total)

    def reset(self) -> None:
        """Do nothing: pooch ends with a full bar, sets it to 0 and fills it at once."""
        self._received_bytes = 0

    def close(self) -> None:
        """Do nothing: no resource is open."""


def require_consent(entry: DatasetFacts, accept_licence: bool) -> None:
    """Raise BadInput with the terms of a data set if they are not accepted."""
    if not accept_licence:
        raise BadInput(
            f"{entry.title} ({entry.size_mb:g} MB, {entry.home})\nTerms: {entry.licence}\nCite:"
            f" {entry.citation}\nNothing was downloaded. If you accept these terms, repeat the"
            " command with --accept-licence."
        )


def official_archive(
    entry: DatasetFacts,
    url: str,
    md5: str,
    folder: str,
    progress: TellBytes | bool = False,
) -> Path:
    """Download the official archive into a folder.

    Raises BadInput when the network or the checksum fails.
    """
    with extra("files"):  # packages for downloads only
        import pooch
        import requests

    # pooch's message would name a temporary file
    pooch.get_logger().setLevel("WARNING")
    bar: Any = progress
    if not isinstance(progress, bool):
        bar = _Bar(progress)
    downloader = pooch.HTTPDownloader(progressbar=bar, timeout=30)
    file = f"{entry.id}.zip"
    try:
        path = pooch.retrieve(
            url,
            f"md5:{md5}",
            fname=file,
            path=folder,
            downloader=downloader,
        )
    except requests.RequestException as error:
        raise _failed(entry, error, url) from error
    except ValueError as error:
        # pooch raises it on a wrong checksum, after it has removed the file
        raise BadInput(
            f"The file at {url} does not have the published checksum (md5 {md5}). Nothing was"
            f" saved. Try again later, or download {url} in another way and run `{program()}"
            f" datasets import {entry.id} PATH`."
        ) from error
    return Path(path)


def by_fetcher(
    entry: DatasetFacts, fetch: Callable[[str], Samples], folder: str
) -> Samples:
    """Download samples by scikit-learn, which leaves its own copy in the folder.

    Raises BadInput without network.
    """
    try:
        return fetch(folder)
    except OSError as error:  # errors of urllib, and a wrong checksum
        raise _failed(entry, error, entry.home) from error


def _failed(entry: DatasetFacts, error: Exception, place: str) -> BadInput:
    return BadInput(
        f"{entry.title} could not be downloaded ({type(error).__name__}). Check the network, or get"
        f" it from {place} in another way and run `{program()} datasets import {entry.id} PATH`."
    )
